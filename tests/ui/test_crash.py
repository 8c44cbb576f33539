"""An app that was killed in the middle of a run, and what its visitor finds when it is there again."""

import re
import subprocess

import pytest
from playwright.sync_api import Page as Tab
from playwright.sync_api import expect

from tests.scripted_endpoint import ScriptedEndpoint
from tests.ui.conftest import free_port, start
from tests.ui.visitor import ask, ended

pytestmark = pytest.mark.ui


def served(environment: dict[str, str], **variables: str) -> subprocess.Popen[str]:
    app = start(environment, "app.py", **variables)
    assert app.stderr is not None
    assert any("is at http" in line for line in app.stderr)
    return app


def test_a_run_that_a_crash_of_the_app_hit_is_shown_with_what_it_had_and_can_be_asked_again(
    page: Tab, environment: dict[str, str], endpoint: ScriptedEndpoint
) -> None:
    variables = {"PORT": str(free_port()), "TGI_URL": endpoint.url}
    app = served(environment, **variables)
    try:
        page.goto(f"http://127.0.0.1:{variables['PORT']}/")
        ask(page, "Think slowly about the Orme.")
        expect(page.get_by_text("word word word")).to_be_visible()
        expect(page).to_have_url(re.compile("run="))
        app.kill()
        app.communicate()
        app = served(environment, **variables)
        page.reload()
        expect(ended(page, "No answer: The app was ended while this run was going on")).to_be_visible()
        expect(page.locator("#chat")).to_contain_text(re.compile("So far\\s+word word"))
        page.get_by_role("button", name="Ask again").click()
        expect(page.locator("#chat .user-row")).to_have_count(2)
        expect(page.get_by_role("button", name="Stop", exact=True)).to_be_visible()
    finally:
        app.terminate()
        app.communicate(timeout=60)
