"""What a model server is and allows, asked from the server itself.

TGI tells it at /info, llama.cpp at /props, and everything else that speaks the
chat API (vLLM, SGLang, Ollama, the Hugging Face router …) at /v1/models.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import urlsplit

import httpx2

from agent.errors import EndpointRefused
from agent.model.connection import exchange, host_of, http_client
from agent.model.refusals import refusal, without_token
from agent.model.text import shown, valid

T = TypeVar("T", dict[str, Any], list[Any])


@dataclass(frozen=True)
class Capabilities:
    """A model server as the agent needs to know it; None where the server does not say.

    server: "tgi", "llama.cpp" or "openai" (anything else that speaks the chat API).
    model_id: what to send as "model". name: what to show a visitor.
    context_tokens: prompt and reply together. max_input_tokens: the prompt alone, where it has its own limit.
    """

    server: str
    model_id: str
    name: str
    context_tokens: int | None = None
    max_stop_sequences: int | None = None
    sees_images: bool = False
    version: str = ""
    max_input_tokens: int | None = None

    def prompt_tokens(self, reply_tokens: int) -> int | None:
        """The longest prompt that leaves room for a reply of `reply_tokens`."""
        limits = [self.max_input_tokens] if self.max_input_tokens else []
        if self.context_tokens:
            limits.append(self.context_tokens - reply_tokens)
        return min(limits, default=None)


@dataclass(frozen=True)
class Routes:
    """The addresses of one server, from any form in which people write its address."""

    root: str
    chat: str
    models: str


def routes(base_url: str) -> Routes:
    """`http://host`, `http://host/v1` and `http://host/v1/chat/completions` are the same server."""
    url = base_url.strip().rstrip("/")
    if "://" not in url:
        raise EndpointRefused("The model endpoint's address must begin with http:// or https://: add it.")
    url = url.removesuffix("/chat/completions")
    api = url if url.rpartition("/")[2] == "v1" else f"{url}/v1"
    return Routes(api.removesuffix("/v1"), f"{api}/chat/completions", f"{api}/models")


def token_for(base_url: str, token: str | None) -> str:
    """The token to send there: a Hugging Face token leaves for Hugging Face only, over https.

    Never empty: huggingface_hub replaces an empty one by the token of whoever is logged in.
    Raises EndpointRefused for one that no request can carry.
    """
    if token and not (token.isascii() and token.isprintable()):
        raise EndpointRefused(
            "The model endpoint's token holds a line break or a character that no token has: "
            "copy TGI_TOKEN (or HF_TOKEN) anew."
        )
    parts = urlsplit(base_url)
    host = (parts.hostname or "").lower()
    theirs = parts.scheme == "https" and (
        host == "huggingface.co" or host.endswith((".huggingface.co", ".endpoints.huggingface.cloud"))
    )
    return token if token and (theirs or not token.startswith("hf_")) else "none"


def read_capabilities(
    base_url: str, token: str | None, model_id: str | None = None, timeout: float = 10
) -> Capabilities:
    """Ask the server what it is. `model_id`: which of its models, where it has several.

    Raises EndpointUnreachable, EndpointBusy (also while it wakes up or loads) and
    EndpointRefused (a token, a model or an address that it does not know).
    `timeout`: seconds for each of the few requests, from its first byte to its last.
    """
    at = routes(base_url)
    with http_client(at.root, httpx2.Timeout(timeout)) as client:
        asks = _Asks(client, token_for(at.chat, token), timeout)
        info = asks(f"{at.root}/info")
        if "model_id" in info and ("max_total_tokens" in info or "max_input_tokens" in info):
            # TGI shows /info to everybody; /tokenize wants the token, and costs nothing.
            asks(f"{at.root}/tokenize", {"inputs": "a"})
            return _of_tgi(info, model_id)
        props = asks(f"{at.root}/props")
        if "default_generation_settings" in props:
            return _of_llama(props, host_of(base_url))
        data = asks(at.models, last=True).get("data")
    models = [entry for entry in data if isinstance(entry, dict)] if isinstance(data, list) else []
    if not models:
        raise _no_endpoint(base_url)
    return _of_list(models, model_id, host_of(base_url))


def _no_endpoint(base_url: str) -> EndpointRefused:
    return EndpointRefused(
        f"The server at {host_of(base_url)} is no model endpoint (it knows none of /info, /props and /v1/models): "
        "check the address."
    )


@dataclass(frozen=True)
class _Asks:
    """Asks one server after another thing, each within `seconds`."""

    client: httpx2.Client
    token: str
    seconds: float

    def __call__(
        self, url: str, post: Mapping[str, Any] | None = None, last: bool = False
    ) -> Mapping[str, Any]:
        """The JSON object that the route gives, empty when the server has no such route.

        A wrong token and a server that is not ready concern every route; what else is
        wrong with one (a gateway's 403, a redirect to a login) says nothing of the `last`.
        """
        self.client.headers["Authorization"] = f"Bearer {self.token}"
        answer = exchange(self.client, url, self.seconds, post)
        if answer.status == 404 and last:
            raise _no_endpoint(url)
        if answer.status in (401, 503) or (last and not answer.is_success):
            words = without_token(answer.body.decode(errors="replace"), self.token)
            raise refusal(answer.status, words, answer.headers, host_of(url))
        try:
            data = json.loads(answer.body) if answer.is_success else {}
        except (ValueError, RecursionError):
            return {}
        return data if isinstance(data, dict) else {}


def _shaped(value: Any, shape: type[T], field: str, host: str) -> T:
    """What the server says of one thing; nothing said is an empty one of that shape."""
    if value is None:
        return shape()
    if not isinstance(value, shape):
        raise EndpointRefused(
            f"The server at {host} describes itself as no model endpoint does (by its {field}): check the address."
        )
    return value


def _of_tgi(info: Mapping[str, Any], model_id: str | None) -> Capabilities:
    name = str(info["model_id"])
    # Any other name is taken for a LoRA adapter.
    adapter = model_id if model_id not in (None, "", "tgi", name) else None
    return Capabilities(
        server="tgi",
        model_id=adapter or "tgi",
        name=shown(_short(name)) + (f" ({adapter})" if adapter else ""),
        context_tokens=_whole(info.get("max_total_tokens")),
        max_stop_sequences=_whole(info.get("max_stop_sequences")),
        sees_images=info.get("model_pipeline_tag") == "image-text-to-text",
        version=shown(str(info.get("version") or "")),
        max_input_tokens=_whole(info.get("max_input_tokens")),
    )


def _of_llama(props: Mapping[str, Any], host: str) -> Capabilities:
    name = str(props.get("model_alias") or _short(str(props.get("model_path") or "")) or "llama.cpp")
    settings = "default_generation_settings"
    return Capabilities(
        server="llama.cpp",
        model_id=valid(name),
        name=shown(name),
        context_tokens=_whole(_shaped(props[settings], dict, settings, host).get("n_ctx")),
        sees_images=bool(_shaped(props.get("modalities"), dict, "modalities", host).get("vision")),
        version=shown(str(props.get("build_info") or "")),
    )


def _of_list(models: list[dict[str, Any]], model_id: str | None, host: str) -> Capabilities:
    by_id = {valid(str(model.get("id"))): model for model in models}
    wanted = model_id or (next(iter(by_id)) if len(by_id) == 1 else None)
    # The Hugging Face router takes a provider behind the name: "owner/model:provider".
    model = by_id.get(wanted or "") or by_id.get((wanted or "").partition(":")[0])
    if wanted is None or model is None:
        problem = f"knows no model {shown(wanted)!r}" if wanted else f"serves {len(by_id)} models"
        some = ", ".join(shown(name, 80) for name in list(by_id)[:5]) + (" …" if len(by_id) > 5 else "")
        raise EndpointRefused(f"The model endpoint at {host} {problem}: name one of its models ({some}).")
    providers = _shaped(model.get("providers"), list, "providers", host)
    provided = [_whole(each.get("context_length")) for each in providers if isinstance(each, dict)]
    context = _whole(model.get("max_model_len")) or _whole(model.get("context_length"))
    architecture = _shaped(model.get("architecture"), dict, "architecture", host)
    modalities = _shaped(architecture.get("input_modalities"), list, "input_modalities", host)
    return Capabilities(
        server="openai",
        model_id=wanted,
        name=shown(_short(wanted)),
        context_tokens=context or min((length for length in provided if length), default=None),
        sees_images="image" in modalities,
    )


def _whole(value: Any) -> int | None:
    """A count that the server told; anything that is no positive whole number tells nothing."""
    return value if type(value) is int and 0 < value < 10**12 else None


def _short(name: str) -> str:
    """A model's name for people: of a path on the server's disk only the last part."""
    return name.rstrip("/").rpartition("/")[2].removesuffix(".gguf") if name.startswith(("/", ".")) else name
