"""Ends what blocks its caller: an agent or a model that is asked in one call."""

import threading
import time

from agent.model.endpoint import EndpointModel
from evals.budget import Halt, Watch

# How often a run that goes on is looked at, in seconds.
LOOK_SECONDS = 0.2


class Watcher:
    """Sets the model's `cancel`, from a thread beside the call, once `watch` or the seconds say so; `halt` tells why."""

    def __init__(self, model: EndpointModel, seconds: float, watch: Watch) -> None:
        self.halt: Halt | None = None
        self._model, self._watch = model, watch
        self._deadline = time.monotonic() + seconds
        self._over = threading.Event()
        threading.Thread(target=self._look, name="watcher", daemon=True).start()

    def end(self) -> None:
        self._over.set()

    def _look(self) -> None:
        while not self._over.wait(LOOK_SECONDS):
            self.halt = self._watch(self._model.usage)
            if self.halt is None and time.monotonic() > self._deadline:
                self.halt = Halt("The run used its seconds.")
            if self.halt:
                self._model.cancel.set()
                return
