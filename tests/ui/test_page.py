"""The page in a real browser: what a visitor sees, does and cannot break."""

import re
from pathlib import Path

import pytest
from gradio_client import Client
from playwright.sync_api import Browser, Route, expect
from playwright.sync_api import Page as Tab

from tests.agent_world import until
from tests.ui.conftest import App
from tests.ui.screenshot import screenshot
from tests.ui.visitor import ANSWER, QUESTION, ask, ended, step, stop_button

pytestmark = pytest.mark.ui


def test_a_question_is_worked_on_in_view_and_answered_with_its_source(tab: Tab) -> None:
    ask(tab, QUESTION)
    expect(tab.get_by_label("chatbot conversation")).to_contain_text(QUESTION)
    expect(step(tab, 1)).to_be_visible()
    expect(ended(tab)).to_be_visible()
    expect(step(tab, 1)).to_contain_text("searched")
    expect(step(tab, 2)).to_contain_text("read 1 page")
    expect(tab.get_by_text("I search for the canal.")).to_be_hidden()
    expect(tab.get_by_label("chatbot conversation")).to_contain_text(ANSWER)
    expect(tab.locator("#chat ol li")).to_contain_text("✓ “The Suez Canal was opened on 17 November 1869.”")
    expect(stop_button(tab)).to_be_hidden()
    expect(tab.get_by_role("button", name="Submit")).to_be_visible()


def test_a_finished_step_opens_to_its_thought_code_call_and_output(tab: Tab) -> None:
    ask(tab, QUESTION)
    expect(ended(tab)).to_be_visible()
    step(tab, 2).click()
    inside = tab.locator(".children").filter(has_text="I read the page.")
    expect(inside.locator("code.language-python")).to_contain_text("page = visit_page(")
    expect(inside.locator("table")).to_contain_text("visit_page")
    expect(inside.locator("table")).to_contain_text("s ✓")
    expect(inside.locator("code.language-text")).to_contain_text("Great canals")


def test_what_the_code_draws_is_seen_in_its_step_below_its_output(tab: Tab) -> None:
    ask(tab, "Draw the lengths of the Orme and the Quill.")
    expect(ended(tab)).to_be_visible()
    step(tab, 1).click()
    inside = tab.locator(".children").filter(has_text="I draw them.")
    figure, output = inside.get_by_role("img", name="figure"), inside.locator("code.language-text")
    expect(figure).to_be_visible()
    expect(output).to_have_text(re.compile(r"^\[figure 1: \d+x\d+\]\s*$"))
    size = figure.evaluate("image => `[figure 1: ${image.naturalWidth}x${image.naturalHeight}]`")
    expect(output).to_have_text(size)
    tab.wait_for_timeout(600)  # the step is opening
    stands = figure.evaluate(
        """figure => {
            const box = element => element.getBoundingClientRect(), at = box(figure);
            const chat = box(document.querySelector("#chat"));
            const output = box(document.querySelector("#chat .children code.language-text"));
            return {below: at.top >= output.bottom, inside: chat.left <= at.left && at.right <= chat.right};
        }"""
    )
    assert stands == {"below": True, "inside": True}
    expect(step(tab, 1)).to_contain_text("drew a figure")
    tab.reload()
    step(tab, 1).click()
    expect(tab.get_by_role("img", name="figure")).to_be_visible()


def test_stop_ends_the_run_at_once_and_the_question_can_be_asked_again(tab: Tab) -> None:
    ask(tab, "Think slowly about the Orme.")
    expect(tab.get_by_text("word word word")).to_be_visible()
    expect(step(tab, 1)).to_contain_text("thinking")
    stop_button(tab).click()
    expect(ended(tab, "Stopped by you")).to_be_visible()
    expect(stop_button(tab)).to_be_hidden()
    expect(tab.locator(".loading-spinner")).to_have_count(0)
    tab.get_by_role("button", name="Ask again").click()
    expect(tab.locator("#chat .user-row")).to_have_count(2)
    stop_button(tab).click()
    expect(ended(tab, "Stopped by you")).to_have_count(2)


def test_a_question_that_overtakes_the_arrival_of_its_page_is_still_the_visitors_own(
    page: Tab, app: App
) -> None:
    held: list[Route] = []

    def hold_the_first(route: Route) -> None:
        if held:
            route.continue_()
        else:
            held.append(route)

    page.route("**/queue/join*", hold_the_first)
    page.goto(app.address)
    with page.expect_request(lambda request: "queue/join" in request.url and len(held) > 0):
        ask(page, "Think slowly about the Orme.")
    held[0].continue_()
    stop_button(page).click()
    expect(ended(page, "Stopped")).to_be_visible()
    page.reload()
    ask(page, QUESTION)
    expect(page.locator("#chat .user-row")).to_have_count(2)


