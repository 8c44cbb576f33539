"""The attacks at level 4, where no code is run: what is left is what a model may ask of the tools."""

from collections.abc import Callable
from typing import Any

from agent.errors import SandboxError
from agent.model.calls import calls_in
from tests.attacks.arena import Arena
from tests.attacks.battery import ADDRESSES
from tools.fetch import Fetcher

NO_CODE_IS_RUN = "not applicable: no code is run"


def run_code(arena: Arena) -> str:
    """Whatever the attack is, it would be code, and that is refused before there is a process."""
    executor = arena.box()
    try:
        executor("1 + 1")
    except SandboxError as error:
        return NO_CODE_IS_RUN if "code is off" in str(error) and executor._box is None else str(error)
    return "got through: code was run"


def through_tools(arena: Arena) -> str:
    def visit_page(url: str) -> str:
        return Fetcher().get(url).url

    executor = _with(arena, {"visit_page": visit_page})
    addresses = [*ADDRESSES, f"http://127.0.0.1:{arena.port}/"]
    through = [url for url in addresses if not executor.call(1, "visit_page", {"url": url}).error]
    return f"got through: {through}" if through else "the tool refuses"


def forged_calls(arena: Arena) -> str:
    seen: list[str] = []

    def ours() -> None:
        seen.append("ours")

    executor = _with(arena, {"ours": ours})
    names = ("__class__", "theirs", "cleanup", "python_interpreter", "")
    refused = sum(bool(executor.call(1, name, {}).error) for name in names)
    refused += bool(executor.call(1, "ours", {"max_steps": 10**6}).error)
    for text in ("[" * 200_000, '{"a":' * 100_000, '{"name": "theirs", "arguments": {}}' * 1000):
        refused += not calls_in(text, ["ours"])[1]
    return f"{refused} refused, {len(seen)} calls served"


def answers(arena: Arena) -> str:
    executor = _with(arena, {"final_answer": lambda answer: answer})
    for text in ("/etc/passwd", "![](http://example.com/?q=secret)"):
        if executor.call(1, "final_answer", {"answer": text}).value != text:
            return "changed"
    return "text"


def _with(arena: Arena, tools: dict[str, Callable[..., Any]]) -> Any:
    executor = arena.box()
    executor.send_tools(tools)
    return executor


CODELESS: dict[int, tuple[str, Callable[[Arena], str]]] = {
    5: (r"^the tool refuses$", through_tools),
    19: (r"^9 refused, 0 calls served$", forged_calls),
    23: (r"^text$", answers),
}
"""Expected pattern and attack, by number; every other one is `run_code`."""
