"""What all sessions share: the model, the search, the boxes and the store; built once from the settings."""

import importlib.util
import logging
import re
import shlex
import sqlite3
import threading
import time
from collections.abc import Callable, Container
from concurrent.futures import Future, wait
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from agent.box_limits import box_limits
from agent.errors import EndpointBusy, ModelError, SettingsError, Stopped
from agent.model.capabilities import Capabilities, read_capabilities
from agent.model.embedded import EmbeddedServer, fetch_model
from agent.model.endpoint import EndpointModel
from agent.model.pauses import Pauses, so_far
from agent.orphans import end_orphans
from agent.profile import Profile, load_profile, profile_for, without_code
from agent.sandbox.command import Command, through_e2b
from agent.sandbox.level import SMALL
from agent.sandbox.pool import BoxPool
from agent.sandbox.probe import choose_level
from agent.sandbox.wire.limits import Limits
from agent.senses import senses_of
from agent.settings import ROUTER_URL, Settings
from agent.store import Store
from agent.web import build_library, build_search, manners_of, renderer_of
from lock.process import hide_process
from tools.manners import Closed, Manners, all_open
from tools.rendering.renderer import Renderer
from tools.search.chain import SearchChain
from tools.search.library import Library
from tools.senses import Senses

log = logging.getLogger(__name__)

Progress = Callable[[int, int, str], None]

_ROUTER_MODEL = "Qwen/Qwen2.5-Coder-32B-Instruct"
_BILLIONS = re.compile(r"(?<![A-Za-z0-9.])(\d+(?:\.\d+)?)[bB](?![A-Za-z])")
_DEFAULT_CONTEXT = 8192
_WAKE_SECONDS = 600.0
# How long a Stop may go unnoticed while the server is silent.
_NOTICED_SECONDS = 0.05


@dataclass(frozen=True)
class Status:
    """What is in force now, in short words for the page; `notices` are sentences about what is limited."""

    model: str
    search: str
    sandbox: str
    notices: list[str] = field(default_factory=list)


class Endpoint:
    """The model server in use. It may be down at the start and come back: it is asked again when needed."""

    def __init__(
        self, url: str, token: str | None, model_id: str | None, embedded: EmbeddedServer | None
    ) -> None:
        self.url = url
        self.token = token
        self.embedded = embedded
        self._model_id = model_id
        self._lock = threading.Lock()
        self._capabilities: Capabilities | None = None
        self.problem = ""

    def capabilities(self, timeout: float = 10) -> Capabilities:
        """What the server is and allows, asked once it answers. Raises ModelError.

        An embedded server that has died is started again.
        """
        with self._lock:
            if self.embedded is not None and not self.embedded.alive:
                self.url = self.embedded.start()
            if self._capabilities is None:
                try:
                    self._capabilities = read_capabilities(self.url, self.token, self._model_id, timeout)
                    self.problem = ""
                except ModelError as error:
                    self.problem = str(error)
                    raise
            return self._capabilities

    def wait_until_ready(self, cancel: threading.Event, on_wait: Callable[[str], None]) -> None:
        """Wait for a server that wakes up or is busy, as HF Endpoints do. Raises ModelError and Stopped."""
        begun, pauses = time.monotonic(), Pauses()
        while True:
            if self.embedded is not None and not self.embedded.alive:
                on_wait("The model's server on this machine is started again, which takes some seconds.")
            try:
                self._asked(cancel)
                return
            except EndpointBusy as error:
                pause, waited = pauses.next(error.retry_after), time.monotonic() - begun
                if waited + pause > _WAKE_SECONDS:
                    raise
            on_wait(
                "The model is not ready yet, it may be waking up;"
                f" asking again in {pause:.0f} s{so_far(waited)}."
            )
            if cancel.wait(pause):
                raise Stopped("The run was stopped.")

    def _asked(self, cancel: threading.Event) -> None:
        """Ask the server in a thread, which is left behind when the run is stopped: it may be silent for long."""
        answer: Future[Capabilities] = Future()

        def ask() -> None:
            try:
                answer.set_result(self.capabilities())
            except BaseException as error:  # noqa: BLE001 - raised where the answer is waited for
                answer.set_exception(error)

        threading.Thread(target=ask, name="model-probe", daemon=True).start()
        while not wait([answer], _NOTICED_SECONDS).done:
            if cancel.is_set():
                raise Stopped("The run was stopped.")
        answer.result()

    @property
    def name(self) -> str:
        known = self._capabilities
        return known.name if known else (self._model_id or "not reached yet")


