"""One projection for two of queries, keys and values: a convention where there is no third."""

import pytest
from sources import attention, lost, masked, passes, places, said, spared

LINEARS = "self.q, self.k, self.v, self.o = (nn.Linear(d, d) for _ in range(4))"
PROJECT = "self.q(query), self.k(key), self.v(value)"


def tied(linears, project, **pieces):
    source = attention(forward="x, mask=None", mask=masked("~mask"), **pieces)
    for old, new in ((LINEARS, linears), (PROJECT, project)):
        assert source.count(old) == 1
        source = source.replace(old, new)
    return source


@pytest.mark.parametrize(
    ("project", "kind"),
    [("self.a(x), self.b(x), self.b(x)", "kv"), ("self.a(x), self.a(x), self.b(x)", "qk")],
)
def test_one_projection_for_two_is_found_and_said(grade_source, project, kind):
    linears = "self.a, self.b, self.o = (nn.Linear(d, d) for _ in range(3))"
    report = grade_source(tied(linears, project))
    passes(report)
    assert (f"convention.tied.{kind}", {}) in said(report)
    found = places(report)
    assert found["W" + kind[0]] == found["W" + kind[1]]
    assert spared(report)["untied"] == ["faint-scores", "large-values-float16", "long-rows-float16"]
    wrong = grade_source(tied(linears, project, scale=""))
    assert lost(wrong)["values"][2] == "missing-scale"


def test_three_projections_of_which_one_is_not_used_are_no_convention(grade_source):
    linears = "self.a, self.b, self.c, self.o = (nn.Linear(d, d) for _ in range(4))"
    report = grade_source(tied(linears, "self.a(x), self.b(x), self.b(x)"))
    assert not report.all_passed
    assert not [key for key, _ in said(report) if key.startswith("convention.tied")]


def test_an_exercise_asks_for_three(grade_source):
    linears = "self.a, self.b, self.o = (nn.Linear(d, d) for _ in range(3))"
    source = tied(linears, "self.a(x), self.b(x), self.b(x)", returned="output, weights")
    assert not grade_source(source, "self-attention").all_passed
