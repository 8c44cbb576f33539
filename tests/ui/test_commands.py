"""`python app.py` and `python -m ui.terminal` as processes: what they print, and how they end."""

import re
import signal
import socket
import subprocess
import sys

import httpx
import pytest

from tests.ipv6 import needs_ipv6
from tests.scripted_endpoint import ScriptedEndpoint
from tests.ui.conftest import PROJECT, free_port, start

pytestmark = pytest.mark.ui


def test_a_taken_port_is_named_in_one_sentence(environment: dict[str, str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        app = start(environment, "app.py", PORT=port)
        out, err = app.communicate(timeout=110)
    assert app.returncode == 1
    assert out == ""
    assert re.fullmatch(
        rf"The page cannot listen on port {port} of 127\.0\.0\.1 \(.+\): set PORT to a free one, .+\.\n", err
    )


def test_a_wrong_variable_is_named_in_one_sentence(environment: dict[str, str]) -> None:
    app = start(environment, "app.py", PORT="seven")
    _out, err = app.communicate(timeout=110)
    assert app.returncode == 1
    assert err.startswith("PORT has a value that cannot be used") and err.count("\n") == 1


@pytest.mark.parametrize(
    ("host", "shown"),
    [
        ("127.0.0.1", "127.0.0.1"),
        pytest.param("::1", "[::1]", marks=needs_ipv6),
        pytest.param("::", "[::1]", marks=needs_ipv6),
    ],
)
def test_the_app_prints_its_address_serves_there_and_ends_when_told_to(
    environment: dict[str, str], endpoint: ScriptedEndpoint, host: str, shown: str
) -> None:
    port = free_port()
    app = start(environment, "app.py", APP_HOST=host, PORT=str(port), TGI_URL=endpoint.url)
    assert app.stderr is not None
    try:
        line = next(line for line in app.stderr if "http://" in line)
        assert line == f"Open Deep Research is at http://{shown}:{port}/\n"
        page = httpx.get(f"http://{shown}:{port}/", trust_env=False)
        assert page.status_code == 200 and "Content-Security-Policy" in page.text
    finally:
        app.send_signal(signal.SIGTERM)
        app.communicate(timeout=60)
    assert app.returncode == 0


def test_the_terminal_prints_the_answer_alone_on_standard_output(
    environment: dict[str, str], endpoint: ScriptedEndpoint
) -> None:
    ask = start(environment, "-m", "ui.terminal", "When was the Suez Canal opened?", TGI_URL=endpoint.url)
    out, err = ask.communicate(timeout=110)
    assert ask.returncode == 0, err
    assert out.startswith("The Suez Canal, in 1869 [1].\n[1] ")
    assert "Step 2" in err and "read 1 page" in err and "Answered · 3 steps" in err


def test_the_terminal_says_in_one_line_why_there_is_no_answer(environment: dict[str, str]) -> None:
    ask = start(environment, "-m", "ui.terminal", "Why?", TGI_URL=f"http://127.0.0.1:{free_port()}")
    out, err = ask.communicate(timeout=110)
    assert ask.returncode == 1
    assert out == ""
    assert "Traceback" not in err
    assert err.rstrip().splitlines()[-1].startswith("No answer: ")
    empty = start(environment, "-m", "ui.terminal", " ", TGI_URL=f"http://127.0.0.1:{free_port()}")
    out, err = empty.communicate(timeout=110)
    assert empty.returncode == 1 and "The question is empty" in err


def test_ctrl_c_stops_the_run_in_the_terminal_and_ends_its_telling(
    environment: dict[str, str], endpoint: ScriptedEndpoint
) -> None:
    ask = start(environment, "-m", "ui.terminal", "Think slowly about the Orme.", TGI_URL=endpoint.url)
    assert ask.stderr is not None
    seen = ""
    while "word word" not in seen:
        seen += ask.stderr.read(1)
    ask.send_signal(signal.SIGINT)
    _, err = ask.communicate(timeout=60)
    assert ask.returncode == 130
    assert "Stopped by you" in err and "Traceback" not in err


@pytest.mark.parametrize(("where", "said"), [(">/dev/full", 1), ("| true", 0)])
def test_an_answer_that_nobody_takes_ends_without_a_traceback(
    environment: dict[str, str], endpoint: ScriptedEndpoint, where: str, said: int
) -> None:
    line = f'set -o pipefail; "{sys.executable}" -m ui.terminal How many moons has Mars? {where}'
    done = subprocess.run(
        ["bash", "-c", line],
        cwd=PROJECT,
        env=environment | {"TGI_URL": endpoint.url},
        capture_output=True,
        text=True,
        timeout=110,
    )
    assert done.returncode == 1
    assert "Traceback" not in done.stderr and "Exception ignored" not in done.stderr
    assert done.stderr.count("The run cannot be told here (No space left on device)") == said
