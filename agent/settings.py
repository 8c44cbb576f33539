"""Every variable that the app understands, documented once, here.

Values come from the real environment, then from `.env` in the project folder.
Only `app.py` and the commands read this; the rooms below get plain values.
"""

import shlex
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from platformdirs import user_cache_path, user_data_path
from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    SecretStr,
    ValidationError,
    field_validator,
)
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from agent.errors import SettingsError

PROJECT = Path(__file__).resolve().parent.parent
ROUTER_URL = "https://router.huggingface.co/v1"


def _http_url(value: str) -> str:
    parts = urlsplit(value)
    if value and (parts.scheme not in ("http", "https") or not parts.hostname or parts.port == 0):
        raise ValueError("no http address")
    return value.rstrip("/")


def _capitals(value: Any) -> Any:
    return value.upper() if isinstance(value, str) else value


def _existing_file(value: Path | None) -> Path | None:
    if value is not None and not value.is_file():
        raise ValueError("no such file")
    return value


def _existing_folder(value: Path) -> Path:
    if not value.is_dir():
        raise ValueError("no such folder")
    return value


def _var(default: Any, doc: str, accepts: str, **limits: Any) -> Any:
    """One variable: its default, one line on what it is for, and what it accepts."""
    return Field(default=default, description=doc, json_schema_extra={"accepts": accepts}, **limits)


def _command_line(value: str) -> str:
    shlex.split(value)  # its ValueError says what is wrong, such as a quote that is not closed
    return value


def _listed(value: Any) -> Any:
    """ "8443, 8000" as two."""
    return [part for part in value.replace(",", " ").split() if part] if isinstance(value, str) else value


def _proxy_url(value: SecretStr | None) -> SecretStr | None:
    if value is not None:
        parts = urlsplit(value.get_secret_value())
        if parts.scheme != "http" or not parts.hostname or not parts.port or parts.path.strip("/"):
            raise ValueError("no http://host:port of a proxy")
    return value


def _token(value: SecretStr | None) -> SecretStr | None:
    text = value.get_secret_value() if value else ""
    if not (text.isascii() and text.isprintable()):
        raise ValueError("it holds a line break or a character that no token has")
    return value


HttpUrl = Annotated[str, AfterValidator(_http_url)]
CommandLine = Annotated[str, AfterValidator(_command_line)]
Port = Annotated[int, Field(ge=1, le=65535)]
Ports = Annotated[tuple[Port, ...], NoDecode, BeforeValidator(_listed)]
Names = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_listed)]
Token = Annotated[SecretStr | None, AfterValidator(_token)]
ProxyUrl = Annotated[SecretStr | None, AfterValidator(_proxy_url)]
ExistingFile = Annotated[Path | None, AfterValidator(_existing_file)]
ExistingFolder = Annotated[Path, AfterValidator(_existing_folder)]


