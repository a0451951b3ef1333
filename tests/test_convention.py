"""A file of its own kind: how it is built and called is found out, said, and what it is judged by.

What it does besides is in test_convention_kinds.py, masks and mistakes in test_convention_masks.py.
"""

import pytest
from sources import CLEAN, attention, lost, passes, places, said, spared

PLAIN = ("convention.call", {"arguments": "x", "axes": "[B, L, D]"})
SEPARATE = {
    "Wq": "q.weight [(h d) m]",
    "Wk": "k.weight [(h d) m]",
    "Wv": "v.weight [(h d) m]",
    "Wo": "o.weight [m (h d)]",
}
CROSSED = [
    "more-keys-than-queries",
    "more-queries-than-keys",
    "equal-lengths",
    "mask-over-two-lengths",
    "padding-over-two-lengths",
    "one-tensor-for-all",
]
DROPOUT = [
    "gradients-in-training",
    "dropout-in-eval",
    "dropout-in-training",
    "dropout-place",
    "dropout-after-training",
]
OPTIONS = (
    *("default-length", "head-size", "grouped", "returns-switch", "optional-sequences"),
    *("switch", "told-apart", "cache"),
)
DATACLASS = """
from dataclasses import dataclass

@dataclass
class Settings:
    n_embd: int = 768
    n_head: int = 12
    dropout: float = 0.1
    bias: bool = True
"""
TUPLE = """
from typing import NamedTuple

class Settings(NamedTuple):
    width: int
    heads: int
"""
ATTRIBUTES = """
class Settings:
    dim = 512
    heads = 8
"""


@pytest.mark.parametrize(
    ("pieces", "arguments"),
    [
        ({}, "d = d_model, h = num_heads"),
        ({"init": "h, d"}, "h = num_heads, d = d_model"),
        (
            {"init": "embed_dim=512, n_heads=8", "sizes": "d, h = embed_dim, n_heads"},
            "embed_dim = d_model, n_heads = num_heads",
        ),
        (
            {"init": "*, heads=8, dim", "sizes": "d, h = dim, heads"},
            "heads = num_heads, dim = d_model",
        ),
        (
            {"init": "one, other", "sizes": "h, d = one, other"},
            "one = num_heads, other = d_model",
        ),
        (
            {
                "init": "d_model, num_heads, bias=True, device=None",
                "sizes": "d, h = d_model, num_heads",
            },
            "d_model, num_heads",
        ),
        (
            {
                "init": "key_size, value_size, hiddens, heads",
                "sizes": "d, h = hiddens, heads",
                "parts": "self.k, self.v = nn.Linear(key_size, d), nn.Linear(value_size, d)",
            },
            "key_size = d_model, value_size = d_model, hiddens = d_model, heads = num_heads",
        ),
        (
            {"init": "config", "sizes": "d, h = config.hidden_size, config.num_attention_heads"},
            "config = settings",
        ),
        (
            {"init": "cfg, layer=None", "sizes": 'd, h = cfg["emb_dim"], cfg.get("n_heads", 7)'},
            "cfg = settings",
        ),
        (
            {"above": DATACLASS, "init": "c: Settings", "sizes": "d, h = c.n_embd, c.n_head"},
            "c = settings",
        ),
        ({"above": TUPLE, "init": "c: Settings", "sizes": "d, h = c"}, "c = settings"),
        (
            {"above": ATTRIBUTES, "init": "c: Settings", "sizes": "d, h = c.dim, c.heads"},
            "c = settings",
        ),
    ],
    ids=[
        "width-first",
        "heads-first",
        "defaults",
        "keyword-only",
        "nameless",
        "switches",
        "sizes-of-inputs",
        "settings-object",
        "settings-items",
        "dataclass",
        "named-tuple",
        "class-attributes",
    ],
)
def test_constructor_is_found(grade_source, pieces, arguments):
    report = grade_source(attention(**pieces))
    passes(report)
    assert said(report) == [("convention.build", {"arguments": arguments}), PLAIN]
    assert places(report) == SEPARATE
    reasons = spared(report)
    assert [reason for reason in reasons if reason not in OPTIONS] == [
        *("mask", "causal", "two-sequences", "dropout")
    ]
    assert (reasons["two-sequences"], reasons["dropout"]) == (CROSSED, DROPOUT)


def test_numbers_of_the_file_are_set_and_told(grade_source):
    numbers = "n_embd = 32\nn_head = 4\nbatch_size = 64\n"
    report = grade_source(attention(above=numbers, init="", sizes="d, h = n_embd, n_head"))
    passes(report)
    assert said(report) == [
        ("convention.globals", {"numbers": "n_embd = d_model, n_head = num_heads"}),
        PLAIN,
    ]


def test_dropout_of_a_settings_object_is_judged(grade_source):
    pieces = {
        "init": "cfg",
        "sizes": 'd, h = cfg["emb_dim"], cfg["n_heads"]',
        "parts": 'self.drop = nn.Dropout(cfg["drop_rate"])',
        "softmax": f"self.drop({CLEAN})",
    }
    report = grade_source(attention(**pieces))
    passes(report)
    assert "dropout" not in spared(report)


def test_dropout_that_is_never_applied_fails(grade_source):
    report = grade_source(attention(init="h, d, dropout=0.1"))
    assert said(report)[0][1] == {"arguments": "h = num_heads, d = d_model, dropout"}
    assert lost(report) == {
        "dropout-in-training": (0.0, "dropout.never-on", "dropout-never-applied"),
        "dropout-place": (0.0, "skipped.after", None),
    }


@pytest.mark.parametrize(
    ("pieces", "arguments"),
    [
        ({"forward": "query, key, value"}, "query, key, value"),
        ({"forward": "value, key, query"}, "value, key, query"),
        (
            {"forward": "values, keys, q_in", "first": "query, key, value = q_in, keys, values"},
            "values = value, keys = key, q_in = query",
        ),
        (
            {"forward": "a, b, c", "first": "query, key, value = c, a, b"},
            "a = key, b = value, c = query",
        ),
        (
            {"forward": "x, context", "first": "query, key, value = x, context, context"},
            "x = query, context",
        ),
        ({"forward": "memory, query", "first": "key = value = memory"}, "memory = context, query"),
        ({"forward": "a, b", "first": "query, key, value = b, a, a"}, "a = context, b = query"),
        (
            {
                "forward": "x, context=None",
                "first": "key = value = x if context is None else context\nquery = x",
            },
            "x = query, context",
        ),
    ],
    ids=["q-k-v", "v-k-q", "plurals", "nameless", "context", "memory-first", "two", "optional"],
)
def test_order_of_sequences_is_found(grade_source, pieces, arguments):
    report = grade_source(attention(**pieces))
    passes(report)
    assert said(report)[1:] == [("convention.call", {"arguments": arguments, "axes": "[B, L, D]"})]
    assert spared(report)["one-sequence"] == ["causal-first-row"]
    assert "two-sequences" not in spared(report)


@pytest.mark.parametrize(
    ("axes", "turned"), [("[L, B, D]", "transpose(0, 1)"), ("[B, D, L]", "transpose(1, 2)")]
)
def test_order_of_axes_is_found(grade_source, axes, turned):
    pieces = {"first": f"query = key = value = x.{turned}", "returned": f"output.{turned}"}
    report = grade_source(attention(**pieces))
    passes(report)
    assert said(report)[1] == ("convention.call", {"arguments": "x", "axes": axes})
    assert spared(report)["batch-first"] == ["expanded-batch"]
