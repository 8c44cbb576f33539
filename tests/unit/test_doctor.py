"""`make doctor` says what this machine gives, and fails where the app would not start."""

from collections.abc import Callable
from pathlib import Path

import pytest

from agent.checkup import read_behind_a_lock
from agent.sandbox.probe import Trial
from lock import landlock, seccomp
from tests.scripted_endpoint import ScriptedEndpoint
from tools.formats import apart
from ui import doctor

pytestmark = pytest.mark.slow


@pytest.fixture
def examined(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str]]:
    def run(**variables: str) -> tuple[int, str]:
        library = tmp_path / "library"
        library.mkdir(exist_ok=True)
        (library / "mars.md").write_text("# Mars\n", encoding="utf-8")
        with ScriptedEndpoint([]) as endpoint:
            plain = {
                "TGI_URL": endpoint.url,
                "SEARCH": "library",
                "RENDER": "off",
                "LIBRARY_DIR": str(library),
                "DATA_DIR": str(tmp_path / "data"),
                "CACHE_DIR": str(tmp_path / "cache"),
            }
            for name, value in (plain | variables).items():
                monkeypatch.setenv(name, value)
            code = doctor.main()
        return code, capsys.readouterr().out

    return run


def test_a_machine_that_is_well_is_told_line_by_line(examined: Callable[..., tuple[int, str]]) -> None:
    code, said = examined()
    assert code == 0
    for words in (
        "machine",
        "kernel",
        "Landlock",
        "seccomp",
        "level 1 full",
        "level 2 no files",
        "level 3 small Python",
        "is in force",
        "files",
        "each is read in a",
        "context",
        "library only",
        "1 documents in library",
        "GB free",
        "read the host",
        "reach the interpreter",
        "The app can start here.",
    ):
        assert words in said, words
    assert "GOT THROUGH" not in said


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({"SANDBOX": "7"}, "SANDBOX has a value that cannot be used"),
        ({"DATA_DIR": "/proc/nowhere"}, "cannot be written"),
        ({"SANDBOX": "4", "SPACE_ID": "me/space"}, "needs sandbox level 3"),
        ({"SANDBOX_COMMAND": "/nowhere/docker run"}, "sandbox"),
    ],
)
def test_what_would_stop_the_start_ends_in_a_failure_that_names_it(
    examined: Callable[..., tuple[int, str]], variables: dict[str, str], said: str
) -> None:
    code, told = examined(**variables)
    assert code == 1
    assert said in " ".join(told.split())
    assert "✗" in told


def test_what_the_app_can_wait_for_is_no_failure(examined: Callable[..., tuple[int, str]]) -> None:
    code, said = examined(TGI_URL="http://127.0.0.1:9")
    assert code == 0
    assert "The app starts, and asks again" in " ".join(said.split())


def test_an_attack_that_got_through_is_seen_in_the_table() -> None:
    table = doctor.attacks(
        {1: Trial("", {"read_a_file": ""}), 3: Trial("", {"read_a_file": "Permission denied: 'x'"})}
    )
    cells = [str(cell) for column in table.columns for cell in column.cells]
    assert cells == ["read a file", "GOT THROUGH", "Permission denied"]


@pytest.mark.parametrize(
    ("filters", "abi", "said", "whole"),
    [
        ("filters", 6, "locked process: no other file", True),
        ("filters", 0, "without Landlock", False),
        ("", 6, "without a lock, as there is no seccomp", False),
    ],
)
def test_readers_of_files_that_run_unlocked_are_told(
    monkeypatch: pytest.MonkeyPatch, filters: str, abi: int, said: str, whole: bool
) -> None:
    monkeypatch.setattr(seccomp, "filters_here", lambda: filters)
    monkeypatch.setattr(landlock, "version", lambda: abi)
    locked, told = read_behind_a_lock()
    assert said in told
    assert locked is whole


def test_readers_of_files_that_cannot_be_started_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apart, "_SERVER", apart.ForkServer("raise SystemExit"))
    locked, told = read_behind_a_lock()
    assert "cannot be read" in told
    assert not locked
