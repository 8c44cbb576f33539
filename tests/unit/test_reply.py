"""What a visitor would see go wrong if a reply were read wrongly."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.events import Usage
from agent.model.reading import Reading
from agent.model.reply import Piece, ReasoningSplitter, Reply, ReplyParser, StopCutter
from agent.model.wire import Chunk


def parsed(text: str, finish_reason: str | None = "stop", pieces: list[str] | None = None) -> Reply:
    parser = ReplyParser()
    for piece in pieces if pieces is not None else [text]:
        parser.feed(piece)
    return parser.close(finish_reason)


@pytest.mark.parametrize(
    "opening",
    ["```python\n", "```py\n", "```\n", "``` python \r\n", "```Python\n", "<code>\n", "<code>\n```py\n"],
)
def test_a_code_block_is_found_whatever_fence_the_model_uses(opening):
    closing = "```\n" if "```" in opening else "</code>\n"
    assert parsed(f"I look it up.\n{opening}x = 1\nprint(x)\n{closing}") == Reply(
        "I look it up.", "x = 1\nprint(x)", False
    )


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Code: ```python\nx = 1\n```", "x = 1"),
        ("```python\nfinal_answer(1)```", "final_answer(1)"),
        ("```python\nfinal_answer(1)```\nDone.", "final_answer(1)"),
        ("```python print(1)```", "print(1)"),
        ("<code>print(1)</code>", "print(1)"),
        ("<code>x = 1\nprint(x)</code>", "x = 1\nprint(x)"),
        ("1. First:\n   ```python\n   if x:\n       y = 1\n   ```\n", "if x:\n    y = 1"),
        ("```python\n```\nI try again.\n```python\nx = 2\n```", "x = 2"),
        ("```json\n{}\n```\nSo:\n```python\nx = 3\n```", "x = 3"),
        ("Use ```x``` here.\n```python\nx = 4\n```", "x = 4"),
    ],
)
def test_the_loose_forms_that_small_models_write_are_understood(text, code):
    assert parsed(text).code == code


@pytest.mark.parametrize(
    "line", ['s = "```"', 'fence = """```python"""', "x = '<code>a</code> b'", 't = "</code>" + s']
)
def test_a_fence_or_tag_inside_a_string_does_not_end_the_program(line):
    closing = {True: "```", False: "</code>"}["</code>" not in line]
    opening = {"```": "```python", "</code>": "<code>"}[closing]
    assert parsed(f"{opening}\n{line}\nprint(1)\n{closing}\n").code == f"{line}\nprint(1)"


def test_only_the_first_block_is_the_action_and_the_guessed_rest_is_dropped():
    text = "A.\n```python\nprint(web_search('x'))\n```\nOutput: 42\n```python\nfinal_answer(42)\n```\n"
    assert parsed(text) == Reply("A.", "print(web_search('x'))", False)


def test_the_parser_says_that_the_action_is_complete_so_that_the_rest_need_not_be_generated():
    parser = ReplyParser()
    parser.feed("A.\n```python\nprint(1)\n")
    assert not parser.done
    parser.feed("```")
    assert parser.done


def test_a_reply_without_code_is_all_thought():
    assert parsed("Nothing to run, `x` is known.") == Reply("Nothing to run, `x` is known.", None, False)


def test_a_block_ended_by_a_stop_sequence_runs():
    assert parsed("```python\nprint(1)\n", "stop_sequence") == Reply("", "print(1)", False)


@pytest.mark.parametrize("finish_reason", ["length", None, "content_filter"])
def test_half_a_program_is_never_offered_to_run(finish_reason):
    assert parsed("A.\n```python\nos.remove(", finish_reason).truncated


def test_a_cut_in_the_guesses_after_a_complete_block_does_no_harm():
    assert parsed("```python\nprint(1)\n```\nThe output is", "length") == Reply("", "print(1)", False)


def test_code_and_thought_are_shown_as_they_stream_in():
    parser = ReplyParser()
    seen = [parser.feed(piece) for piece in ["I lo", "ok.\n``", "`python\npr", "int(1)\n", "```\n"]]
    assert seen == [
        [Piece("thought", "I lo")],
        [Piece("thought", "ok.\n")],
        [Piece("code", "pr")],
        [Piece("code", "int(1)\n")],
        [],
    ]


# --- stop text -------------------------------------------------------------------------


def cut(pieces: list[str], stops: list[str]) -> tuple[str, bool]:
    cutter = StopCutter(stops)
    return "".join([cutter.feed(piece) for piece in pieces] + [cutter.close()]), cutter.stopped


def test_stop_text_that_the_server_left_in_never_reaches_the_code():
    assert cut(["print(1)\n</co", "de>\n\n"], ["</code>", "Observation:"]) == ("print(1)\n", True)


def test_what_only_looks_like_the_begin_of_a_stop_is_not_lost():
    assert cut(["a </", "cod", "a"], ["</code>"]) == ("a </coda", False)
    assert cut(["a </cod"], ["</code>"]) == ("a </cod", False)


def test_text_flows_on_while_no_stop_can_begin():
    cutter = StopCutter(["</code>"])
    assert cutter.feed("print(1)") == "print(1)"


def test_the_stop_that_is_complete_first_counts():
    assert cut(["abcd"], ["abcd", "c"]) == ("ab", True)


