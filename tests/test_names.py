"""Mistakes that are a number, a reach or a slice: named in each of their ways, never too soon."""

from pathlib import Path

import pytest
from sources import FUSED, MERGE, SCALED, SOFTMAX, attention, masked, swap

CORPUS = Path(__file__).parent / "submissions"
SELF = "self-attention"
MASKED = 'scores.masked_fill(~mask, float("-inf"))'
QKV = "q, k, v = self.qkv(x).chunk(3, dim=-1)"
HEADS = "q, k, v = (t.unflatten(-1, (self.h, -1)).transpose(1, 2) for t in (q, k, v))"
# A softmax that is written out, and 0 in rows that see nothing.
WRITTEN = "torch.nan_to_num({exps} / ({exps}.sum(-1, keepdim=True) + {by}))"
SHIFTED = "(scores - scores.amax(-1, keepdim=True)).exp()"


def named(report):
    """Without what these files leave out on purpose."""
    found = [m.mistake for m in report.diagnosis.mistakes]
    return [mistake for mistake in found if mistake != "dropout-argument-missing"]


@pytest.mark.parametrize("power", ["2", "1.5", "0.75", "(1 / 3)", "-1"])
def test_any_other_power_of_the_head_size_is_named(power, grade_source):
    report = grade_source(swap((SCALED, f"scores = q @ k.mT / q.shape[-1] ** {power}")), SELF)
    assert named(report)[0] == "scale-by-another-power"


@pytest.mark.parametrize("by", ["1.0", "1e-1", "1e-2", "1e-3", "1e-4", "1e-5"])
def test_what_is_added_to_the_sum_is_named_however_little(by, grade_source):
    report = grade_source(swap((SOFTMAX, WRITTEN.format(exps=SHIFTED, by=by))), SELF)
    assert named(report)[0] == "softmax-denominator-padded"


def test_what_is_too_little_to_matter_is_no_mistake(grade_source):
    report = grade_source(swap((SOFTMAX, WRITTEN.format(exps=SHIFTED, by="1e-9"))), SELF)
    assert "softmax-denominator-padded" not in named(report)


@pytest.mark.parametrize("reach", [1, 2, 3, 4])
def test_window_is_named_at_its_line(reach, grade_source):
    near = f"(torch.arange(x.shape[1])[:, None] - torch.arange(x.shape[1])).abs() > {reach}"
    lines = f'far = {near}\n        scores = ({SCALED[9:]}).masked_fill(far, float("-inf"))'
    source = swap((SCALED, lines))
    first = grade_source(source, SELF).diagnosis.mistakes[0]
    at = next(n for n, line in enumerate(source.split("\n"), 1) if "far = " in line)
    assert (first.mistake, first.line) == ("window-imposed", at)


def test_window_that_reaches_everywhere_is_no_mistake(grade_source):
    near = "(torch.arange(x.shape[1])[:, None] - torch.arange(x.shape[1])).abs() > 10**6"
    lines = f'scores = ({SCALED[9:]}).masked_fill({near}, float("-inf"))'
    assert "window-imposed" not in named(grade_source(swap((SCALED, lines)), SELF))


@pytest.mark.parametrize("roles", ["k", "v", "kv", "q"])
def test_features_of_the_first_head_for_all_are_named(roles, grade_source):
    lines = [HEADS] + [f"{role} = {role}[:, :1].expand_as({role})" for role in roles]
    report = grade_source(swap((HEADS, "\n        ".join(lines))), SELF)
    assert named(report)[0] == "first-head-shared"


@pytest.mark.parametrize("part", ["[:, :n]", "[:, -n:]"])
def test_one_slice_of_the_output_matrix_for_all_heads_is_named(part, grade_source):
    lines = f"n = v.shape[-1]\n        output = (weights @ v).sum(1) @ self.o.weight{part}.T"
    report = grade_source(swap((f"output = {MERGE}", f"{lines} + self.o.bias")), SELF)
    assert named(report)[0] == "output-slice-shared"


@pytest.mark.parametrize(
    ("shape", "parts"),
    [("3, B, L, D", "q, k, v"), ("B, 3, L, D", "q, k, v"), ("3, B, L, D", "k, q, v")],
)
def test_fused_projection_that_is_viewed_apart_is_named(shape, parts, grade_source):
    axis = shape.split(", ").index("3")
    lines = f"B, L, D = x.shape\n        {parts} = self.qkv(x).view({shape}).unbind({axis})"
    report = grade_source(swap(*FUSED).replace(QKV, lines), SELF)
    assert named(report) == ["fused-split-by-view"]


