"""The flow from a file to a report: what a fault costs, and what it does not."""

import pickle
from pathlib import Path

import pytest

from grader.bank import load_exercise
from grader.bank.checks import CHECKS
from grader.convention import exercise
from grader.model import Outcome

ROOT = Path(__file__).parent.parent
RIGHT = (ROOT / "reference" / "self_attention.py").read_text(encoding="utf-8")
FORWARD = "def forward("
ENTRY = "self, x: torch.Tensor, mask: torch.Tensor | None = None"


def broken_when(condition, action):
    """The model answer, which does `action` at the start of forward when `condition` holds."""
    lines = RIGHT.split("\n")
    at = next(i for i, line in enumerate(lines) if '"""' in line and i > find_forward(lines))
    lines.insert(at + 1, f"        if {condition}:\n            {action}")
    return "\n".join(lines)


def find_forward(lines):
    return next(i for i, line in enumerate(lines) if FORWARD in line)


def outcomes(report):
    return {verdict.case: verdict.outcome for verdict in report.verdicts}


@pytest.mark.parametrize(
    ("action", "key"),
    [
        ("import os; os._exit(0)", "trouble.died"),
        ("import os; os.kill(os.getpid(), 11)", "trouble.killed"),
        ("raise SystemExit", "trouble.exited"),
        ("raise KeyError('{at} {0}')", "trouble.raised"),
    ],
)
def test_sudden_end_costs_only_its_case(grade_source, action, key):
    report = grade_source(broken_when("x.shape[1] == 11", action))
    lost = [v for v in report.verdicts if v.outcome is not Outcome.PASSED]
    assert [v.case for v in lost] == ["other-sizes"]
    assert lost[0].message.key == key


@pytest.mark.slow
def test_hang_costs_only_its_case(grade_source):
    report = grade_source(broken_when("x.shape[1] == 11", "while True: pass"))
    lost = [v for v in report.verdicts if v.outcome is not Outcome.PASSED]
    assert [(v.case, v.message.key) for v in lost] == [("other-sizes", "trouble.timed-out")]
    assert lost[0].message.fields["seconds"] == 4.0


def test_unfilled_forward_is_told(grade_source):
    source = broken_when("True", "raise NotImplementedError")
    report = grade_source(source)
    assert outcomes(report)["constructs"] is Outcome.PASSED
    failed = next(v for v in report.verdicts if v.case == "shapes")
    assert failed.message.key == "trouble.unfilled"


UNKNOWN_LAYOUT = """
import torch
from torch import nn

class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        if d_model % num_heads:
            raise ValueError("no")
        self.tables = nn.Parameter(torch.randn(7, d_model, d_model))
        self.heads = num_heads

    def forward(self, x, mask=None):
        q, k = x @ self.tables[0] @ self.tables[1], x @ self.tables[2] @ self.tables[3]
        v = x @ self.tables[4] @ self.tables[5]
        q, k, v = (t.unflatten(-1, (self.heads, -1)).transpose(1, 2) for t in (q, k, v))
        weights = (q @ k.mT / q.shape[-1] ** 0.5).softmax(-1)
        return (weights @ v).transpose(1, 2).flatten(2) @ self.tables[6], weights
"""


def test_unknown_layout_is_told_and_the_rest_judged(grade_source):
    report = grade_source(UNKNOWN_LAYOUT, "self-attention")
    found = outcomes(report)
    assert any(m.key == "convention.layout-unknown" for m in report.convention)
    assert found["values"] is Outcome.SKIPPED
    assert found["indivisible-10-by-4"] is Outcome.PASSED
    assert found["shapes"] is Outcome.PASSED
    assert found["registered"] is Outcome.PASSED
    # This module ignores its mask, which shows without knowing any weights.
    assert found["causal-future"] is Outcome.FAILED
    assert not report.all_passed


