"""The parts of the page that need no browser: its examples, its policy, its port."""

import socket
from pathlib import Path

import pytest

from agent.errors import SettingsError
from agent.settings import PROJECT
from tests.ipv6 import needs_ipv6
from ui.examples import examples
from ui.launch import host_in_url, need_free_port
from ui.theme import head


def test_the_examples_are_questions_about_the_library_that_is_searched(tmp_path: Path) -> None:
    assert len(examples(PROJECT / "library")) == 4
    assert all(question.endswith("?") for question in examples(PROJECT / "library"))
    assert examples(tmp_path) == []


def test_the_page_forbids_pictures_frames_and_forms_of_strangers() -> None:
    policy = head().split('content="')[1].split('"')[0]
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["img-src"] == "'self' data: blob: https://huggingface.co"
    assert rules["object-src"] == rules["frame-src"] == "'none'"
    assert rules["base-uri"] == rules["form-action"] == "'self'"


def test_a_taken_port_or_a_foreign_address_stops_the_start_with_one_sentence() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(
            SettingsError, match=rf"^The page cannot listen on port {port} of 127\.0\.0\.1 \(.*PORT"
        ):
            need_free_port("127.0.0.1", port)
    need_free_port("127.0.0.1", port)
    with pytest.raises(SettingsError, match=r"^APP_HOST names 192\.0\.2\.1, "):
        need_free_port("192.0.2.1", port)


@needs_ipv6
@pytest.mark.parametrize("host", ["::1", "::", "[::1]"])
def test_a_taken_port_of_an_ipv6_address_is_told_too(host: str) -> None:
    with socket.create_server(("::1", 0), family=socket.AF_INET6) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(SettingsError, match=rf"^The page cannot listen on port {port} of .*::.*PORT"):
            need_free_port(host, port)
    need_free_port(host, port)


@pytest.mark.parametrize("host", ["2001:db8::1", "a" * 300])
def test_a_host_that_is_no_address_of_this_machine_is_told_by_its_variable(host: str) -> None:
    with pytest.raises(SettingsError, match=r"^APP_HOST names .*, which is no address of this machine"):
        need_free_port(host, 7860)


@pytest.mark.parametrize(
    ("host", "shown"),
    [
        ("127.0.0.1", "127.0.0.1"),
        ("0.0.0.0", "localhost"),
        ("localhost", "localhost"),
        ("::1", "[::1]"),
        ("[::1]", "[::1]"),
        ("::", "[::1]"),
        ("fe80::1", "[fe80::1]"),
    ],
)
def test_the_address_that_is_printed_can_be_opened(host: str, shown: str) -> None:
    assert host_in_url(host) == shown
