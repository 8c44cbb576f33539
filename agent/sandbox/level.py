"""The levels of the sandbox, strongest first: what each is called and what it means for visitor and model."""

from dataclasses import dataclass

from .wire.importable import OF_MONTY


@dataclass(frozen=True)
class Level:
    """number: 1 is the strongest. reason: one sentence for the visitor.

    lacks: what the model must know that ordinary Python has and this level has not; empty where nothing is missing.
    """

    number: int
    name: str
    reason: str
    lacks: str = ""

    def __str__(self) -> str:
        return f"{self.number} {self.name}"

    @property
    def runs_code(self) -> bool:
        return self.number != NO_CODE.number


FULL = Level(
    1,
    "full",
    "The model's code runs in a locked process: no network, no other process, only the attached files.",
)
NO_FILES = Level(
    2,
    "no files",
    "The model's code runs in a locked process that opens no file at all, because this kernel lacks Landlock.",
)
SMALL = Level(
    3,
    "small Python",
    "The model's code runs in Monty, a small Python that has no way out and no numpy or pandas.",
    "This Python is small. It has no numpy and pandas; tables are lists of rows (dicts). It has no yield, no class "
    f"inheritance, no del. Importable are only {', '.join(OF_MONTY)}. str(x) gives the text of a page or result.",
)
NO_CODE = Level(4, "no code", "The model's code is off; it calls the tools one by one instead.")

LEVELS = {level.number: level for level in (FULL, NO_FILES, SMALL, NO_CODE)}