def test_trace_of_an_earlier_case_costs_nothing_in_a_later_one(grade_source):
    """A module that is wrong once it was used: right in every case that uses it once."""
    lines = RIGHT.split("\n")
    at = next(i for i, line in enumerate(lines) if '"""' in line and i > find_forward(lines))
    spoil = [
        "        self.used = getattr(self, 'used', 0) + 1",
        "        x = x * (1.0 if self.used == 1 else 2.0)",
    ]
    found = outcomes(grade_source("\n".join([*lines[: at + 1], *spoil, *lines[at + 1 :]])))
    assert found["values"] is Outcome.PASSED
    assert found["padding-values"] is Outcome.PASSED
    assert found["no-state-many-calls"] is Outcome.FAILED


def test_file_graded_before_changes_nothing(grade_source, monkeypatch):
    # The same numbers in another shape, as who tries things out may well hand in next.
    flat = RIGHT.replace("return output, weights", "return output.flatten(0, 1), weights")
    assert flat != RIGHT
    found = []
    for before in ([RIGHT], []):
        monkeypatch.setattr(exercise, "MATCHED", {})
        for source in before:
            grade_source(source)
        found.append(grade_source(flat))
    after, alone = found
    assert "convention.layout-assumed" in [message.key for message in alone.convention]
    assert after.convention == alone.convention
    assert after.verdicts == alone.verdicts


def test_what_is_remembered_of_a_file_is_small(grade_source, monkeypatch):
    known = {}
    monkeypatch.setattr(exercise, "MATCHED", known)
    returned = "return output.repeat(1, 1, 100), weights"
    grade_source(RIGHT.replace("return output, weights", returned))
    assert known
    assert all(len(pickle.dumps(key)) < 10_000 for key in known)


def test_printed_text_is_kept_once(grade_source):
    report = grade_source(RIGHT + "\nprint('loaded \x1b[2J')\n", "self-attention")
    assert report.printed.text == "loaded \\x1b[2J\n"


def test_default_dtype_left_changed_does_no_harm(grade_source):
    report = grade_source(RIGHT + "\ntorch.set_default_dtype(torch.float64)\n")
    assert report.all_passed


def explain(path, grade_source):
    source = (ROOT / "tests" / "submissions" / "wrong" / path).read_text(encoding="utf-8")
    report = grade_source(source)
    return report, {v.mistake for v in report.verdicts if v.mistake}


@pytest.mark.parametrize(
    ("path", "mistakes"),
    [
        ("softmax_over_heads.py", {"softmax-over-heads"}),
        ("no_softmax.py", {"missing-softmax"}),
        ("padding_or_causal.py", {"masks-joined-by-or"}),
        ("scale_by_sqrt_num_heads.py", {"scale-by-sqrt-num-heads"}),
        ("scale_after_softmax.py", {"scale-after-softmax"}),
        ("mask_fill_tiny.py", {"mask-filled-with-zero"}),
        ("double_softmax.py", {"double-softmax"}),
    ],
)
def test_only_the_mistake_made_is_named(grade_source, path, mistakes):
    assert explain(path, grade_source)[1] == mistakes


def test_error_of_ours_spreads_without_cost(grade_source, monkeypatch):
    def fail(bench, case, **args):
        raise RuntimeError("ours")

    # Read before: which arguments a check takes is looked up there.
    load_exercise("self-attention")
    monkeypatch.setitem(CHECKS, "accepts_none_mask", fail)
    monkeypatch.setitem(CHECKS, "is_on_in_training", fail)
    report = grade_source(RIGHT)
    lost = {v.case for v in report.verdicts if v.outcome is Outcome.ERROR}
    assert {"mask-none", "dropout-in-training", "dropout-on-weights", "dropout-scale"} <= lost
    assert {v.area for v in report.verdicts if v.case in lost} == {"causal-mask", "dropout"}
    assert report.score == 100.0
    assert report.has_errors
    assert not report.all_passed


