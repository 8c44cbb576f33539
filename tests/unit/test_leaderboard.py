"""An answer is scored here exactly as the GAIA leaderboard scores it, and a wrong one says why it is wrong."""

import csv
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.events import Outcome
from evals.leaderboard import matches
from evals.questions import Question
from evals.results import Key, Result
from evals.verdict import Verdict, verdict

PAIRS = Path(__file__).parent / "leaderboard_pairs.csv"
RESULT = Result(Key("research", "q", "w", "m", 6, "c"), "", Outcome.ANSWERED, "", 0, 0, False, 1.0, 1)


def pairs() -> list[tuple[str, str, bool]]:
    with PAIRS.open(encoding="utf-8", newline="") as file:
        return [(row["answer"], row["truth"], row["right"] == "1") for row in csv.DictReader(file)]


def test_the_table_has_eighty_pairs_of_both_kinds() -> None:
    assert len(set(pairs())) >= 80
    assert 30 < sum(right for _, _, right in pairs()) < 60


@pytest.mark.parametrize(("answer", "truth", "right"), pairs())
def test_a_pair_gets_the_value_that_the_published_rules_give(answer: str, truth: str, right: bool) -> None:
    assert matches(answer, truth) is right


@given(st.integers(-(10**12), 10**12), st.sampled_from(["{:,}", "${:,}", "{}%", " {} ", "{}.0", "{:.3f}"]))
def test_a_number_is_right_in_every_usual_dress_and_its_neighbour_in_none(number: int, dress: str) -> None:
    assert matches(dress.format(number), str(number))
    assert not matches(dress.format(number + 1), str(number))


WORDS = st.text(st.characters(categories=("Lu", "Ll")), min_size=1, max_size=8).filter(
    lambda word: word.lower() == word.upper().lower() and word.lower() not in ("inf", "nan", "infinity")
)


@given(st.lists(WORDS, min_size=2, max_size=6), st.sampled_from([",", ", ", ";", " ; "]))
def test_a_list_is_right_with_any_separator_and_only_in_its_order(words: list[str], separator: str) -> None:
    truth = ", ".join(words)
    assert matches(separator.join(words).upper(), truth)
    assert not matches(separator.join(words[:-1]), truth)
    turned = words[1:] + words[:1]
    assert matches(separator.join(turned), truth) is (
        [word.lower() for word in turned] == [word.lower() for word in words]
    )


@given(WORDS, WORDS)
def test_a_text_is_compared_without_case_spaces_and_punctuation(first: str, second: str) -> None:
    assert matches(f" {first.upper()}-{second}! ", f"{first} {second}")
    assert matches(first, second) is (first.lower() == second.lower())


@given(st.text(max_size=30), st.text(max_size=30))
def test_no_answer_whatever_makes_the_scorer_fail(answer: str, truth: str) -> None:
    assert matches(answer, truth) in (True, False)


@pytest.mark.parametrize(
    ("truth", "said", "outcome", "expected"),
    [
        ("17", "17", Outcome.ANSWERED, Verdict.RIGHT),
        ("17", "17", Outcome.PARTIAL, Verdict.RIGHT),
        ("17", "", Outcome.ANSWERED, Verdict.WRONG),
        ("17", "17 km", Outcome.ANSWERED, Verdict.WRONG_FORM),
        ("17", "The answer is 17.", Outcome.ANSWERED, Verdict.WRONG_FORM),
        ("17", "117 km", Outcome.ANSWERED, Verdict.WRONG),
        ("1.5", "1.50 m", Outcome.ANSWERED, Verdict.WRONG_FORM),
        ("a, b", "b, a", Outcome.ANSWERED, Verdict.WRONG_FORM),
        ("a, b", "a and b", Outcome.ANSWERED, Verdict.WRONG_FORM),
        ("a, b", "a", Outcome.ANSWERED, Verdict.WRONG),
        ("Oslo", "It is Oslo, in Norway.", Outcome.ANSWERED, Verdict.WRONG_FORM),
        ("Oslo", "Bergen", Outcome.ANSWERED, Verdict.WRONG),
        ("Oslo", "I look for Oslo", Outcome.PARTIAL, Verdict.PARTIAL),
        ("Oslo", "", Outcome.STOPPED, Verdict.STOPPED),
        ("Oslo", "", Outcome.FAILED, Verdict.ERROR),
        ("", "Oslo", Outcome.ANSWERED, Verdict.UNSCORED),
    ],
)
def test_what_is_not_right_says_why(truth: str, said: str, outcome: Outcome, expected: Verdict) -> None:
    result = replace(RESULT, answer=said, outcome=outcome)
    assert verdict(Question("q", "?", truth), result) is expected


def test_a_page_that_refused_to_be_read_is_named_as_the_reason_of_a_wrong_answer_only() -> None:
    question, blocked = Question("q", "?", "Oslo"), ("403 http://example.org/",)
    assert verdict(question, replace(RESULT, answer="Bergen", blocked=blocked)) is Verdict.BLOCKED
    assert verdict(question, replace(RESULT, answer="oslo", blocked=blocked)) is Verdict.RIGHT


def test_any_accepted_answer_is_right() -> None:
    assert verdict(Question("q", "?", "two", ("2",)), replace(RESULT, answer="2")) is Verdict.RIGHT
