"""What a variable, a `.env` file or a wrong value does to the start of the app."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from agent.errors import SettingsError
from agent.settings import PROJECT, Settings, load_settings, variables, variables_table

SITE = next(Path(entry) for entry in sys.path if (Path(entry) / "smolagents").is_dir())

WRONG = {
    "TGI_URL": ["localhost:8080", "ftp://host", "http://", "http://[::1", "http://host:port"],
    "EMBEDDED_GGUF": ["/nowhere/model.gguf", "/"],
    "EMBEDDED_CONTEXT": ["1", "lots"],
    "PROMPT_PROFILE": ["short"],
    "MAX_STEPS": ["0", "101", "-1", "three", "1.5"],
    "RUN_SECONDS": ["9", "nan", "soon"],
    "STEP_SECONDS": ["0"],
    "BOX_MEMORY_MB": ["64"],
    "SANDBOX": ["0", "5", "none"],
    "SANDBOX_COMMAND": ["docker run '"],
    "SEARCH": ["google"],
    "LIBRARY_DIR": ["/nowhere"],
    "ALLOW_LOCAL_WEB": ["perhaps"],
    "SEARXNG_URL": ["searx.example"],
    "WEB_PORTS": ["0", "http", "8443;8000", "70000"],
    "WEB_PROXY": ["proxy:3128", "socks5://proxy:1080", "http://proxy", "http://user:secret@proxy:port"],
    "ROBOTS": ["always"],
    "HOST_SECONDS": ["-1"],
    "PAGE_CACHE_HOURS": ["-1", "long"],
    "MAX_SESSIONS": ["0"],
    "MAX_FILE_MB": ["0"],
    "PORT": ["0", "65536", "http"],
    "LOG_LEVEL": ["loud"],
}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name in WRONG for value in WRONG[name]])
def test_a_wrong_value_stops_the_start_with_one_line_that_names_the_variable_and_what_it_accepts(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    accepted = {row[0]: row[2] for row in variables()}[name]
    with pytest.raises(SettingsError) as raised:
        load_settings()
    message = str(raised.value)
    assert message.startswith(f"{name} has a value that cannot be used")
    assert f"it takes {accepted};" in message
    assert "\n" not in message


def test_several_ports_are_read_from_one_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEB_PORTS", " 8443, 8000 ")
    assert load_settings().web_ports == (8443, 8000)
    monkeypatch.setenv("WEB_PORTS", "8443")
    assert load_settings().web_ports == (8443,)


def test_a_wrong_value_is_not_repeated_since_it_may_be_a_secret_in_the_wrong_place(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TGI_URL", "hf_secret_token")
    with pytest.raises(SettingsError) as raised:
        load_settings()
    assert "hf_secret" not in str(raised.value)


def test_a_token_is_not_shown_when_the_settings_are_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TGI_TOKEN", "tgi-secret")
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    settings = Settings(_env_file=None)
    assert "secret" not in f"{settings!r} {settings} {settings.model_dump()}"


def test_a_line_break_at_the_end_of_a_pasted_secret_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TGI_TOKEN", "tgi-secret\n")
    monkeypatch.setenv("TGI_URL", " http://host:8080/ ")
    settings = Settings(_env_file=None)
    assert settings.tgi_token is not None
    assert settings.tgi_token.get_secret_value() == "tgi-secret"
    assert settings.tgi_url == "http://host:8080"


def test_an_empty_variable_is_as_good_as_none(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("TGI_URL", "MAX_STEPS", "LIBRARY_DIR", "HF_TOKEN", "EMBEDDED_GGUF"):
        monkeypatch.setenv(name, "")
    assert Settings(_env_file=None) == Settings(_env_file=None, max_steps=12)


def test_a_path_may_begin_at_the_home_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("DATA_DIR", "~/runs")
    assert Settings(_env_file=None).data_dir == tmp_path / "runs"


def test_the_table_of_variables_has_a_line_for_each_and_no_path_of_this_machine() -> None:
    rows = variables()
    assert [row[0].lower() for row in rows] == list(Settings.model_fields)
    assert all(accepts and what_for for _, _, accepts, what_for in rows)
    assert str(Path.home()) not in str(rows)
    assert str(PROJECT) not in str(rows)


def test_the_manual_says_what_the_settings_say() -> None:
    manual = (PROJECT / "README.md").read_text(encoding="utf-8")
    assert manual.split("<!-- variables -->")[1].split("<!-- /variables -->")[0].strip() == variables_table()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A copy of the settings in a project folder of its own, with its `.venv`, inside a folder with a `.env`."""
    project = tmp_path / "above" / "project"
    (project / "agent").mkdir(parents=True)
    for name in ("__init__.py", "errors.py", "settings.py"):
        shutil.copy(PROJECT / "agent" / name, project / "agent" / name)
    (project / "library").mkdir()
    (project / ".venv").mkdir()
    (project / ".venv" / "site").symlink_to(SITE)
    (tmp_path / "above" / ".env").write_text("MODEL_ID=from-above\nMAX_STEPS=7\nFOREIGN=from-above\n")
    return project


def told(project: Path, **environment: str) -> dict[str, str]:
    """What the settings of that project say, and its environment once smolagents is imported."""
    code = (
        "import agent.settings, smolagents, json, os\n"
        "settings = agent.settings.load_settings()\n"
        "print(json.dumps({'model': settings.model_id, 'steps': settings.max_steps, "
        "'foreign': os.environ.get('FOREIGN', ''), 'leaked': os.environ.get('MODEL_ID', ''), "
        "'imported': smolagents.__file__}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=project.parent,
        env={
            "PATH": os.environ["PATH"],
            "PYTHONPATH": f"{project}:{project / '.venv' / 'site'}",
            **environment,
        },
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, str] = json.loads(done.stdout)
    return found


@pytest.mark.slow
def test_a_dotenv_file_of_a_folder_above_reaches_neither_the_settings_nor_the_environment(
    project: Path,
) -> None:
    found = told(project)
    assert found["imported"].startswith(str(project))  # so that its own search for a .env passes by here
    assert (found["model"], found["steps"], found["foreign"], found["leaked"]) == ("", 12, "", "")


@pytest.mark.slow
def test_the_dotenv_file_of_the_project_counts_but_never_over_the_real_environment(project: Path) -> None:
    (project / ".env").write_text("MODEL_ID=from-project\nMAX_STEPS=9\nFOREIGN=from-project\n")
    found = told(project, MAX_STEPS="5")
    assert (found["model"], found["steps"], found["foreign"], found["leaked"]) == ("from-project", 5, "", "")


def test_a_dotenv_file_that_is_no_text_is_named_in_one_line(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / ".env").write_bytes("MODEL_ID=wörld".encode("utf-16"))
    monkeypatch.setitem(Settings.model_config, "env_file", tmp_path / ".env")
    with pytest.raises(SettingsError, match=r"^The file \.env in the project folder cannot be read"):
        load_settings()


@pytest.mark.parametrize("content", ["MODEL_ID=m".encode("utf-16-le"), b"\0\0MODEL_ID=m\n"])
def test_a_dotenv_file_whose_variables_nobody_would_find_is_named_in_one_line(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, content: bytes
) -> None:
    (tmp_path / ".env").write_bytes(content)
    monkeypatch.setitem(Settings.model_config, "env_file", tmp_path / ".env")
    with pytest.raises(SettingsError, match=r"^The file \.env .* cannot be read: save it as UTF-8"):
        load_settings()
