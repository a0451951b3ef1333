"""Some rows of a long sequence stand for all of them, where mistakes leave rows apart."""

from pathlib import Path

import numpy as np
import pytest

from grader.bank import load_exercise
from grader.bank.bench import Bench
from grader.bank.checks.lengths import are_joined
from grader.bank.draw import pose
from grader.bank.masks import Sizes
from grader.mistakes import CATALOGUE, combine
from grader.model import Contract, Outcome
from grader.texts import load_texts

CAUSAL = Contract(("x",), "padding", True)
PADDING = (("mask", (("kind", "padding"), ("form", "b k"))),)
OF_MASKS = [m for m in CATALOGUE.values() if set(m.steps) == {"visible"}]


@pytest.mark.parametrize("mistake", OF_MASKS, ids=lambda mistake: mistake.id)
def test_rows_alone_get_what_they_get_among_others_under_a_wrong_mask(mistake):
    """A wrong mask may be read from the whole of it: its edge, or what any query sees."""
    sizes = Sizes(q_len=7, kv_len=7)
    problem = pose(7, "rows", CAUSAL, sizes, frozenset(), True, PADDING)
    for way in mistake.ways():
        steps = combine([way])
        some = problem.of_queries([0, 3, 6])
        whole = problem.expect(steps).output[:, [0, 3, 6]]
        np.testing.assert_allclose(some.expect(steps).output, whole)
        np.testing.assert_allclose(some.foretell(steps), whole)


@pytest.mark.parametrize(
    ("id_", "joined"),
    [
        ("missing-scale", False),
        ("key-used-as-value", False),
        ("causal-one-ahead", False),
        ("causal-mask-missing", False),
        ("scale-by-sqrt-num-heads", False),
        ("softmax-over-queries", True),
        ("softmax-over-all-pairs", True),
        ("split-without-transpose", False),
        ("merge-without-transpose", True),
        ("weights-transposed", True),
    ],
)
def test_mistakes_that_join_rows_are_told_from_others(id_, joined):
    exercise = load_exercise("causal-self-attention")
    case = next(case for case in exercise.cases if case.id == "causal-very-long")
    bench = Bench(exercise.contract, None, None, None, 7, carried=[CATALOGUE[id_]])
    assert are_joined(bench, case, None) is joined


SUBMISSIONS = Path(__file__).parent / "submissions"
BLOCKS = (SUBMISSIONS / "right" / "free_blocks_of_default_size.py").read_text(encoding="utf-8")
WRONG = (SUBMISSIONS / "wrong" / "free_blocks_of_default_size_not_rescaled.py").read_text(
    encoding="utf-8"
)
WINDOW = (SUBMISSIONS / "right" / "free_window_of_default_length.py").read_text(encoding="utf-8")
LIMITED = WINDOW.replace("b, n, d = x.shape", "b, n, d = x.shape\n        assert n <= self.window")


def verdict_of(report, case):
    return next(verdict for verdict in report.verdicts if verdict.case == case)


def test_blocks_of_a_default_size_have_to_fit_together(grade_source):
    verdict = verdict_of(grade_source(WRONG), "default-length")
    said = load_texts("en").say(verdict.message)
    assert verdict.outcome is Outcome.FAILED
    assert said.startswith(
        "With the length in its constructor left at its default: output (float64): "
    )
    assert verdict_of(grade_source(BLOCKS), "default-length").outcome is Outcome.PASSED


@pytest.mark.parametrize("source", [WINDOW, LIMITED], ids=["window", "longest"])
def test_default_length_of_another_kind_is_excused(grade_source, source):
    report = grade_source(source)
    verdict = verdict_of(report, "default-length")
    assert verdict.outcome is Outcome.NOT_APPLICABLE
    assert verdict.message.key == "not-offered.default-length"
    assert report.all_passed
