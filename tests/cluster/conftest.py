"""A Ray cluster of two machines with one CPU each, both here and on loopback only."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

# Read when Ray is imported. The second has it take loopback for a machine's address.
os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"

from ray.cluster_utils import Cluster

from agent.settings import Settings
from tests.cluster.squares import COUNT, SECRET, Squares
from tests.scripted_endpoint import ScriptedEndpoint

_NODE = {
    "num_cpus": 1,
    "node_ip_address": "127.0.0.1",
    "include_dashboard": False,
    "object_store_memory": 100 << 20,
}


@pytest.fixture(scope="module", autouse=True)
def no_variable_set() -> Iterator[None]:
    """As on a fresh machine: none of the app's own variables is in the environment."""
    with pytest.MonkeyPatch.context() as patch:
        for name in Settings.model_fields:
            patch.delenv(name.upper(), raising=False)
        yield


@pytest.fixture(scope="module")
def cluster(no_variable_set: None) -> Iterator[Any]:
    """A test that kills a machine puts a new one in its place."""
    cluster = Cluster(initialize_head=True, head_node_args=_NODE)
    cluster.add_node(**_NODE)
    cluster.wait_for_nodes()
    yield cluster
    cluster.shutdown()


@pytest.fixture
def second(cluster: Any) -> Iterator[Any]:
    """The machine beside the head, which the test may kill."""
    yield next(iter(cluster.worker_nodes))
    if not cluster.worker_nodes:
        cluster.add_node(**_NODE)
        cluster.wait_for_nodes()


@pytest.fixture
def squares() -> Iterator[Squares]:
    squares = Squares()
    yield squares
    squares.go.set()


@pytest.fixture
def command(
    cluster: Any, squares: Squares, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[list[str]]:
    """`set run` with ten questions, a page and an endpoint with a token."""
    questions, pages = tmp_path / "q.jsonl", tmp_path / "pages.jsonl"
    (tmp_path / "note.txt").write_text("A note.")
    rows = [
        {
            "id": f"q{n}",
            "question": f"Which number has word{n}?",
            "answer": str(n * n),
            "files": ["note.txt"] * (n % 2),
        }
        for n in range(COUNT)
    ]
    questions.write_text("\n".join(map(json.dumps, rows)))
    pages.write_text(json.dumps({"title": "Words", "text": "Words have numbers."}))
    with ScriptedEndpoint(squares, token=SECRET) as endpoint:
        monkeypatch.setenv("TGI_URL", endpoint.url)
        monkeypatch.setenv("TGI_TOKEN", SECRET)
        monkeypatch.setenv("DATA_DIR", str(tmp_path / "data"))
        monkeypatch.setenv("RAY_ADDRESS", cluster.address)
        yield ["set", "run", "--questions", str(questions), "--pages", str(pages), "--concurrency", "4"]
