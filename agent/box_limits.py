"""What the settings let one box use."""

from agent.sandbox.wire.limits import Limits
from agent.settings import Settings


def box_limits(settings: Settings) -> Limits:
    """The limits of each box, in the units of the sandbox."""
    return Limits(
        step_seconds=settings.step_seconds,
        cpu_seconds=settings.step_cpu_seconds,
        grace_seconds=settings.step_grace_seconds,
        memory_bytes=settings.box_memory_mb << 20,
        output_chars=settings.step_output_chars,
        tool_calls=settings.step_tool_calls,
        frame_bytes=settings.value_kb << 10,
        blob_bytes=settings.value_mb << 20,
        nesting=settings.value_nesting,
        pixels=int(settings.image_megapixels * 1_000_000),
        figures=settings.step_figures,
        figure_bytes=settings.figure_kb << 10,
        scratch_bytes=settings.scratch_mb << 20,
        scratch_files=settings.scratch_files,
        open_files=settings.box_open_files,
    )
