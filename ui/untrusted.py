"""Text that nobody vouches for, made safe to hand to a Markdown renderer.

Pages, models and visitors write what they like. Nothing here depends on
agreeing with the renderer about where code begins: outside the fences that we
write ourselves no `<`, no image and no foreign fence is left.
"""

import re
from collections.abc import Callable
from textwrap import dedent
from urllib.parse import quote

_FENCED = re.compile(
    r"^[ \t]*(?P<fence>`{3,}|~{3,})[ \t]*(?P<info>[^\n`]*)(?:\n|\Z)(?P<body>.*?)(?:^[ \t]*(?P=fence)[`~]*[ \t]*$|\Z)",
    re.MULTILINE | re.DOTALL,
)
_CODE_SPAN = re.compile(r"(?<![`\\])(?P<ticks>`{1,2})(?!`)(?P<code>[^\n]+?)(?<!`)(?P=ticks)(?!`)")
_LANGUAGES = {"python", "py", "json", "bash", "sh", "sql", "yaml", "c", "cpp", "java", "go", "rust", "php"}
_NAMED = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"}
_MEANING = re.compile(r"[&<>\"\\`*_\[\]!|~#@]|^[-+=]|(?<=\d)[.)](?= )|:(?=//)|(?<=www)\.", re.IGNORECASE)
# They turn the direction of all that follows, our own words too; marks of a direction (U+200E, U+200F) do not.
_TURNS = re.compile("[\u202a-\u202e\u2066-\u2069]")
_BARE = re.compile(r"<|!(?=\[)|`{3,}|~{3,}")


def _entity(match: re.Match[str]) -> str:
    return "".join(f"&#{ord(character)};" for character in match.group())


def unturned(text: str) -> str:
    """The text without the characters that make what follows them read backwards."""
    return _TURNS.sub("", text)


def turns_shown(text: str) -> str:
    """Code with those characters as escapes: it must not read otherwise than it runs."""
    return _TURNS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def literal(text: str, limit: int = 400) -> str:
    """The text shown as it is, on one line and cut at `limit` characters: nothing in it means anything."""
    line = " ".join(unturned(text).split())
    shown = line if len(line) <= limit else line[: limit - 1] + "…"
    return _MEANING.sub(lambda found: _NAMED.get(found[0], "\\" + found[0]), shown)


def literal_lines(text: str) -> str:
    """Like `literal`, whole and with its line breaks."""
    return "\n".join(literal(line, len(line)) or "&nbsp;" for line in text.strip().splitlines())


def attribute(text: str, limit: int = 400) -> str:
    """The text as the value of an HTML attribute inside Markdown, where a backslash escapes nothing."""
    return re.sub(r"[^\w ]", _entity, " ".join(unturned(text).split())[:limit])


def fenced(text: str, language: str = "") -> str:
    """The text in a code block that no run of backticks inside can end."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{turns_shown(text).rstrip()}\n{fence}"


def prose(text: str, also: Callable[[str], str] = str) -> str:
    """Markdown with its headings, lists, tables, links and code kept; markup and images made inert.

    `also`: what else to do to the text outside code, once it is safe.
    """
    parts: list[str] = []
    end = 0
    for block in _FENCED.finditer(text):
        parts.append(_inline(text[end : block.start()], also))
        words = block["info"].split()
        language = words[0].lower() if words and words[0].lower() in _LANGUAGES else ""
        parts.append(f"\n\n{fenced(dedent(block['body']), language)}\n\n")
        end = block.end()
    parts.append(_inline(text[end:], also))
    return "".join(parts).strip("\n")


def _inline(text: str, also: Callable[[str], str]) -> str:
    parts: list[str] = []
    end = 0
    for span in _CODE_SPAN.finditer(text):
        parts.append(also(_BARE.sub(_entity, unturned(text[end : span.start()]))))
        parts.append(f"<code>{literal(span['code'])}</code>")
        end = span.end()
    parts.append(also(_BARE.sub(_entity, unturned(text[end:]))))
    return "".join(parts)


def web_address(url: str) -> str:
    """The address when a link may lead there, ready for a Markdown or HTML attribute; else nothing."""
    if not re.match(r"https?://[^\s]+\Z", url):
        return ""
    return quote(url, safe="/:?#@!$&*+,;=%~-._")
