"""A file of its own kind: residuals, norms, wide heads, what it returns, and what is refused."""

import pytest
from sources import attention, lost, passes, places, said, spared

from grader.reports import FORMATS
from grader.texts import load_texts

PLAIN_SPLIT = """        q, k, v = self.q(query), self.k(key), self.v(value)
        q, k, v = (t.unflatten(-1, (self.h, -1)).transpose(1, 2) for t in (q, k, v))
        scores = q @ k.mT / math.sqrt(q.shape[-1])
"""
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
    place = torch.arange(x.shape[-2], dtype=x.dtype, device=x.device)[:, None]
    angle = place * torch.linspace(0.1, 1.0, x.shape[-1] // 2).to(x)
    one, two = x.chunk(2, -1)
    cos, sin = angle.cos(), angle.sin()
    return torch.cat([one * cos - two * sin, one * sin + two * cos], -1)
"""


TURNED = "q, k = turn(q), turn(k)\nscores = q @ k.mT / math.sqrt(q.shape[-1])"
SPEEDS = "torch.linspace(0.1, 1.0, x.shape[-1] // 2).to(x)"
USUAL = "10000 ** (-torch.arange(0, x.shape[-1], 2, dtype=x.dtype, device=x.device) / x.shape[-1])"
PAIRED = (
    ("one, two = x.chunk(2, -1)", "one, two = x[..., ::2], x[..., 1::2]"),
    ("torch.cat([", "torch.stack(["),
    ("cos], -1)", "cos], -1).flatten(-2)"),
)


@pytest.mark.parametrize(
    ("root", "coarse"),
    [
        ("math.sqrt(q.shape[-1])", False),
        ("torch.tensor(q.shape[-1]).sqrt()", True),
        ("torch.tensor(q.shape[-1]).to(q).sqrt()", False),
    ],
)
def test_a_constant_in_float32_is_told_and_not_charged(grade_source, root, coarse):
    report = grade_source(attention(mask=f"scores = q @ k.mT / {root}"))
    passes(report)
    assert said(report)[2:] == [("convention.coarse", {})] * coarse


def test_what_fits_no_known_layout_is_told(grade_source):
    report = grade_source(attention(mask="scores = scores.roll(1, -1)"))
    assert said(report)[2:] == [("convention.layout-assumed", {})]
    assert lost(report)["values"][1:] == ("values.differ", None)
    assert not report.all_passed


def test_positions_of_an_unknown_kind_are_not_charged_and_not_passed(grade_source):
    report = grade_source(attention(above=ROTARY, mask=TURNED))
    assert ("convention.positions.unknown", {}) in said(report)
    assert lost(report) == {}
    assert {"values", "gradients-of-inputs", "bfloat16-module"} <= set(spared(report)["positions"])
    assert not report.all_passed
    said_so = "Values could not be judged: this is the score of the other cases alone"
    assert said_so in FORMATS["terminal"](report, load_texts("en"))


@pytest.mark.parametrize(("kind", "base"), [("halves", "10000"), ("pairs", "50000")])
def test_rotary_positions_are_found(grade_source, kind, base):
    turn = ROTARY.replace(SPEEDS, USUAL.replace("10000", base))
    for old, new in PAIRED if kind == "pairs" else ():
        assert turn.count(old) == 1
        turn = turn.replace(old, new)
    report = grade_source(attention(above=turn, mask=TURNED))
    passes(report)
    assert said(report)[2:] == [(f"convention.positions.{kind}", {"base": base})]
    assert spared(report)["no-positions"] == ["tokens-exchanged"]
    wrong = grade_source(
        attention(above=turn, mask=TURNED.replace(" / math.sqrt(q.shape[-1])", ""))
    )
    assert lost(wrong)["values"][2] == "missing-scale"


PARTLY = """
def turn_some(x):
    n = x.shape[-1] // {}
    assert n >= 2
    return torch.cat([turn(x[..., :n]), x[..., n:]], -1)
"""


@pytest.mark.parametrize(("part", "percent"), [("2", "50"), ("4", "25"), ("4 * 3", "75")])
@pytest.mark.parametrize("kind", ["halves", "pairs"])
def test_part_of_each_head_may_be_turned(grade_source, kind, part, percent):
    turn = ROTARY.replace(SPEEDS, USUAL)
    for old, new in PAIRED if kind == "pairs" else ():
        turn = turn.replace(old, new)
    above = turn + PARTLY.format(part)
    report = grade_source(attention(above=above, mask=TURNED.replace("turn(", "turn_some(")))
    passes(report)
    assert said(report)[2:] == [
        (f"convention.positions.{kind}", {"base": "10000"}),
        ("convention.positions.part", {"percent": percent}),
    ]


WAVES = """
def turn(x, cos, sin):
    one, two = x.chunk(2, -1)
    return x * cos + torch.cat([-two, one], -1) * sin
"""
COMPLEX = """
def turn(x, table):
    pairs = torch.view_as_complex(x.double().unflatten(-1, (-1, 2)))
    return torch.view_as_real(pairs * table).flatten(-2).to(x)
"""
ANGLES = """
def turn(x, freqs):
    turned = torch.stack([-x[..., 1::2], x[..., 0::2]], -1).flatten(-2)
    return x * freqs.cos() + turned * freqs.sin()
"""


@pytest.mark.parametrize(
    ("above", "tables", "kind"),
    [
        (WAVES, "cos, sin", "halves"),
        (COMPLEX, "freqs_cis", "pairs"),
        (ANGLES, "rotary_emb", "pairs"),
    ],
)
def test_tables_of_positions_may_be_given_from_outside(grade_source, above, tables, kind):
    mask = f"scores = turn(q, {tables}) @ turn(k, {tables}).mT / math.sqrt(q.shape[-1])"
    given = {"forward": f"x, start_pos, {tables}", "above": above}
    report = grade_source(attention(**given, mask=mask))
    passes(report)
    assert said(report)[2:] == [
        ("convention.option", {"name": "start_pos", "value": 0}),
        *(("convention.table", {"name": name}) for name in tables.split(", ")),
        (f"convention.positions.{kind}", {"base": "10000"}),
    ]
    wrong = mask.replace("turn(k", "turn(v", 1)
    assert not grade_source(attention(**given, mask=wrong)).all_passed


UNPACKED = "cos, sin = {}\n"
PER_HEAD = "cos, sin = (one.unsqueeze(1) for one in {})\n"


@pytest.mark.parametrize(
    ("unpacked", "name", "default"),
    [
        (UNPACKED, "position_embeddings", ""),
        (PER_HEAD, "position_embeddings", ""),
        (UNPACKED, "rope", ""),
        (UNPACKED, "position_embeddings", "=None"),
        (UNPACKED, "rotary_pos_emb: tuple", ""),
    ],
)
def test_both_tables_may_be_given_in_one_tuple(grade_source, unpacked, name, default):
    plain = name.split(":")[0]
    mask = unpacked.format(plain)
    mask += "scores = turn(q, cos, sin) @ turn(k, cos, sin).mT / math.sqrt(q.shape[-1])"
    given = {"forward": f"x, {name}{default}", "above": WAVES}
    report = grade_source(attention(**given, mask=mask))
    passes(report)
    assert said(report)[2:] == [
        ("convention.table", {"name": plain}),
        ("convention.positions.halves", {"base": "10000"}),
    ]
    wrong = mask.replace("turn(k, cos", "turn(k, sin", 1)
    assert not grade_source(attention(**given, mask=wrong)).all_passed


TURN_PART = """
def turn_part(x, size, *table):
    return torch.cat([turn(x[..., :size], *table), x[..., size:]], -1)
"""


@pytest.mark.parametrize(
    ("above", "tables", "size", "kind", "percent"),
    [
        (WAVES, "cos, sin", "q.shape[-1] // 2", "halves", "50"),
        (COMPLEX, "freqs_cis", "q.shape[-1] // 4", "pairs", "25"),
        (ANGLES, "rotary_emb", "3 * q.shape[-1] // 4", "pairs", "75"),
    ],
)
def test_tables_may_be_of_part_of_each_head(grade_source, above, tables, size, kind, percent):
    turned = [f"turn_part({one}, {size}, {tables})" for one in "qk"]
    mask = f"scores = {turned[0]} @ {turned[1]}.mT / math.sqrt(q.shape[-1])"
    given = {"forward": f"x, {tables}", "above": above + TURN_PART}
    report = grade_source(attention(**given, mask=mask))
    passes(report)
    assert said(report)[-2:] == [
        (f"convention.positions.{kind}", {"base": "10000"}),
        ("convention.positions.part", {"percent": percent}),
    ]
    wrong = mask.replace("turn_part(k", "turn_part(v", 1)
    assert not grade_source(attention(**given, mask=wrong)).all_passed


def test_mask_that_must_be_given_hides_nothing_where_values_are_not_known(grade_source):
    mask = TURNED + "\nscores = scores + mask"
    report = grade_source(attention(forward="x, mask", above=ROTARY, mask=mask))
    assert ("convention.positions.unknown", {}) in said(report)
    assert not [key for key, _ in said(report) if key.startswith("convention.mask")]
    assert lost(report) == {}


def test_masks_are_not_read_where_values_are_not_known(grade_source):
    mask = TURNED + "\nif mask is not None:\n    scores = scores + mask"
    report = grade_source(attention(forward="x, mask=None", above=ROTARY, mask=mask))
    assert ("convention.positions.unknown", {}) in said(report)
    assert not [key for key, _ in said(report) if key.startswith("convention.mask")]
    assert lost(report) == {}


SLOPES = """
slopes = 2 ** (-8 / self.h * torch.arange(1, self.h + 1, dtype=x.dtype, device=x.device))
place = torch.arange(x.shape[1], dtype=x.dtype, device=x.device)
scores = scores - slopes[:, None, None] * (place[:, None] - place){}
"""


@pytest.mark.parametrize("distance", ["", ".abs()"])
def test_slopes_for_positions_are_found(grade_source, distance):
    report = grade_source(attention(mask=SLOPES.format(distance)))
    passes(report)
    assert said(report)[2:] == [("convention.positions.slopes", {})]


def test_learned_positions_are_set_to_zero_and_told(grade_source):
    parts = "self.rel_bias = nn.Parameter(torch.randn(h, 64, 64))"
    added = "n = scores.shape[-1]\nscores = scores + self.rel_bias[:, :n, :n]"
    sizes = "long = 400"
    pieces = {"sizes": sizes, "parts": parts.replace("64", "long"), "mask": added}
    report = grade_source(attention(**pieces))
    passes(report)
    assert said(report)[2:] == [("convention.zeroed", {"names": "rel_bias"})]
    wrong = grade_source(attention(scale="", **pieces))
    assert lost(wrong)["values"][2] == "missing-scale"


SHARED = {
    "init": "d, h, kv_heads=None",
    "parts": "s = d // h * (kv_heads or h)\nself.k, self.v = nn.Linear(d, s), nn.Linear(d, s)",
}
SPLIT_EACH = """
q, k, v = self.q(query), self.k(key), self.v(value)
size = q.shape[-1] // self.h
q, k, v = (t.unflatten(-1, (-1, size)).transpose(1, 2) for t in (q, k, v))
times = self.h // k.shape[1]
k, v = {}, {}
scores = q @ k.mT / math.sqrt(size)
"""
NEIGHBOURS, IN_TURN = "{}.repeat_interleave(times, 1)", "{}.repeat(1, times, 1, 1)"


@pytest.mark.parametrize(
    ("keys", "values", "right"),
    [
        (NEIGHBOURS, NEIGHBOURS, True),
        (IN_TURN, IN_TURN, True),
        (NEIGHBOURS, IN_TURN, False),
        (IN_TURN, NEIGHBOURS, False),
    ],
)
def test_shared_key_heads_may_be_repeated_in_either_order(grade_source, keys, values, right):
    split = SPLIT_EACH.format(keys.format("k"), values.format("v"))
    source = attention(**SHARED, mask=split).replace(PLAIN_SPLIT, "")
    report = grade_source(source)
    wrong = {"shared-key-heads": (0.0, "heads.two-orders", "key-heads-in-two-orders")}
    assert lost(report) == ({} if right else wrong)
    assert "grouped" not in spared(report)


def test_one_head_of_keys_for_all_is_read(grade_source):
    parts = "self.k, self.v = nn.Linear(d, d // h), nn.Linear(d, d // h)"
    split = SPLIT_EACH.format("k", "v")
    report = grade_source(attention(parts=parts, mask=split).replace(PLAIN_SPLIT, ""))
    passes(report)
    assert said(report)[2:] == [("convention.one-kv-head", {})]


@pytest.mark.parametrize(
    ("scale", "key"), [("q.shape[-1] ** 0.5", None), ("(d / h) ** 0.5", "values.differ")]
)
def test_head_size_of_its_own_is_tried(grade_source, scale, key):
    parts = """
    self.size = size
    self.q, self.k, self.v = (nn.Linear(d, h * size) for _ in range(3))
    self.o = nn.Linear(h * size, d)
    """
    report = grade_source(
        attention(
            init="d, h, size",
            parts=parts,
            scale="/ " + scale.replace("d / h", "x.shape[-1] / self.h"),
        ).replace("size", "head_size")
    )
    found = {case: message for case, (_, message, _) in lost(report).items()}
    assert found == ({"head-size-of-its-own": key} if key else {})


PADDED = """
if pad is not None:
    scores = scores.masked_fill(~pad[:, None, None], float("-inf"))
"""


@pytest.mark.parametrize(
    ("pieces", "kind"),
    [
        (
            {"mask": PADDED, "last": "if pad is not None:\n    output = output * pad[..., None]"},
            "blank",
        ),
        (
            {
                "mask": PADDED
                + "    scores = scores.masked_fill(~pad[:, None, :, None], float('-inf'))"
            },
            "hidden",
        ),
    ],
)
def test_padded_queries_that_are_left_out_are_told(grade_source, pieces, kind):
    report = grade_source(attention(forward="x, pad=None", **pieces))
    passes(report)
    assert (f"convention.padded.{kind}", {}) in said(report)