class Settings(BaseSettings):
    """The app's configuration. The variable of a field is its name in capitals."""

    model_config = SettingsConfigDict(
        env_file=PROJECT / ".env",
        env_ignore_empty=True,
        extra="ignore",
        frozen=True,
        hide_input_in_errors=True,
    )

    @field_validator("*", mode="before")
    @classmethod
    def _tidied(cls, value: Any) -> Any:
        """A secret pasted into a form often ends with a line break, and `.env` is read by no shell."""
        value = value.strip() if isinstance(value, str) else value
        return str(Path(value).expanduser()) if isinstance(value, str) and value.startswith("~/") else value

    tgi_url: HttpUrl = _var(
        "", "Endpoint of the model: TGI or any OpenAI-compatible server", "an http(s) address"
    )
    tgi_token: Token = _var(None, "Token for that endpoint", "a text")
    hf_token: Token = _var(
        None, "Hugging Face token; without TGI_URL the Inference Providers router is used with it", "a text"
    )
    model_id: str = _var("", "Which model to ask for, where the endpoint serves several", "a model name")
    embedded_gguf: ExistingFile = _var(
        None, "The embedded model's file, if you have it already", "a path to a file"
    )
    embedded_context: int = _var(
        8192, "Context of the embedded model, tokens", "2048 to 32768", ge=2048, le=32768
    )
    prompt_profile: Literal["auto", "compact", "full"] = _var(
        "auto", "Which prompt the agent uses; auto takes compact for small models", "auto, compact or full"
    )
    max_steps: int = _var(12, "Steps a run may take", "1 to 100", ge=1, le=100)
    plan: bool = _var(False, "Ask the model for a plan before its first step", "0 or 1")
    memory_steps: int = _var(
        0,
        "How many of its newest steps the model is shown again; 0 for all that its context holds",
        "0 to 100",
        ge=0,
        le=100,
    )
    evidence_check: bool = _var(
        True, "Look up each quote in its page, and find the sources of an answer that names none", "0 or 1"
    )
    max_reply_tokens: int | None = _var(
        None,
        "Tokens the model may write in one step, its reasoning included; unset, the prompt profile decides",
        "128 to 32768",
        ge=128,
        le=32768,
    )
    run_seconds: float = _var(900, "Seconds a run may take", "10 to 86400", ge=10, le=86400)
    step_seconds: float = _var(
        30, "Seconds the code of one step may compute, tool time excluded", "1 to 600", ge=1, le=600
    )
    step_cpu_seconds: float = _var(
        30, "Seconds of CPU time the code of one step may use", "1 to 600", ge=1, le=600
    )
    step_grace_seconds: float = _var(
        1,
        "Seconds an interrupted step may take to unwind before its box is ended",
        "0.1 to 10",
        ge=0.1,
        le=10,
    )
    step_output_chars: int = _var(
        20_000,
        "Characters of output kept of one step",
        "1000 to 1000000",
        ge=1000,
        le=1_000_000,
    )
    step_tool_calls: int = _var(60, "Tool calls the code of one step may make", "1 to 10000", ge=1, le=10_000)
    step_figures: int = _var(10, "Figures one step may show", "0 to 100", ge=0, le=100)
    figure_kb: int = _var(1024, "Size of one figure, KB", "16 to 1400", ge=16, le=1400)
    image_megapixels: float = _var(8, "Pixels of one image or figure, millions", "0.1 to 100", ge=0.1, le=100)
    value_kb: int = _var(
        1024,
        "What one call may carry between the code and a tool, arrays and images not counted, KB",
        "64 to 2048",
        ge=64,
        le=2048,
    )
    value_mb: int = _var(16, "Arrays, images and bytes that one call may carry, MB", "1 to 256", ge=1, le=256)
    value_nesting: int = _var(24, "Depth of lists in lists that one call may carry", "4 to 64", ge=4, le=64)
    scratch_mb: int = _var(
        16, "Files the code may write, kept in its box's memory, MB in all", "0 to 1024", ge=0, le=1024
    )
    scratch_files: int = _var(100, "Files the code may write", "0 to 10000", ge=0, le=10_000)
    box_memory_mb: int = _var(1024, "Memory of one box, MB", "256 to 65536", ge=256, le=65536)
    box_open_files: int = _var(
        128, "Files and pipes that one box may have open at once", "32 to 1024", ge=32, le=1024
    )
    sandbox: Literal["auto", "1", "2", "3", "4"] = _var(
        "auto", "Level of the sandbox; auto takes the strongest that holds here", "auto, 1, 2, 3 or 4"
    )
    sandbox_command: CommandLine = _var(
        "",
        "Runs the model's code behind this command, such as `docker run -i …`; e2b takes E2B's sandboxes",
        "a command line, or e2b",
    )
    e2b_api_key: SecretStr | None = _var(None, "Key for SANDBOX_COMMAND=e2b", "a text")
    e2b_template: str = _var("", "E2B template of the boxes; unset, E2B's own default", "a template's name")
    search: Literal["auto", "web", "library"] = _var(
        "auto", "Where to search; auto takes the web if it answers, and the library", "auto, web or library"
    )
    serper_api_key: SecretStr | None = _var(None, "Key of serper.dev, a search engine", "a text")
    brave_api_key: SecretStr | None = _var(None, "Key of Brave's Search API", "a text")
    tavily_api_key: SecretStr | None = _var(None, "Key of Tavily, a search engine", "a text")
    serpapi_api_key: SecretStr | None = _var(None, "Key of SerpAPI, a search engine", "a text")
    searxng_url: HttpUrl = _var(
        "", "A SearXNG of your own that gives JSON; a private address too", "an http(s) address"
    )
    vision_model: str = _var(
        "",
        "Model that looks at pictures and pages; asked at VISION_URL, else at TGI_URL or with HF_TOKEN",
        "a model name",
    )
    vision_url: HttpUrl = _var(
        "",
        "Endpoint of VISION_MODEL: any OpenAI-compatible server, a private address too",
        "an http(s) address",
    )
    vision_token: Token = _var(None, "Token for VISION_URL", "a text")
    transcription_url: HttpUrl = _var(
        "",
        "Server that transcribes recordings, with OpenAI's /v1/audio/transcriptions; a private address too",
        "an http(s) address",
    )
    transcription_model: str = _var("whisper-1", "Model that TRANSCRIPTION_URL is asked for", "a model name")
    transcription_token: Token = _var(None, "Token for TRANSCRIPTION_URL", "a text")
    library_dir: ExistingFolder = _var(
        PROJECT / "library", "Folder of your own documents", "a path to a folder"
    )
    embeddings_url: HttpUrl = _var(
        "",
        "Server of embeddings (TEI or any with the OpenAI API): the library is then searched by meaning too",
        "an http(s) address",
    )
    embeddings_model: str = _var(
        "", "Which model to ask for there; {kind} in it becomes query or passage", "a model name"
    )
    embeddings_token: Token = _var(None, "Token for that server", "a text")
    web_ports: Ports = _var((), "Ports of web pages that are opened besides 80, 443 and 8080", "port numbers")
    web_proxy: ProxyUrl = _var(
        None,
        "Proxy for every page; it must let CONNECT to port 80 through too",
        "http://user:password@host:port",
    )
    robots: Literal["off", "warn", "obey"] = _var(
        "warn", "What is done where a site's robots.txt asks programs not to read", "off, warn or obey"
    )
    host_seconds: float = _var(
        0.2,
        "Seconds between two requests to one host, those of all visitors together",
        "0 to 60",
        ge=0,
        le=60,
    )
    archive_retry: bool = _var(
        False, "Read the Internet Archive's copy of a page that answers 403 or 429", "0 or 1"
    )
    render: Literal["auto", "off"] = _var(
        "auto",
        "Whether the scripts of a page that is empty without them are run; auto does it where Chromium is",
        "auto or off",
    )
    render_seconds: float = _var(20, "Seconds that one page may take to render", "2 to 120", ge=2, le=120)
    render_memory_mb: int = _var(
        2048, "Memory of Chromium in all, MB; one page gets half of it", "512 to 65536", ge=512, le=65536
    )
    render_idle_seconds: float = _var(
        60, "Seconds after which a Chromium that no page needs is closed", "0 to 86400", ge=0, le=86400
    )
    page_cache_hours: float = _var(
        24,
        "Hours for which a page that was read is not fetched again; 0 for none",
        "0 to 8760",
        ge=0,
        le=8760,
    )
    allow_local_web: bool = _var(False, "Let the browser open private addresses; for tests only", "0 or 1")
    data_dir: Path = _var(user_data_path("open-deep-research"), "Where runs and pages are kept", "a path")
    runs_mb: int = _var(
        10_000,
        "Runs and pages that are kept, MB; beyond it the oldest runs go. 0 for no limit",
        "0 up",
        ge=0,
    )
    cache_dir: Path = _var(
        user_cache_path("open-deep-research"),
        "Where the embedded model and the library's index are kept",
        "a path",
    )
    ray_address: str = _var(
        "", "Head of the Ray cluster that evaluations run on with --engine ray", "host:port"
    )
    max_sessions: int = _var(
        8, "Visitors served at once; one who is idle makes room", "1 to 1000", ge=1, le=1000
    )
    max_waiting: int = _var(
        20, "Questions that may wait in line for a place among those", "0 to 1000", ge=0, le=1000
    )
    session_seconds: float = _var(1800, "Idle seconds after which a visitor's box is freed", "60 up", ge=60)
    max_question_chars: int = _var(8000, "Longest question", "100 to 100000", ge=100, le=100000)
    max_file_mb: int = _var(20, "Largest uploaded file, MB", "1 to 500", ge=1, le=500)
    app_host: str = _var("127.0.0.1", "Address the page listens on", "an address of this machine")
    host_names: Names = _var(
        (),
        "Names under which a page that only this machine reaches is reached too, as behind a proxy",
        "host names",
    )
    port: int = _var(7860, "Port of the page", "1 to 65535", ge=1, le=65535)
    space_id: str = _var("", "Set by Hugging Face on a Space; the sandbox then fails closed", "a text")
    log_level: Annotated[Literal["DEBUG", "INFO", "WARNING", "ERROR"], BeforeValidator(_capitals)] = _var(
        "INFO", "How much the log says", "DEBUG, INFO, WARNING or ERROR"
    )


