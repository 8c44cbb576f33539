"""What the code draws is seen: by the visitor as an image, by the model as a line."""

import base64
import struct
import sys

import pytest

from agent.errors import BoxLost, SandboxError
from agent.events import FigureShown, OutputPrinted
from agent.narrator import StepNarrator
from agent.sandbox.executor import SandboxExecutor
from agent.sandbox.pool import BoxPool
from agent.sandbox.probe import choose_level
from agent.sandbox.wire.limits import Limits

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="the kernel's locks are Linux's"),
    pytest.mark.slow,
]
LIMITS = Limits(figures=3, pixels=2_000_000, figure_bytes=100_000)


@pytest.fixture(scope="module", params=[1, 2])
def drawing(request):
    try:
        pool = BoxPool(choose_level(request.param), size=0)
    except SandboxError as error:
        pytest.skip(str(error))
    executor = SandboxExecutor(LIMITS, pool=pool)
    yield executor
    executor.cleanup()


@pytest.fixture
def shown(drawing):
    """Runs code; gives the sizes of the figures that it showed, and what it printed."""

    def run(code):
        events = []
        drawing.observer = StepNarrator(1, events.append)
        told = drawing(code)
        assert told.logs == "".join(event.text for event in events if isinstance(event, OutputPrinted))
        pngs = [base64.b64decode(event.png_base64) for event in events if isinstance(event, FigureShown)]
        assert all(png.startswith(b"\x89PNG") for png in pngs)
        return [struct.unpack(">II", png[16:24]) for png in pngs], told.logs

    return run


def test_a_plot_is_shown_at_show_and_another_at_the_end_of_the_step(shown):
    code = (
        "import matplotlib.pyplot as plt\n"
        "plt.plot([1, 3, 2])\nplt.title('Río Orme, $x^2$', weight='bold')\nplt.show()\nprint('between')\n"
        "figure, axes = plt.subplots()\naxes.bar(['a', 'b'], [1, 2])"
    )
    sizes, logs = shown(code)
    assert len(sizes) == 2 and all(300 < width < 900 and 300 < height < 900 for width, height in sizes)
    lines = [f"[figure {i}: {width}x{height}]" for i, (width, height) in enumerate(sizes, 1)]
    assert logs.splitlines() == [lines[0], "between", lines[1]]
    assert shown("plt.get_fignums() or print('all closed')") == ([], "all closed\n")


def test_a_table_that_pandas_plots_is_shown(shown):
    sizes, _ = shown(
        "import pandas as pd\npd.DataFrame({'km': [41, 57]}, index=['Orme', 'Quill']).plot.bar();"
    )
    assert len(sizes) == 1


def test_an_image_is_shown_and_a_large_one_smaller(shown):
    assert shown("from PIL import Image\nImage.new('RGB', (30, 20))")[0] == [(30, 20)]
    sizes, logs = shown(
        "import numpy as np\nImage.fromarray(np.random.default_rng(1).integers(0, 255, (700, 900), 'uint8'))"
    )
    assert sizes == [] and "a figure cannot be shown: it has more than 100,000 bytes" in logs
    noise = "Image.fromarray(np.random.default_rng(1).integers(0, 255, (60, 2000), 'uint8'))"
    assert shown(noise)[0] == [(1600, 48)]


def test_a_figure_of_too_many_pixels_is_not_drawn_and_the_model_is_told(shown):
    sizes, logs = shown("import matplotlib.pyplot as plt\nplt.figure(figsize=(300, 300));")
    assert sizes == [] and "a figure cannot be shown: it has more than 2,000,000 pixels" in logs
    sizes, logs = shown("Image.new('L', (2000, 2000))")
    assert sizes == [] and "2,000,000 pixels" in logs


def test_a_step_shows_a_few_figures_and_says_that_there_were_more(shown):
    sizes, logs = shown("for i in range(5):\n    plt.figure(figsize=(1, 1))")
    assert len(sizes) == 3
    assert logs.endswith("[more figures are not shown: a step may show 3]\n")


def test_a_forged_figure_of_too_many_bytes_loses_the_box(drawing):
    drawing.observer = None
    code = (
        "import sys\nchannel = sys.stdout._channel\nblob = bytes(200_000)\n"
        "channel.send({'op': 'figure', 'step': channel.step, 'at': 0, 'n': len(blob)}, [blob])\n"
        "import time; time.sleep(100)"
    ).replace("channel.step", "sys.stdout._step")
    with pytest.raises(BoxLost, match="a figure with too many bytes"):
        drawing(code)
