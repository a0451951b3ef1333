"""A file of its own kind: what its masks mean is found out, and its mistakes are named."""

import pytest
from sources import CAUSAL, attention, lost, masked, said, spared

from grader.convention.reading import Reader

BROADCAST = "[B, 1, q_len, kv_len]  [q_len, kv_len]  [1, 1, q_len, kv_len]  [1, q_len, kv_len]"
BROADCAST += "  [B, H, q_len, kv_len]  [B, 1, 1, kv_len]"
KEYS = "[B, kv_len]"
FOLDED = "[B * H, q_len, kv_len]  [B * H, 1, kv_len]"
BETWEEN = ["causal-values", "causal-future", "causal-first-row", "mask-per-sample"]
HEADS = ["dead-rows-in-some-heads"]
ADDED = "if mask is not None:\n    scores = scores + mask"
COUNTED = """
if valid_lens is not None:
    hidden = torch.arange(scores.shape[-1], device=scores.device) >= valid_lens[:, None]
    scores = scores.masked_fill(hidden[:, None, None], float("-inf"))
"""
# Minus infinity that is added leaves NaN in the gradients of rows that see nothing.
ADDED_ROWS = {
    "dead-rows-gradients": (0.0, "dead.gradient-not-finite", "nan-dead-gradients"),
    "dead-rows-gradients-float16": (0.0, "dead.gradient-not-finite", "nan-dead-gradients"),
}


def mask_told(report):
    """The sentences about masks: (meaning, name, dtype, forms)."""
    told = [(key, fields) for key, fields in said(report) if key.startswith("convention.mask.")]
    return [(key.split(".")[-1], *fields.values()) for key, fields in told]


@pytest.mark.parametrize(
    ("piece", "meaning", "dtype", "forms", "between"),
    [
        (masked("~mask"), "visible", "bool", BROADCAST, []),
        (masked("mask == 0"), "visible", "bool", BROADCAST, []),
        (masked("mask"), "hidden", "bool", BROADCAST, []),
        (masked("mask != 0"), "hidden", "bool", BROADCAST, []),
        (masked("torch.eq(mask + 0 * mask.neg(), 0)"), "visible", "int64", BROADCAST, []),
        (masked("torch.eq(-mask, -1)"), "hidden", "int64", BROADCAST, []),
        (masked("~mask[:, None, None]"), "visible", "bool", KEYS, BETWEEN + HEADS),
        (masked("mask[:, None, None]"), "hidden", "bool", KEYS, BETWEEN + HEADS),
        (
            masked("~mask[:, None]"),
            "visible",
            "bool",
            "[B, q_len, kv_len]  [1, q_len, kv_len]  [B, 1, kv_len]",
            HEADS,
        ),
        (
            masked("~mask[None, None]"),
            "visible",
            "bool",
            "[q_len, kv_len]",
            ["padding-values"],
        ),
        (masked("~mask.unflatten(0, scores.shape[:2])"), "visible", "bool", FOLDED, []),
        (
            masked("mask.unflatten(0, scores.shape[1::-1]).transpose(0, 1)"),
            "hidden",
            "bool",
            "[H * B, q_len, kv_len]  [H * B, 1, kv_len]",
            [],
        ),
    ],
)
def test_meaning_of_a_mask_is_found(grade_source, piece, meaning, dtype, forms, between):
    report = grade_source(attention(forward="x, mask=None", mask=piece))
    assert lost(report) == {}
    assert report.score == 100.0
    assert mask_told(report) == [(meaning, "mask", dtype, forms)]
    assert set(between) <= set(spared(report).get("mask", []))
    if forms != "[q_len, kv_len]":
        assert spared(report).get("mask", []) == between


def test_added_mask_is_found(grade_source):
    report = grade_source(
        attention(forward="x, attention_bias=None", mask=ADDED.replace("mask", "attention_bias"))
    )
    assert mask_told(report) == [("additive", "attention_bias", "float", BROADCAST)]
    assert lost(report) == ADDED_ROWS


@pytest.mark.parametrize("sequences", ["x", "query, key, value"])
def test_lengths_are_found(grade_source, sequences):
    report = grade_source(attention(forward=f"{sequences}, valid_lens=None", mask=COUNTED))
    assert lost(report) == {}
    assert mask_told(report) == [("lengths", "valid_lens", "int64", "[B]")]
    reasons = spared(report)["mask"]
    # A length says nothing of single keys, queries or heads.
    assert {"padding-holes", "causal-values", "dead-rows-in-some-heads"} <= set(reasons)
    assert not {"padding-values", "padding-content", "dead-keys-float64"} & set(reasons)


@pytest.mark.parametrize(
    ("condition", "meaning", "forms"),
    [
        ("~mask", "visible", BROADCAST),
        ("mask", "hidden", BROADCAST),
        ("mask[:, None, None]", "hidden", KEYS),
    ],
)
def test_required_mask_shows_everything(grade_source, condition, meaning, forms):
    report = grade_source(attention(forward="x, mask", mask=masked(condition)))
    assert lost(report) == {}
    assert mask_told(report) == [(meaning, "mask", "bool", forms)]
    assert "mask-none" in spared(report)["mask"]


