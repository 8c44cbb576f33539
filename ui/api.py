"""The one public function of the app, for scripts: REST and gradio_client."""

from collections.abc import AsyncIterator
from typing import Any

import gradio as gr
from gradio.events import api

from agent.errors import ResearchError
from agent.registry import SessionRegistry
from agent.services import Services
from ui.follow import follow_live
from ui.guarded import text_or_nothing
from ui.rail import Progress


def add_research_function(services: Services, sessions: SessionRegistry) -> None:
    """Add `research` to the Blocks that are being built; each call has a session of its own."""

    async def research(question: str, request: gr.Request) -> AsyncIterator[dict[str, Any]]:
        """Answer a question with a code agent that searches and reads, and name the sources.

        While it works the result so far is given once a second, with the outcome "running".

        Args:
            question: What you want to know, in plain words.

        Returns:
            run: the run's name; `?run=<name>` on the page shows every step.
            outcome: "answered", "partial", "stopped" or "failed"; reason: why, when it is not simply answered.
                While it is "running", the reason is what it waits for, such as its place in line.
            answer: the answer as Markdown.
            sources: a list of {url, title, quote, status, place}; status is "verified" when the quote was found
                in the page, "unverified" when not, "located" when the answer's words were found there.
            steps, seconds, prompt_tokens, completion_tokens: what it cost.
        """
        session = None
        try:
            session = sessions.open(request.session_hash or "")
            run = session.ask(text_or_nothing(question))
            progress = Progress()
            async for events in follow_live(services.store, run.id):
                for event in events:
                    progress.add(event)
                # Once a second at least, since only then it is noticed that the caller has gone.
                yield _result(run.id, progress)
        except ResearchError as error:
            raise gr.Error(str(error), print_exception=False) from None
        finally:
            if session is not None:
                sessions.close(session.id)

    api(research, api_name="research", concurrency_limit=None)


def _result(run_id: str, progress: Progress) -> dict[str, Any]:
    end, usage = progress.end, progress.usage
    return {
        "run": run_id,
        "outcome": end.outcome.value if end else "running",
        "reason": end.reason if end else progress.waiting,
        "answer": end.answer if end else "",
        "sources": [
            {"url": s.url, "title": s.title, "quote": s.quote, "status": s.status, "place": s.place}
            for s in progress.sources
        ],
        "steps": progress.step,
        "seconds": round(end.seconds, 2) if end else None,
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
    }
