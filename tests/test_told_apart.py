"""Kinds of masks that a file tells apart: each is right, or refused in so many words."""

import pytest
from sources import attention, lost

HIDE = 'scores = scores.masked_fill(~mask, float("-inf"))'
ADD = "scores = scores + mask"
# Minus infinity that is added makes NaN of rows that see nothing: no matter here.
BY_DTYPE = """
if mask is not None:
    if {test}:
        {first}
    else:
        {second}
"""
BY_RANK = """
if mask is not None:
    if mask.dim() == 2:
        mask = {two}
    elif mask.dim() == 3:
        mask = {three}
    scores = scores.masked_fill(~mask, float("-inf"))
"""


def kinds_of(report):
    """What the case about kinds of masks said, if it failed."""
    found = [v for v in report.verdicts if v.case == "mask-kinds"]
    assert [v.outcome.value for v in found] in (["passed"], ["failed"], ["not-applicable"])
    message = found[0].message
    if found[0].outcome.value != "failed":
        return None
    inner = message.fields["inner"]
    return message.key, message.fields["dtype"], message.fields["axes"], inner.key, inner.fields


def branches(test, first, second):
    mask = BY_DTYPE.format(test=test, first=first, second=second)
    return attention(forward="x, mask=None", mask=mask)


@pytest.mark.parametrize(
    ("source", "dtype"),
    [
        (branches("mask.dtype == torch.bool", HIDE, "scores = k + mask"), "float"),
        (branches("mask.dtype != torch.bool", "scores = k + mask", HIDE), "float"),
        (branches("mask.is_floating_point()", "scores = k + mask", HIDE), "float"),
        (branches("torch.is_floating_point(mask)", "scores = k + mask", HIDE), "float"),
        (branches("mask.dtype == torch.float32", "scores = k + mask", HIDE), "float32"),
        (branches("mask.dtype in (torch.float, torch.half)", "scores = k + mask", HIDE), "float32"),
        # What torch says of the dtype is no refusal where there is a branch for it.
        (branches("mask.dtype == torch.bool", HIDE, HIDE), "float"),
        (branches("mask.is_floating_point()", "scores = mask.no_such", HIDE), "float"),
        (branches("mask.dtype == torch.bool", "scores = k + mask", ADD), "bool"),
        (branches("not mask.is_floating_point()", "scores = scores - mask", ADD), "bool"),
    ],
)
def test_branch_for_a_dtype_that_breaks_is_charged(grade_source, source, dtype):
    report = grade_source(source)
    key, given, axes, inner, fields = kinds_of(report)
    assert (key, given, axes) == ("mask.kind", dtype, "b 1 q k")
    assert inner == "trouble.raised"
    broken = source.split("\n")[fields["line"] - 1]
    assert any(text in broken for text in ("k + mask", "~mask", "no_such", "scores - mask"))
    assert not report.all_passed


def test_branch_for_booleans_beside_integers_is_charged(grade_source):
    hide = 'scores = scores.masked_fill(mask == 0, float("-inf"))'
    report = grade_source(branches("mask.dtype == torch.bool", "scores = mask.no_such", hide))
    assert kinds_of(report)[:2] == ("mask.kind", "bool")


EARLY = """
if mask is not None and mask.dtype == torch.bool:
    return scores.masked_fill(~mask, float("-inf"))
return scores{} if mask is None else {}
"""


def helped(rest):
    body = EARLY.format("", rest).replace("\n", "\n    ")
    return attention(
        above=f"def hide(scores, mask):{body}",
        forward="x, mask=None",
        mask="scores = hide(scores, mask)",
    )


def test_what_follows_a_branch_that_returns_is_a_branch(grade_source):
    report = grade_source(helped('scores.masked_fill(~mask, float("-inf"))'))
    assert kinds_of(report)[:2] == ("mask.kind", "float")
    assert kinds_of(grade_source(helped("scores + mask"))) is None


def test_a_function_may_call_the_mask_by_another_name(grade_source):
    for rest, outcome in (("scores.no_such", ("mask.kind", "float")), ("scores + m", None)):
        source = helped(rest).replace("(scores, mask):", "(scores, m):")
        head, body = source.split("class MultiHeadAttention")
        source = head.replace("mask is", "m is").replace("mask.", "m.").replace("~mask", "~m")
        found = kinds_of(grade_source(source + "class MultiHeadAttention" + body))
        assert (found and found[:2]) == outcome


