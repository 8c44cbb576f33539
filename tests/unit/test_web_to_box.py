"""What the model's code in the box gets of a page of the web: links, tables, files."""

import json

from agent.events import OutputPrinted
from tests.agent_world import MakeWorld, Told, answer, step
from tests.local_web import Answer, LocalWeb

PAGE = "<title>Harbour</title><body><p>Words. <a href=/ships.csv>All ships</a> <a href=/about>About</a>" + (
    "<table><tr><th>ship<th>tons<tr><td>Fram<td>402<tr><td>Gjoa<td>67</table>"
)


def printed(told: Told) -> str:
    return "".join(event.text for event in told.events if isinstance(event, OutputPrinted))


def test_a_downloaded_file_is_opened_by_the_code_of_the_next_step(world: MakeWorld) -> None:
    routes = {
        "/": PAGE,
        "/ships.csv": Answer(headers={"Content-Type": "text/csv"}, body="ship,tons\nFram,402\n"),
    }
    with LocalWeb(routes) as web:
        app = world(
            step(
                "I open it.",
                f"visit_page({web.url()!r})\nprint(len(page_links()), page_links('ships')[0].url)",
            ),
            step("The table.", "t = page_tables()[0]\nprint(sum(int(n) for n in t['tons']))"),
            step("The file.", "name = download(page_links('ships')[0])\nprint(name)"),
            step(
                "I read it.", "print(open(name).read(), inspect_file_as_text(name).tables[0]['tons'].sum())"
            ),
            answer("469"),
            allow_local_web=True,
            prompt_profile="full",
            host_seconds=0,
        )
        told = app.ask("How many tons have the ships?")
    text = printed(told)
    for words in (f"2 {web.url('/ships.csv')}", "469", "ships.csv", "Fram,402", "402"):
        assert words in text
    attempts = app.services.store.attempts(told.run.id)
    assert {attempt.url for attempt in attempts} == {web.url(), web.url("/ships.csv")}
    assert all(attempt.hops and not attempt.error for attempt in attempts)


def test_a_search_with_filters_says_which_were_not_applied(world: MakeWorld) -> None:
    code = "r = web_search('moons of Mars', language='de')\nprint(r)\nweb_search('moons', after='soon')"
    app = world(step("I search.", code), answer("two"), prompt_profile="full")
    app.ask("How many moons has Mars?")
    assert "'soon' is not a date" in app.sent(1)
    assert "library://" in app.sent(1)


def test_a_small_model_is_not_offered_what_it_does_better_without(world: MakeWorld) -> None:
    app = world(
        step("I search.", ""),
        step("I try.", "download('http://a.example/x')"),
        answer("two"),
        prompt_profile="compact",
    )
    app.ask("How many moons has Mars?")
    assert "'download' is not defined" in app.sent(2)
    assert "page_links" not in json.dumps(app.endpoint.chats)