FREE = """
import torch
from torch import nn

class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.q, self.k, self.v, self.o = (nn.Linear(d_model, d_model) for _ in range(4))

    def forward(self, query, key, value, mask=None):
        {first}
        q, k, v = (self.split(f(x)) for f, x in ((self.q, query), (self.k, key), (self.v, value)))
        scores = q @ k.transpose(-2, -1) * q.shape[-1] ** -0.5
        if mask is not None:
            {masked}
        x = scores.softmax(dim=-1) @ v
        return self.o(x.transpose(1, 2).flatten(2))

    def split(self, x):
        return x.reshape(x.shape[0], x.shape[1], self.num_heads, -1).transpose(1, 2)
"""


def test_refusal_says_what_most_ways_of_calling_ran_into(grade_source):
    first = 'torch.einsum("lbd,sbd->lsb", query, key); self.tracker'
    report = grade_source(FREE.format(first=first, masked="pass"))
    assert report.refusal is not None
    assert report.refusal.key == "call.none"
    assert "tracker" in report.refusal.fields["inner"].fields["text"]


def test_mask_that_nothing_explains_is_given_as_it_is_taken(grade_source):
    masked = "assert mask.dim() == 3; scores = scores + 0.37 * (mask[:, None] != 0)"
    report = grade_source(FREE.format(first="pass", masked=masked))
    messages = {v.case: v.message for v in report.verdicts}
    assert messages["values"] is None
    assert messages["padding-values"].key == "values.differ"


def test_mask_is_not_judged_where_no_layout_is_known(grade_source):
    first = "scale = self.temperature.exp()"
    masked = "scores = scores.masked_fill(mask[:, None, None] == 0, -torch.inf)"
    source = FREE.format(first=first, masked=masked).replace("scores = q @", "scores = scale * q @")
    added = "super().__init__(); self.temperature = nn.Parameter(torch.zeros(3))"
    report = grade_source(
        source.replace("super().__init__()", added).replace("exp()", "exp().sum()")
    )
    assert not report.all_passed
    assert [v.case for v in report.verdicts if v.outcome is Outcome.FAILED] == [
        v.case for v in report.verdicts if v.area == "divisibility"
    ]


@pytest.mark.parametrize(
    ("made", "noted"),
    [
        ("device=x.device", []),
        ("device='cpu'", []),
        ("dtype=torch.bool", [("note.made-elsewhere", 73)]),
    ],
)
def test_tensor_made_without_a_device_is_noted_and_costs_nothing(made, noted, grade_source):
    plain = (ROOT / "reference" / "causal_self_attention.py").read_text()
    asked = "torch.arange(x.shape[1], device=x.device)"
    assert asked in plain
    source = plain.replace(asked, f"torch.ones(x.shape[1], {made}).cumsum(0)")
    report = grade_source(source)
    assert report.all_passed
    found = [(m.key, m.fields["line"]) for m in report.convention if m.key.startswith("note.")]
    assert found == noted


CROSSED = (ROOT / "reference" / "cross_attention.py").read_text(encoding="utf-8")
SPLIT = "features = features.unflatten(-1, (self.num_heads, self.head_dim))"


def test_length_of_the_wrong_sequence_costs_what_is_about_two(grade_source):
    taken = "features.view(self.sizes[0], self.sizes[1], self.num_heads, self.head_dim)"
    query = "q = self.split_heads(self.q_proj(query))"
    source = CROSSED.replace(SPLIT, f"features = {taken}")
    source = source.replace(query, f"self.sizes = query.shape\n        {query}")
    report = grade_source(source)
    lost = {v.case for v in report.verdicts if v.outcome is not Outcome.PASSED}
    two = {"more-keys-than-queries", "more-queries-than-keys", "value-is-not-key"}
    assert lost == {"shapes", "mask-over-two-lengths", *two}
    assert [mistake.mistake for mistake in report.diagnosis.mistakes] == ["wrong-cross-length"]
    assert report.score == 88
    assert "convention.judged-at-one-length" in {message.key for message in report.convention}
