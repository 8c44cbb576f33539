"""What one box may use: plain numbers, the same on both sides of the pipe."""

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Limits of one box; each is told to the model in the message of its own error."""

    step_seconds: float = 30.0
    """Wall time of one step, the time inside tools not counted."""
    cpu_seconds: float = 30.0
    """CPU time of one step; a box lives for a hundred such, even if its host is gone and nobody ends it."""
    grace_seconds: float = 1.0
    """How long an interrupted step may take to unwind before the box is killed."""
    memory_bytes: int = 1 << 30
    """Address space above what the preloaded box already has."""
    output_chars: int = 20_000
    """Printed text of one step that is kept; the middle of longer output is left out."""
    tool_calls: int = 60
    """Tool calls of one step."""
    frame_bytes: int = 1 << 20
    """JSON of one message between host and box."""
    blob_bytes: int = 16 << 20
    """Raw attachments (bytes, arrays, images) of one message."""
    nesting: int = 24
    """Depth of lists in lists of one value that crosses."""
    pixels: int = 8_000_000
    """Pixels of one image that crosses, checked before it is decoded."""
    figures: int = 10
    """Figures that one step may show."""
    figure_bytes: int = 1 << 20
    """PNG of one figure; a larger one is scaled down in the box."""
    scratch_bytes: int = 16 << 20
    """What the files that the code writes may hold in all; they live in the box's memory."""
    scratch_files: int = 100
    """How many files the code may write, and how many folders it may make."""
    open_files: int = 128
    """File descriptors of one box: files and pipes that are open at once."""

    @property
    def life_seconds(self) -> int:
        """CPU time of a box in all."""
        return math.ceil(100 * self.cpu_seconds)
