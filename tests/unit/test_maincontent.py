"""What stands on a page beside its content: shelves under their headings, and what is said twice."""

import pytest

from tools.webpage import html_document

TEXT = "The Orme rises in the hills and flows past villages, mills and meadows to the sea, which it reaches at Ormsby. "
ARTICLE = "".join(f"<p>{number}. {TEXT}</p>" for number in range(8))


def shown(html: str, **options: bool) -> str:
    return html_document(f"<html><body><main>{html}</main></body></html>", **options).markdown


@pytest.mark.parametrize(
    "shelf",
    [
        "<h2>Related stories</h2><p>A bridge over the Orme was opened by the mayor.</p>",
        "<div class=x><div><h3>You may also like</h3></div><p>A bridge over the Orme was opened by the mayor.</p></div>",
        "<h2>Most read</h2><div><p>A bridge over the Orme was opened by the mayor.</p></div><h2>Sources</h2><p>Atlas of rivers</p>",
    ],
)
def test_a_shelf_under_a_heading_that_says_so_is_no_content(shelf: str) -> None:
    found = shown(f"<h1>The Orme</h1>{ARTICLE}{shelf}")
    assert "mayor" not in found and "7. The Orme" in found
    assert ("Atlas of rivers" in found) == ("Atlas" in shelf)
    assert "mayor" in shown(f"<h1>The Orme</h1>{ARTICLE}{shelf}", main_only=False)


@pytest.mark.parametrize(
    "heading",
    [
        "Related work in the basin of the Orme",
        "Popular culture",
        "See also",
        "More on mills",
        "Share of water power",
    ],
)
def test_a_chapter_that_only_sounds_like_a_shelf_stays(heading: str) -> None:
    found = shown(f"<h1>The Orme</h1>{ARTICLE}<h2>{heading}</h2><p>A bridge is in a song.</p>")
    assert "A bridge is in a song." in found


def test_a_caption_is_said_once_however_often_its_picture_is_shown() -> None:
    caption = "The Orme at Ormsby in the spring of 1921, with the old mill to the left"
    figure = f"<figure><img src=a.jpg alt='{caption}'><figcaption>{caption}</figcaption></figure>"
    assert shown(ARTICLE + figure + figure).count(caption) == 1
    assert shown(ARTICLE + figure, main_only=False).count(caption) == 2
    assert shown(ARTICLE + f"<img src=a.jpg alt='{caption}'>").count(caption) == 1
    assert shown(ARTICLE + ARTICLE).count("3. The Orme") == 2
