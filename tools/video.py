"""A page of YouTube's player: what the film is about, and the words that are spoken in it.

The page says where its captions are; they are read like any other address.
"""

import html
import json
import re
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from tools.address import join
from tools.errors import FetchError
from tools.page import Document

_PLAYER = re.compile(r"\bytInitialPlayerResponse\s*=\s*(?=\{)")
# A cue ends where the next tag of its kind begins: looking further for its own end would take hours of a hostile file.
_CUE = re.compile(r"<(?:text|p)\b([^<>]*)>([^<]*(?:<(?!/?(?:text|p)\b)[^<]*)*)")
_TAG = re.compile(r"<[^<>]*>")
_START = re.compile(r"\b(?:start=\"(?P<s>[\d.]+)|t=\"(?P<ms>\d+))")
_PARAGRAPH_SECONDS = 30.0
_MOST_PLAYERS = 3  # places of a page that may hold the film


def video_document(source: str, url: str, read: Callable[[str], bytes]) -> Document | None:
    """The film that a player page is about with its transcript; None for any other page.

    `read`: gives what stands at the address of the captions, or raises FetchError.
    """
    player = _player(source)
    about = _dict(player.get("videoDetails"))
    if not about:
        return None
    title = str(about.get("title") or "")
    facts = _dict(_dict(player.get("microformat")).get("playerMicroformatRenderer"))
    lines = [f"# {title}", ""]
    for name, value in (
        ("Channel", about.get("author")),
        ("Published", facts.get("publishDate")),
        ("Length", _clock(_number(about.get("lengthSeconds"))) if about.get("lengthSeconds") else ""),
        ("Views", about.get("viewCount")),
    ):
        lines += [f"- {name}: {value}"] if value else []
    if words := str(about.get("shortDescription") or "").strip():
        lines += ["", "## Description", "", words]
    transcript, note = _transcript(player, url, read)
    if transcript:
        lines += ["", "## Transcript", "", transcript]
    return Document(url, title, "\n".join(lines).strip(), note)


def _player(source: str) -> dict[str, Any]:
    for found in islice(_PLAYER.finditer(source), _MOST_PLAYERS):
        try:
            return _dict(json.JSONDecoder().raw_decode(source, found.end())[0])
        except (ValueError, RecursionError):
            continue
    return {}


def _transcript(player: dict[str, Any], url: str, read: Callable[[str], bytes]) -> tuple[str, str]:
    """The words with their times, and what is to be known about them."""
    tracks = _dict(_dict(player.get("captions")).get("playerCaptionsTracklistRenderer")).get("captionTracks")
    tracks = [each for each in tracks if _dict(each).get("baseUrl")] if isinstance(tracks, list) else []
    if not tracks:
        return "", "this film has no captions, so that its words cannot be read"
    track = _best(tracks)
    try:
        content = read(_as_json(join(url, str(track["baseUrl"]))))
    except FetchError as error:
        return "", f"the captions of this film did not come: {error}"
    paragraphs = "\n\n".join(_paragraphs(_cues(content)))
    if not paragraphs:
        return "", "the site gave no captions to this program, so that the words of the film cannot be read"
    language = str(track.get("languageCode") or "unknown language")
    made = "made by a machine, so that names may be wrong" if track.get("kind") == "asr" else "made by hand"
    return paragraphs, f"the transcript is the film's captions ({language}, {made})"


def _best(tracks: list[dict[str, Any]]) -> dict[str, Any]:
    """Captions in the language that is spoken, by hand before by machine; else English, else the first."""
    spoken = next((each.get("languageCode") for each in tracks if each.get("kind") == "asr"), None)

    def rank(track: dict[str, Any]) -> tuple[bool, bool, bool]:
        language = str(track.get("languageCode") or "")
        return language != spoken, track.get("kind") == "asr", not language.startswith("en")

    return min(tracks, key=rank)


def _as_json(url: str) -> str:
    parts = urlsplit(url)
    query = [(name, value) for name, value in parse_qsl(parts.query, keep_blank_values=True) if name != "fmt"]
    return urlunsplit(parts._replace(query=urlencode([*query, ("fmt", "json3")])))


def _cues(content: bytes) -> Iterator[tuple[float, str]]:
    """Seconds and words, from the JSON or one of the XML forms."""
    text = content.decode("utf-8", "replace")
    try:
        events = _dict(json.loads(text)).get("events")
    except (ValueError, RecursionError):
        events = None
    for event in events if isinstance(events, list) else []:
        parts = _dict(event).get("segs")
        words = (
            "".join(str(_dict(part).get("utf8") or "") for part in parts) if isinstance(parts, list) else ""
        )
        yield _number(_dict(event).get("tStartMs")) / 1000, words
    for attributes, words in _CUE.findall(text) if events is None else []:
        if found := _START.search(attributes):
            seconds = _number(found["s"]) if found["s"] else _number(found["ms"]) / 1000
            yield seconds, html.unescape(html.unescape(_TAG.sub("", words)))


def _paragraphs(cues: Iterator[tuple[float, str]]) -> Iterator[str]:
    """The words in paragraphs of about half a minute, each with its time: "[1:05] …"."""
    begun, words = 0.0, ""
    for seconds, text in cues:
        if words and seconds - begun >= _PARAGRAPH_SECONDS:
            yield f"[{_clock(begun)}] {words}"
            words = ""
        begun = begun if words else seconds
        words = " ".join(f"{words} {text}".split())
    if words:
        yield f"[{_clock(begun)}] {words}"


def _clock(seconds: float) -> str:
    whole = int(seconds)
    hours, minutes = whole // 3600, whole // 60 % 60
    return f"{hours}:{minutes:02}:{whole % 60:02}" if hours else f"{minutes}:{whole % 60:02}"


def _number(value: Any) -> float:
    try:
        return min(max(float(value), 0.0), 1e9)
    except (TypeError, ValueError):
        return 0.0


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
