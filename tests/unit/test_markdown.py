"""HTML to Markdown: what a reader would see, at any depth, nothing lost and nothing invented."""

import pytest

from tools.documents import read_bytes
from tools.page import Document, plain_text, without_targets
from tools.webpage import html_document


def page(html: str, *, url: str = "https://example.org/a/b", main_only: bool = False) -> Document:
    return read_bytes(f"<!doctype html><html><body>{html}".encode(), url=url, main_only=main_only)


def text(html: str, **rest: object) -> str:
    return page(html, **rest).markdown  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "tag", ["div", "span", "b", "blockquote", "ul><li", "table><tr><td", "a href=x", "em", "font"]
)
@pytest.mark.parametrize("closed", [True, False])
def test_ten_thousand_nested_elements_are_converted_without_losing_the_text(tag: str, closed: bool) -> None:
    end = "".join(f"</{part.split()[0]}>" for part in reversed(tag.split("><")))
    result = text(
        "<p>before</p>" + f"<{tag}>" * 10_000 + "deep" + (end * 10_000 if closed else "") + "<p>after</p>"
    )
    words = result.replace(">", " ").replace("|", " ").replace("-", " ").replace("*", " ").split()
    assert [word for word in words if word.isalpha()][:1] == ["before"]
    assert "deep" in result
    assert "after" in result


def test_links_are_absolute_from_the_final_address_and_the_base_tag() -> None:
    assert text(
        '<a href="c?d=1#e">x</a> <a href="../f">y</a> <a href="//h.example/">z</a> <a href="?q">w</a>'
    ) == (
        "[x](https://example.org/a/c?d=1#e) [y](https://example.org/f) [z](https://h.example/) [w](https://example.org/a/b?q)"
    )
    assert text('<base href="/new/"><a href="x">x</a>') == "[x](https://example.org/new/x)"


def test_links_that_lead_nowhere_are_their_words() -> None:
    assert (
        text('<a href="#s">a</a> <a href="javascript:f()">b</a> <a>c</a> <a href="data:text/html,x">d</a>')
        == "a b c d"
    )


def test_a_link_with_brackets_or_spaces_in_its_address_stays_one_link() -> None:
    document = page('<a href="/wiki/Mercury_(planet)">Mercury</a> <a href="/a b)c">odd</a>')
    assert [link.url for link in document.links] == [
        "https://example.org/wiki/Mercury_(planet)",
        "https://example.org/a%20b%29c",
    ]


def test_an_icon_link_is_named_by_its_label() -> None:
    assert (
        text('<a href="/x" aria-label="Next page"><i class="icon"></i></a>')
        == "[Next page](https://example.org/x)"
    )


def test_no_data_uri_is_ever_printed_and_lazy_images_have_their_true_address() -> None:
    html = (
        '<img src="data:image/gif;base64,R0lGOD" data-src="/real.jpg" alt="A cat">'
        '<img src="data:image/png;base64,iVBORw0KGgo=" alt="Only words">'
        '<img alt="Set" srcset="/small.jpg 1x, /large.jpg 2x"><a href="data:text/plain,x">link</a>'
    )
    result = text(html)
    assert "data:" not in result
    assert "![A cat](https://example.org/real.jpg)" in result
    assert "Only words" in result
    assert "![Set](https://example.org/small.jpg)" in result


def test_invisible_text_never_reaches_the_model() -> None:
    html = (
        '<p>seen</p><p style="display:none">h1</p><p style="color:red; VISIBILITY : hidden">h2</p><p hidden>h3</p>'
        '<p aria-hidden="true">h4</p><script>h5</script><style>h6</style><!-- h7 --><template>h8</template>'
        "<noscript>h9</noscript><p>se\u200ben \u202ereversed\u202c so\u00adft \U000e0041tag</p>"
    )
    assert text(html) == "seen\n\nseen reversed soft tag"


def test_spanned_cells_are_repeated_so_that_each_row_stands_alone() -> None:
    html = """<table><tr><th rowspan=2>Country</th><th colspan=2>Medals</th></tr><tr><th>Gold</th><th>Silver</th></tr>
    <tr><td rowspan=2>Norway</td><td>16</td><td>8</td></tr><tr><td>14</td><td>14</td></tr></table>"""
    document = page(html)
    assert document.markdown.split("\n") == [
        "| Country | Medals Gold | Medals Silver |", "| --- | --- | --- |", "| Norway | 16 | 8 |", "| Norway | 14 | 14 |",
    ]  # fmt: skip
    assert document.tables[0]["Medals Gold"].sum() == 30


def test_a_table_that_claims_millions_of_spanned_cells_stays_small() -> None:
    rows = "".join(
        f"<tr><td colspan=1000 rowspan=65000>{'x' * 100}</td><td colspan=1000>y</td></tr>" for _ in range(300)
    )
    assert len(text(f"<table>{rows}</table>")) < 3_000_000


