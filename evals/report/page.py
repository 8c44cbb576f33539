"""The page of an evaluation: one HTML file, without scripts, that loads nothing.

Answers, pages and traces in it are what models and strangers wrote, so that all
of it is escaped, and the file's own policy forbids whatever would slip through.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from evals.report.charts import Dot, bar, costs, shares, verdicts
from evals.report.table import notes, title
from evals.results import Result
from evals.summary import Asked, Summary
from evals.verdict import Verdict

_CODE = re.compile(r"```python\n(.*?)\n```", re.DOTALL)
_PAGES = Environment(
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
    steps: tuple[tuple[str, str, str], ...]


def report_page(summary: Summary) -> str:
    """The whole file."""
    told = [
        Told(each, result, each.verdict(result), tuple(map(step_parts, result.trace)))
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
    return _PAGES.get_template("page.html").render(
        about=summary.about,
        title=title(summary),
        notes=notes(summary),
        groups=groups,
        costs_of=[summary.cost(group) for group in groups] if summary.prices.known else [],
        spent=summary.spent,
        spent_dollars=summary.prices.of(summary.spent) if summary.prices.known else None,
        told=told,
        shares=Markup(shares([bar(g.name, g.pass_1, len(g.asked)) for g in groups])),  # noqa: S704 - names escaped there
        verdicts=Markup(verdicts(summary.all.verdicts)),  # noqa: S704 - our own words
        dots=Markup(costs(dots)),  # noqa: S704 - names escaped there
    )


def step_parts(step: str) -> tuple[str, str, str]:
    """What a step of a trace thought, ran and saw; each may be empty."""
    found = _CODE.search(step)
    if found:
        return step[: found.start()].strip(), found[1], step[found.end() :].strip()
    return step.strip(), "", ""
