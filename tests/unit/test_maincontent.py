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


@pytest.mark.parametrize(
    "beside",
    [
        "<div class='relatedContent'><p>{}</p></div>",
        "<div class='block rightRail'><p>{}</p></div>",
        "<aside class='sidebar'><p>{}</p><p>{}</p><p>{}</p></aside>",
        "<div class='hidden'><p>{}</p></div>",
        "<div class='user-bio'><p>{}</p></div>",
    ],
)
def test_what_is_named_as_standing_beside_the_article_is_no_content(beside: str) -> None:
    note = "The mayor opened a bridge over the Orme in the presence of many guests on Sunday."
    found = shown(f"<h1>The Orme</h1>{ARTICLE}{beside.replace('{}', note)}<p>9. {TEXT}</p>")
    assert "mayor" not in found and "9. The Orme" in found


def test_a_field_whose_label_is_hidden_is_read() -> None:
    assert "mills" in shown(
        f"<div class='field field-label-hidden'><p>{TEXT}</p></div><p>It is long.</p>{ARTICLE}"
    )


def test_a_formula_drawn_by_scripts_is_no_menu() -> None:
    formula = "<mjx-container class='MathJax CtxtMenu_Attached_0'><math><mi>e</mi></math></mjx-container>"
    assert "Thus e holds" in shown(f"{ARTICLE}<p>Thus {formula} holds.</p>").replace("$", "")


def test_buttons_that_share_a_page_are_no_content() -> None:
    link = "<a href='https://www.facebook.com/sharer.php?u=x'>Post it</a><a href='whatsapp://send?text=x'>Send it</a>"
    found = shown(
        f"<div><span>Tell a friend</span> {link}</div>{ARTICLE}<p>Write to <a href='mailto:a@b.example'>Ada</a>.</p>"
    )
    assert "Post it" not in found and "Tell a friend" not in found and "Ada" in found


def test_a_note_on_cookies_is_no_content() -> None:
    note = "<div><div><p>This site uses cookies. By continuing to use it you agree to our use of cookies.</p></div></div>"
    kept = "<p>The recipe of these cookies is a secret of the settlers who continued the mill's trade.</p>"
    found = shown(f"{note}<h1>The Orme</h1>{ARTICLE}{kept}{ARTICLE}")
    assert "This site uses" not in found and "secret of the settlers" in found


def test_links_to_other_articles_between_paragraphs_are_no_content() -> None:
    shouted = "<p><b><a href='/mayor'>MAYOR OPENS A BRIDGE OVER THE RIVER</a></b></p>"
    also = "<p>Read also: <a href='/mill'>The mill at Ormsby is for sale</a></p>"
    said = "<p><a href='/source'>The spring of the Orme</a></p>"
    found = shown(f"{ARTICLE}{shouted}{also}{said}{ARTICLE}")
    assert "BRIDGE" not in found and "for sale" not in found and "The spring of the Orme" in found


@pytest.mark.parametrize(
    "ending",
    [
        "<h3>More about rivers</h3>",
        "<p>Ada Low is a staff writer at the Ormsby Gazette, where she writes about rivers and their mills every week.</p>",
        "<p>Note: comments are moderated, so that it takes some time until they are shown on this page.</p>",
        "<div>Copyright 2021 Ormsby Gazette. All rights reserved.</div>",
        "<p><a href='/tag/rivers'>rivers</a></p>",
    ],
)
def test_what_follows_the_last_words_of_an_article_is_no_content(ending: str) -> None:
    last = "<p>The last words: the Orme is not for sale, says the mayor of Ormsby to the Gazette.</p>"
    assert shown(f"<h1>The Orme</h1>{ARTICLE}{last}{ending}").endswith("Gazette.")
    assert "9. The Orme" in shown(f"<h1>The Orme</h1>{ARTICLE}{ending}<p>9. {TEXT}</p>")


def test_a_box_of_an_article_without_a_name_goes_when_the_text_is_elsewhere() -> None:
    page = f"<div><h1>The Orme</h1><div class=a>{ARTICLE}{ARTICLE}</div><div class=b><p>Ask us about mills.</p><p>We are here.</p></div></div>"
    assert "Ask us" not in shown(page) and "# The Orme" in shown(page)


def test_a_picture_has_words_only_where_they_say_something_new() -> None:
    page = (
        "{}<p>The old mill stands at Ormsby.</p><img src=a.jpg alt='The old mill at Ormsby'>"
        "<img src=b.jpg alt='Orme_low-water_2.jpg'><img src=c.jpg alt='Two herons beside a weir'>"
        "<figure><img src=d.jpg alt='Bridge seen from below'><figcaption>The new bridge.</figcaption></figure>"
        "<table><tr><th>Team</th><th>Won</th></tr><tr><td><img src=e.png alt='Ormsby'></td><td>7</td></tr></table>"
    )
    found = shown(page.format(ARTICLE))
    assert (
        "![Two herons beside a weir](c.jpg)" in found
        and "The new bridge." in found
        and "| ![Ormsby](e.png) | 7 |" in found
    )
    assert all(gone not in found for gone in ("a.jpg", "b.jpg", "d.jpg"))


def test_a_credit_is_no_content() -> None:
    figure = "<figure><img src=a.jpg alt='Herons'><figcaption><p>{}</p></figcaption></figure>"
    found = shown(
        ARTICLE
        + figure.format("Photo: Ada Low, AP")
        + figure.format("A photo of the weir in spring.")
        + ARTICLE
    )
    assert "Ada Low" not in found and "A photo of the weir" in found


def test_a_box_with_a_link_to_another_article_is_no_content() -> None:
    box = "<div><a href='/x'><img src=x.jpg alt='Herons'></a><h3><a href='/x'>Herons return to the weir</a></h3><div>A pair nests there again.</div></div>"
    assert "nests" not in shown(ARTICLE + box + ARTICLE)
    assert "nests" in shown(f"<div>{box}{box}</div>{ARTICLE}", main_only=False)


def test_a_side_bar_in_a_table_that_lays_out_the_page_is_no_content() -> None:
    bar = "<td class='sidebar'><p>The mayor opened a bridge over the Orme in the presence of many guests on Sunday.</p></td>"
    assert "mayor" not in shown(f"<table><tr><td><h1>The Orme</h1>{ARTICLE}</td>{bar}</tr></table>")


def test_a_paragraph_of_nothing_but_links_is_no_content() -> None:
    links = " ".join(
        f"<a href='/{name}'>{name} and its rivers</a>" for name in ("Ormsby", "Weir", "Upton", "Holt", "Mill")
    )
    assert "Upton" not in shown(f"{ARTICLE}<p>{links}</p>{ARTICLE}")


def test_the_last_words_of_an_article_stay_when_they_are_a_link() -> None:
    assert shown(f"{ARTICLE}It is told in full in the <a href='/atlas'>Atlas of rivers</a>").endswith(
        "[Atlas of rivers](/atlas)"
    )