def test_mask_after_the_softmax_that_is_made_up_for_has_no_name(grade_source):
    """What is hidden gets none of it and the rest adds up to 1: only extremes come out wrong."""
    lines = f"weights = {SOFTMAX}"
    made_up = """weights = scores.softmax(-1)
        if mask is not None:
            weights = weights * mask
            weights = weights / (weights.sum(-1, keepdim=True) + 1e-30)"""
    source = swap((MASKED, "scores"), (lines, made_up))
    assert set(named(grade_source(source, SELF))) <= {"nan-dead-rows", "nan-dead-gradients"}


DROPPED = attention(
    init="d, h, dropout=0.0",
    parts="self.rate = dropout",
    forward="x, mask=None",
    mask=masked("~mask"),
    softmax="self.drop(scores.softmax(-1).nan_to_num(0.0))",
    last="{drop}",
)


@pytest.mark.parametrize("exercise", [None, SELF])
@pytest.mark.parametrize(
    ("drop", "mistake"),
    [
        ("w * torch.bernoulli(torch.full_like(w, self.rate)) / (1 - self.rate)", "rate-wrong"),
        ("torch.dropout(w, 1 - self.rate, True)", "rate-wrong"),
        ("self.whole(torch.dropout(w, self.rate, True))", "renormalised"),
    ],
)
def test_dropout_by_hand_is_named_in_either_way_of_judging(exercise, drop, mistake, grade_source):
    method = f"""
    def whole(self, w):
        return w / w.sum(-1, keepdim=True).clamp_min(1e-30)

    def drop(self, w):
        return {drop} if self.training else w
"""
    returned = "output, weights" if exercise else "output"
    source = DROPPED.replace("{drop}", "").replace("return output", f"return {returned}") + method
    assert named(grade_source(source, exercise))[0] == f"dropout-{mistake}"


@pytest.mark.parametrize(
    "name",
    ["free_spiral_positions_dropout_always_on", "free_convolved_positions_noise_in_eval"],
)
def test_what_is_drawn_in_eval_is_no_state(name, grade_source):
    report = grade_source((CORPUS / "wrong" / f"{name}.py").read_text())
    assert named(report) == ["dropout-always-on"]


@pytest.mark.parametrize(
    "name",
    [
        # Features of a head are not neighbours, or those of q, k and v are.
        "free_interleaved_query_used_as_key_and_padded_sum",
        "free_innermost_scale_and_double_softmax",
        # Around a residual; the length before the batch, too.
        "free_channels_missing_scale_and_softmax_over_heads",
        "free_seqfirst_squared_scale_and_keys_of_first_head",
    ],
)
def test_pairs_are_named_in_other_orders(name, grade_source):
    source = (CORPUS / "pairs" / f"{name}.py").read_text()
    wanted = source.split("\n")[0].split("mistake: ")[1].split(";")[0].split(", ")
    assert sorted(named(grade_source(source))) == sorted(wanted)


# One pass over the keys in blocks; each of the two sums shrinks when the largest score grows.
STREAMED = """

def streamed(scores, v, mask):
    top = scores.new_full((*scores.shape[:-1], 1), torch.finfo(scores.dtype).min)
    total, context = torch.zeros_like(top), torch.zeros_like(scores[..., :1] * v[..., :1, :])
    for start in range(0, scores.shape[-1], {block}):
        part = scores[..., start : start + {block}]
        new = torch.maximum(top, part.amax(-1, keepdim=True))
        shrink, exps = (top - new).exp(), (part - new).exp()
        total = total{total} + exps.sum(-1, keepdim=True)
        context = context{context} + exps @ v[..., start : start + {block}, :]
        top = new
    return context / torch.where(total == 0, torch.ones_like(total), total)
"""
SHRINK = " * shrink"
STREAMING = MERGE.replace("weights @ v", "streamed(scores, v, mask)")


@pytest.mark.parametrize("block", [1, 2, 3, 4])
@pytest.mark.parametrize(("total", "context"), [("", SHRINK), (SHRINK, ""), ("", "")])
def test_what_is_not_rescaled_in_one_pass_is_named(block, total, context, grade_source):
    source = swap((MERGE, STREAMING))
    more = STREAMED.format(block=block, total=total, context=context)
    report = grade_source(source + more, SELF)
    assert named(report)[0] == "running-softmax-not-rescaled"
    line = report.diagnosis.mistakes[0].line
    assert (source + more).splitlines()[line - 1].strip().startswith(("total =", "context ="))


def test_what_is_rescaled_in_one_pass_is_not_accused(grade_source):
    source = swap((MERGE, STREAMING))
    report = grade_source(source + STREAMED.format(block=2, total=SHRINK, context=SHRINK), SELF)
    assert "running-softmax-not-rescaled" not in named(report)
