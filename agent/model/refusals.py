"""What a model server's refusal means: one typed error with one sentence.

TGI, vLLM, llama.cpp, SGLang and the HF proxies each have words of their own for
the same few things; here they become the errors of `agent.errors`.
"""

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from agent.errors import ContextOverflow, EndpointBusy, EndpointRefused, ModelError
from agent.model.text import shown, valid

# Characters of a server's words that are looked at; what it means stands at their beginning.
_MOST_WORDS = 4000
# The longest wait that a server can name.
_MOST_SECONDS = 86400.0

# Each pattern: how one server says that the prompt is too long, with what it measured.
_OVERFLOWS = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"must be <= (?P<limit>\d+)\. Given: (?P<given>\d+) `inputs` tokens",  # TGI
        r"must have less than (?P<limit>\d+) tokens\. Given: (?P<given>\d+)",  # TGI
        r"request \((?P<given>\d+) tokens\) exceeds the available context size \((?P<limit>\d+)",  # llama.cpp
        r"context length is (?P<limit>\d+) tokens.*?\((?P<given>\d+) in the messages",  # vLLM, OpenAI
        r"context length is (?P<limit>\d+) tokens.*? has (?P<given>\d+) input tokens",  # vLLM
        r"passed (?P<given>\d+) input tokens.*?context length is only (?P<limit>\d+)",  # vLLM
        r"length (?P<given>\d+)\) is longer than the maximum model length of (?P<limit>\d+)",  # vLLM
        r"input \((?P<given>\d+) tokens\) is longer than the model's context length \((?P<limit>\d+)",  # SGLang
        r"maximum context length of (?P<limit>\d+) tokens",  # SGLang
        r"context_length_exceeded|exceed_context_size|maximum context length",
    )
]


def refusal(status: int, body: str, headers: Mapping[str, str], host: str) -> ModelError:
    """The error for an HTTP answer that is no success. `host`: how to name the endpoint, without secrets."""
    text = _text_of(body)
    if status in (401, 403):
        return EndpointRefused(
            f"The model endpoint at {host} refused the token ({status}): set a token that it accepts "
            "(a Hugging Face token is sent to Hugging Face only)."
        )
    if overflow := _overflow(text, _numbers_of(body)):
        return overflow
    if status == 413:
        return ContextOverflow(
            f"The model endpoint at {host} takes no request as large as this one (413): shorten what is sent."
        )
    if status in (408, 424, 429) or status >= 500:
        wait = retry_after(headers)
        hint = f" and asks to wait {wait:.0f} s" if wait else ""
        what = {429: "is overloaded", 503: "is not ready"}.get(status, "failed")
        return EndpointBusy(
            f"The model endpoint at {host} {what} ({status}){hint}: try again later{_quote(text)}.", wait
        )
    if 300 <= status < 400:
        target = headers.get("location", "another address")
        return EndpointRefused(
            f"The model endpoint at {host} redirects ({status}): use {_without_secrets(target)} instead."
        )
    if status == 404:
        return EndpointRefused(
            f"The model endpoint at {host} knows no such model or route (404): check its address and the model's name{_quote(text)}."
        )
    return EndpointRefused(
        f"The model endpoint at {host} refused the request ({status}): change it{_quote(text)}."
    )


def without_token(text: str, token: str) -> str:
    """The body of an answer without the token of the request, which a gateway may repeat in it."""
    return text.replace(token, "[token]") if len(token) > 4 else text


def error_in_stream(error: Any, host: str, token: str) -> ModelError:
    """The error for an error event inside a stream; its status code means nothing, its message does.

    `token`: of the request, which is not repeated.
    """
    text = without_token(_text_of(json.dumps({"error": error})), token)
    if overflow := _overflow(text, error if isinstance(error, dict) else {}):
        return overflow
    return EndpointBusy(f"The model endpoint at {host} failed while it wrote: try again later{_quote(text)}.")


def is_loading(error: EndpointBusy) -> bool:
    """The server is up and loads its model: worth waiting for, however often it says so."""
    return bool(re.search(r"\b(loading|initializing|starting)\b", str(error), re.IGNORECASE))


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that the server asks to wait: `Retry-After` as seconds or as a date."""
    value = headers.get("retry-after", "").strip()
    if re.fullmatch(r"[0-9]+(\.[0-9]+)?", value):
        return min(float(value), _MOST_SECONDS)
    try:
        date = parsedate_to_datetime(value)
        date = date if date.tzinfo else date.replace(tzinfo=UTC)
        seconds = (date - datetime.now(UTC)).total_seconds()
    except (ValueError, TypeError, OverflowError):
        return None
    return min(max(0.0, seconds), _MOST_SECONDS)


def _overflow(text: str, numbers: Mapping[str, Any]) -> ContextOverflow | None:
    for pattern in _OVERFLOWS:
        if match := pattern.search(text):
            found = {**match.groupdict()}
            given = _number(numbers.get("n_prompt_tokens")) or _number(found.get("given"))
            limit = _number(numbers.get("n_ctx")) or _number(found.get("limit"))
            of = f" of {given:,} tokens" if given else ""
            into = f" of {limit:,}" if limit else ""
            return ContextOverflow(
                f"The prompt{of} does not fit the model's context{into}: shorten what is sent.", given, limit
            )
    return None


def _number(value: Any) -> int | None:
    """A count of tokens; a server may send any number of digits, in any script."""
    digits = str(value)[:20] if isinstance(value, str) or (isinstance(value, int) and value < 10**12) else ""
    return int(digits) if re.fullmatch("[0-9]{1,12}", digits) else None


def _numbers_of(body: str) -> Mapping[str, Any]:
    try:
        error = json.loads(body).get("error")
    except (ValueError, AttributeError, RecursionError):
        return {}
    return error if isinstance(error, dict) else {}


def _text_of(body: str) -> str:
    """The server's own words, in any of the shapes in use; type names included, they carry meaning."""
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        return "" if "<html" in body.lower() else valid(body[:_MOST_WORDS])
    parts: list[str] = []
    while isinstance(data, dict):
        parts += [
            str(data[key])
            for key in ("type", "error_type", "code", "message")
            if isinstance(data.get(key), str)
        ]
        data = data.get("error") or data.get("detail")
    if isinstance(data, str):
        parts.append(data)
    return valid(" ".join(part[:_MOST_WORDS] for part in reversed(parts))[:_MOST_WORDS])


def _quote(text: str) -> str:
    """The server's words as the tail of our sentence, on one line and short."""
    words = shown(text).rstrip(".")
    return f" (it says: {words})" if words else ""


def _without_secrets(url: str) -> str:
    return shown(re.sub(r"//[^/@]*@", "//", url[:_MOST_WORDS].split("?")[0]))