@pytest.mark.parametrize(
    "piece",
    [
        BY_DTYPE.format(
            test="mask.dtype == torch.bool", first=HIDE, second='raise TypeError("bool, please")'
        ),
        'if mask is not None:\n    assert mask.dtype == torch.bool, "bool, please"\n    ' + HIDE,
        "if mask is not None:\n    if mask.is_floating_point():\n"
        '        raise NotImplementedError(\n            "no floats"\n        )\n    ' + HIDE,
        # No branch for floats: torch itself refuses them.
        "if mask is not None:\n    if mask.dtype == torch.uint8:\n"
        "        mask = mask.bool()\n    " + HIDE,
        "if mask is not None:\n    mask = mask if mask.dtype == torch.bool else mask\n    " + HIDE,
        # What is meant for integers.
        BY_DTYPE.format(
            test="mask.dtype == torch.bool",
            first=HIDE,
            second='scores = scores.masked_fill((mask ^ 1).bool(), float("-inf"))',
        ),
    ],
)
def test_refusing_a_dtype_is_no_fault(grade_source, piece):
    report = grade_source(attention(forward="x, mask=None", mask=piece))
    assert lost(report) == {}
    assert report.all_passed


def test_a_branch_for_one_float_dtype_is_judged_in_it(grade_source):
    report = grade_source(branches("mask.dtype == torch.float32", ADD, HIDE))
    assert kinds_of(report) is None
    assert report.score == 100.0


def test_floats_of_another_shape_than_booleans_are_no_fault(grade_source):
    first = 'scores = scores.masked_fill(~mask[:, None, None], float("-inf"))'
    report = grade_source(
        branches("mask.dtype == torch.bool", first, "scores = scores + mask[None, None]")
    )
    assert kinds_of(report) is None
    assert report.score == 100.0


@pytest.mark.parametrize(
    ("two", "three", "axes"),
    [
        ("mask[:, None, None, None, None, :]", "mask[:, None]", "b k"),
        ("mask[:, None, None]", "mask.view(len(x), self.h, *mask.shape[1:], 7)", "b q k"),
        ("mask[:, None, None]", "mask.no_such", "b q k"),
    ],
)
def test_branch_for_a_rank_that_breaks_is_charged(grade_source, two, three, axes):
    mask = BY_RANK.format(two=two, three=three)
    report = grade_source(attention(forward="x, mask=None", mask=mask))
    key, dtype, form, inner, _ = kinds_of(report)
    assert (key, dtype, form, inner) == ("mask.kind", "bool", axes, "trouble.raised")


def test_refusing_a_rank_is_no_fault(grade_source):
    mask = BY_RANK.replace("mask = {three}", 'raise ValueError("[B, L] or four axes")')
    mask = mask.format(two="mask[:, None, None]")
    report = grade_source(attention(forward="x, mask=None", mask=mask))
    assert lost(report) == {}
    assert report.all_passed


def test_a_rank_may_have_a_dtype_of_its_own(grade_source):
    mask = (
        "if mask is not None:\n    if mask.dim() == 4:\n        scores = scores + mask\n"
        '    else:\n        scores = scores.masked_fill(~mask[:, None, None], float("-inf"))'
    )
    report = grade_source(attention(forward="x, mask=None", mask=mask))
    assert kinds_of(report) is None
    assert report.score == 100.0


TWO = "query, key, value, key_padding_mask=None, attn_mask=None"


@pytest.mark.parametrize("broken", ["key_padding_mask", "attn_mask"])
def test_each_of_two_masks_is_judged_by_its_own_branches(grade_source, broken):
    pieces = []
    for name, cut in (("key_padding_mask", "[:, None, None]"), ("attn_mask", "")):
        rest = f"{name}.no_such" if name == broken else f"scores + {name}{cut}"
        pieces.append(
            f"if {name} is not None:\n    if {name}.dtype == torch.bool:\n"
            f'        scores = scores.masked_fill({name}{cut}, float("-inf"))\n'
            f"    else:\n        scores = {rest}"
        )
    report = grade_source(attention(forward=TWO, mask="\n".join(pieces)))
    key, dtype, _, inner, _ = kinds_of(report)
    assert (key, dtype, inner) == ("mask.kind", "float", "trouble.raised")
