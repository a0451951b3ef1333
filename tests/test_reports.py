"""Every format against its snapshot of one sample; `UPDATE_SNAPSHOTS=1 pytest` rewrites them."""

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from grader.model import (
    FREE,
    Departure,
    Diagnosis,
    Isolation,
    Message,
    NamedMistake,
    Outcome,
    Printed,
    Report,
    Stride,
    Submission,
    Verdict,
)
from grader.reports import FORMATS
from grader.reports.columns import columns, wrap
from grader.reports.spared import write_reasons
from grader.texts import load_texts

SNAPSHOTS = Path(__file__).parent / "snapshots"
DIFFERS = Message(
    "values.differ",
    {
        "what": "output",
        "dtype": "float64",
        "total": 180,
        "count": 180,
        "index": "[1, 0, 9]",
        "got": "-8.721",
        "expected": "-6.573",
        "difference": "2.1",
        "allowed": "6.7e-06",
    },
)
RAISED = Message(
    "trouble.raised",
    {"phase": "forward", "type": "RuntimeError", "text": "<b>]]> =1+1 ::error::", "line": 12},
)
SAMPLE = Report(
    submission=Submission("my_solution.py", "", "0" * 64),
    exercise="self-attention",
    seed=42,
    verdicts=(
        Verdict("shapes", "shapes", Outcome.PASSED, 4.0, 4.0),
        Verdict("values", "scaling", Outcome.FAILED, 0.0, 6.0, DIFFERS, "missing-scale"),
        Verdict("values-wide-heads", "scaling", Outcome.FAILED, 0.0, 2.0, DIFFERS, "missing-scale"),
        Verdict(
            "causal-values",
            "causal-mask",
            Outcome.PASSED,
            3.0,
            3.0,
            Message("followed", {"mistake": "missing-scale"}),
        ),
        Verdict("transposed-storage", "non-contiguous", Outcome.FAILED, 0.0, 2.0, RAISED),
        Verdict(
            "strided-slice",
            "non-contiguous",
            Outcome.SKIPPED,
            0.0,
            1.0,
            Message("skipped.after", {"case": "transposed-storage"}),
        ),
        Verdict(
            "no-state",
            "state",
            Outcome.ERROR,
            0.0,
            1.0,
            Message("error.grader", {"type": "KeyError", "text": "q"}),
        ),
    ),
    areas={"shapes": 4.0, "scaling": 8.0, "causal-mask": 3.0, "non-contiguous": 3.0, "state": 1.0},
    convention=(
        Message("convention.class", {"name": "MultiHeadAttention", "line": 8}),
        Message("convention.place", {"name": "Wq", "where": "qkv.weight [(f h d) m], f = 0"}),
    ),
    isolation=Isolation("none", ("own-process", "memory-limit"), ("landlock", "own-user")),
    environment={"python": "3.11.7", "torch": "2.13.0", "system": "Linux x86_64"},
    printed=Printed("hello\n\\x1b[31mred", 14),
    seconds=1.25,
    bank="abcdef012345",
    diagnosis=Diagnosis(
        mistakes=(NamedMistake("missing-scale", 31, ("values", "values-wide-heads")),),
        departures=(
            Departure(31, Message("departure.unscaled", {"line": 31, "scores": 28}), "values"),
        ),
        walk=(Stride(28, "scores", "matmul", "[B, H, L, S]", "scores"),),
    ),
)


def spared(case, area, points, what):
    """A verdict on a case for which the file lacks something."""
    reason = Message(f"not-offered.{what}")
    return Verdict(case, area, Outcome.NOT_APPLICABLE, 0.0, points, reason)


MASK = {"name": "mask", "dtype": "bool", "forms": "[B, kv_len]"}
FREE_SAMPLE = replace(
    SAMPLE,
    exercise=FREE,
    diagnosis=Diagnosis(),
    verdicts=(
        SAMPLE.verdicts[0],
        Verdict(
            "dead-keys-float64",
            "all-masked-rows",
            Outcome.FAILED,
            0.5,
            1.0,
            Message("dead.uniform-half", {"dtype": "float64"}),
        ),
        spared("causal-values", "causal-mask", 2.0, "mask"),
        spared("mask-per-head", "all-masked-rows", 1.0, "mask"),
        spared("causal-long", "causal-mask", 1.0, "causal"),
        spared("dropout-in-eval", "dropout", 1.0, "dropout"),
    ),
    areas={"shapes": 4.0, "causal-mask": 3.0, "all-masked-rows": 2.0, "dropout": 1.0},
    convention=(
        SAMPLE.convention[0],
        Message("convention.build", {"arguments": "h = num_heads, d = d_model"}),
        Message("convention.globals", {"numbers": "N_HEAD = num_heads"}),
        Message(
            "convention.call", {"arguments": "v = value, k = key, q = query", "axes": "[L, B, D]"}
        ),
        Message("convention.mask.hidden", MASK),
        Message("convention.mask.additive", {**MASK, "name": "bias"}),
        Message("convention.mask.lengths", {**MASK, "name": "lens", "forms": "[B]"}),
        Message("convention.option", {"name": "is_causal", "value": True}),
        Message("convention.causal"),
        Message("convention.residual"),
        Message("convention.without-norms"),
        Message("convention.wide"),
        Message("convention.uniform-dead-rows"),
        Message("convention.one-length"),
        Message("convention.weights", {"output": 0, "weights": 1}),
        SAMPLE.convention[1],
    ),
    printed=Printed("", 0),
)
SAMPLES = {"": SAMPLE, "-free": FREE_SAMPLE}


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("kind", SAMPLES)
def test_format_matches_its_snapshot(kind, name, language):
    path = SNAPSHOTS / f"{name}{kind}.{language}.txt"
    rendered = FORMATS[name](SAMPLES[kind], load_texts(language))
    if os.environ.get("UPDATE_SNAPSHOTS"):
        path.write_text(rendered, encoding="utf-8")
    assert rendered == path.read_text(encoding="utf-8")


