"""Small attention files for the tests, each right or wrong in one thing, written in pieces."""

import textwrap

WHOLE = """
import math
import torch
from torch import nn
{above}

class MultiHeadAttention(nn.Module):
    def __init__(self, {init}):
        super().__init__()
{sizes}
        if d % h:
            raise ValueError("d is not divisible by h")
        self.h = h
        self.q, self.k, self.v, self.o = (nn.Linear(d, d) for _ in range(4))
{parts}

    def forward(self, {forward}):
{first}
        q, k, v = self.q(query), self.k(key), self.v(value)
        q, k, v = (t.unflatten(-1, (self.h, -1)).transpose(1, 2) for t in (q, k, v))
        scores = q @ k.mT {scale}
{mask}
        weights = {softmax}
        output = self.o((weights @ v).transpose(1, 2).flatten(2))
{last}
        return {returned}
"""
SELF = "query = key = value = x"
# What a right file does to rows that see nothing.
CLEAN = "scores.softmax(-1).nan_to_num(0.0)"
PIECES = {
    "above": "",
    "init": "d, h",
    "sizes": "",
    "parts": "",
    "forward": "x",
    "first": "",
    "scale": "/ math.sqrt(q.shape[-1])",
    "mask": "",
    "softmax": CLEAN,
    "last": "",
    "returned": "output",
}
INDENTED = ("sizes", "parts", "first", "mask", "last")


def attention(**pieces):
    """The file as a whole, with the pieces given in place of the plain ones."""
    unknown = set(pieces) - set(PIECES)
    assert not unknown, unknown
    found = {**PIECES, **pieces}
    if "first" not in pieces and found["forward"].split(",")[0] == "x":
        found["first"] = SELF
    for name in INDENTED:
        found[name] = textwrap.indent(textwrap.dedent(found[name]), " " * 8)
    return WHOLE.format(**found)


def masked(condition, fill='float("-inf")', name="mask"):
    """The piece that hides scores where `condition` holds, if there is a mask."""
    return f"if {name} is not None:\n    scores = scores.masked_fill({condition}, {fill})"


CAUSAL = """
n = scores.shape[-1]
future = torch.ones(n, n, dtype=torch.bool, device=x.device).triu(1)
scores = scores.masked_fill(future, float("-inf"))
"""


def said(report):
    """What a report says of the convention: (key, fields), but for the class and its places."""
    assert report.refusal is None, report.refusal
    left_out = ("convention.class", "convention.place")
    return [(m.key, dict(m.fields)) for m in report.convention if m.key not in left_out]


def places(report):
    """Where each projection was found."""
    found = [m.fields for m in report.convention if m.key == "convention.place"]
    return {fields["name"]: fields["where"] for fields in found}


def spared(report):
    """Reason -> the cases that do not apply for it."""
    found = {}
    for verdict in report.verdicts:
        if verdict.outcome.value == "not-applicable":
            reason = verdict.message.key.removeprefix("not-offered.")
            found.setdefault(reason, []).append(verdict.case)
    return found


def lost(report):
    """Case -> (points, key of the message, mistake) of what failed or was skipped."""
    return {
        v.case: (v.points, v.message.key, v.mistake)
        for v in report.verdicts
        if v.outcome.value in ("failed", "skipped", "error")
    }


def passes(report):
    """Right by its own convention, whatever that is."""
    assert lost(report) == {}
    assert report.is_free
    assert report.all_passed
    assert report.score == 100.0


# A right file in four styles, and lines of the first.
SCALED = "scores = q @ k.mT / math.sqrt(q.shape[-1])"
SPLIT = "t.unflatten(-1, (self.h, -1)).transpose(1, 2) for t"
PROJECT = "self.q(query), self.k(key), self.v(value)"
MERGE = "self.o((weights @ v).transpose(1, 2).flatten(2))"
SOFTMAX = "scores.softmax(-1).nan_to_num(0.0)"
PLAIN = attention(forward="x, mask=None", returned="output, weights", mask=masked("~mask"))
FUSED = (
    (
        "self.q, self.k, self.v, self.o = (nn.Linear(d, d) for _ in range(4))",
        "self.qkv, self.o = nn.Linear(d, 3 * d), nn.Linear(d, d)",
    ),
    (f"q, k, v = {PROJECT}", "q, k, v = self.qkv(x).chunk(3, dim=-1)"),
)
EINSUM = (
    (SCALED, "scores = torch.einsum('bhld,bhsd->bhls', q / math.sqrt(q.shape[-1]), k)"),
    (MERGE, "self.o(torch.einsum('bhls,bhsd->blhd', weights, v).reshape(x.shape))"),
)
MATRICES = (
    (
        "self.q, self.k, self.v, self.o = (nn.Linear(d, d) for _ in range(4))",
        "self.w = nn.ParameterList(nn.Parameter(torch.randn(d, d)) for _ in range(4))",
    ),
    (PROJECT, "x @ self.w[0], x @ self.w[1], x @ self.w[2]"),
    (MERGE, "(weights @ v).transpose(1, 2).flatten(2) @ self.w[3]"),
)
HEADS = """
import torch
from torch import nn

class Head(nn.Module):
    def __init__(self, d, size):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(d, size) for _ in range(3))

    def forward(self, x, mask):
        scores = self.q(x) @ self.k(x).transpose(1, 2) * self.q.out_features**-0.5
        if mask is not None:
            scores = scores.masked_fill(~mask, float("-inf"))
        weights = scores.softmax(-1).nan_to_num(0.0)
        return weights @ self.v(x), weights

class MultiHeadAttention(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.heads = nn.ModuleList(Head(d, d // h) for _ in range(h))
        self.o = nn.Linear(d, d)

    def forward(self, x, mask=None):
        shape = (len(x), len(self.heads), x.shape[1], x.shape[1])
        masks = [None] * len(self.heads) if mask is None else mask.expand(shape).unbind(1)
        pairs = [head(x, one) for head, one in zip(self.heads, masks)]
        output = self.o(torch.cat([out for out, _ in pairs], -1))
        return output, torch.stack([weights for _, weights in pairs], 1)
"""


def rewrite(pairs):
    source = PLAIN
    for old, new in pairs:
        assert source.count(old) == 1
        source = source.replace(old, new)
    return source


STYLES = {
    "fused": rewrite(FUSED),
    "einsum": rewrite(EINSUM),
    "head-list": HEADS,
    "x-times-w": rewrite(MATRICES),
}


def line_of(text):
    """The line of the plain file where this text stands."""
    return PLAIN[: PLAIN.index(text)].count("\n") + 1


def swap(*pairs):
    """PLAIN with each of these pieces, which come once, put in place of the other."""
    source = PLAIN
    for old, new in pairs:
        assert source.count(old) == 1, old
        source = source.replace(old, new)
    return source
