"""Every file of the corpus gets the verdict that its first line announces."""

import re
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path

import pytest
from sharing import as_parameter

from grader.grading import Request, grade
from grader.intake import read_submission
from grader.model import Outcome
from grader.reports import FORMATS, View
from grader.texts import load_texts

OLD_TORCH = tuple(int(part) for part in version("torch").split(".")[:2]) < (2, 5)
CORPUS = Path(__file__).parent / "submissions"
FILES = [
    path for kind in ("right", "wrong", "pairs") for path in sorted(CORPUS.glob(f"{kind}/*.py"))
]
HEADER = re.compile(
    r"# mha-grade: (?P<exercise>[\w-]+); expect: (?P<expect>passed|failed|refused)"
    r"(?:; in: (?P<areas>[\w, -]+); mistake: (?P<mistake>[\w, -]+)(?:; line: [\d, /]+)?)?$"
)


@dataclass(frozen=True)
class Expectation:
    exercise: str
    expect: str
    areas: tuple[str, ...]


def read_header(path: Path) -> Expectation:
    found = HEADER.match(path.read_text(encoding="utf-8").split("\n")[0])
    assert found is not None, f"{path.name}: the first line does not say what to expect"
    areas = tuple((found["areas"] or "").split(", ")) if found["areas"] else ()
    return Expectation(found["exercise"], found["expect"], areas)


@pytest.mark.parametrize("path", [as_parameter(path) for path in FILES])
def test_file_gets_its_verdict(path, forge):
    expected = read_header(path)
    if OLD_TORCH and "scaled_dot_product_attention" in path.read_text(encoding="utf-8"):
        pytest.skip(
            "before 2.5 torch's own attention is another one in dead rows and half precision"
        )
    report = grade(read_submission(path), forge, Request(seed=7))
    charged = {v.area for v in report.verdicts if v.outcome in (Outcome.FAILED, Outcome.SKIPPED)}
    assert (report.refusal is not None) == (expected.expect == "refused")
    assert not report.has_errors
    assert report.exercise == expected.exercise
    assert report.all_passed == (expected.expect == "passed"), sorted(charged)
    assert charged >= set(expected.areas)


def test_corpus_is_large_enough():
    headers = [read_header(path) for path in FILES]
    assert sum(header.expect == "passed" for header in headers) >= 200
    assert sum(header.expect == "failed" for header in headers) >= 230


@pytest.mark.parametrize("path", sorted(CORPUS.parent.parent.glob("reference/*.py")))
@pytest.mark.parametrize("seed", [0, 1, 2**32 - 1, 2**63 - 1])
def test_model_answer_scores_all_points(path, seed, forge):
    report = grade(read_submission(path), forge, Request(seed, path.stem.replace("_", "-")))
    assert report.score == 100.0
    assert report.all_passed


@pytest.mark.parametrize("path", sorted(CORPUS.parent.parent.glob("exercises/*.py")))
def test_stub_scores_nothing(path, forge):
    report = grade(read_submission(path), forge, Request(seed=3))
    assert report.score == 0.0
    assert report.refusal is None
    first = next(v for v in report.verdicts if v.outcome is Outcome.FAILED)
    assert first.message is not None
    assert first.message.key == "trouble.unfilled"


def test_seed_model_answer_fails_in_float16_only(forge):
    path = CORPUS / "wrong" / "seed_model_answer.py"
    report = grade(read_submission(path), forge, Request(seed=7))
    failed = [v for v in report.verdicts if v.outcome is not Outcome.PASSED]
    assert [v.case for v in failed] == ["dead-rows-float16", "dead-rows-gradients-float16"]
    assert failed[0].message is not None
    assert failed[0].message.key == "dead.not-finite"
    assert failed[0].message.fields["dtype"] == "float16"


def test_same_seed_gives_same_report(forge):
    path = CORPUS / "wrong" / "no_scale_and_nan_dead_rows.py"
    first, second = (grade(read_submission(path), forge, Request(seed=11)) for _ in range(2))
    assert first.verdicts == second.verdicts
    assert first.convention == second.convention


@pytest.mark.parametrize(
    "name",
    [
        "wrong/missing_scale",
        "right/einsum",
        "wrong/free_or_for_and",
        # Dropout that cannot be set, switches, positions inside, and a search that finds nothing.
        "wrong/free_mask_off_in_training",
        "wrong/free_config_switch_hides_past",
        "right/free_rotary_pairs_grouped",
        pytest.param("wrong/free_rotary_on_queries_only", marks=pytest.mark.every),
    ],
)
def test_same_seed_gives_the_same_bytes(name, forge):
    submission = read_submission(next(CORPUS.glob(f"{name}*.py")))
    reports = [replace(grade(submission, forge, Request(seed=11)), seconds=0.0) for _ in range(2)]
    for render in FORMATS.values():
        assert len({render(report, load_texts("en"), View(walk=True)) for report in reports}) == 1


def test_known_mistake_is_charged_once(forge):
    path = CORPUS / "wrong" / "missing_scale.py"
    report = grade(read_submission(path), forge, Request(seed=7))
    failed = [v for v in report.verdicts if v.outcome is Outcome.FAILED]
    assert {v.area for v in failed} == {"scaling"}
    assert {v.mistake for v in failed} == {"missing-scale"}
    assert not report.all_passed
