"""The whole app in this process or one of its own, with a model that answers from a script, and a real browser before it."""

import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import pytest
from playwright.sync_api import Page as Tab

from agent.registry import SessionRegistry
from agent.services import Services, build_services
from agent.settings import Settings
from tests.scripted_endpoint import Answer, ScriptedEndpoint, reply
from tests.ui.hostile import HOSTILE, SPY
from ui.examples import examples
from ui.launch import launch
from ui.page import Page

PROJECT = Path(__file__).resolve().parents[2]
CANALS = "library://engineering/canals.html"
PLOT = """import matplotlib.pyplot as plt
plt.bar(["Orme", "Quill"], [41, 57])
plt.title("Length, km")
plt.show()"""
QUOTE = "The Suez Canal was opened on 17 November 1869."


@dataclass(frozen=True)
class App:
    address: str
    services: Services
    sessions: SessionRegistry


def code(thought: str, source: str, **more: Any) -> Answer:
    return reply(f"{thought}\n```python\n{source}\n```\n", usage=(1200, 40), **more)


def scripted(body: dict[str, Any]) -> Answer:
    """What a model might write, by the words of the question and the number of the step."""
    asked = json.dumps(body["messages"][1:], ensure_ascii=False)
    step = 1 + sum(message["role"] == "assistant" for message in body["messages"])
    if "slowly" in asked:
        return reply("word " * 10_000, delay=0.05)
    if "hostile" in asked:
        return (
            reply(HOSTILE, usage=(1200, 40)),
            code("I look.", f"print(web_search({HOSTILE[:300]!r}))\nprint({HOSTILE!r})"),
            code("I read.", f"visit_page({f'{SPY}/{HOSTILE}'!r})"),
            code(
                "Done.",
                f"final_answer({HOSTILE!r}, sources=[({f'{SPY}/{HOSTILE}'!r}, {HOSTILE!r})])\n# {step}",
            ),
        )[min(step, 4) - 1]
    if "endless line" in asked:
        if step == 1:
            return code("I print it.", "print('x' * 1_000_000)")
        return code("Done.", f"final_answer({'word' * 20_000!r})")
    if name := re.search(r"Attached files[^:]*: (\S+\.csv)", asked):
        if step == 1:
            return code("I read the file.", f"print(inspect_file_as_text({name[1]!r}))")
        return code("It is there.", "final_answer('The Orme is 41 km long.')")
    if "Draw" in asked:
        if step == 1:
            return code("I draw them.", PLOT)
        return code("Drawn.", "final_answer('The Quill is longer.')")
    if step == 1:
        return code(
            "I search for the canal.", "results = web_search('Suez Canal opened')\nprint(results)", delay=0.02
        )
    if step == 2:
        return code("I read the page.", f"page = visit_page({CANALS!r})\nprint(page.title)", delay=0.02)
    return code(
        "I know it.", f"final_answer('The Suez Canal, in 1869 [1].', sources=[({CANALS!r}, {QUOTE!r})])"
    )


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def serving(folder: Path, script: Callable[[dict[str, Any]], Answer], **settings: Any) -> Iterator[App]:
    """The app on a free port, its model answering from that script."""
    with ScriptedEndpoint(script) as endpoint:
        chosen = Settings(
            _env_file=None, tgi_url=endpoint.url, data_dir=folder / "data", search="library", **settings
        )
        services = build_services(chosen)
        sessions = SessionRegistry(services)
        page = Page(services, sessions, examples(chosen.library_dir))
        yield App(launch(page.blocks, "127.0.0.1", free_port(), 5), services, sessions)
        page.blocks.close(verbose=False)
        sessions.close_all()
        services.close()


@pytest.fixture(scope="session")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    folder = tmp_path_factory.mktemp("app")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GRADIO_TEMP_DIR", str(folder / "gradio"))
        with serving(folder, scripted, max_sessions=20) as app:
            yield app


@pytest.fixture
def tab(page: Tab, app: App) -> Tab:
    """The app's empty page, opened."""
    page.set_default_timeout(30_000)
    page.goto(app.address)
    page.get_by_role("textbox").wait_for()
    return page


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """A file that a visitor may attach."""
    path = tmp_path / "rivers.csv"
    path.write_text("river,km\nOrme,41\n")
    return path


@pytest.fixture
def endpoint() -> Iterator[ScriptedEndpoint]:
    with ScriptedEndpoint(scripted) as server:
        yield server


def bare_environment(folder: Path) -> dict[str, str]:
    """What a process needs to run, and nothing of this machine's settings."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "PYTHONPATH") if name in os.environ}
    return kept | {
        "DATA_DIR": str(folder / "data"),
        "GRADIO_TEMP_DIR": str(folder / "gradio"),
        "SEARCH": "library",
    }


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return bare_environment(tmp_path)


def start(
    environment: dict[str, str], *command: str, stderr: int | IO[str] = subprocess.PIPE, **more: str
) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, *command],
        cwd=PROJECT,
        env=environment | more,
        text=True,
        stdout=subprocess.PIPE,
        stderr=stderr,
    )
