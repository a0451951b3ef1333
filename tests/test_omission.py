"""Sequences that forward has a default for: without them it is attention to what is there."""

import pytest
from sources import attention, lost, masked, passes

KEYS = "key = query if key is None else key\nvalue = key if value is None else value"
CONTEXT = "context = query if context is None else context\nkey = value = context"


@pytest.mark.parametrize(
    ("forward", "first", "causal"),
    [
        ("query, key=None, value=None", KEYS, ""),
        ("query, key, value=None", "value = key if value is None else value", ""),
        ("query, context=None", CONTEXT, ""),
        ("query, context=None", "alone = context is None\n" + CONTEXT, "alone"),
    ],
)
def test_the_sequence_itself_stands_for_what_is_left_out(grade_source, forward, first, causal):
    future = "torch.ones(scores.shape[-2:], dtype=torch.bool, device=query.device).triu(1)"
    mask = f"if {causal}:\n    mask = {future}\n" + masked("mask") if causal else ""
    first = first + ("\nmask = None" if causal else "")
    passes(grade_source(attention(forward=forward, first=first, mask=mask)))


@pytest.mark.parametrize(
    ("forward", "first", "names"),
    [
        ("query, key=None, value=None", KEYS.replace("= key if", "= 2 * key if"), "key, value"),
        ("query, key, value=None", "value = query if value is None else value", "value"),
        ("query, context=None", CONTEXT.replace("= query if", "= 2 * query if"), "context"),
    ],
)
def test_another_default_is_charged(grade_source, forward, first, names):
    report = grade_source(attention(forward=forward, first=first))
    assert [*lost(report)] == ["sequences-left-out"]
    (verdict,) = [v for v in report.verdicts if v.case == "sequences-left-out"]
    assert verdict.message.key == "shape.left-out"
    assert verdict.message.fields["names"] == names
    assert verdict.message.fields["inner"].key == "values.differ"
    assert verdict.points == 0.0


def test_what_must_be_given_all_the_same_is_excused(grade_source):
    first = "key, value = key.clone(), value.clone()"
    passes(grade_source(attention(forward="query, key=None, value=None", first=first)))