def test_two_masks_are_read_each_by_itself(grade_source):
    both = masked("key_padding_mask[:, None, None]", name="key_padding_mask")
    both += "\n" + masked("~attn_mask", name="attn_mask")
    report = grade_source(
        attention(forward="query, key, value, key_padding_mask=None, attn_mask=None", mask=both)
    )
    assert lost(report) == {}
    assert mask_told(report) == [
        ("hidden", "key_padding_mask", "bool", KEYS),
        ("visible", "attn_mask", "bool", BROADCAST),
    ]
    assert "mask" not in spared(report)


def test_two_masks_of_which_each_says_a_part(grade_source):
    both = masked("key_padding_mask[:, None, None]", name="key_padding_mask")
    both += "\n" + masked("attn_mask[None, None]", name="attn_mask")
    report = grade_source(attention(forward="x, attn_mask=None, key_padding_mask=None", mask=both))
    assert lost(report) == {}
    assert [told[3] for told in mask_told(report)] == ["[q_len, kv_len]", KEYS]
    # Padding and the future together are a mask for each; what differs from head to head is not.
    assert "mask-per-sample" not in spared(report)["mask"]
    assert "dead-rows-in-some-heads" in spared(report)["mask"]


def test_mask_that_is_read_beside_a_context_is_judged(grade_source):
    chosen = "query, key, value = x, context, context\nseen = context_mask"
    hides = masked("~seen[:, None, None]", name="seen")
    hides += "\n" + masked("~pair_mask", name="pair_mask")
    forward = "x, context, mask=None, context_mask=None, pair_mask=None"
    report = grade_source(attention(forward=forward, first=chosen, mask=hides))
    assert lost(report) == {}
    assert mask_told(report) == [
        ("visible", "context_mask", "bool", KEYS),
        ("visible", "pair_mask", "bool", BROADCAST),
    ]


@pytest.mark.parametrize("name", ["kv_cache", "layer_past", "incremental_state"])
def test_cache_that_is_left_out_is_said(grade_source, name):
    report = grade_source(attention(forward=f"x, {name}=None"))
    assert lost(report) == {}
    assert ("convention.cache", {"name": name}) in said(report)
    assert not any(key == "convention.cache" for key, _ in said(grade_source(attention())))


def test_mask_that_is_never_read_is_a_mistake_where_no_other_is(grade_source):
    report = grade_source(attention(forward="x, mask=None, other_mask=None", mask="pass"))
    assert mistakes(report) == {"mask-ignored"}


ALWAYS = [
    "tokens-exchanged",
    "causal-values",
    "causal-future",
    "mask-per-sample",
    "dead-rows-float64",
    "dead-keys-float64",
    "dead-rows-float32",
    "dead-keys-float32",
    "dead-rows-bfloat16",
    "dead-keys-bfloat16",
    "dead-rows-float16",
    "dead-keys-float16",
    "dead-rows-gradients",
    "dead-rows-gradients-float16",
]


@pytest.mark.parametrize(
    "pieces",
    [
        {"mask": CAUSAL},
        {
            "init": "d, h, causal=True",
            "parts": "self.causal = causal",
            "mask": "if self.causal:" + CAUSAL.replace("\n", "\n    "),
        },
        {
            "init": "d, h, block_size",
            "parts": 'self.register_buffer("seen", torch.ones(block_size, block_size).tril())',
            "mask": "n = scores.shape[-1]\n"
            'scores = scores.masked_fill(self.seen[:n, :n] == 0, float("-inf"))',
        },
    ],
    ids=["always", "by-default", "buffer"],
)
def test_built_in_causality_is_found(grade_source, pieces):
    report = grade_source(attention(**pieces))
    assert lost(report) == {}
    assert said(report)[2:] == [("convention.causal", {})]
    assert spared(report)["not-causal"] == ALWAYS
    assert "causal" not in spared(report)


def test_built_in_causality_and_padding(grade_source):
    mask = CAUSAL + masked("~padding_mask[:, None, None]", name="padding_mask")
    report = grade_source(attention(forward="x, padding_mask=None", mask=mask))
    assert lost(report) == {}
    assert mask_told(report) == [("visible", "padding_mask", "bool", KEYS)]
    assert spared(report)["mask"] == ["dead-rows-in-some-heads"]


@pytest.mark.parametrize("name", ["is_causal", "causal", "masked"])
def test_flag_for_causality_is_turned_on(grade_source, name):
    mask = f"if {name}:" + CAUSAL.replace("\n", "\n    ")
    report = grade_source(attention(forward=f"x, {name}=False", mask=mask))
    assert lost(report) == {}
    assert said(report)[2:] == [
        ("convention.option", {"name": name, "value": True}),
        ("convention.causal", {}),
    ]


