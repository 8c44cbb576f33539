"""Questions asked on the workers of a Ray cluster, while this process keeps the results and the budget.

Each worker is an actor that takes one CPU. A worker that is lost, with its
machine or alone, is started again wherever the cluster has room, and what it
was at work on is asked again.
"""

import itertools
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent.events import Outcome, Usage
from agent.services import Services
from agent.settings import Settings
from evals.budget import Halt, Watch, unwatched
from evals.ray_cluster import ClusterNotUsable, Head, connected
from evals.ray_worker import Attached, Worker
from evals.results import Key, Result
from evals.sides import Side
from evals.stage import OpenServices

# How often a question that is being asked is looked at, in seconds.
_LOOK_SECONDS = 0.2
# How long the cluster may be without a single worker: machines join, services are built.
_START_SECONDS = 300.0
_CLOSE_SECONDS = 10.0
# A question that takes its worker down again and again is the question's fault.
_MOST_LOSSES = 3


@dataclass
class _Seat:
    """One worker as the driver sees it. `asked`: the call of `problem` that is not answered yet."""

    actor: Any
    asked: Any
    busy: int = 0
    usable: bool = False
    problem: str = ""


class RayEngine:
    """An Engine. Made by `ray_engine`."""

    def __init__(
        self, ray: Any, head: Head, services: Services, side: Side, actors: Sequence[Any], share: int
    ) -> None:
        """`share`: the most questions that one worker is asked at once."""
        self._ray, self._head, self._services, self._side, self._share = ray, head, services, side, share
        self._seats = [_Seat(actor, actor.problem.remote()) for actor in actors]
        self._lock = threading.Lock()
        self._numbers = itertools.count()
        self._losses: Counter[Key] = Counter()

    def warm(self) -> None:
        self._side.warm(self._services)

    def ask(self, question: str, key: Key, *, files: Sequence[Path] = (), watch: Watch = unwatched) -> Result:
        """Raises ClusterNotUsable too."""
        seat = self._seat(watch)
        if isinstance(seat, Halt):
            return _ended(key, Usage(), seat.reason)
        used = [Usage()]
        try:
            return self._answer(seat.actor, question, key, [_attached(file) for file in files], watch, used)
        except self._ray.exceptions.RayTaskError as error:
            raise (error.cause or error) from error
        except self._ray.exceptions.RayError:
            return self._lost(seat, key, used[0])
        finally:
            with self._lock:
                seat.busy -= 1

    def _answer(
        self, actor: Any, question: str, key: Key, files: list[Attached], watch: Watch, used: list[Usage]
    ) -> Result:
        number = next(self._numbers)
        call, told = actor.ask.remote(number, question, key, files), actor.used.remote(number)
        halt: Halt | None = None
        while not self._ray.wait([call], timeout=_LOOK_SECONDS)[0]:
            if self._head.lost:
                return _ended(key, used[0], "The cluster was lost before the answer.")
            # What a worker that is busy says late is still taken.
            if self._ray.wait([told], timeout=0)[0]:
                used[0], told = self._ray.get(told), actor.used.remote(number)
            if halt is None and (halt := watch(used[0])):
                actor.halt.remote(number, halt)
        result: Result = self._ray.get(call)
        return result

    def _lost(self, seat: _Seat, key: Key, used: Usage) -> Result:
        with self._lock:
            if seat.usable:
                seat.usable, seat.asked = False, seat.actor.problem.remote()
            self._losses[key] += 1
        if self._losses[key] < _MOST_LOSSES:
            return _ended(key, used, "The worker was lost before the answer.")
        return Result.failed(key, f"{_MOST_LOSSES} workers were lost while they were asked this.", used)

    def _seat(self, watch: Watch) -> _Seat | Halt:
        """A worker with room, counted as busy; a Halt when the question must not begin."""
        deadline = time.monotonic() + _START_SECONDS
        while True:
            self._head.check()
            with self._lock:
                for seat in self._seats:
                    self._look(seat)
                usable = [seat for seat in self._seats if seat.usable]
                if free := [seat for seat in usable if seat.busy < self._share]:
                    least = min(free, key=lambda seat: seat.busy)
                    least.busy += 1
                    return least
                problems = [seat.problem for seat in self._seats if seat.problem]
            if len(problems) == len(self._seats):
                raise ClusterNotUsable(
                    f"No worker of the cluster can be used, such as the one on {problems[-1]}"
                )
            if usable:
                deadline = time.monotonic() + _START_SECONDS
            elif time.monotonic() > deadline:
                raise ClusterNotUsable(
                    f"The cluster has given no worker for {_START_SECONDS:.0f} s: look at it with `ray status`,"
                    " then give the same command again, which goes on from the results that are there."
                )
            if halt := watch(Usage()):
                return halt
            time.sleep(_LOOK_SECONDS)

    def _look(self, seat: _Seat) -> None:
        """Whether a worker that starts, for the first time or again, is ready."""
        if seat.usable or seat.problem or not self._ray.wait([seat.asked], timeout=0)[0]:
            return
        try:
            seat.problem = self._ray.get(seat.asked)
            seat.usable = not seat.problem
        except self._ray.exceptions.ActorDiedError as error:
            seat.problem = f"a machine where it cannot start: {str(error).strip().splitlines()[-1]}"
        except self._ray.exceptions.RayError:
            seat.asked = seat.actor.problem.remote()  # it is being started elsewhere

    def close(self) -> None:
        """End the workers and what they started."""
        if self._head.lost:
            return
        self._ray.wait(
            [seat.actor.close.remote() for seat in self._seats if seat.usable],
            num_returns=sum(seat.usable for seat in self._seats),
            timeout=_CLOSE_SECONDS,
        )


@contextmanager
def ray_engine(
    services: Services, side: Side, open_services: OpenServices, settings: Settings, concurrency: int
) -> Iterator[RayEngine]:
    """The engine on the cluster at RAY_ADDRESS. `services`: the driver's own. Raises ClusterNotUsable."""
    ray = connected(settings.ray_address)
    try:
        cpus = int(ray.cluster_resources().get("CPU", 0))
        count = max(1, min(concurrency, cpus))
        share = -(-concurrency // count)
        model, code = services.endpoint.capabilities().name, side.fingerprint()
        actor = ray.remote(
            num_cpus=1, max_restarts=-1, max_concurrency=share + 1, scheduling_strategy="SPREAD"
        )(Worker)
        actors = [actor.remote(open_services, settings, side, model, code) for _ in range(count)]
        with Head(settings.ray_address) as head:
            engine = RayEngine(ray, head, services, side, actors, share)
            try:
                yield engine
            finally:
                engine.close()
    finally:
        ray.shutdown()


def _attached(file: Path) -> Attached:
    try:
        return file.name, file.read_bytes()
    except OSError:
        return file.name, None  # the run says so, as it does here


def _ended(key: Key, used: Usage, reason: str) -> Result:
    return Result(
        key, "", Outcome.STOPPED, reason, used.prompt_tokens, used.completion_tokens, used.estimated,
        seconds=0.0, steps=0, interrupted=True,
    )  # fmt: skip