def test_report_without_an_exercise_is_free():
    assert FREE_SAMPLE.is_free
    assert not SAMPLE.is_free
    assert not replace(SAMPLE, exercise="").is_free


def test_convention_of_a_free_report_stands_first():
    text = FORMATS["terminal"](FREE_SAMPLE, load_texts("en"))
    assert text.index("How it was read") < text.index("Score:") < text.index("Not applicable")
    text = FORMATS["terminal"](SAMPLE, load_texts("en"))
    assert text.index("Score:") < text.index("How it was read")


def test_what_does_not_apply_counts_on_neither_side():
    # 4 + 0.5 of 5 points.
    assert FREE_SAMPLE.score == 90.0
    assert FREE_SAMPLE.available("all-masked-rows") == 1.0
    assert FREE_SAMPLE.available("dropout") == 0.0
    assert not FREE_SAMPLE.all_passed
    right = replace(FREE_SAMPLE, verdicts=FREE_SAMPLE.verdicts[:1] + FREE_SAMPLE.verdicts[2:])
    assert right.score == 100.0
    assert right.all_passed


def test_nothing_that_applies_is_not_passing():
    nothing = replace(FREE_SAMPLE, verdicts=FREE_SAMPLE.verdicts[2:])
    assert nothing.score == 0.0
    assert not nothing.all_passed


def test_score_leaves_out_the_graders_own_faults():
    # 4 + 3 of 18 points; the case that failed on our side counts on neither.
    assert SAMPLE.score == pytest.approx(100 * 7 / 18, abs=0.005)
    assert SAMPLE.has_errors


def test_following_a_mistake_is_not_passing():
    followed = replace(SAMPLE, verdicts=SAMPLE.verdicts[:1] + SAMPLE.verdicts[3:4])
    assert followed.score == 100.0
    assert not followed.all_passed


def test_nothing_judged_scores_nothing():
    empty = replace(SAMPLE, verdicts=())
    assert empty.score == 0.0
    assert not empty.all_passed


def test_refusal_is_the_whole_report():
    refused = replace(SAMPLE, verdicts=(), exercise="", refusal=Message("class.none"))
    text = FORMATS["terminal"](refused, load_texts("en"))
    assert "The file cannot be graded\n  No class with a forward method" in text
    assert "Score" not in text
    data = json.loads(FORMATS["json"](refused, load_texts("en")))
    assert data["refusal"]["key"] == "class.none"
    assert (data["score"], data["exercise"], data["passed"]) == (0.0, None, False)


def test_lines_are_wrapped_by_columns():
    lines = wrap("每个 head 拿到的是完整的 token（allowed 6e-06），" * 8)
    assert max(map(columns, lines)) <= 96
    assert not any(line.strip()[0] in "，。）" for line in lines)
    assert "".join(lines).replace(" ", "") == ("每个head拿到的是完整的token（allowed6e-06），" * 8)


@pytest.mark.parametrize(
    ("language", "sentence"),
    [
        ("en", "Does not offer: heads of another size, fewer key heads than query heads (3)"),
        ("zh", "不提供：其他大小的 head、少于 query head 的 key head（3 个用例）"),
    ],
)
def test_options_that_few_files_have_are_named_in_one_sentence(language, sentence):
    needs = ("head-size", "mask", "grouped", "head-size")
    verdicts = [spared(f"case-{n}", "shapes", 1.0, need) for n, need in enumerate(needs)]
    report = replace(SAMPLE, verdicts=tuple(verdicts))
    texts = load_texts(language)
    mask = texts("not-offered.group", reason=texts("not-offered.mask"), count=1)
    assert list(write_reasons(report, texts)) == [sentence, mask]
