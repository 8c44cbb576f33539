"""How the page looks, and what a browser may load for it."""

from pathlib import Path

import gradio as gr
from gradio.themes import Base
from gradio.themes.utils import colors, sizes

SANS = ("system-ui", "-apple-system", "Segoe UI", "Noto Sans", "Liberation Sans", "sans-serif")
MONO = ("ui-monospace", "SF Mono", "Cascadia Mono", "Noto Sans Mono", "Liberation Mono", "monospace")

# A page's text can ask for a picture in more ways than an escape can catch; the browser refuses them all,
# and whatever else would go to another host.
POLICY = (
    "script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:; style-src 'self' 'unsafe-inline'; "
    "connect-src 'self' data: blob:; font-src 'self' data:; "
    "img-src 'self' data: blob: https://huggingface.co; media-src 'self' data: blob:; "
    "object-src 'none'; frame-src 'none'; base-uri 'self'; form-action 'self'"
)


def head() -> str:
    """What the page adds to its <head>. The style sheet goes here because Gradio rewrites `css` selectors."""
    style = Path(__file__).with_name("style.css").read_text("utf-8")
    return f'<meta http-equiv="Content-Security-Policy" content="{POLICY}"><style>{style}</style>'


def theme() -> Base:
    """Paper and ink, one accent; the same contrast in light and dark."""
    return gr.themes.Base(
        primary_hue=colors.teal,
        neutral_hue=colors.stone,
        text_size=sizes.text_md,
        radius_size=sizes.radius_sm,
        spacing_size=sizes.spacing_md,
        font=SANS,
        font_mono=MONO,
    ).set(
        body_background_fill="#fbfaf8",
        body_background_fill_dark="#171614",
        background_fill_primary="#fbfaf8",
        background_fill_primary_dark="#171614",
        background_fill_secondary="#f3f1ed",
        background_fill_secondary_dark="#201f1c",
        block_background_fill="#fbfaf8",
        block_background_fill_dark="#171614",
        block_border_width="0px",
        block_shadow="none",
        body_text_color="#24221f",
        body_text_color_dark="#e8e4dd",
        body_text_color_subdued="#68625a",
        body_text_color_subdued_dark="#a49d92",
        border_color_primary="#dcd8d0",
        border_color_primary_dark="#3a3732",
        link_text_color="#0f6b62",
        link_text_color_dark="#5cc4b6",
        link_text_color_hover="#0b4f49",
        link_text_color_hover_dark="#8adacf",
        button_primary_background_fill="#0f6b62",
        button_primary_background_fill_dark="#1f7a70",
        button_primary_background_fill_hover="#0b4f49",
        button_primary_background_fill_hover_dark="#18635b",
        button_primary_text_color="#ffffff",
        code_background_fill="#f3f1ed",
        code_background_fill_dark="#201f1c",
        input_placeholder_color="#68625a",
        input_placeholder_color_dark="#a49d92",
        input_background_fill="#ffffff",
        input_background_fill_dark="#201f1c",
    )
