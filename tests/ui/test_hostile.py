"""What pages, models and strangers write and send to take over the page, or to get something out of it."""

from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from playwright.sync_api import Browser, expect
from playwright.sync_api import Page as Tab

from tests.ui.conftest import App
from tests.ui.hostile import SPY, TURNS
from tests.ui.visitor import QUESTION, ask, ended, step

pytestmark = pytest.mark.ui


def test_hostile_markup_in_thought_output_and_answer_does_nothing(tab: Tab) -> None:
    asked: list[str] = []
    tab.on("request", lambda request: asked.append(request.url))
    ask(tab, "Show something hostile.")
    expect(ended(tab)).to_be_visible()
    step(tab, 1).click()
    expect(tab.locator("#chat").get_by_text("<script>window.taken=1</script>").first).to_be_visible()
    tab.wait_for_timeout(300)
    assert tab.evaluate("window.taken") is None
    assert not [url for url in asked if SPY in url]
    made = "#chat :is(script, iframe, details, svg[onload], .mermaid, img, div[style*=fixed])"
    assert tab.locator(made).count() == 0
    assert tab.locator("a[href^=javascript]").count() == 0


def test_the_browser_loads_no_picture_from_elsewhere_even_when_one_gets_into_the_page(tab: Tab) -> None:
    refused = tab.evaluate(
        f"""() => new Promise(done => {{
            document.addEventListener("securitypolicyviolation", event => done(event.violatedDirective));
            const picture = new Image();
            picture.src = "{SPY}/x.png";
            document.body.append(picture);
        }})"""
    )
    assert refused == "img-src"


def test_while_a_run_is_shown_the_browser_asks_nobody_but_the_app(tab: Tab, app: App) -> None:
    asked: list[str] = []
    tab.on("request", lambda request: asked.append(request.url))
    tab.goto(app.address)
    ask(tab, "Show something hostile.")
    expect(ended(tab)).to_be_visible()
    for number in (1, 2, 3, 4):
        step(tab, number).click()
    tab.reload()
    expect(ended(tab)).to_be_visible()
    step(tab, 1).click()
    tab.wait_for_timeout(500)
    own = urlsplit(app.address).netloc
    assert len(asked) > 20
    strangers = [url for url in asked if urlsplit(url).scheme not in ("data", "blob")]
    assert {urlsplit(url).netloc for url in strangers} == {own}


def test_the_policy_of_the_page_refuses_nothing_that_the_page_needs(page: Tab, app: App, notes: Path) -> None:
    page.add_init_script(
        """window.refused = [];
        document.addEventListener("securitypolicyviolation", event => window.refused.push(event.blockedURI));"""
    )
    page.goto(app.address)
    ask(page, "Draw the lengths of the Orme and the Quill.")
    expect(ended(page)).to_be_visible()
    step(page, 1).click()
    expect(page.get_by_role("img", name="figure")).to_be_visible()
    page.locator("input[type=file]").set_input_files(notes)
    expect(page.get_by_role("button", name="Remove file")).to_be_attached()
    page.get_by_role("button", name="Light or dark").click()
    assert page.evaluate("window.refused") == []


def test_a_link_of_an_answer_opens_elsewhere_and_does_not_tell_where_it_stood(tab: Tab) -> None:
    ask(tab, "Show something hostile.")
    expect(ended(tab)).to_be_visible()
    links = "[...document.querySelectorAll('#chat a[href^=http], #rail a[href^=http]')]"
    found = tab.evaluate(f"{links}.map(link => [link.target, link.rel])")
    assert len(found) > 5
    assert all(target == "_blank" and "noopener" in rel and "noreferrer" in rel for target, rel in found), (
        found
    )


def test_nothing_on_the_page_reads_backwards(tab: Tab) -> None:
    ask(tab, "Show something hostile.")
    expect(ended(tab)).to_be_visible()
    for number in (1, 2, 3, 4):
        step(tab, number).click()
    shown = tab.locator("body").text_content() or ""
    assert "elpmaxe.emro" in shown and not set(TURNS) & set(shown)
    assert not tab.locator(f"a[href*='{TURNS[0]}']").count()


