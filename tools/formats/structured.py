"""Data that is written as text: JSON, JSON lines, GeoJSON, notebooks, YAML, XML, feeds."""

import json
import re
from collections.abc import Sequence
from itertools import chain
from typing import Any

from tools.formats.article import article_text, is_article
from tools.formats.cells import MAX_TABLE_CELLS
from tools.formats.source import Source
from tools.formats.xml import Element, attribute, child, every, local, parse
from tools.page import Document, escaped
from tools.tables import table_text
from tools.webpage import html_document

_MAX_INDENTED = 20_000_000
_MOST_GROWN, _SHORT = 8, 100_000  # deep nesting would be shown as blanks
_MAX_ROWS = 100_000
_MAX_COLUMNS = 60
_MAX_CELL = 300
_DECLARATION = re.compile(r"^\s*<\?xml[^>]*\?>")


def json_document(source: Source) -> Document:
    """JSON in any of its forms: notebooks and tables of records as such, everything else indented."""
    text = source.text().lstrip("\ufeff").strip()
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        records, count = _lines(text)
        return _records(source, records, "", count) if records else source.document(text)
    except MemoryError:
        return source.document(text, note="it is too large to be taken apart, and is shown as it stands")
    if isinstance(value, dict) and isinstance(value.get("cells"), list) and "nbformat" in value:
        return notebook_document(source, value)
    if (
        isinstance(value, dict)
        and isinstance(value.get("features"), list)
        and value.get("type") == "FeatureCollection"
    ):
        rows = [_feature(each) for each in value["features"] if isinstance(each, dict)]
        return _records(source, rows, f"{len(rows):,} features")
    if (
        isinstance(value, list)
        and len(value) > 1
        and all(isinstance(each, dict) for each in value)
        and _flat(value)
    ):
        return _records(source, value, "")
    return source.document(_indented([value], len(text)) or text)


def _indented(values: Sequence[object], size: int) -> str:
    """JSON values of `size` characters, a line for each thing in them; nothing when that would be far too long."""
    longest = min(_MAX_INDENTED, max(_MOST_GROWN * size, _SHORT))
    encoder = json.JSONEncoder(indent=1, ensure_ascii=False)
    pieces: list[str] = []
    length = 0
    try:
        for piece in (piece for value in values for piece in chain(["\n\n"], encoder.iterencode(value))):
            length += len(piece)
            if length > longest:
                return ""
            pieces.append(piece)
    except (ValueError, RecursionError):
        return ""
    return "".join(pieces)


def notebook_document(source: Source, value: dict[str, Any]) -> Document:
    """A Jupyter notebook: its text, its code and what the code showed."""
    metadata = value.get("metadata")
    kernel = metadata.get("kernelspec") if isinstance(metadata, dict) else None
    language = str(kernel.get("language") or "python") if isinstance(kernel, dict) else "python"
    parts: list[str] = []
    for cell in value["cells"]:
        if not isinstance(cell, dict):
            continue
        text = _joined(cell.get("source")).strip()
        if cell.get("cell_type") == "code":
            parts.append(f"```{language}\n{text}\n```" if text else "")
            outputs = cell.get("outputs")
            parts += (
                [_output(each) for each in outputs if isinstance(each, dict)]
                if isinstance(outputs, list)
                else []
            )
        else:
            parts.append(re.sub(r"\(data:[^)\s]{100,}\)", "(embedded picture)", text))
    heading = re.search(r"(?m)^#{1,2}\s+(.+?)\s*#*$", "\n".join(parts))
    return source.document("\n\n".join(part for part in parts if part), title=heading[1] if heading else "")


def _output(output: dict[str, Any]) -> str:
    data = output.get("data")
    if isinstance(data, dict):
        if "text/html" in data and "<table" in _joined(data["text/html"]):
            return html_document(_joined(data["text/html"]), main_only=False).markdown
        text = _joined(data.get("text/markdown") or data.get("text/plain"))
        if any(str(kind).startswith("image/") for kind in data):
            text = f"[picture] {text}"
    elif output.get("output_type") == "error":
        text = f"{output.get('ename')}: {output.get('evalue')}"
    else:
        text = _joined(output.get("text"))
    text = re.sub(r"\x1b\[[0-9;]*m", "", text).strip()
    return f"Output:\n\n```\n{text}\n```" if text else ""


def _joined(value: object) -> str:
    return "".join(map(str, value)) if isinstance(value, list) else value if isinstance(value, str) else ""


