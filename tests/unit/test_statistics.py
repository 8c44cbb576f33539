"""The numbers of a report are those of the books, so that "better" means something."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.events import Outcome
from evals.folder import About, Folder
from evals.questions import Question, QuestionSet
from evals.report.table import notes, paired_words
from evals.results import Key, Result
from evals.statistics import Paired, majority, paired, pass_at_k, wilson
from evals.summary import Summary, compared
from evals.verdict import Verdict


def test_the_interval_of_a_share_is_wilsons() -> None:
    assert wilson(0.5, 10) == pytest.approx((0.2366, 0.7634), abs=1e-4)
    assert wilson(0.0, 10) == pytest.approx((0.0, 0.2775), abs=1e-4)
    assert wilson(1.0, 10) == pytest.approx((0.7225, 1.0), abs=1e-4)
    assert wilson(0.5515, 165) == pytest.approx((0.4753, 0.6253), abs=1e-3)
    assert wilson(0.0, 0) == (0.0, 1.0)


@given(st.integers(1, 400), st.data())
def test_the_interval_holds_the_share_and_lies_in_the_range(count: int, data: st.DataObject) -> None:
    share = data.draw(st.integers(0, count)) / count
    low, high = wilson(share, count)
    assert 0 <= low <= share + 1e-12 and share - 1e-12 <= high <= 1


@pytest.mark.parametrize(
    ("right", "asked", "k", "value"),
    [(0, 3, 3, 0.0), (1, 3, 1, 1 / 3), (1, 3, 2, 2 / 3), (1, 3, 3, 1.0), (2, 4, 2, 5 / 6), (3, 3, 1, 1.0)],
)
def test_pass_at_k_is_the_chance_that_one_of_k_is_right(right: int, asked: int, k: int, value: float) -> None:
    assert pass_at_k(right, asked, k) == pytest.approx(value)


def test_the_majority_is_the_first_of_the_most_frequent_answers() -> None:
    assert majority(["b", "A", "a"], ["b", "a", "a"]) == "A"
    assert majority(["b", "a"], ["b", "a"]) == "b"
    assert majority([], []) == ""


@pytest.mark.parametrize(
    ("first", "second", "p"),
    [(0, 0, 1.0), (1, 0, 1.0), (5, 0, 0.0625), (6, 0, 0.03125), (10, 2, 0.03857), (5, 5, 1.0)],
)
def test_mcnemars_p_is_the_exact_one(first: int, second: int, p: float) -> None:
    assert Paired(3, first, second, 4).p == pytest.approx(p, abs=1e-5)
    assert Paired(3, second, first, 4).p == pytest.approx(p, abs=1e-5)


def test_a_very_small_p_is_not_shown_as_a_nought() -> None:
    assert [Paired(0, only, 0, 0).p_shown for only in (2, 6, 15)] == ["0.500", "0.031", "< 0.001"]


def test_pairs_are_counted_by_who_was_right() -> None:
    pair = paired([(True, True), (True, False), (True, False), (False, True), (False, False)])
    assert (pair.both, pair.only_first, pair.only_second, pair.neither, pair.count) == (1, 2, 1, 1, 5)
    assert "may be chance" in paired_words("a", "b", pair)
    assert "more than chance explains" in paired_words("a", "b", Paired(1, 9, 0, 1))


ABOUT = About("words", "web", "m", "research", 6, "c", prompt_price=2.0, completion_price=8.0)
QUESTIONS = (
    Question("a", "?", "1", level=1),
    Question("b", "?", "2", level=2, files=(Path("b.csv"),)),
    Question("c", "?", "3", level=2),
    Question("d", "?", "4", level=2),
)
WORDS = QuestionSet("words", QUESTIONS)


def evaluation(path: Path, answers: dict[str, list[str]], asked: QuestionSet = WORDS) -> Summary:
    folder = Folder.write(path, ABOUT, asked)
    stored = folder.results_file()
    for name, said in answers.items():
        for repeat, answer in enumerate(said):
            key = Key("research", name, "web", "m", 6, "c", repeat)
            outcome = Outcome.ANSWERED if answer else Outcome.FAILED
            stored.add(Result(key, answer, outcome, "", 1000, 500, False, 2.0, 3))
    return Summary(Folder.read(path))


def test_a_summary_tells_of_levels_attachments_repeats_and_cost(tmp_path: Path) -> None:
    found = evaluation(tmp_path, {"a": ["1", "1", "9"], "b": ["2 km", "2", "2."], "c": ["7", "", ""]})
    assert [group.name for group in found.groups] == [
        "all",
        "level 1",
        "level 2",
        "with attachment",
        "without attachment",
    ]
    whole, first, second, attached, _ = found.groups
    assert found.missing == 1
    assert whole.pass_1 == pytest.approx((2 / 3 + 2 / 3 + 0) / 3)
    assert (whole.k, whole.pass_k, whole.majority) == (3, pytest.approx(2 / 3), pytest.approx(2 / 3))
    assert (first.pass_1, second.pass_1, attached.pass_1) == pytest.approx((2 / 3, 1 / 3, 2 / 3))
    assert whole.verdicts == {Verdict.RIGHT: 4, Verdict.WRONG: 2, Verdict.WRONG_FORM: 1, Verdict.ERROR: 2}
    assert found.cost(whole) == pytest.approx(0.006)
    assert (whole.tokens, whole.seconds, whole.steps) == (1500, 2.0, 3)


def test_a_question_whose_true_answer_is_unknown_lowers_no_share(tmp_path: Path) -> None:
    unknown = replace(QUESTIONS[1], answer="")
    asked = QuestionSet("words", (QUESTIONS[0], unknown))
    found = evaluation(tmp_path, {"a": ["1"], "b": ["2"]}, asked)
    assert (found.all.pass_1, found.all.interval) == (1.0, wilson(1.0, 1))
    assert notes(found) == [
        "The true answers of 1 questions are not known here: all shares are of the others."
    ]
    assert compared(found, found).count == 1
    (none,) = [group for group in found.groups if group.name == "level 2"]
    assert (none.pass_1, none.interval) == (0.0, (0.0, 1.0))


def test_the_majority_counts_what_says_the_same_and_nothing_else(tmp_path: Path) -> None:
    said = {"a": ["3", "10", "1.0", "1"], "b": ["3.14", "314", "2", "2.0"], "c": ["-3", "3", "$3.00", "-3.0"]}
    found = evaluation(tmp_path, said)
    assert [each.majority for each in found.asked] == ["1.0", "2", "-3"]
    assert found.all.majority == pytest.approx(2 / 3)


def test_two_evaluations_are_compared_on_the_questions_that_both_were_asked(tmp_path: Path) -> None:
    first = evaluation(tmp_path / "one", {"a": ["1", "9"], "b": ["0"], "c": ["3"]})
    second = evaluation(tmp_path / "two", {"a": ["9"], "b": ["2"], "d": ["4"]})
    pair = compared(first, second)
    assert (pair.count, pair.only_first, pair.only_second) == (2, 1, 1)
    others = QuestionSet("words", tuple(replace(each, question="Another?") for each in QUESTIONS))
    assert compared(first, evaluation(tmp_path / "three", {"a": ["1"], "b": ["2"]}, others)).count == 0


def test_a_folder_without_results_still_has_a_summary(tmp_path: Path) -> None:
    found = evaluation(tmp_path, {})
    assert found.missing == 4 and found.all.pass_1 == 0.0 and found.all.interval == (0.0, 1.0)
