"""What went wrong in a call of the page's API: ours to mend with its traceback, or a stranger's in one line."""

import asyncio
import logging
import sys
from typing import Any

import gradio as gr
import pytest

from tests.agent_world import MakeWorld
from tests.local_web import LocalWeb
from ui.logs import ForgedCallFilter
from ui.page import Page

pytestmark = pytest.mark.slow

WORDS = "words that nobody vouches for"


@pytest.fixture
def opened(world: MakeWorld) -> Page:
    app = world()
    return Page(app.services, app.sessions, [])


def call(page: Page, name: str, *inputs: Any) -> gr.Error:
    """The error that a call of that handler ends with."""
    function = next(fn for fn in page.blocks.fns.values() if fn.name == name)
    with pytest.raises(gr.Error) as caught:
        asyncio.run(page.blocks.process_api(function, list(inputs), request=gr.Request(session_hash="v")))
    assert not caught.value.print_exception
    return caught.value


def test_a_call_that_does_not_fit_is_one_line_without_what_was_sent(
    opened: Page, caplog: pytest.LogCaptureFixture
) -> None:
    error = call(opened, "_ask", [WORDS])
    assert "could not take what was sent" in error.message
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "\n" not in caplog.text.strip() and WORDS not in caplog.text


def test_a_file_that_is_an_address_makes_the_app_connect_to_nobody(
    opened: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("safehttpx.is_public_ip", lambda ip: True)  # as if this machine were far away
    with LocalWeb({"/rivers.csv": "river,km\nOrme,41\n"}) as web:
        file = {"path": web.url("/rivers.csv"), "meta": {"_type": "gradio.FileData"}}
        error = call(opened, "_ask", {"text": WORDS, "files": [file]})
        assert "could not take what was sent" in error.message
        assert not web.requests


def test_an_error_in_our_own_code_keeps_its_traceback_and_the_visitor_gets_a_sentence(
    opened: Page, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opened._services, "endpoint", None)
    error = call(opened, "_arrive", None)
    assert error.message == "Something in the app failed: reload the page, then try again."
    assert "AttributeError" in caplog.text and "services.py" in caplog.text


def test_the_servers_record_of_a_failed_request_is_kept_when_our_code_failed(opened: Page) -> None:
    kept = []
    for fail in (lambda: opened._arrive(None, None), lambda: {}["fn_index"]):  # type: ignore[arg-type]
        try:
            fail()
        except (AttributeError, KeyError):
            record = logging.LogRecord("uvicorn.error", logging.ERROR, "", 0, "failed", (), sys.exc_info())
            kept.append(ForgedCallFilter().filter(record))
    assert kept == [True, False]
