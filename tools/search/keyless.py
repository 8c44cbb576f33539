"""The engines of ddgs, and which of them answered."""

from functools import partial
from typing import Any

from ddgs.base import BaseSearchEngine
from ddgs.ddgs import DDGS
from ddgs.exceptions import DDGSException

__all__ = ["DDGSException", "KeylessEngines"]


class KeylessEngines(DDGS):
    """Tells an engine that finds nothing from one that lets nobody search, which ddgs takes for the same."""

    def __init__(self, **options: Any) -> None:
        """`options`: as DDGS takes them. `answered` and `refused` say which engines did, after a search."""
        super().__init__(**options)
        self.answered: list[str] = []
        self.refused: list[str] = []

    def _get_engines(self, category: str, backend: str) -> list[BaseSearchEngine[Any]]:
        engines = super()._get_engines(category, backend)
        for engine in engines:
            engine.request = partial(self._request, engine)  # type: ignore[method-assign]
        return engines

    def _request(self, engine: BaseSearchEngine[Any], *args: Any, **options: Any) -> str | None:
        answer = engine.http_client.request(*args, **options)
        if answer.status_code != 200:
            self.refused.append(f"{engine.name} answered {answer.status_code}")
            return None
        self.answered.append(engine.name)
        return str(answer.text)