def test_flag_beside_a_mask_that_says_the_same_is_left(grade_source):
    mask = masked("~mask") + "\nif is_causal:" + CAUSAL.replace("\n", "\n    ")
    report = grade_source(attention(forward="x, mask=None, is_causal=False", mask=mask))
    assert lost(report) == {}
    assert [key for key, _ in said(report)[2:]] == ["convention.mask.visible"]


UNIFORM = ("convention.uniform-dead-rows", {})


def test_equal_weights_in_dead_rows_earn_half(grade_source):
    fill = "torch.finfo(scores.dtype).min"
    report = grade_source(
        attention(forward="x, mask=None", mask=masked("~mask", fill), softmax="scores.softmax(-1)")
    )
    assert UNIFORM in said(report)
    half = lost(report)
    assert {key for _, key, _ in half.values()} == {"dead.uniform-half"}
    worth = {v.case: v.max_points for v in report.verdicts}
    assert all(points == worth[case] / 2 for case, (points, _, _) in half.items())
    assert len(half) == 8
    # Equal weights are numbers, so their gradients can be judged.
    assert "dead-rows-gradients" not in half
    assert not report.all_passed


def test_dead_rows_that_are_not_numbers_earn_nothing(grade_source):
    report = grade_source(
        attention(forward="x, mask=None", mask=masked("~mask"), softmax="scores.softmax(-1)")
    )
    assert UNIFORM not in said(report)
    assert lost(report)["dead-rows-float64"] == (0.0, "dead.not-finite", "nan-dead-rows")
    assert lost(report)["dead-rows-gradients"] == (0.0, "skipped.after", None)


def mistakes(report):
    return {v.mistake for v in report.verdicts if v.mistake}


@pytest.mark.parametrize(
    ("pieces", "mistake"),
    [
        ({"init": "h, d", "scale": ""}, "missing-scale"),
        (
            {
                "init": "cfg",
                "sizes": 'd, h = cfg["dim"], cfg["n_heads"]',
                "scale": "/ q.shape[-1]",
            },
            "scale-by-head-dim",
        ),
        (
            {"forward": "value, key, query", "scale": "/ math.sqrt(query.shape[-1])"},
            "scale-by-sqrt-d-model",
        ),
        (
            {
                "first": "query = key = value = x.transpose(0, 1)",
                "softmax": "scores.softmax(-2)",
                "returned": "output.transpose(0, 1)",
            },
            "softmax-over-queries",
        ),
        ({"forward": "x, mask=None", "mask": masked("~mask", 0.0)}, "mask-filled-with-zero"),
        ({"forward": "x, mask=None", "mask": masked("mask", 0.0)}, "mask-filled-with-zero"),
        ({"forward": "x, mask=None", "mask": "pass"}, "mask-ignored"),
        ({"forward": "x, mask=None", "mask": masked("~mask.mT")}, "mask-transposed"),
        ({"mask": CAUSAL.replace("triu(1)", "triu(2)")}, "causal-one-ahead"),
        ({"scale": "", "returned": "x + output"}, "missing-scale"),
        (
            {
                "init": "d, h, dropout=0.0",
                "parts": "self.drop = nn.Dropout(dropout)",
                "mask": CAUSAL,
                "softmax": "self.drop(scores).softmax(-1)",
            },
            "dropout-misplaced",
        ),
        (
            {
                "init": "d, h, dropout=0.0",
                "parts": "self.p = dropout",
                "softmax": "scores.softmax(-1)\n        if self.training:\n"
                "            weights = weights * (torch.rand_like(weights) >= self.p)",
            },
            "dropout-not-inverted",
        ),
    ],
)
def test_mistake_is_named_in_a_file_of_its_own_kind(grade_source, pieces, mistake):
    report = grade_source(attention(**pieces))
    assert mistakes(report) == {mistake}
    assert 0 < report.score < 100


def test_each_of_two_mistakes_is_named_where_it_is_charged(grade_source):
    report = grade_source(
        attention(init="h, d", forward="x, mask=None", scale="", mask=masked("mask", 0.0))
    )
    assert lost(report)["values"][2] == "missing-scale"
    assert lost(report)["padding-values"][2] == "mask-filled-with-zero"
    assert mistakes(report) == {"missing-scale", "mask-filled-with-zero"}


def test_mistake_is_charged_once(grade_source):
    report = grade_source(attention(init="h, d", scale=""))
    cases = ("values", "values-wide-heads", "values-batch-of-one")
    assert lost(report) == dict.fromkeys(cases, (0.0, "values.differ", "missing-scale"))


class TakesAnything(Reader):
    """Of a file to which every mask and every mistake seems right: the samples' masks are alike."""

    def __init__(self):
        self.carried = []

    def is_right(self, *asked):
        return True


def test_first_sample_is_not_charged_where_masks_are_alike_by_chance():
    reader = TakesAnything()
    assert reader._read_first_sample(None, None, {"b 1 1 k", "q k"}) == ()
    assert reader.carried == []
