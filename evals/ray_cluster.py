"""The Ray cluster at RAY_ADDRESS: whether one can be used, the connection to it, and whether its head still lives."""

import importlib.util
import logging
import os
import signal
import socket
import threading
import time
from typing import Any, Self

from agent.errors import ResearchError, SettingsError
from agent.services import named_endpoint
from agent.settings import PROJECT, Settings

_REACH_SECONDS = 10.0
# How long the head may be away. Ray itself waits for a minute, then ends this process without a word.
_HEAD_SECONDS = 5.0
# What workers do not need, or must not be sent.
_STAYS_HERE = ["/.git", "/.venv", "/.env", "/tests", "/docs", "/bench", "__pycache__"]


class ClusterNotUsable(ResearchError):
    """The cluster cannot be reached, has no worker that can be used, or has lost its head."""


def check_cluster(settings: Settings) -> None:
    """Raises SettingsError and ClusterNotUsable where no cluster could be used, before anything is begun."""
    if not settings.ray_address:
        raise SettingsError("RAY_ADDRESS is not set: name the cluster's head, such as 10.0.0.5:6379.")
    if named_endpoint(settings) is None:
        raise SettingsError(
            "The embedded model serves one machine: set TGI_URL to an endpoint that all machines of the cluster reach."
        )
    if importlib.util.find_spec("ray") is None:
        raise ClusterNotUsable(
            "Ray is not installed: run `pip install -r requirements-ray.txt` here and on each machine of the cluster."
        )


def connected(address: str) -> Any:
    """Ray itself, once it is part of that cluster."""
    before = signal.getsignal(signal.SIGTERM)
    try:
        _reach(address, _REACH_SECONDS)  # Ray would try for minutes
        ray = _imported()
        ray.init(
            address=address,
            logging_level=logging.CRITICAL,  # what matters is told in a sentence of ours
            log_to_driver=False,  # a worker's words may hold what must not be published
            runtime_env={"working_dir": str(PROJECT), "excludes": _STAYS_HERE},
        )
    except (RuntimeError, ValueError, OSError) as error:
        reason = str(error).strip().splitlines()[0]
        raise ClusterNotUsable(
            f"No Ray cluster can be used at {address} ({reason}): set RAY_ADDRESS to host:port of one, which"
            " `ray start --head` starts."
        ) from error
    finally:
        signal.signal(signal.SIGTERM, before)  # Ray sets its own, which would not end the runs
    return ray


def _imported() -> Any:
    # Ray reports to its makers, and tries twenty times to connect, unless told otherwise before it is imported.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_NUM_REDIS_GET_RETRIES", "3")
    import ray

    return ray


def _reach(address: str, seconds: float) -> None:
    """Raises OSError, and ValueError where it is no host:port."""
    host, _, port = address.rpartition(":")
    socket.create_connection((host.strip("[]"), int(port)), seconds).close()


class Head:
    """Looks, from a thread of its own, whether the head of the cluster can be reached. A context manager."""

    def __init__(self, address: str) -> None:
        self.lost = False
        self._address = address
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, name="ray-head", daemon=True)

    def check(self) -> None:
        """Raises ClusterNotUsable once the head is lost."""
        if self.lost:
            raise ClusterNotUsable(
                f"The head of the Ray cluster at {self._address} is lost: start the cluster again, then give the"
                " same command, which goes on from the results that are there."
            )

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._over.set()

    def _look(self) -> None:
        seen = time.monotonic()
        while not self.lost and not self._over.wait(_HEAD_SECONDS / 5):
            try:
                _reach(self._address, _HEAD_SECONDS)
                seen = time.monotonic()
            except OSError:
                self.lost = time.monotonic() - seen >= _HEAD_SECONDS