def test_an_endless_line_of_output_and_answer_breaks_neither_the_page_nor_its_width(tab: Tab) -> None:
    tab.set_viewport_size({"width": 390, "height": 844})
    ask(tab, "Print an endless line.")
    expect(ended(tab)).to_be_visible()
    step(tab, 1).click()
    expect(tab.get_by_text("characters are not shown here").first).to_be_visible()
    assert tab.evaluate("document.documentElement.scrollWidth") <= 390
    assert len(tab.content()) < 2_000_000


@pytest.mark.parametrize(
    "guess",
    ["%25", "_", "a" * 22, "' OR 1=1 --", "../../x", "%00", "<script>window.taken=1</script>", "a" * 5000],
)
def test_a_guessed_run_is_none(page: Tab, app: App, guess: str) -> None:
    page.goto(f"{app.address}?run={guess}")
    expect(page.get_by_role("alert")).to_contain_text("There is no run of that name here")
    assert page.evaluate("window.taken") is None
    expect(page.locator("#chat .user-row")).to_have_count(0)


def test_a_hundred_files_are_refused_in_one_sentence_and_the_question_stays(tab: Tab) -> None:
    files = [{"name": f"{n}.txt", "mimeType": "text/plain", "buffer": b"x"} for n in range(100)]
    tab.locator("input[type=file]").set_input_files(files)
    expect(tab.get_by_role("button", name="Remove file")).to_have_count(100)
    ask(tab, "What do they say?")
    expect(tab.get_by_role("alert")).to_contain_text("comes with 100 files and the limit is 20")
    assert tab.get_by_role("textbox").input_value() == "What do they say?"


NAMES = [
    "../../../climb.csv",
    "..",
    "/etc/climb.csv",
    "a/../../climb.csv",
    "<img src=x onerror=window.taken=1>.csv",
]


@pytest.mark.parametrize("name", NAMES)
def test_a_file_name_cannot_climb_out_of_the_visitors_folder(tab: Tab, app: App, name: str) -> None:
    before = set(app.services.settings.data_dir.parent.rglob("*climb*"))
    tab.locator("input[type=file]").set_input_files(
        [{"name": name, "mimeType": "text/csv", "buffer": b"river,km\nOrme,41\n"}]
    )
    tab.wait_for_timeout(500)
    ask(tab, "How long is the Orme?")
    tab.wait_for_timeout(1500)
    assert tab.evaluate("window.taken") is None
    made = set(app.services.settings.data_dir.parent.rglob("*climb*")) - before
    folders = (app.services.settings.data_dir / "sessions", app.services.settings.data_dir.parent / "gradio")
    assert all(any(path.is_relative_to(folder) for folder in folders) for path in made), made


def test_an_upload_under_a_climbing_name_stays_in_the_upload_folder(app: App) -> None:
    root = app.services.settings.data_dir.parent
    for name in ("../../../climbing.csv", "/tmp/climbing.csv", "..\\..\\climbing.csv", "a\0climbing.csv"):
        with httpx.Client(base_url=app.address, trust_env=False) as client:
            answer = client.post("gradio_api/upload", files={"files": (name, b"x", "text/csv")})
        if answer.is_success:
            assert all(str(path).startswith(str(root / "gradio")) for path in answer.json()), answer.json()


def test_another_visitors_session_has_no_address(tab: Tab, browser: Browser) -> None:
    ask(tab, QUESTION)
    expect(ended(tab)).to_be_visible()
    other = browser.new_page()
    other.goto(tab.url.partition("?")[0])
    other.wait_for_function("Object.keys(localStorage).length")
    assert other.evaluate("Object.keys(localStorage)") == tab.evaluate("Object.keys(localStorage)")
    assert other.evaluate("JSON.stringify(localStorage)") != tab.evaluate("JSON.stringify(localStorage)")
    other.close()
