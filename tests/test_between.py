"""Checks on what is done to a module between calls, and on both ends of what a dtype holds."""

from pathlib import Path

import pytest
import torch
from torch import nn

from grader.mistakes import CATALOGUE
from grader.model import Outcome
from grader.texts import load_texts
from grader.worker.pickling import pickle_through

ROOT = Path(__file__).parent.parent
RIGHT = (ROOT / "reference" / "self_attention.py").read_text(encoding="utf-8")
SAY = load_texts("en").say
CAUGHT = {
    "copy_shares_weights": ("deep-copy", "state.copy-leans"),
    "pickled_without_weights": ("pickling", "state.pickle-differs"),
    "pickled_without_its_table": ("pickling", "state.pickle-broken"),
    "scale_left_out_of_copies": ("pickling", "state.pickle-differs"),
    "free_copies_of_another_scale": ("pickling", "state.pickle-differs"),
    "bias_only_of_a_parameter": ("weights-by-name", "state.by-name-differs"),
    "free_norm_of_parameters_only": ("weights-by-name", "state.by-name-differs"),
    "rule_for_vmap_forgets_the_axis": ("weights-by-name", "state.vmap-differs"),
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


PICKLED = "Cannot be pickled"
OWN = (
    "Parameters given by name to torch.func.functional_call are not all used; the module goes on"
    " with its own"
)
SPARED = {
    "all_parameters_in_a_closure": {
        "deep-copy": "Cannot be deep-copied",
        "pickling": PICKLED,
        "weights-by-name": OWN,
    },
    "parameters_also_in_a_list": {"weights-by-name": OWN},
    "free_weights_in_a_tuple": {"weights-by-name": OWN},
    "lambda_kept_for_the_softmax": {"pickling": PICKLED},
    "decorated_renamed": {"pickling": PICKLED},
    "pickled_by_constructor": {},
    "branches_on_values_and_names_vmap": {},
    "rule_for_vmap": {},
}


@pytest.mark.parametrize("name", SPARED)
def test_right_file_is_spared_what_it_cannot_do_and_all_else_passes(grade_source, name):
    path = ROOT / "tests" / "submissions" / "right" / f"{name}.py"
    report = grade_source(path.read_text(encoding="utf-8"))
    copies = ("deep-copy", "pickling", "state-dict", "weights-by-name")
    spared = {v.case: v for v in report.verdicts if v.outcome is Outcome.NOT_APPLICABLE}
    said = {case: SAY(v.message) for case, v in spared.items() if case in copies}
    assert {case: text.split(" (")[0] for case, text in said.items()} == SPARED[name]
    assert report.all_passed
    assert report.score == 100.0


def test_what_pickling_raised_is_said_and_the_same_in_each_run(grade_source):
    source = RIGHT.replace("super().__init__()", "super().__init__(); self.same = SAME", 1)
    source += "\n\nSAME = lambda x: x\n"
    verdicts = {v.case: v for v in grade_source(source).verdicts}
    assert verdicts["pickling"].message.key == "not-offered.pickle"
    said = SAY(verdicts["pickling"].message)
    assert said.startswith("Cannot be pickled (PicklingError: Can't pickle <function <lambda>>: ")


def test_file_that_raises_by_name_is_spared_and_told_why(grade_source):
    asked = "assert isinstance(self.q_proj.weight, nn.Parameter), 'not mine'"
    source = RIGHT.replace("        q = self.split", f"        {asked}\n        q = self.split", 1)
    verdict = next(v for v in grade_source(source).verdicts if v.case == "weights-by-name")
    assert SAY(verdict.message) == "torch.func.functional_call raises AssertionError: not mine"
    assert verdict.outcome is Outcome.NOT_APPLICABLE


@pytest.mark.parametrize("shared", [True, False])
def test_pickled_tensors_stay_one_where_they_were_one(shared):
    module = nn.Linear(3, 3)
    module.table = torch.arange(3.0)
    module.same = module.weight if shared else torch.zeros(2)
    twin = pickle_through(module)
    assert (twin.same is twin.weight) == shared
    assert type(twin.weight) is nn.Parameter
    assert twin.weight.requires_grad
    assert torch.equal(twin.table, module.table)
    assert twin.table is not module.table
    with torch.no_grad():
        module.weight.zero_()
    assert twin.weight.abs().min() > 0


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
