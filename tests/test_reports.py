"""Every format against its snapshot of one sample; `UPDATE_SNAPSHOTS=1 pytest` rewrites them."""

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from grader.model import (
    Isolation,
    Message,
    Outcome,
    Printed,
    Report,
    Submission,
    Verdict,
)
from grader.reports import FORMATS
from grader.reports.columns import columns, wrap
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
    isolation=Isolation("none", ("own-process", "memory-limit")),
    environment={"python": "3.11.7", "torch": "2.13.0", "system": "Linux x86_64"},
    printed=Printed("hello\n\\x1b[31mred", 14),
    seconds=1.25,
    bank="abcdef012345",
)


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("name", FORMATS)
def test_format_matches_its_snapshot(name, language):
    path = SNAPSHOTS / f"{name}.{language}.txt"
    rendered = FORMATS[name](SAMPLE, load_texts(language))
    if os.environ.get("UPDATE_SNAPSHOTS"):
        path.write_text(rendered, encoding="utf-8")
    assert rendered == path.read_text(encoding="utf-8")


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