def test_a_closed_tab_loses_nothing_and_its_address_shows_the_run_again(tab: Tab) -> None:
    ask(tab, "Think slowly about the Orme.")
    expect(tab.get_by_text("word word word")).to_be_visible()
    expect(tab).to_have_url(re.compile(r"[?&]run=[\w-]{16,}"))
    address = tab.url
    visitor = tab.context
    tab.close()
    later = visitor.new_page()
    later.goto(address)
    expect(later.get_by_text("word word word")).to_be_visible()
    stop_button(later).click()
    expect(ended(later, "Stopped by you")).to_be_visible()
    later.reload()
    expect(ended(later, "Stopped by you")).to_be_visible()
    expect(stop_button(later)).to_be_hidden()
    later.close()


def test_a_second_question_stands_below_the_first(tab: Tab) -> None:
    ask(tab, QUESTION)
    expect(ended(tab)).to_be_visible()
    ask(tab, f"{QUESTION} Again, please.")
    expect(ended(tab)).to_have_count(2)
    expect(tab.locator("#chat .user-row").nth(1)).to_contain_text("Again, please.")


def test_a_reload_shows_the_whole_conversation_and_the_files_are_still_there(tab: Tab, notes: Path) -> None:
    tab.locator("input[type=file]").set_input_files(notes)
    expect(tab.get_by_role("button", name="Remove file")).to_be_attached()
    ask(tab, "How long is the Orme?")
    expect(ended(tab)).to_be_visible()
    ask(tab, "How long is it, again?")
    expect(ended(tab)).to_have_count(2)
    tab.reload()
    expect(ended(tab)).to_have_count(2)
    expect(tab.locator("#chat .user-row").first).to_contain_text("How long is the Orme?")
    ask(tab, "And once more?")
    expect(ended(tab)).to_have_count(3)
    expect(tab.get_by_label("chatbot conversation").get_by_text("The Orme is 41 km long.")).to_have_count(3)


def test_the_link_of_a_run_shows_somebody_else_that_run_alone_and_no_stop(tab: Tab, browser: Browser) -> None:
    ask(tab, f"{QUESTION} A private first question.")
    expect(ended(tab)).to_be_visible()
    ask(tab, "Think slowly about the Orme.")
    expect(tab.get_by_text("word word word")).to_be_visible()
    other = browser.new_page()
    other.goto(tab.url)
    expect(other.get_by_text("word word word")).to_be_visible()
    expect(other.locator("#chat .user-row")).to_have_count(1)
    expect(other.locator("body")).not_to_contain_text("private")
    expect(stop_button(other)).to_be_hidden()
    ask(other, QUESTION)
    expect(ended(other)).to_be_visible()
    other.wait_for_timeout(1500)  # the run of the link goes on meanwhile
    expect(other.locator("#chat .user-row")).to_have_count(1)
    expect(other.locator("#chat")).not_to_contain_text("word word")
    other.close()
    stop_button(tab).click()
    expect(ended(tab, "Stopped by you")).to_be_visible()


def test_two_visitors_at_once_do_not_see_each_other(tab: Tab, browser: Browser, app: App) -> None:
    other = browser.new_page()
    other.goto(app.address)
    ask(tab, "Think slowly about the first visitor's secret.")
    expect(tab.get_by_text("word word word")).to_be_visible()
    ask(other, QUESTION)
    expect(ended(other)).to_be_visible()
    expect(other.locator("body")).not_to_contain_text("secret")
    expect(tab.locator("body")).not_to_contain_text("Suez Canal, in 1869")
    other.close()
    stop_button(tab).click()
    expect(ended(tab, "Stopped by you")).to_be_visible()


def test_an_attached_file_is_read(tab: Tab, notes: Path) -> None:
    tab.locator("input[type=file]").set_input_files(notes)
    expect(tab.get_by_role("button", name="Remove file")).to_be_attached()
    ask(tab, "How long is the Orme?")
    expect(ended(tab)).to_be_visible()
    expect(tab.locator("#chat .user-row")).to_contain_text("rivers.csv")
    expect(tab.get_by_label("chatbot conversation")).to_contain_text("The Orme is 41 km long.")