class Services:
    """Built by `build_services`; closed when the app ends."""

    def __init__(
        self,
        settings: Settings,
        endpoint: Endpoint,
        store: Store,
        library: Library,
        search: SearchChain,
        pool: BoxPool,
        limits: Limits,
        manners: Manners | None = None,
        renderer: Renderer | None = None,
        senses: Senses | None = None,
    ) -> None:
        self.settings = settings
        self.endpoint = endpoint
        self.store = store
        self.library = library
        self.search = search
        self.pool = pool
        self.limits = limits
        self.manners = manners or Manners()
        self.renderer = renderer
        self.senses = senses or Senses()
        self.tools: Container[str] | None = None
        """Names of the tools that a session gets; None for all. A comparison gives each side the same few."""

    def model(self) -> tuple[EndpointModel, Profile, int | None]:
        """A model for one run, the profile that suits it, and the longest prompt. Raises ModelError."""
        capabilities = self.endpoint.capabilities()
        wanted, context = self.settings.prompt_profile, capabilities.context_tokens
        profile = load_profile(profile_for(wanted, context, _billions(capabilities.name)))
        if not self.pool.level.runs_code:
            profile = without_code(profile)
        reply = self.settings.max_reply_tokens or profile.reply_tokens
        url, embedded = self.endpoint.url, self.endpoint.embedded
        model = EndpointModel(url, capabilities, token=self.endpoint.token, max_tokens=reply)
        if embedded is not None:
            model.lost = partial(embedded.gone, url)
        return model, profile, capabilities.prompt_tokens(reply) or _DEFAULT_CONTEXT - reply

    def status(self) -> Status:
        notices = []
        if self.endpoint.embedded is not None:
            notices.append(
                "A small model on this machine, good for trying the app. Set TGI_URL for real research."
            )
        if self.endpoint.problem:
            notices.append(self.endpoint.problem)
        search = self.search.status()
        if self.search.web_is_down:
            instead = "nothing can be" if self.search.mode == "web" else "only the library is"
            notices.append(f"The web does not answer from here, so {instead} searched.")
        if self.pool.level.number >= SMALL.number:
            notices.append(self.pool.level.reason)
        return Status(self.endpoint.name, search, str(self.pool.level), notices)

    def close(self) -> None:
        self.pool.close()
        if self.renderer is not None:
            self.renderer.close()
        if self.endpoint.embedded is not None:
            self.endpoint.embedded.close()
        self.library.close()
        self.store.close()


def build_services(
    settings: Settings,
    progress: Progress = lambda done, total, source: None,
    *,
    closed: Closed = all_open,
) -> Services:
    """Everything that a session needs, ready to use. `closed`: what is neither found nor read on the web.

    The embedded model is fetched first if it is the one to use; `progress` is
    told (bytes done, bytes in all, from where). Raises SettingsError,
    ModelFileError and SandboxError; an endpoint that is down is no error yet.
    """
    hide_process()
    command = sandbox_command(settings)
    senses = senses_of(settings)
    store = _store(settings.data_dir, settings.page_cache_hours * 3600, settings.runs_mb << 20)
    level = choose_level(
        None if settings.sandbox == "auto" else int(settings.sandbox),
        fail_closed=bool(settings.space_id),
        command=command,
    )
    library = build_library(settings)
    library.start()
    manners = manners_of(settings, closed)
    search = build_search(settings, library, manners)
    search.probe()
    endpoint = _endpoint(settings, progress)
    try:
        endpoint.capabilities(timeout=5)
    except ModelError as error:
        log.warning("the model endpoint cannot be used yet: %s", error)
    pool = BoxPool(level, command=command)
    limits, renderer = box_limits(settings), renderer_of(settings)
    return Services(settings, endpoint, store, library, search, pool, limits, manners, renderer, senses)


def sandbox_command(settings: Settings) -> Command | None:
    words = shlex.split(settings.sandbox_command)
    if words != ["e2b"]:
        return Command(words) if words else None
    if settings.e2b_api_key is None or importlib.util.find_spec("e2b") is None:
        raise SettingsError(
            "SANDBOX_COMMAND=e2b lacks what it needs: run `pip install -r requirements-e2b.txt` and set E2B_API_KEY."
        )
    return through_e2b(settings.e2b_api_key.get_secret_value(), settings.e2b_template)


def _store(folder: Path, page_age: float, most_bytes: int) -> Store:
    try:
        store = Store(folder / "research.sqlite", page_age, most_bytes=most_bytes)
        end_orphans(store, "The app was ended while this run was going on; ask again.")
    except (OSError, sqlite3.Error) as error:
        raise SettingsError(
            f"The runs cannot be kept in DATA_DIR, {folder} ({error}): name a folder that can be written."
        ) from error
    return store


def named_endpoint(settings: Settings) -> Endpoint | None:
    """The endpoint that the settings name, None when the embedded model is the one to use."""
    tgi_token = settings.tgi_token.get_secret_value() if settings.tgi_token else None
    hf_token = settings.hf_token.get_secret_value() if settings.hf_token else None
    model_id = settings.model_id or None
    if settings.tgi_url:
        return Endpoint(settings.tgi_url, tgi_token or hf_token, model_id, None)
    if hf_token:
        return Endpoint(ROUTER_URL, hf_token, model_id or _ROUTER_MODEL, None)
    return None


def _endpoint(settings: Settings, progress: Progress) -> Endpoint:
    named = named_endpoint(settings)
    if named is not None:
        return named
    gguf = fetch_model(settings.cache_dir, settings.embedded_gguf, progress)
    server = EmbeddedServer(gguf, context_tokens=settings.embedded_context)
    return Endpoint(server.start(), None, None, server)


def _billions(name: str) -> float | None:
    """Parameters in billions, when the model's name tells: "Qwen2.5-Coder-1.5B-Instruct" -> 1.5."""
    found = _BILLIONS.findall(name)
    return float(found[-1]) if found else None
