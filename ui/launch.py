"""Serving the page, with every door of Gradio closed that this app does not need."""

import socket
from errno import EADDRNOTAVAIL

import gradio as gr

from agent.errors import SettingsError
from ui.theme import head, theme


def need_free_port(host: str, port: int) -> None:
    """SettingsError when the page cannot listen there; asked first, so that nobody waits for a model in vain."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise _taken(host, port, error) from error


def _taken(host: str, port: int, error: OSError) -> SettingsError:
    if error.errno == EADDRNOTAVAIL:
        return SettingsError(
            f"APP_HOST names {host}, which is no address of this machine: correct it or unset it."
        )
    return SettingsError(
        f"The page cannot listen on port {port} of {host} ({error.strerror or 'it is taken'}):"
        " set PORT to a free one, or end the program that has it."
    )


def launch(blocks: gr.Blocks, host: str, port: int, max_file_mb: int) -> str:
    """Serve the page in the background; its address."""
    try:
        _, address, _ = blocks.launch(
            server_name=host,
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
            footer_links=[],
            theme=theme(),
            head=head(),
        )
    except OSError as error:
        raise _taken(host, port, error) from error
    return str(address)
