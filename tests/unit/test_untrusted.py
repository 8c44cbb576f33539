"""What a page or a model writes must reach the browser as text, whatever it looks like."""

import re
from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ui.untrusted import attribute, fenced, literal, prose, web_address

HOSTILE = [
    "<script>alert(1)</script>",
    "text <style>body{display:none}</style> text",
    "- item\n  ```\nnow outside <img src=x onerror=alert(1)>\n  ```\n",
    "`` ` <b>bold</b> ``` <i>x</i>",
    "> ```\n<iframe src=//evil.example></iframe>",
    "~~~\n```\n<svg onload=alert(1)>\n~~~\n<svg onload=alert(2)>",
    "\\`<u>a</u>\\` and `<u>b</u>`",
    "1. x\n\n       <details open ontoggle=alert(1)>",
]


def outside_code(markdown: str) -> str:
    """The Markdown without the fences and code elements that `prose` writes itself, whose borders stay borders."""
    without_fences = re.sub(r"(?ms)^(`{3,})[a-z]*\n.*?^\1$", "", markdown)
    return re.sub(r"</?code>", " ", without_fences)


@pytest.mark.parametrize("text", HOSTILE)
def test_markup_in_a_thought_or_an_answer_is_shown_as_text(text: str) -> None:
    assert "<" not in outside_code(prose(text))


@example("`!`[")
@given(st.text(alphabet="`~<>ab!\n []()\\ -1.", max_size=60))
def test_no_mixture_of_fences_and_backticks_lets_markup_or_an_image_through(text: str) -> None:
    left = outside_code(prose(text))
    assert "<" not in left
    assert "![" not in left


@pytest.mark.parametrize(
    "image", ["![a](http://spy.example/x.png)", "![a][ref]\n\n[ref]: http://spy.example/x", "\\![a](b)"]
)
def test_an_image_in_an_answer_becomes_a_plain_link(image: str) -> None:
    assert "![" not in prose(image)


def test_the_markdown_that_an_answer_may_use_survives() -> None:
    text = "## Rivers\n\n| a | b |\n|-|-|\n| 1 | **2** |\n\n- see [Orme](https://orme.example/)\n\n2 > 1"
    assert prose(text) == text


def test_code_in_an_answer_keeps_its_signs_and_loses_an_unknown_language() -> None:
    assert prose("Run:\n```python\nif a < b:\n    pass\n```\ndone") == (
        "Run:\n\n\n```python\nif a < b:\n    pass\n```\n\n\ndone"
    )
    assert prose("```mermaid\ngraph TD\n```") == "```\ngraph TD\n```"
    assert prose("keep `a < b`") == "keep <code>a &lt; b</code>"


def test_an_answer_cut_in_the_middle_of_a_code_block_shows_the_block_closed() -> None:
    assert prose("so:\n```python\nx = 1").endswith("```python\nx = 1\n```")
    assert prose("so:\n```pyth").endswith("```\n\n```")


def test_output_with_backticks_cannot_leave_its_block() -> None:
    assert fenced("a\n`````\n<b>", "text") == "``````text\na\n`````\n<b>\n``````"


def test_a_title_of_a_page_cannot_format_the_step_that_names_it() -> None:
    assert literal("*a* _b_ [c](d) <e> | `f`\n# g") == (
        "\\*a\\* \\_b\\_ \\[c\\](d) &lt;e&gt; \\| \\`f\\` \\# g"
    )


@pytest.mark.parametrize(
    ("url", "linked"),
    [
        ("https://orme.example/a b", ""),
        ("javascript:alert(1)", ""),
        ("library://rivers/orme.md", ""),
        ('https://orme.example/a_(b)?q=1&r="><b>', "https://orme.example/a_%28b%29?q=1&r=%22%3E%3Cb%3E"),
    ],
)
def test_only_a_web_address_becomes_a_link_and_it_cannot_leave_its_attribute(url: str, linked: str) -> None:
    assert web_address(url) == linked


@pytest.mark.parametrize("shown", [literal, attribute, prose, lambda text: prose(f"`{text}`")])
def test_nothing_makes_our_own_words_read_backwards(shown: Callable[[str], str]) -> None:
    assert shown("Orme \u202eelpmaxe.live\u2066 x\u2069") in (
        "Orme elpmaxe.live x",
        "<code>Orme elpmaxe.live x</code>",
        "Orme elpmaxe&#46;live x",
    )


def test_code_does_not_read_otherwise_than_it_runs() -> None:
    assert fenced("if ok: \u202e # x", "python") == "```python\nif ok: \\u202e # x\n```"
