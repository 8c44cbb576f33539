"""What a model's code meant by an argument that is slightly wrong."""

import re
from typing import Any

from tools.errors import BadArguments

_ADDRESS = re.compile(r"\b(?:https?|library)://[^\s<>\"']+")


def words_of(value: Any, name: str, example: str) -> str:
    """The text that was meant by a string, a list of strings, or a number."""
    if isinstance(value, list | tuple) and value:
        value = " ".join(str(item) for item in value) if all(isinstance(v, str) for v in value) else value[0]
    if isinstance(value, str | int | float) and str(value).strip():
        return str(value).strip()
    raise BadArguments(f"{name} must be a text that is not empty: call it as {example}.")


def address_of(value: Any) -> str:
    """The address that was meant: text, a result, a link, a Markdown link, or a list that starts with one."""
    for _ in range(3):
        if isinstance(value, list | tuple) and value:
            value = value[0]
        elif isinstance(value, dict) and ("url" in value or "href" in value):
            value = value.get("url") or value.get("href")
        elif isinstance(getattr(value, "url", None), str):
            value = value.url
    if not isinstance(value, str) or not value.strip():
        raise BadArguments(
            "url must be an address or a search result: call it as visit_page(results[0].url)."
        )
    text = value.strip().strip("<>\"'`")
    if text.endswith(")") and "](" in text:
        return text[text.rindex("](") + 2 : -1]
    named = _ADDRESS.search(text)
    return named[0] if named and len(text.split()) > 1 else text


def number_of(value: Any) -> int:
    try:
        return int(1 if value is None else value)
    except (TypeError, ValueError):
        raise BadArguments(f"page must be a number, not {value!r}: call it as visit_page(url, 2).") from None
