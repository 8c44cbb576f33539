"""The scorer is strict where a wrong answer looks right, and lenient where a right one looks different."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.scorer import accepts, exact_match, f1, normalized


@pytest.mark.parametrize(
    ("answer", "expected", "right"),
    [
        ("The Suez Canal.", "suez canal", True),
        ("an apple a day", "apple day", True),
        ("Theatre", "atre", False),
        ("U.S.A.", "usa", True),
        ("yes", "Yes", True),
        ("Edinburgh", "London", False),
        ("London and Paris", "London", False),
        ("", "London", False),
    ],
)
def test_an_exact_match_ignores_case_punctuation_and_articles_only(
    answer: str, expected: str, right: bool
) -> None:
    assert exact_match(answer, expected) is right


@pytest.mark.parametrize(
    ("answer", "expected", "score"),
    [
        ("the Suez Canal in Egypt", "Suez Canal", 2 / 3),
        ("Suez", "Suez Canal", 2 / 3),
        ("Suez Suez", "Suez Canal", 1 / 2),
        ("Panama", "Suez Canal", 0.0),
        ("yes, it was", "yes", 0.0),
        ("no", "no", 1.0),
        ("", "London", 0.0),
    ],
)
def test_f1_is_the_overlap_of_words_and_a_yes_counts_only_as_a_whole(
    answer: str, expected: str, score: float
) -> None:
    assert f1(answer, expected) == pytest.approx(score)


@pytest.mark.parametrize(
    ("answer", "accepted", "right"),
    [
        ("54", "54", True),
        ("It was 54 years later.", "54", True),
        ("54.", "54", True),
        ("(54)", "54", True),
        ("54.0", "54", True),
        ("in 1954", "54", False),
        ("54.5 years", "54", False),
        ("3.54", "54", False),
        ("0,54", "54", False),
        (".54", "54", False),
        ("-54", "54", False),
        ("\u221254", "54", False),
        ("5,454", "54", False),
        ("54,000", "54", False),
        ("1,642 metres", "1642", True),
        ("1642 metres", "1,642", True),
        ("1\u202f642 m", "1,642", True),
        ("11,642", "1,642", False),
        ("283.5 kg", "283.5", True),
        ("283.55 kg", "283.5", False),
        ("54th", "54", False),
        ("the HERSCHEL family", "Herschel", True),
        ("Herschels", "Herschel", False),
        ("Hämeenlinna", "Hameenlinna", True),
        ("Hameenlinna, Finland", "Hämeenlinna", True),
        ("the  Suez\nCanal", "Suez Canal", True),
        ("", "Lagos", False),
        ("Lagos", "", False),
    ],
)
def test_an_accepted_answer_must_stand_there_as_whole_words_or_a_whole_number(
    answer: str, accepted: str, right: bool
) -> None:
    assert accepts(answer, accepted) is right


def test_any_of_several_accepted_answers_will_do() -> None:
    assert accepts("There are two.", ("2", "two"))
    assert not accepts("There are twenty-two thousand, or 12.", ("2", "two moons"))


@given(st.text(max_size=40))
def test_every_answer_is_the_same_as_itself(text: str) -> None:
    assert exact_match(text, text.upper().lower()) or normalized(text) != normalized(text.upper().lower())
    assert f1(text, text) == (1.0 if normalized(text) else 0.0)


@given(st.integers(min_value=0, max_value=10**9), st.integers(min_value=0, max_value=10**9))
def test_a_number_is_accepted_exactly_when_it_is_that_number(said: int, wanted: int) -> None:
    assert accepts(f"The answer is {said:,}.", str(wanted)) is (said == wanted)
    assert accepts(f"The answer is {wanted}, I think", f"{wanted:,}")
