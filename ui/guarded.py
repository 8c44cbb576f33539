"""Calls that the page never makes: whoever can reach the app can send its API anything.

Gradio prints a traceback for each value that does not fit a component, which would
fill the log with what strangers send. Here such a call costs one line; an error in
our own code keeps its traceback.
"""

import logging
from collections import Counter
from collections.abc import Iterable
from typing import Any

import gradio as gr
from gradio.block_function import BlockFunction

from ui.logs import in_our_code, tell_forged

log = logging.getLogger(__name__)

_NOT_TAKEN = "The app could not take what was sent: reload the page, then try again."
_BROKEN = "Something in the app failed: reload the page, then try again."


class GuardedBlocks(gr.Blocks):
    """Blocks whose API answers a forged call with one sentence.

    `listening`: how many streams each page has open; None before anything is served.
    """

    listening: Counter[str] | None = None

    async def process_api(
        self, block_fn: BlockFunction | int, inputs: list[Any], *args: Any, **options: Any
    ) -> dict[str, Any]:
        """As Gradio's own; every error comes out as a gr.Error that Gradio does not print."""
        try:
            if any(path.startswith(("http://", "https://")) for path in _paths(inputs)):
                raise ValueError(
                    "a file that was not uploaded"
                )  # Gradio would fetch it, whole and from anywhere
            answer: dict[str, Any] = await super().process_api(block_fn, inputs, *args, **options)
            return answer
        except gr.Error as error:
            error.print_exception = False
            raise
        except Exception as error:
            if in_our_code(error.__traceback__, __file__):
                log.exception("a call of the page's API failed")
                raise gr.Error(_BROKEN, print_exception=False) from None
            tell_forged(error)
            raise gr.Error(_NOT_TAKEN, print_exception=False) from None


def _paths(sent: list[Any]) -> Iterable[str]:
    """Where the files are that a call names, however deep."""
    left: list[Any] = [sent]
    while left:
        each = left.pop()
        if isinstance(each, dict):
            left += each.values()
            if isinstance(path := each.get("path"), str):
                yield path
        elif isinstance(each, list):
            left += each


class Picked(gr.EventData):
    """What a visitor picked, an example or "Ask again"; empty when it is no text."""

    def __init__(self, target: Any, data: Any) -> None:
        super().__init__(target, data)
        value = data.get("value") if isinstance(data, dict) else None
        self.text = text_or_nothing(value.get("text") if isinstance(value, dict) else value)


def text_or_nothing(given: object) -> str:
    """What was sent where a text belongs; anything else is none, whatever the annotation says."""
    return given if isinstance(given, str) else ""
