"""The one public function of the app, for scripts: REST and gradio_client."""

from typing import Any

import gradio as gr
from gradio.events import api

from agent.errors import ResearchError
from agent.events import RunEnded
from agent.services import Services
from agent.session import SessionRegistry
from ui.follow import follow_live
from ui.guarded import text_or_nothing


def add_research_function(services: Services, sessions: SessionRegistry) -> None:
    """Add `research` to the Blocks that are being built; each call has a session of its own."""

    async def research(question: str) -> dict[str, Any]:
        """Answer a question with a code agent that searches and reads, and name the sources.

        Args:
            question: What you want to know, in plain words.

        Returns:
            run: the run's name; `?run=<name>` on the page shows every step.
            outcome: "answered", "partial", "stopped" or "failed"; reason: why, when it is not simply answered.
            answer: the answer as Markdown.
            sources: a list of {url, title, quote, status, place}; status is "verified" when the quote was found
                in the page, "unverified" when not, "located" when the answer's words were found there.
            steps, seconds, prompt_tokens, completion_tokens: what it cost.
        """
        try:
            session = sessions.open()
        except ResearchError as error:
            raise gr.Error(str(error), print_exception=False) from None
        try:
            run = session.ask(text_or_nothing(question))
            async for events in follow_live(services.store, run.id):
                for event in events:
                    if isinstance(event, RunEnded):
                        return _result(run.id, event)
            raise gr.Error("The run ended without an answer; ask again.")
        except ResearchError as error:
            raise gr.Error(str(error), print_exception=False) from None
        finally:
            sessions.close(session.id)

    api(research, api_name="research", concurrency_limit=None)


def _result(run_id: str, end: RunEnded) -> dict[str, Any]:
    return {
        "run": run_id,
        "outcome": end.outcome.value,
        "reason": end.reason,
        "answer": end.answer,
        "sources": [
            {"url": s.url, "title": s.title, "quote": s.quote, "status": s.status, "place": s.place}
            for s in end.sources
        ],
        "steps": end.steps,
        "seconds": round(end.seconds, 2),
        "prompt_tokens": end.usage.prompt_tokens,
        "completion_tokens": end.usage.completion_tokens,
    }
