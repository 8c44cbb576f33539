"""A Ray cluster of two machines with one CPU each, both here and on loopback only."""

import os
from collections.abc import Iterator
from typing import Any

import pytest

# Read when Ray is imported. The second has it take loopback for a machine's address.
os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"

from ray.cluster_utils import Cluster

from agent.settings import Settings

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
