"""The page of an evaluation: one HTML file, without scripts, that loads nothing.

Answers, pages and traces in it are what models and strangers wrote, so that all
of it is escaped, and the file's own policy forbids whatever would slip through.
"""

from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from evals.report.plot import Dot, plot
from evals.report.table import notes, title
from evals.results import Result
from evals.summary import Asked, Summary
from evals.trace import Step, parsed
from evals.verdict import Verdict

_MEANINGS = {
    Verdict.RIGHT: "",
    Verdict.WRONG_FORM: "the true answer stands there, in a form that is not scored",
    Verdict.WRONG: "another answer",
    Verdict.BLOCKED: "wrong, and a page refused to be read",
    Verdict.PARTIAL: "its steps or seconds were used up",
    Verdict.STOPPED: "its budget was used up",
    Verdict.ERROR: "the endpoint or a file failed",
    Verdict.UNSCORED: "the true answer is not known here",
}
PAGES = Environment(
    loader=FileSystemLoader(Path(__file__).parent),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
)


@dataclass(frozen=True)
class Told:
    """One result as the page tells it."""

    asked: Asked
    result: Result
    verdict: Verdict
    steps: tuple[Step, ...]


def report_page(summary: Summary) -> str:
    """The whole file."""
    told = [
        Told(each, result, each.verdict(result), tuple(map(parsed, result.trace)))
        for each in summary.asked
        for result in each.results
    ]
    dots = [
        Dot(
            each.result.seconds,
            each.result.prompt_tokens + each.result.completion_tokens,
            each.verdict is Verdict.RIGHT,
            each.asked.question.id,
        )
        for each in told
    ]
    groups = summary.groups
    return PAGES.get_template("page.html").render(
        about=summary.about,
        title=title(summary),
        notes=notes(summary),
        groups=groups,
        named=[(group.name, group) for group in groups],
        kinds=[kind for kind in Verdict if summary.all.verdicts[kind]],
        meanings=_MEANINGS,
        costs_of=[summary.cost(group) for group in groups] if summary.prices.known else [],
        spent=summary.spent,
        spent_dollars=summary.prices.of(summary.spent) if summary.prices.known else None,
        told=told,
        costs=Markup(plot(dots)),  # noqa: S704 - names escaped there
    )