# --- reasoning -------------------------------------------------------------------------


def split(pieces: list[str], opened: bool = False, finish_reason: str = "stop") -> tuple[str, str]:
    """(reasoning, content) as a reader of the pieces ends up with."""
    splitter = ReasoningSplitter(opened)
    reasoning = content = ""
    for piece in [p for text in pieces for p in splitter.feed(text)] + splitter.close(finish_reason):
        if piece.kind == "restart":
            reasoning, content = reasoning + content, ""
        elif piece.kind == "reasoning":
            reasoning += piece.text
        else:
            content += piece.text
    return reasoning, content


def test_drafts_inside_think_are_not_part_of_the_reply():
    draft = "<think>Maybe\n```python\nos.remove('x')\n```\n</think>"
    reasoning, content = split([draft, "So.\n```python\nprint(1)\n```"])
    assert "os.remove" in reasoning
    assert parsed(content) == Reply("So.", "print(1)", False)


def test_a_think_tag_split_over_chunks_is_still_a_tag():
    assert split(["<th", "ink>a</", "think", ">b"]) == ("a", "b")


def test_a_lone_closing_think_tag_turns_all_before_it_into_reasoning():
    assert split(["I wonder.\n", "</think>", "\n\nYes."]) == ("I wonder.\n", "\n\nYes.")


def test_a_lone_closing_tag_inside_the_program_is_text_of_the_program():
    text = "So:\n```python\nx = page.split('</think>')\n```\n"
    assert split([text]) == ("", text)
    tagged = "<code>\nx = page.split('<think>')\n</code>"
    assert split([tagged]) == ("", tagged)


def test_with_a_template_that_opens_think_reasoning_streams_as_reasoning():
    splitter = ReasoningSplitter(opened=True)
    assert splitter.feed("Hm. ") == [Piece("reasoning", "Hm. ")]
    assert splitter.feed("</think>Yes") == [Piece("content", "Yes")]


def test_a_model_that_did_not_think_after_all_keeps_its_answer():
    assert split(["Yes."], opened=True)[1] == "Yes."


def test_thinking_cut_by_the_length_is_no_answer():
    assert split(["I wonder"], opened=True, finish_reason="length") == ("I wonder", "")
    assert split(["<think>I wonder"], finish_reason="length") == ("I wonder", "")


# --- any chunking gives the same result -----------------------------------------------------

MARKS = [
    "<think>",
    "</think>",
    "```",
    "```python",
    "```py\n",
    "```\n",
    "```json\n",
    "<code>",
    "</code>",
    "</code>\n",
]
WORDS = ["\n", "x = 1", " ", "`", "``", "<", "</", "ab", "abc", "c", "  ", "\r\n", "é", "\u2028"]
TOKENS = st.lists(st.sampled_from(MARKS + WORDS), max_size=14).map("".join)


def chunked(data: st.DataObject, text: str) -> list[str]:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8)))
    return [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]


@given(TOKENS, st.sampled_from(["stop", "length"]), st.data())
def test_the_reply_does_not_depend_on_how_the_network_cut_it(text, finish_reason, data):
    def run(pieces: list[str]) -> tuple[Reply, str, str]:
        parser = ReplyParser()
        out = [p for piece in pieces for p in parser.feed(piece)] + parser.flush()
        shown = ["".join(p.text for p in out if p.kind == kind) for kind in ("thought", "code")]
        return parser.close(finish_reason), shown[0], shown[1]

    assert run(chunked(data, text)) == run([text]) == run(list(text))


@given(TOKENS, st.booleans(), st.sampled_from(["stop", "length"]), st.data())
def test_the_reasoning_does_not_depend_on_how_the_network_cut_it(text, opened, finish_reason, data):
    whole = split([text], opened, finish_reason)
    assert (
        split(chunked(data, text), opened, finish_reason) == whole == split(list(text), opened, finish_reason)
    )


@given(
    TOKENS,
    st.lists(st.sampled_from(["```", "</code>", "abc", "b", "c", "\n\n", "bc`"]), max_size=4),
    st.data(),
)
def test_the_stop_does_not_depend_on_how_the_network_cut_it(text, stops, data):
    whole = cut([text], stops)
    assert cut(chunked(data, text), stops) == whole == cut(list(text), stops)
    assert text.startswith(whole[0])
    assert not any(stop in whole[0] for stop in stops)


@given(TOKENS, st.booleans(), st.sampled_from(["stop", "length"]), st.data())
def test_what_an_agent_reads_does_not_depend_on_how_the_network_cut_it(text, thinks, finish_reason, data):
    """Reasoning, stop text and the last delta together, as EndpointModel puts them together."""

    def read(pieces: list[str]) -> tuple[str, str, str | None]:
        reading = Reading(thinks, ["</code>", "abc"], trusted=True)
        deltas = [delta for piece in pieces for delta in reading.take(Chunk(content=piece))]
        deltas += [*reading.take(Chunk(finish_reason=finish_reason)), *reading.end(Usage(1, 1))]
        reasoning = content = ""
        for delta in deltas:
            content = "" if delta.restart else content + (delta.content or "")
            reasoning += delta.reasoning or ""
        return reasoning, content, deltas[-1].finish_reason

    assert read(chunked(data, text)) == read([text]) == read(list(text))
