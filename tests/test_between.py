"""Checks on what is done to a module between calls, and on both ends of what a dtype holds."""

from pathlib import Path

import pytest

from grader.mistakes import CATALOGUE
from grader.model import Outcome

ROOT = Path(__file__).parent.parent
RIGHT = (ROOT / "reference" / "self_attention.py").read_text(encoding="utf-8")
CAUGHT = {
    "copy_shares_weights": ("deep-copy", "state.copy-leans"),
    "fused_weights_cached": ("state-dict", "state.not-loaded"),
    "free_projection_cached": ("state-dict", "state.not-loaded"),
    "sharper_after_training": ("eval-after-training", "state.changed-by-training"),
    "rate_left_behind": ("dropout-after-training", "state.changed-by-training"),
    "second_gradient_cut": ("gradients-of-gradients", "gradient.second"),
    "autocast_region_detached": ("gradients-under-autocast", "gradient.missing"),
    "empty_batch_shortcut": ("empty-inputs", "shape.empty"),
    "cross_no_keys_no_bias": ("empty-inputs", "shape.empty"),
    "loudest_sample_sets_level": ("samples-apart", "values.mixed"),
    "zero_scores_hidden": ("faint-scores", "values.differ"),
    "causal_zero_tokens_are_padding": ("faint-scores", "values.differ"),
    "divided_after_sum": ("large-values-float16", "values.not-finite"),
    "running_sum_in_half": ("long-rows-float16", "values.imprecise"),
    "cross_context_added_in_half": ("long-rows-float16", "values.differ"),
}


@pytest.mark.parametrize("name", CAUGHT)
def test_wrong_file_fails_its_case_and_no_mistake_is_named(grade_source, name):
    path = ROOT / "tests" / "submissions" / "wrong" / f"{name}.py"
    report = grade_source(path.read_text(encoding="utf-8"))
    failed = {v.case: v for v in report.verdicts if v.outcome is Outcome.FAILED}
    case, key = CAUGHT[name]
    assert failed[case].message.key == key
    assert not any(v.mistake in CATALOGUE for v in failed.values())
    assert len(failed) <= 2


@pytest.mark.parametrize(
    ("added", "case", "reason"),
    [
        (
            "def __deepcopy__(self, memo):\n        raise TypeError('no copies')",
            "deep-copy",
            "deepcopy",
        ),
        (
            "def __call__(self, x, *rest):\n        assert x.numel() > 0\n"
            "        return super().__call__(x, *rest)",
            "empty-inputs",
            "empty",
        ),
        (
            "def __call__(self, x, *rest):\n        return super().__call__(Once.apply(x), *rest)",
            "gradients-of-gradients",
            "second-gradients",
        ),
    ],
)
def test_what_a_right_file_need_not_offer_costs_nothing(grade_source, added, case, reason):
    source = RIGHT.replace("    def forward(", f"    {added}\n\n    def forward(", 1) + ONCE
    report = grade_source(source)
    spared = [v for v in report.verdicts if v.outcome is not Outcome.PASSED]
    assert [(v.case, v.message.key) for v in spared] == [(case, f"not-offered.{reason}")]
    assert report.all_passed
    assert report.score == 100.0


ONCE = """

class Once(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, grad):
        return grad
"""
