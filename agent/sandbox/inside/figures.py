"""What the code drew, as PNG: sent to the host and closed."""

import io
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

from ..wire.arrays import png
from ..wire.frames import CannotCross
from ..wire.limits import Limits

_SMALLER = (1600, 1000, 600)


class Figures:
    """Collects the open figures of matplotlib and hands them to `send`; `say` tells what cannot be shown."""

    def __init__(self, send: Callable[[bytes], None], say: Callable[[str], object]) -> None:
        self.limits = Limits()
        self._send = send
        self._say = say

    def take_over(self, pyplot: Any) -> None:
        """Let `pyplot.show` send its figures too."""

        def show(*args: object, **kwargs: object) -> None:
            self.show_open()

        pyplot.show = show

    def show_open(self) -> None:
        """Send and close all open figures of matplotlib."""
        pyplot: Any = sys.modules.get("matplotlib.pyplot")
        for number in pyplot.get_fignums() if pyplot is not None else ():
            try:
                self._attempt(partial(self._drawn, pyplot.figure(number)))
            finally:
                pyplot.close(number)

    def show_value(self, value: object) -> None:
        """Send the value of a step's last expression if it is an image of PIL."""
        image = sys.modules.get("PIL.Image")
        if image is not None and isinstance(value, image.Image):
            self._attempt(lambda: self._fitted(png(value, self.limits.pixels)))

    def _attempt(self, draw: Callable[[], bytes]) -> None:
        try:
            data = draw()
        except CannotCross as error:
            self._say(f"[a figure cannot be shown: {error}]\n")
            return
        self._send(data)

    def _drawn(self, figure: Any) -> bytes:
        if figure.bbox.width * figure.bbox.height > self.limits.pixels:
            raise CannotCross(f"it has more than {self.limits.pixels:,} pixels")
        out = io.BytesIO()
        figure.savefig(out, format="png", bbox_inches="tight")
        return self._fitted(out.getvalue())

    def _fitted(self, data: bytes) -> bytes:
        """The PNG, made smaller when it has more bytes than a figure may have."""
        from PIL import Image

        for side in _SMALLER:
            if len(data) <= self.limits.figure_bytes:
                break
            image = Image.open(io.BytesIO(data))
            image.thumbnail((side, side))
            data = png(image, self.limits.pixels)
        if len(data) > self.limits.figure_bytes:
            raise CannotCross(f"it has more than {self.limits.figure_bytes:,} bytes")
        if int.from_bytes(data[16:20]) * int.from_bytes(data[20:24]) > self.limits.pixels:
            raise CannotCross(f"it has more than {self.limits.pixels:,} pixels")
        return data
