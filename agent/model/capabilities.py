"""What a model server is and allows, asked from the server itself.

TGI tells it at /info, llama.cpp at /props, and everything else that speaks the
chat API (vLLM, SGLang, Ollama, the Hugging Face router …) at /v1/models.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import httpx2

from agent.errors import EndpointRefused
from agent.model.connection import host_of, http_client, unreachable
from agent.model.refusals import refusal, words_of


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
    """
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
    """
    at = routes(base_url)
    with http_client(at.root, httpx2.Timeout(timeout)) as client:
        client.headers["Authorization"] = f"Bearer {token_for(at.chat, token)}"
        info = _asked(client, f"{at.root}/info")
        if "model_id" in info and ("max_total_tokens" in info or "max_input_tokens" in info):
            # TGI shows /info to everybody; /tokenize wants the token, and costs nothing.
            _asked(client, f"{at.root}/tokenize", {"inputs": "a"})
            return _of_tgi(info, model_id)
        props = _asked(client, f"{at.root}/props")
        if "default_generation_settings" in props:
            return _of_llama(props)
        models = _asked(client, at.models, last=True).get("data")
    if not isinstance(models, list) or not models:
        raise _no_endpoint(base_url)
    return _of_list([entry for entry in models if isinstance(entry, dict)], model_id, host_of(base_url))


def _no_endpoint(base_url: str) -> EndpointRefused:
    return EndpointRefused(
        f"The server at {host_of(base_url)} is no model endpoint (it knows none of /info, /props and /v1/models): "
        "check the address."
    )


def _asked(
    client: httpx2.Client, url: str, post: Mapping[str, Any] | None = None, last: bool = False
) -> Mapping[str, Any]:
    """The JSON object that the route gives, empty when the server has no such route.

    A wrong token and a server that is not ready concern every route; what else is
    wrong with one (a gateway's 403, a redirect to a login) says nothing of the `last`.
    """
    try:
        response = client.request("POST" if post else "GET", url, json=post)
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
        raise unreachable(error, url) from error
    if response.status_code == 404 and last:
        raise _no_endpoint(url)
    if response.status_code in (401, 503) or (last and not response.is_success):
        raise refusal(response.status_code, words_of(response), response.headers, host_of(url))
    try:
        data = response.json() if response.is_success else {}
    except ValueError:
        return {}
    return data if isinstance(data, dict) else {}


def _of_tgi(info: Mapping[str, Any], model_id: str | None) -> Capabilities:
    name = str(info["model_id"])
    # Any other name is taken for a LoRA adapter.
    adapter = model_id if model_id not in (None, "", "tgi", name) else None
    return Capabilities(
        server="tgi",
        model_id=adapter or "tgi",
        name=_short(name) + (f" ({adapter})" if adapter else ""),
        context_tokens=_whole(info.get("max_total_tokens")),
        max_stop_sequences=_whole(info.get("max_stop_sequences")),
        sees_images=info.get("model_pipeline_tag") == "image-text-to-text",
        version=str(info.get("version") or ""),
        max_input_tokens=_whole(info.get("max_input_tokens")),
    )


def _of_llama(props: Mapping[str, Any]) -> Capabilities:
    name = str(props.get("model_alias") or _short(str(props.get("model_path") or "")) or "llama.cpp")
    return Capabilities(
        server="llama.cpp",
        model_id=name,
        name=name,
        context_tokens=_whole(props["default_generation_settings"].get("n_ctx")),
        sees_images=bool((props.get("modalities") or {}).get("vision")),
        version=str(props.get("build_info") or ""),
    )


def _of_list(models: list[dict[str, Any]], model_id: str | None, host: str) -> Capabilities:
    by_id = {str(model.get("id")): model for model in models}
    wanted = model_id or (next(iter(by_id)) if len(by_id) == 1 else None)
    # The Hugging Face router takes a provider behind the name: "owner/model:provider".
    model = by_id.get(wanted or "") or by_id.get((wanted or "").partition(":")[0])
    if wanted is None or model is None:
        problem = f"knows no model {wanted!r}" if wanted else f"serves {len(by_id)} models"
        some = ", ".join(list(by_id)[:5]) + (" …" if len(by_id) > 5 else "")
        raise EndpointRefused(f"The model endpoint at {host} {problem}: name one of its models ({some}).")
    provided = [_whole(provider.get("context_length")) for provider in model.get("providers") or ()]
    context = _whole(model.get("max_model_len")) or _whole(model.get("context_length"))
    modalities = (model.get("architecture") or {}).get("input_modalities") or ()
    return Capabilities(
        server="openai",
        model_id=wanted,
        name=_short(wanted),
        context_tokens=context or min((length for length in provided if length), default=None),
        sees_images="image" in modalities,
    )


def _whole(value: Any) -> int | None:
    """A count that the server told; anything that is no positive whole number tells nothing."""
    return value if isinstance(value, int) and value > 0 else None


def _short(name: str) -> str:
    """A model's name for people: of a path on the server's disk only the last part."""
    return name.rstrip("/").rpartition("/")[2].removesuffix(".gguf") if name.startswith(("/", ".")) else name
