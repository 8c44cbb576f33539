"""Serving the page, with every door of Gradio closed that this app does not need."""

import socket
from collections import Counter
from collections.abc import Sequence
from errno import EADDRNOTAVAIL, EAFNOSUPPORT
from ipaddress import ip_address
from pathlib import Path

from gradio.utils import get_upload_folder
from starlette.middleware import Middleware

from agent.attachments import MOST_FILES
from agent.errors import SettingsError
from ui.doors import Doors, Uploads
from ui.guarded import GuardedBlocks
from ui.theme import head, theme

# Calls of the API that are worked on at once, pages that follow a run included: each takes a place, hardly any a thread.
AT_ONCE = 400
# Gradio looks here whether a port is free, whatever host it is given.
_GRADIO_LOOKS = "127.0.0.1"
# Who listens on all addresses is reached from this machine at this one.
_ALL = {"0.0.0.0": "localhost", "::": "[::1]"}  # noqa: S104 - recognized, not bound


def host_in_url(host: str) -> str:
    """The host as it stands in an address: IPv6 in brackets."""
    bare = _bare(host)
    return _ALL.get(bare) or (f"[{bare}]" if _is_ipv6(bare) else bare)


def _bare(host: str) -> str:
    return host[1:-1] if host.startswith("[") and host.endswith("]") else host


def _is_ipv6(host: str) -> bool:
    try:
        return ip_address(host).version == 6
    except ValueError:
        return False


def need_free_port(host: str, port: int) -> None:
    """SettingsError when the page cannot listen there; asked first, so that nobody waits for a model in vain."""
    try:
        named = socket.getaddrinfo(_bare(host), port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError) as error:
        raise _not_ours(host) from error
    for family, place in [(named[0][0], named[0][4]), (socket.AF_INET, (_GRADIO_LOOKS, port))]:
        try:
            with socket.socket(family) as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                if family == socket.AF_INET6:
                    probe.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
                probe.bind(place)
        except OSError as error:
            raise _taken(host if place == named[0][4] else _GRADIO_LOOKS, port, error) from error


def _taken(host: str, port: int, error: OSError) -> SettingsError:
    if error.errno in (EADDRNOTAVAIL, EAFNOSUPPORT):
        return _not_ours(host)
    return SettingsError(
        f"The page cannot listen on port {port} of {host} ({error.strerror or 'it is taken'}):"
        " set PORT to a free one, or end the program that has it."
    )


def _not_ours(host: str) -> SettingsError:
    return SettingsError(
        f"APP_HOST names {host}, which is no address of this machine: correct it or unset it."
    )


def names_of(host: str, others: Sequence[str]) -> list[str]:
    """What the page may be called in a request; none for a page that other machines reach, under any name.

    A page of the web can have its own name lead to this machine, and would then
    read what only this machine may: so a page for this machine alone is strict.
    """
    bare = _bare(host)
    try:
        local = ip_address(bare).is_loopback
    except ValueError:
        local = bare == "localhost"
    return [name.lower() for name in ("localhost", "127.0.0.1", "::1", bare, *others)] if local else []


def launch(
    blocks: GuardedBlocks, host: str, port: int, max_file_mb: int, host_names: Sequence[str] = ()
) -> str:
    """Serve the page in the background; its address. `host_names`: others that a page on loopback is reached under."""
    uploads = Uploads.on_disk(Path(get_upload_folder()), MOST_FILES * max_file_mb << 20)
    blocks.listening = Counter()
    doors = Middleware(Doors, uploads=uploads, names=names_of(host, host_names), listening=blocks.listening)
    try:
        blocks.launch(
            server_name=f"[{_bare(host)}]" if _is_ipv6(_bare(host)) else host,
            server_port=port,
            prevent_thread_lock=True,
            quiet=True,
            share=False,
            inbrowser=False,
            show_error=False,
            strict_cors=True,
            ssr_mode=False,
            pwa=False,
            mcp_server=False,
            enable_monitoring=False,
            run_history=False,
            max_file_size=f"{max_file_mb}mb",
            state_session_capacity=1000,
            max_threads=AT_ONCE,
            footer_links=[],
            app_kwargs={"middleware": [doors]},
            theme=theme(),
            head=head(),
        )
    except OSError as error:
        raise _taken(host, port, error) from error
    return f"http://{host_in_url(host)}:{port}/"