def load_settings() -> Settings:
    """The settings of this process; SettingsError names the first wrong variable and what it accepts."""
    try:
        _refuse_other_encodings()
        return Settings()
    except (OSError, UnicodeError) as error:
        raise SettingsError(
            "The file .env in the project folder cannot be read: save it as UTF-8 text, or remove it."
        ) from error
    except ValidationError as error:
        first = error.errors()[0]
        name = str(first["loc"][0]).lower()
        extra = Settings.model_fields[name].json_schema_extra
        accepts = extra["accepts"] if isinstance(extra, dict) else ""
        # What pydantic says of a number or a choice, `accepts` says in better words.
        ours = first.get("ctx", {}).get("error")
        why = f" ({ours})" if ours else ""
        raise SettingsError(
            f"{name.upper()} has a value that cannot be used{why}: it takes {accepts}; correct it or unset it."
        ) from None


def _refuse_other_encodings() -> None:
    """UTF-16 without its mark is valid UTF-8 full of NULs, in which no variable would be found."""
    file = Settings.model_config.get("env_file")
    if isinstance(file, Path) and file.is_file() and b"\0" in file.read_bytes():
        raise UnicodeError("a NUL in a text")


def variables() -> list[tuple[str, str, str, str]]:
    """Name, default, what it accepts and what it is for, a row for each variable; the README's table."""
    rows = []
    for name, field in Settings.model_fields.items():
        extra = field.json_schema_extra
        default = field.default
        if isinstance(default, Path):
            default = (
                default.relative_to(PROJECT) if default.is_relative_to(PROJECT) else "the user's own folder"
            )
        shown = (
            "" if default in (None, "", ()) else str(int(default) if isinstance(default, bool) else default)
        )
        rows.append(
            (
                name.upper(),
                shown,
                str(extra["accepts"]) if isinstance(extra, dict) else "",
                field.description or "",
            )
        )
    return rows


def variables_table() -> str:
    """The README's table of variables, as Markdown."""
    rows = ["| variable | default | accepts | what for |", "|---|---|---|---|"]
    rows += [f"| `{name}` | {default} | {accepts} | {what} |" for name, default, accepts, what in variables()]
    return "\n".join(rows)


if __name__ == "__main__":
    import sys

    sys.stdout.write(variables_table() + "\n")