def _lines(text: str) -> tuple[list[dict[str, Any]], int]:
    """The first records of JSON lines, and how many there are; nothing when a line is something else."""
    records: list[dict[str, Any]] = []
    lines = [line for line in text.split("\n") if line.strip()]
    for line in lines[:_MAX_ROWS]:
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            return [], 0
        if not isinstance(record, dict):
            return [], 0
        records.append(record)
    return records, len(lines)


def _flat(records: list[dict[str, Any]]) -> bool:
    """Whether records make a readable table: few columns, short values."""
    columns = {str(key) for record in records[:200] for key in record}
    return len(columns) <= _MAX_COLUMNS and all(
        not isinstance(value, dict | list) and len(str(value)) <= _MAX_CELL
        for record in records[:200]
        for value in record.values()
    )


def _records(source: Source, records: list[dict[str, Any]], note: str, count: int = 0) -> Document:
    """The document of records, of which there are `count` in all."""
    count = count or len(records)
    columns = list(dict.fromkeys(str(key) for record in records[:_MAX_ROWS] for key in record))
    if not _flat(records) or len(columns) > _MAX_COLUMNS:
        shown = _indented(records, len(source.content)) if len(records) == count else ""
        return source.document(shown or source.text().strip(), note=note)
    most = min(_MAX_ROWS, MAX_TABLE_CELLS // max(1, len(columns)))
    rows = tuple(tuple(_value(record.get(column)) for column in columns) for record in records[:most])
    if count > most:
        note = f"only the first {most:,} of {count:,} records were read"
    return source.document(table_text(columns, rows), note=note, sheets=((tuple(columns), *rows),))


def _value(value: object) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _feature(feature: dict[str, Any]) -> dict[str, Any]:
    properties = feature.get("properties")
    geometry = feature.get("geometry")
    row = dict(properties) if isinstance(properties, dict) else {}
    if isinstance(geometry, dict):
        row["geometry"] = geometry.get("type")
        places = geometry.get("coordinates")
        if geometry.get("type") == "Point":
            row["coordinates"] = ", ".join(map(str, places)) if isinstance(places, list) else ""
    return row


def xml_document(source: Source) -> Document:
    """XML: feeds as their entries, articles and other prose as text, data as it stands."""
    root = parse(_in_utf8(source))
    if root is None:
        return source.document(source.text(markup=True))
    if local(root) in ("rss", "feed", "RDF") and (entries := list(every(root, "item", "entry"))):
        return feed_document(source, root, entries)
    if is_article(root):
        title, text = article_text(root)
        return source.document(text, title=title)
    return source.document(source.text(markup=True), title=_plain(child(root, "title"))[:300])


def _in_utf8(source: Source) -> bytes:
    """The bytes in UTF-8: libxml2 knows fewer encodings than we do, and loses what it cannot read."""
    try:
        source.content.decode("utf-8")
    except UnicodeDecodeError:
        return _DECLARATION.sub("", source.text(markup=True), count=1).encode("utf-8", "replace")
    return source.content


def feed_document(source: Source, root: Element, entries: list[Element]) -> Document:
    """RSS or Atom: a heading an entry, with its link, date and text."""
    channel = child(root, "channel")
    channel = channel if channel is not None else root
    title = _plain(child(channel, "title"))
    parts = [f"# {title}" if title else "", _prose(child(channel, "description"))]
    for entry in entries:
        link = next(
            (
                found
                for each in entry
                if local(each) == "link" and (found := attribute(each, "href") or (each.text or "").strip())
            ),
            "",
        )
        head = _plain(child(entry, "title")) or link or "Entry"
        date = next(
            (
                text
                for name in ("pubDate", "published", "updated", "date")
                if (text := _plain(child(entry, name)))
            ),
            "",
        )
        who = next((text for name in ("creator", "author") if (text := _plain(child(entry, name)))), "")
        bodies = [_prose(child(entry, name)) for name in ("encoded", "content", "description", "summary")]
        parts.append(f"## [{head}]({escaped(link)})" if link else f"## {head}")
        parts.append(", ".join(part for part in (date, who) if part))
        parts.append(max(bodies, key=len))
    return source.document("\n\n".join(part for part in parts if part), title=title)


def _plain(element: Element | None) -> str:
    return " ".join("".join(map(str, element.itertext())).split()) if element is not None else ""


def _prose(element: Element | None) -> str:
    """Text that is mostly HTML inside."""
    text = "".join(map(str, element.itertext())).strip() if element is not None else ""
    return html_document(text, main_only=False).markdown if "<" in text else text