def test_a_table_of_names_and_values_has_no_false_heading() -> None:
    html = "<table><tr><th>Height</th><td>8,849 m</td></tr><tr><th>Range</th><td>Himalaya</td></tr></table>"
    assert text(html).split("\n") == [
        "|  |  |",
        "| --- | --- |",
        "| Height | 8,849 m |",
        "| Range | Himalaya |",
    ]


def test_a_table_that_only_arranges_the_page_is_dissolved() -> None:
    html = "<table><tr><td>menu</td><td><h1>Title</h1><table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table></td></tr></table>"
    assert text(html) == "menu\n\n# Title\n\n| a | b |\n| --- | --- |\n| 1 | 2 |"


def test_pipes_and_line_breaks_in_cells_do_not_break_the_table() -> None:
    document = page(
        "<table><tr><th>a</th><th>b</th></tr><tr><td>x|y<br>z</td><td><ul><li>1<li>2</ul></td></tr></table>"
    )
    assert document.markdown.split("\n")[2] == "| x\\|y z | - 1 - 2 |"
    assert document.tables[0].iloc[0, 0] == "x|y z"


def test_code_keeps_its_lines_and_names_its_language() -> None:
    html = '<div class="highlight-python"><pre>def f(x):\n    return x * 2  # *not* emphasis\n</pre></div><pre><code class="language-rust">fn</code></pre>'
    assert text(html) == "```python\ndef f(x):\n    return x * 2  # *not* emphasis\n```\n\n```rust\nfn\n```"
    assert text("<pre>a ``` b</pre>") == "````\na ``` b\n````"


def test_words_are_not_escaped_and_numbers_not_changed() -> None:
    assert (
        text("<p>snake_case *star* 10<sup>24</sup> kg, H<sub>2</sub>O, m<sup>2</sup></p>")
        == "snake_case *star* 10^24 kg, H₂O, m^2"
    )


def test_a_formula_comes_out_once_as_tex() -> None:
    html = """<p>Energy <span><span style="display:none"><math alttext="{\\displaystyle E=mc^{2}}"><semantics><mrow><mi>E</mi></mrow>
    <annotation encoding="application/x-tex">{\\displaystyle E=mc^{2}}</annotation></semantics></math></span></span>.</p>"""
    assert text(html) == "Energy $E=mc^{2}$ ."


def test_lists_nest_and_number_as_on_the_page() -> None:
    html = "<ol start=3><li>three<ul><li>in</li></ul></li><li>four<p>more</p></li><li value=9>nine</li></ol>"
    assert text(html) == "3. three\n   - in\n4. four\n\n   more\n9. nine"


def test_frames_are_listed_as_links() -> None:
    assert "[Map](https://example.org/m.html)" in text('<iframe src="/m.html" title="Map"></iframe>')
    frameset = b"<html><frameset cols=50%,50%><frame src=left.html name=left><frame src=right.html></frameset></html>"
    assert (
        "[left](https://e.org/left.html)"
        in read_bytes(frameset, url="https://e.org/", main_only=False).markdown
    )


def test_main_content_loses_the_menus_and_keeps_tables_lists_and_code() -> None:
    menu = "".join(f"<li><a href='/{n}'>Menu entry {n}</a></li>" for n in range(30))
    html = f"""<header><nav><ul>{menu}</ul></nav></header><main><h1>Bridges</h1><p>{"A bridge carries a road. " * 20}</p>
    <table><tr><th>Bridge</th><th>Span</th></tr><tr><td>Humber</td><td>1,410</td></tr></table><ul><li>arch</li></ul>
    <pre>span = 1410</pre><aside>Note: spans in metres.</aside></main><footer>Imprint, cookies</footer>"""
    main, whole = text(html, main_only=True), text(html)
    assert "Menu entry 3" not in main
    assert "Imprint" not in main
    for kept in ("# Bridges", "| Humber | 1,410 |", "- arch", "span = 1410"):
        assert kept in main
    assert "Menu entry 3" in whole
    assert "Imprint" in whole


def test_text_without_link_targets_reads_the_same() -> None:
    markdown = page(
        '<p>See <a href="/m_(x)">the <b>red</b> planet</a> and <img src=i.png alt="a picture">.</p>'
    ).markdown
    assert without_targets(markdown) == "See the **red** planet and a picture."
    assert plain_text(markdown) == "See the red planet and a picture."


@pytest.mark.timeout(60)
def test_a_page_full_of_brackets_is_read() -> None:
    for mess in ("[" * 50_000, "![a](" * 20_000, "[![a]" * 20_000, "[a](" * 20_000, "**a" * 30_000):
        plain_text(mess)


@pytest.mark.timeout(60)
def test_a_page_of_megabytes_takes_no_time_without_end() -> None:
    row = (
        "<div><p>Some <b>words</b> with a <a href='/x'>link</a> and more of them, to fill the line.</p></div>"
    )
    assert text(row * 20_000).count("Some **words**") == 20_000


def test_an_article_after_the_head_of_a_page_without_a_body_is_not_lost() -> None:
    page = "<meta charset=utf-8><title>Orme</title><article><p>The Orme is a river.</p></article>"
    document = html_document(page)
    assert (document.title, document.markdown) == ("Orme", "The Orme is a river.")
