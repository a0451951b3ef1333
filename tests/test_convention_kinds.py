"""A file of its own kind: residuals, norms, wide heads, what it returns, and what is refused."""

import pytest
from sources import attention, lost, passes, places, said, spared

from grader.texts import load_texts

PLAIN = ("convention.call", {"arguments": "x", "axes": "[B, L, D]"})
INDIVISIBLE = ["indivisible-10-by-4", "indivisible-12-by-8", "indivisible-drawn"]
RESIDUAL = ("convention.residual", {})
QUIET = ("convention.without-norms", {})
NORM = "self.norm = nn.LayerNorm(d)"


@pytest.mark.parametrize(
    ("pieces", "sentences"),
    [
        ({"returned": "x + output"}, [RESIDUAL]),
        ({"parts": NORM, "returned": "self.norm(x + output)"}, [RESIDUAL, QUIET]),
        (
            {
                "parts": NORM,
                "first": "query = key = value = self.norm(x)",
                "returned": "x + output",
            },
            [RESIDUAL, QUIET],
        ),
        ({"parts": NORM, "first": "query = key = value = self.norm(x)"}, [QUIET]),
    ],
    ids=["residual", "post-norm", "pre-norm", "norm-alone"],
)
def test_residual_and_norms_are_told(grade_source, pieces, sentences):
    report = grade_source(attention(**pieces))
    passes(report)
    assert said(report)[2:] == sentences


@pytest.mark.parametrize(
    ("returned", "position"),
    [
        ("output", None),
        ("(output,)", None),
        ("output, None", None),
        ("output, scores", None),
        ("output, weights", (0, 1)),
        ("output, weights.mean(1)", (0, 1)),
        ("weights, output", (1, 0)),
        ("output, (k, v), weights", (0, 2)),
        ('{"attention": weights, "output": output}', (1, 0)),
    ],
)
def test_place_of_the_weights_is_found(grade_source, returned, position):
    report = grade_source(attention(returned=returned))
    passes(report)
    fields = position and dict(zip(("output", "weights"), position))
    assert said(report)[2:] == ([("convention.weights", fields)] if fields else [])


WIDE = """
import torch
from torch import nn

class SelfAttention(nn.Module):
    def __init__(self, emb, heads=8):
        super().__init__()
        self.h = heads
        self.q, self.k, self.v = (nn.Linear(emb, emb * heads, bias=False) for _ in range(3))
        self.o = nn.Linear(emb * heads, emb)

    def forward(self, x):
        q, k, v = (project(x) for project in (self.q, self.k, self.v))
        q, k, v = (t.unflatten(-1, (self.h, -1)).transpose(1, 2) for t in (q, k, v))
        weights = (q @ k.mT / q.shape[-1] ** 0.5).softmax(-1)
        return self.o((weights @ v).transpose(1, 2).flatten(2))
"""
HEADS = """
import torch
from torch import nn

class Head(nn.Module):
    def __init__(self, n_embd, head_size, block_size):
        super().__init__()
        self.key = nn.Linear(n_embd, head_size, bias=False)
        self.query = nn.Linear(n_embd, head_size, bias=False)
        self.value = nn.Linear(n_embd, head_size, bias=False)
        self.register_buffer("tril", torch.tril(torch.ones(block_size, block_size)))

    def forward(self, x):
        n = x.shape[1]
        weights = self.query(x) @ self.key(x).mT * self.key.out_features**-0.5
        weights = weights.masked_fill(self.tril[:n, :n] == 0, float("-inf")).softmax(-1)
        return weights @ self.value(x)

class MultiHeadAttention(nn.Module):
    def __init__(self, n_embd, num_heads, head_size, block_size):
        super().__init__()
        self.heads = nn.ModuleList(Head(n_embd, head_size, block_size) for _ in range(num_heads))
        self.proj = nn.Linear(num_heads * head_size, n_embd)

    def forward(self, x):
        return self.proj(torch.cat([head(x) for head in self.heads], dim=-1))
"""


def test_heads_as_wide_as_the_model_need_not_divide(grade_source):
    report = grade_source(WIDE)
    passes(report)
    assert said(report)[2:] == [("convention.wide", {})]
    assert spared(report)["divisibility"] == INDIVISIBLE


def test_one_module_for_each_head_is_read(grade_source):
    report = grade_source(HEADS)
    passes(report)
    arguments = "n_embd = d_model, num_heads, head_size = head_dim, block_size = length"
    assert said(report) == [
        ("convention.build", {"arguments": arguments}),
        PLAIN,
        ("convention.causal", {}),
    ]
    assert places(report)["Wq"] == "heads.*.query.weight [h d m]"
    assert spared(report)["divisibility"] == INDIVISIBLE


def refused(report):
    """The English sentence of a refusal."""
    assert report.verdicts == ()
    assert report.refusal is not None
    return load_texts("en").say(report.refusal)


NO_WAY = (
    "No way was found to build and call MultiHeadAttention. If it needs other arguments, give them "
    "defaults, or name another class with --class. What happened: "
)


@pytest.mark.parametrize(
    ("pieces", "why"),
    [
        (
            {"sizes": "raise OSError('no weights here')"},
            "the constructor raised OSError (line 10): no weights here",
        ),
        (
            {"forward": "x, freqs", "first": "query = key = value = x * freqs.no_such"},
            "forward raised AttributeError (line 18): 'Tensor' object has no attribute 'no_such'",
        ),
        ({"returned": "None"}, "Nothing it returned has the shape of its input."),
        ({"returned": "output[:, :1]"}, "Nothing it returned has the shape of its input."),
    ],
    ids=["constructor", "forward", "nothing", "other-shape"],
)
def test_file_that_cannot_be_called_is_refused(grade_source, pieces, why):
    assert refused(grade_source(attention(**pieces))) == NO_WAY + why


def test_two_attentions_are_refused(grade_source):
    two = [attention().replace("MultiHead", name) for name in ("Self", "Cross")]
    assert refused(grade_source("\n".join(two))) == (
        "Several classes could be the attention: SelfAttention, CrossAttention. "
        "Name one with --class."
    )


ROTARY = """
def turn(x):
    place = torch.arange(x.shape[-2], dtype=x.dtype)[:, None]
    angle = place * torch.linspace(0.1, 1.0, x.shape[-1] // 2, dtype=x.dtype)
    one, two = x.chunk(2, -1)
    cos, sin = angle.cos(), angle.sin()
    return torch.cat([one * cos - two * sin, one * sin + two * cos], -1)
"""


def test_what_fits_no_known_layout_is_told(grade_source):
    turned = "q, k = turn(q), turn(k)\nscores = q @ k.mT / math.sqrt(q.shape[-1])"
    report = grade_source(attention(above=ROTARY, mask=turned))
    assert said(report)[2:] == [("convention.layout-assumed", {})]
    assert lost(report)["values"][1:] == ("values.differ", None)
    assert not report.all_passed
