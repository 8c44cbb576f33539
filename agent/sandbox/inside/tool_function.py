"""A tool inside the box: a function whose body runs in the host."""

import inspect
from collections.abc import Callable
from typing import Any

Call = Callable[[str, list[Any], dict[str, Any]], Any]


class ToolError(Exception):
    """A tool could not do what it was asked; the message says why."""


ToolError.__module__ = "builtins"


class ToolFunction:
    """A tool as the model's code sees it: a function whose body runs in the host."""

    def __init__(self, call: Call, name: str, doc: str, parameters: list[dict[str, Any]] | None) -> None:
        self._call = call
        self.__name__ = self.__qualname__ = name
        self.__doc__ = doc
        if parameters is not None:
            made = [
                inspect.Parameter(
                    p["name"],
                    inspect.Parameter.POSITIONAL_OR_KEYWORD,
                    default=p.get("default", inspect.Parameter.empty),
                )
                for p in parameters
            ]
            self.__signature__ = inspect.Signature(made)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if hasattr(self, "__signature__"):
            try:
                kwargs = self.__signature__.bind(*args, **kwargs).arguments
            except TypeError as error:
                raise TypeError(f"{self.__name__}{self.__signature__}: {error}") from None
            args = ()
        return self._call(self.__name__, list(args), dict(kwargs))

    def __repr__(self) -> str:
        return f"<tool {self.__name__}{getattr(self, '__signature__', '(...)')}>"
