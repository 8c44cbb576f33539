"""How much of what is known about a file came out of it, in words, cells and rows.

A score is the mean over a suite's files (over its snippets, where the truth is
snippets). A file that failed counts as an empty text.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from lxml import html

from bench.tools.driven import Outcome

_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W_]+")
_LONGEST_LINE = 6000
_FEWEST_WORDS = 5
Scores = dict[tuple[str, str], float]


def scores(outcomes: Iterable[Outcome]) -> Scores:
    """The means by suite and measure, such as ("zyte", "F1")."""
    found: dict[tuple[str, str], list[float]] = defaultdict(list)
    for outcome in outcomes:
        for measure, values in _measures(outcome).items():
            found[outcome.case.suite, measure] += values
    return {key: sum(values) / len(values) for key, values in found.items() if values}


def words(text: str) -> list[str]:
    """The words in lower case; each sign of a script without spaces is one."""
    return _WORD.findall(text.lower())


def plain(markdown: str) -> str:
    """The text without the marks and addresses of Markdown."""
    text = re.sub(r"!\[([^\]]*)\]\([^)\n]*\)", r"\1", markdown)
    text = re.sub(r"\]\((?:[^()\n]|\([^()\n]*\))*\)", "] ", text)
    text = re.sub(r"https?://\S+", " ", text)
    text = re.sub(r"\\([\\`*_{}\[\]()#+\-.!|~<>&$])", r"\1", text)
    return re.sub(r"<br\s*/?>", " ", text)


def _measures(outcome: Outcome) -> dict[str, list[float]]:
    truth, text = outcome.case.truth, outcome.text
    match outcome.case.kind:
        case "article" | "text" | "markdown":
            wanted = truth["text"]
            if outcome.case.kind == "markdown":
                wanted = re.sub(r"<!--.*?-->", "", plain(wanted))
            return _overlap(words(wanted), words(plain(text)))
        case "article_html":
            content = html.fromstring(truth["html"]).text_content() if truth["html"].strip() else ""
            return _overlap(words(content), words(plain(text)))
        case "snippets":
            whole = " ".join(words(plain(text)))
            return {
                measure: [float(" ".join(words(each)) in whole) for each in truth[key] if words(each)]
                for measure, key in (("wanted", "with"), ("boilerplate kept", "without"))
            }
        case "table":
            return _tables([truth["rows"]], text, " (rowspan)" if truth.get("rowspan") else " (plain)")
        case "tables":
            return _tables(truth["tables"], text)
        case "decode":
            wanted_words = words(truth["text"])
            if len(wanted_words) < _FEWEST_WORDS:
                return {}
            telling = [word for word in wanted_words if not word.isascii()] or wanted_words
            return {"decoded": [float(_recall(telling, words(text)) > 0.99)]}
        case "prescan":
            return {"right": [float(_same_encoding(text, truth["encoding"]))]}
    return {}


def _overlap(wanted: list[str], came: list[str]) -> dict[str, list[float]]:
    if not wanted:
        return {}
    both = sum((Counter(wanted) & Counter(came)).values())
    precision, recall = both / len(came) if came else 0.0, both / len(wanted)
    mean = 2 * precision * recall / (precision + recall) if both else 0.0
    return {"F1": [mean], "recall": [recall]}


def _recall(wanted: list[str], came: list[str]) -> float:
    return sum((Counter(wanted) & Counter(came)).values()) / len(wanted)


def _tables(tables: Sequence[Sequence[Sequence[str]]], text: str, of: str = "") -> dict[str, list[float]]:
    """How many cells are there at all, and how many rows stand whole in one line."""
    lines = [_squeezed(plain(line)) for line in text.split("\n")]
    lines = [line for line in lines if len(line) < _LONGEST_LINE]
    everything = _squeezed(plain(text))
    cells: list[bool] = []
    rows: list[bool] = []
    for row in (row for table in tables for row in table):
        wanted = [cell for cell in map(_squeezed, row) if cell]
        cells += [cell in everything for cell in wanted]
        if len(wanted) > 1:
            rows.append(any(all(cell in line for cell in wanted) for line in lines))
    found = {"cells" + of: cells, "rows" + of: rows}
    return {measure: [sum(each) / len(each)] for measure, each in found.items() if each}


def _squeezed(text: str) -> str:
    return "".join(words(text))


def _same_encoding(told: str, wanted: str) -> bool:
    from tools.charset import codec_of

    return codec_of(told) == codec_of(wanted) != ""
