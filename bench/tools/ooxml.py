"""How much of an Office file's own text comes out: the words in its XML, part by part, against what was read."""

import html
import re
import zipfile
from collections import Counter, defaultdict
from collections.abc import Iterable

from bench.tools.driven import Outcome
from bench.tools.scores import Scores, words

_FEWEST_WORDS = 4
_PARTS = {
    "docx": {
        "body": r"word/document\d*\.xml$",
        "notes": r"word/(foot|end)notes\.xml$",
        "comments": r"word/comments\.xml$",
        "headers": r"word/(header|footer)\d*\.xml$",
        "diagrams": r"word/(diagrams/data|charts/chart)\d*\.xml$",
    },
    "pptx": {
        "body": r"ppt/slides/slide\d+\.xml$",
        "notes": r"ppt/notesSlides/notesSlide\d+\.xml$",
        "comments": r"ppt/comments/",
        "diagrams": r"ppt/(diagrams/data|charts/chart)\d*\.xml$",
    },
    "xlsx": {
        "body": r"xl/sharedStrings\.xml$",
        "inline": r"xl/worksheets/sheet\d+\.xml$",
        "comments": r"xl/comments\d*\.xml$",
        "drawings": r"xl/drawings/drawing\d*\.xml$",
    },
}
_TEXT = re.compile(r"<(?:\w+:)?t(?:\s[^>]*)?>([^<]*)</(?:\w+:)?t>|<(?:\w+:)?(?:p?tab|br)\b[^>]*>")
_FALLBACK = re.compile(
    r"<(\w+:)?Fallback\b.*?</(\w+:)?Fallback>", re.DOTALL
)  # the same words for older programs
_PARAGRAPH_END = re.compile(r"</(?:\w+:)?(?:p|si|is)>")


def recalls(outcomes: Iterable[Outcome]) -> Scores:
    """The mean recall by kind of file and part, such as ("docx", "headers"), of the files that were read."""
    found: dict[tuple[str, str], list[float]] = defaultdict(list)
    for outcome in outcomes:
        kind = outcome.case.file.suffix.lower().lstrip(".")
        if outcome.error or kind not in _PARTS:
            continue
        came = Counter(words(outcome.text))
        for part, text in _texts(outcome, _PARTS[kind]).items():
            wanted = Counter(words(text))
            if wanted.total() >= _FEWEST_WORDS:
                found[kind, part].append((wanted & came).total() / wanted.total())
    return {key: sum(values) / len(values) for key, values in found.items()}


def _texts(outcome: Outcome, parts: dict[str, str]) -> dict[str, str]:
    try:
        with zipfile.ZipFile(outcome.case.file) as package:
            return {
                part: " ".join(_text(package.read(name)) for name in package.namelist() if re.search(pattern, name))
                for part, pattern in parts.items()
            }  # fmt: skip
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError, ValueError):
        return {}


def _text(part: bytes) -> str:
    paragraphs = []
    for paragraph in _PARAGRAPH_END.split(_FALLBACK.sub("", part.decode("utf-8", "replace"))):
        pieces = (" " if each[1] is None else html.unescape(each[1]) for each in _TEXT.finditer(paragraph))
        paragraphs.append("".join(pieces))
    return "\n".join(filter(None, paragraphs))