@pytest.mark.parametrize(
    ("question", "sentence"),
    [("", "The question is empty"), ("x" * 20_000, "The question has 20,000 characters")],
    ids=["empty", "20,000 characters"],
)
def test_a_bad_question_gets_one_sentence_and_stays_typed(tab: Tab, question: str, sentence: str) -> None:
    ask(tab, question)
    expect(tab.get_by_role("alert")).to_contain_text(sentence)
    assert tab.get_by_role("alert").inner_text().count("\n") == 0
    assert tab.get_by_role("textbox").input_value() == question
    expect(tab.locator("body")).not_to_contain_text("Traceback")
    ask(tab, QUESTION)
    expect(ended(tab)).to_be_visible()
    expect(tab.get_by_role("alert")).to_have_count(0)


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [("empty.txt", b"", "is empty"), ("report.pdf", b"no pdf at all", "is called a PDF but is none")],
)
def test_a_file_that_cannot_be_used_gets_one_sentence_and_the_question_stays(
    tab: Tab, name: str, content: bytes, sentence: str
) -> None:
    tab.locator("input[type=file]").set_input_files(
        [{"name": name, "mimeType": "text/plain", "buffer": content}]
    )
    expect(tab.get_by_role("button", name="Remove file")).to_be_attached()
    ask(tab, "What does it say?")
    expect(tab.get_by_role("alert")).to_contain_text(sentence)
    assert tab.get_by_role("textbox").input_value() == "What does it say?"


def test_a_run_that_is_not_here_is_named_in_one_sentence(tab: Tab, app: App) -> None:
    tab.goto(f"{app.address}?run=nothing-like-that")
    expect(tab.get_by_role("alert")).to_contain_text("There is no run of that name here")
    ask(tab, QUESTION)
    expect(ended(tab)).to_be_visible()


def test_on_a_telephone_nothing_scrolls_sideways_and_the_rail_is_one_line_that_opens(tab: Tab) -> None:
    tab.set_viewport_size({"width": 390, "height": 844})
    ask(tab, QUESTION)
    expect(ended(tab)).to_be_visible()
    step(tab, 2).click()
    assert tab.evaluate("document.documentElement.scrollWidth") <= 390
    line = tab.get_by_role("button", name=re.compile(r"^1 source · [\d,]+ tokens · \d"))
    expect(tab.locator("#rail")).to_be_hidden()
    line.click()
    expect(tab.locator("#sheet").get_by_text("This run")).to_be_visible()
    for reachable in (tab.get_by_role("textbox"), tab.get_by_role("button", name="Submit")):
        expect(reachable).to_be_in_viewport()


def test_the_empty_page_says_what_is_in_force_and_its_examples_work(tab: Tab) -> None:
    for fact in ("Qwen/Qwen2.5-Coder-32B-Instruct", "library only", "box "):
        expect(tab.locator("#header")).to_contain_text(fact)
    expect(tab.get_by_role("textbox")).to_be_focused()
    examples = tab.get_by_role("button", name=re.compile("^Select example"))
    expect(examples).to_have_count(4)
    examples.first.click()
    expect(ended(tab)).to_be_visible()


def test_the_history_that_a_browser_sends_is_not_taken_for_the_visitors(app: App) -> None:
    client = Client(app.address, verbose=False)
    assert list(client.view_api(return_format="dict")["named_endpoints"]) == ["/research"]


def test_the_api_answers_a_question_with_its_sources_and_the_page_shows_its_run(app: App, page: Tab) -> None:
    client = Client(app.address, verbose=False)
    result = client.predict(QUESTION, api_name="/research")
    assert result["outcome"] == "answered" and ANSWER in result["answer"]
    assert [source["status"] for source in result["sources"]] == ["verified"]
    assert result["steps"] == 3 and result["seconds"] > 0
    page.goto(f"{app.address}?run={result['run']}")
    expect(ended(page)).to_be_visible()
    with pytest.raises(Exception, match="The question is empty"):
        client.predict(" ", api_name="/research")


def test_the_screenshot_shows_a_run_with_its_answer(app: App, browser: Browser, tmp_path: Path) -> None:
    target = tmp_path / "shot.png"
    screenshot(browser, app.address, QUESTION, target, timeout=60)
    assert target.read_bytes().startswith(b"\x89PNG")


def test_a_visitor_who_leaves_frees_the_box_and_the_files(
    app: App, browser: Browser, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ui.visitors.AWAY_SECONDS", 0.2)
    tab = browser.new_page()
    tab.goto(app.address)
    tab.locator("input[type=file]").set_input_files(notes)
    expect(tab.get_by_role("button", name="Remove file")).to_be_attached()
    ask(tab, "How long is the Orme?")
    expect(ended(tab)).to_be_visible()
    files = (app.services.settings.data_dir / "sessions").glob("*/rivers.csv")
    mine = max(files, key=lambda file: file.stat().st_mtime)
    tab.close()
    until(lambda: not mine.exists())
