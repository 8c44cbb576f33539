"""What the search APIs have in common: one request, JSON back, and what each status means."""

import json
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from tools.errors import FetchError, SearchError
from tools.exchange import Answer
from tools.fetch import Fetcher
from tools.response import retry_after

_KEY_SECONDS = 3600.0
_BUSY_SECONDS = 60.0


def ask(
    fetcher: Fetcher,
    url: str,
    params: Mapping[str, Any] | None = None,
    *,
    headers: Mapping[str, str] | None = None,
    body: Mapping[str, Any] | None = None,
) -> Any:
    """The JSON that an API answers to a GET of `params` or a POST of `body`.

    Raises SearchError, without the key, saying what to do about it and how
    long it is of no use to ask again.
    """
    address = f"{url}?{urlencode(params)}" if params else url
    sent = {"Accept": "application/json", **(headers or {})}
    content = None
    if body is not None:
        sent["Content-Type"] = "application/json"
        content = json.dumps(body).encode()
    try:
        answer = fetcher.call(address, sent, content)
    except FetchError as error:
        raise SearchError(str(error)) from error
    data = _json(answer.content)
    if answer.status != 200:
        raise failed(answer, _reason(data))
    if data is None:
        raise SearchError("it answered something that is not JSON.")
    return data


def failed(answer: Answer, reason: str) -> SearchError:
    """What a status means for whoever searches."""
    status = answer.status
    said = f" ({reason})" if reason else ""
    out_of = any(word in reason.lower() for word in ("credit", "quota", "run out", "limit exceeded", "plan"))
    if status in (401, 403) or (status == 422 and "token" in reason.lower()):
        return SearchError(f"it does not accept the key{said}: check it.", _KEY_SECONDS)
    if status in (402, 432, 433) or (status in (400, 429) and out_of and "rate" not in reason.lower()):
        return SearchError(f"its quota is used up{said}: wait or raise it.", _KEY_SECONDS)
    if status == 429:
        reset = re.match(r"\s*(\d{1,6})", answer.headers.get("x-ratelimit-reset", ""))
        wait = float(reset[1]) if reset else retry_after(answer.headers)
        return SearchError(
            f"it has had too many requests{said}: it rests for a while.",
            min(_BUSY_SECONDS if wait is None else max(wait, 1.0), _KEY_SECONDS),
        )
    if status >= 500:
        return SearchError(f"it answered {status}{said}: try later.")
    # Another query may well be taken.
    rest = 0.0 if status in (400, 413, 414, 422) else None
    return SearchError(f"it did not take the request ({status}){said}.", rest)


def rows(found: Any) -> list[dict[str, Any]]:
    """The objects of a JSON list; anything else in it, or something else than a list, is left out."""
    return [row for row in found if isinstance(row, dict)] if isinstance(found, list) else []


def words(value: Any, limit: int = 500) -> str:
    """A JSON text in one line."""
    return " ".join(value.split())[:limit] if isinstance(value, str) else ""


def _json(content: bytes) -> Any:
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return None


def _reason(data: Any) -> str:
    """The API's own words on what went wrong, wherever it puts them."""
    for _ in range(3):
        if isinstance(data, dict):
            data = next((data[key] for key in ("error", "detail", "message", "code") if data.get(key)), None)
    return words(data, 160).rstrip(".")
