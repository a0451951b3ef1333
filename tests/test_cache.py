"""A cache that a file returns and takes back: one more token gets what it gets with the others."""

import pytest
from sources import attention, lost, said

JOIN = """
if past is not None:
    k, v = torch.cat([past[0], k], 2), torch.cat([past[1], v], 2)
present = {present}
scores = q @ k.mT / math.sqrt(q.shape[-1])
"""
CAUSAL = """
new, all_ = scores.shape[-2:]
future = torch.ones(new, all_, dtype=torch.bool, device=x.device).triu({edge})
scores = scores.masked_fill(future, float("-inf"))
"""
AT_THE_END = CAUSAL.format(edge="1 + all_ - new")
AT_THE_START = CAUSAL.format(edge="1")


def cached(forward="x, past=None", present="(k, v)", causal="", returned="output, present"):
    mask = JOIN.format(present=present) + causal
    return attention(forward=forward, mask=mask, returned=returned)


def verdict_of(report):
    return next(v for v in report.verdicts if v.case == "one-more-token")


@pytest.mark.parametrize(
    ("pieces", "item"),
    [
        ({}, 1),
        ({"causal": AT_THE_END}, 1),
        ({"returned": "output, weights, present"}, 2),
        (
            {
                "forward": "x, past=None, use_cache=False",
                "present": "(k, v) if use_cache else None",
            },
            1,
        ),
        ({"present": "torch.stack([k, v])"}, 1),
        ({"returned": "{'output': output, 'past': present}"}, 1),
    ],
)
def test_a_cache_is_given_back_once(grade_source, pieces, item):
    report = grade_source(cached(**pieces))
    assert lost(report) == {}
    assert report.all_passed
    assert verdict_of(report).outcome.value == "passed"
    assert ("convention.cached", {"name": "past", "item": item}) in said(report)


@pytest.mark.parametrize(
    ("pieces", "old", "new"),
    [
        ({"causal": AT_THE_START}, "", ""),
        ({}, "torch.cat([past[1], v], 2)", "torch.cat([v, past[1]], 2)"),
        ({}, "torch.cat([past[0], k], 2)", "torch.cat([past[0] * 2, k], 2)"),
        ({}, "k, v = torch.cat([past[0], k], 2), torch.cat([past[1], v], 2)", "past[0] + past[1]"),
    ],
)
def test_a_wrong_step_with_a_cache_is_charged(grade_source, pieces, old, new):
    report = grade_source(cached(**pieces).replace(old, new))
    assert [*lost(report)] == ["one-more-token"]
    message = verdict_of(report).message
    assert message.key == "state.cache"
    assert (message.fields["name"], message.fields["item"]) == ("past", 1)
    assert message.fields["inner"].key == "values.differ"
    assert verdict_of(report).points == 0.0


@pytest.mark.parametrize("returned", ["output", "output, None"])
def test_a_cache_that_is_not_returned_is_left_out(grade_source, returned):
    report = grade_source(cached(returned=returned))
    assert lost(report) == {}
    assert verdict_of(report).outcome.value == "not-applicable"
    assert ("convention.cache", {"name": "past"}) in said(report)
