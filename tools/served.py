"""What the models for pictures and for speech have in common.

The operator names their addresses, so that they are asked as the model
endpoint is, and not through the door for web pages.
"""

import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from dataclasses import dataclass, field
from typing import TypeVar
from urllib.parse import urlsplit

import httpx2
from huggingface_hub.errors import HfHubHTTPError, InferenceTimeoutError

from tools.errors import EndpointError

T = TypeVar("T")

_SLICE = 0.1
_SAID = 200


@dataclass(frozen=True)
class Served:
    """A model behind an OpenAI-compatible API. `url`: with or without /v1. `what`: what messages call it."""

    what: str
    url: str
    name: str
    token: str = field(default="", repr=False)
    seconds: float = 120.0

    def route(self, path: str) -> str:
        """The address of one function of the API, such as "chat/completions"."""
        base = self.url.rstrip("/").removesuffix(f"/{path}")
        return f"{base}/{path}" if base.endswith("/v1") else f"{base}/v1/{path}"

    @property
    def host(self) -> str:
        """The part of the address that may be shown."""
        return urlsplit(self.url).netloc.rpartition("@")[2]

    def asked(self, call: Callable[[], T], cancel: threading.Event) -> T:
        """What `call` gives; `cancel` lets go of it. Raises EndpointError, which names the host only."""
        answer: Future[T] = Future()

        def ask() -> None:
            try:
                answer.set_result(call())
            except BaseException as error:  # noqa: BLE001 - raised where the answer is waited for
                answer.set_exception(error)

        threading.Thread(target=ask, name="served-model", daemon=True).start()
        while not wait([answer], _SLICE).done:
            if cancel.is_set():
                raise self._failed("the run was stopped")
        try:
            return answer.result()
        except (HfHubHTTPError, httpx2.HTTPStatusError) as error:
            raise self._refused(error.response) from error
        except (InferenceTimeoutError, httpx2.TimeoutException) as error:
            raise self._failed(f"it took longer than {self.seconds:.0f} s") from error
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
            raise self._failed(f"no connection ({type(error).__name__})") from error
        except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
            raise self._failed("its answer is not in the form of its API") from error

    def _refused(self, response: httpx2.Response | None) -> EndpointError:
        status = response.status_code if response is not None else 0
        said = " ".join((response.text if response is not None else "").split())[:_SAID]
        if self.token:
            said = said.replace(self.token, "[token]")
        if status in (401, 403):
            return self._failed(f"it refused the token ({status})")
        if status == 429:
            return self._failed("it has had too many requests (429)")
        return self._failed(f"it answered {status}" + (f": {said}" if said else ""))

    def _failed(self, why: str) -> EndpointError:
        return EndpointError(
            f"The {self.what} at {self.host} gave nothing: {why}; go on without it, or try later."
        )
