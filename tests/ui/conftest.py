"""The whole app in this process, with a model that answers from a script, and a real browser before it."""

import json
import re
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page as Tab

from agent.services import Services, build_services
from agent.session import SessionRegistry
from agent.settings import Settings
from tests.scripted_endpoint import Answer, ScriptedEndpoint, reply
from tests.ui.hostile import HOSTILE
from ui.examples import examples
from ui.launch import launch
from ui.page import Page

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
        return reply("word " * 2000, delay=0.05)
    if "hostile" in asked:
        if step == 1:
            return code(HOSTILE, f"print({HOSTILE!r})")
        return code("Done.", f"final_answer({HOSTILE!r})")
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


@pytest.fixture(scope="session")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    folder = tmp_path_factory.mktemp("app")
    with pytest.MonkeyPatch.context() as patch, ScriptedEndpoint(scripted) as endpoint:
        patch.setenv("GRADIO_TEMP_DIR", str(folder / "gradio"))
        settings = Settings(
            _env_file=None, tgi_url=endpoint.url, data_dir=folder / "data", search="library", max_sessions=20
        )
        services = build_services(settings)
        sessions = SessionRegistry(services)
        page = Page(services, sessions, examples(settings.library_dir))
        yield App(launch(page.blocks, "127.0.0.1", free_port(), 5), services, sessions)
        page.blocks.close(verbose=False)
        sessions.close_all()
        services.close()


@pytest.fixture
def tab(page: Tab, app: App) -> Tab:
    """The app's empty page, opened."""
    page.set_default_timeout(20_000)
    page.goto(app.address)
    page.get_by_role("textbox").wait_for()
    return page


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """A file that a visitor may attach."""
    path = tmp_path / "rivers.csv"
    path.write_text("river,km\nOrme,41\n")
    return path
