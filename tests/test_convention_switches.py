"""A file of its own kind: what its switches turn, the masks it tells apart, training mode."""

import pytest
from sources import CAUSAL, CLEAN, attention, lost, masked, passes, said, spared

from grader.calling.told_apart import ToldApart, tell_apart

INDENTED = CAUSAL.replace("\n", "\n    ")
MASKED = masked("~mask")
TRIANGLE = """
    edge = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).{}
    scores = scores.masked_fill(edge, float("-inf"))
"""
AT_START = TRIANGLE.format("triu(1)")
AT_END = TRIANGLE.format("triu(1 + scores.shape[-1] - scores.shape[-2])")
THREE = "query, key, value"


def failures(report):
    """Case -> the key of what is inside its message, or of the message."""
    found = {v.case: v.message for v in report.verdicts if v.outcome.value == "failed"}
    return {case: m.fields.get("inner", m).key for case, m in found.items()}


@pytest.mark.parametrize("edge", [AT_START, AT_END], ids=["at-start", "at-end"])
@pytest.mark.parametrize("name", ["is_causal", "mask_future", "use_causal_mask"])
def test_switch_may_put_the_edge_at_either_end(grade_source, edge, name):
    mask = MASKED + f"\nif {name}:" + edge
    report = grade_source(attention(forward=f"{THREE}, mask=None, {name}=False", mask=mask))
    passes(report)
    assert "switch" not in spared(report)


REFUSES = "\n    assert scores.shape[-1] == scores.shape[-2]"


def test_switch_may_refuse_two_lengths_and_a_second_mask(grade_source):
    mask = MASKED + "\nif causal:\n    assert mask is None" + REFUSES + AT_START
    passes(grade_source(attention(forward=f"{THREE}, mask=None, causal=False", mask=mask)))


def test_switch_that_is_a_hint_is_given_its_mask(grade_source):
    mask = "if is_causal and mask is None:\n    raise RuntimeError('need a mask')\n" + MASKED
    passes(grade_source(attention(forward=f"{THREE}, mask=None, is_causal=False", mask=mask)))


@pytest.mark.parametrize(
    ("edge", "mistake"),
    [
        (TRIANGLE.format("triu(2)"), "causal-one-ahead"),
        (TRIANGLE.format("triu()"), "causal-diagonal-hidden"),
        ("\n    pass", "causal-mask-missing"),
        (TRIANGLE.format("tril(-1)"), "causal-reversed"),
        (TRIANGLE.format("no_such_method()"), "no-such-method"),
    ],
)
def test_switch_that_hides_other_tokens_fails(grade_source, edge, mistake):
    mask = MASKED + "\nif is_causal:" + edge
    report = grade_source(attention(forward=f"{THREE}, mask=None, is_causal=False", mask=mask))
    assert list(lost(report)) == ["causal-switch"]
    assert lost(report)["causal-switch"] == (0.0, "mask.switch", mistake)
    (verdict,) = [v for v in report.verdicts if v.case == "causal-switch"]
    assert verdict.message.fields["name"] == "is_causal"


def test_switch_that_drops_the_padding_fails(grade_source):
    mask = "if is_causal:" + AT_START + "elif mask is not None:\n"
    mask += "    scores = scores.masked_fill(~mask, float('-inf'))"
    report = grade_source(attention(forward=f"{THREE}, mask=None, is_causal=False", mask=mask))
    assert failures(report) == {"causal-switch": "values.differ"}


@pytest.mark.parametrize(
    ("default", "condition", "key"),
    [
        (False, "self.causal", None),
        (True, "self.causal", None),
        (False, "True", "mask.switch-idle"),
        (True, "True", "values.differ"),
        (True, "not self.causal", "values.differ"),
        (False, "not self.causal", "mask.switch-idle"),
    ],
)
def test_switch_of_the_constructor_is_turned(grade_source, default, condition, key):
    pieces = {"parts": "self.causal = causal", "mask": f"if {condition}:" + INDENTED}
    report = grade_source(attention(init=f"d, h, causal={default}", **pieces))
    assert failures(report) == ({"causal-switch": key} if key else {})


@pytest.mark.parametrize(
    ("forward", "mask", "key"),
    [
        ("x", "if self.masked:" + INDENTED, None),
        ("x, valid=None", masked("~valid", name="valid"), None),
        ("x", "pass", "values.differ"),
        ("x", "if self.masked:" + INDENTED.replace("triu(1)", "triu(2)"), "values.differ"),
    ],
)
def test_what_may_be_a_switch_of_the_constructor_is_turned(grade_source, forward, mask, key):
    pieces = {"init": "d, h, mask=False", "parts": "self.masked = mask", "mask": mask}
    pieces["forward"] = forward
    report = grade_source(attention(**pieces))
    assert failures(report) == ({"causal-switch": key} if key else {})


def test_switch_of_a_settings_object_is_turned(grade_source):
    pieces = {"init": "config", "sizes": "d, h = config.dim, config.heads"}
    for edge, wrong in (
        (INDENTED, []),
        (INDENTED.replace("triu(1)", "triu(2)"), ["causal-switch"]),
    ):
        mask = "if self.causal:" + edge
        parts = "self.causal = config.is_causal"
        report = grade_source(attention(**pieces, parts=parts, mask=mask))
        assert list(lost(report)) == wrong
        assert "switch" not in spared(report)


RETURNED = "(output, weights.mean(1) if average else weights) if need_weights else (output, None)"
ASKED = "x, mask=None, need_weights=True, average=True".replace("average=", "average_attn_weights=")
AVERAGED = RETURNED.replace("average ", "average_attn_weights ")


@pytest.mark.parametrize(
    ("returned", "key"),
    [
        (AVERAGED, None),
        (AVERAGED.replace("(output, None)", "(output * 2, None)"), "values.differ"),
        (AVERAGED.replace("else weights)", "else weights ** 2)"), "values.differ"),
        (AVERAGED.replace("else weights)", "else scores)"), None),
        (AVERAGED.replace("(output, None)", "weights"), None),
        (AVERAGED.replace("(output, None)", "len(output)"), "shape.no-output"),
    ],
)
def test_switches_for_what_is_returned_are_turned(grade_source, returned, key):
    report = grade_source(attention(forward=ASKED, mask=MASKED, returned=returned))
    assert failures(report) == ({"returned-when-told": key} if key else {})


def test_what_has_the_shape_of_weights_is_meant_to_be_them(grade_source):
    report = grade_source(attention(returned="output, (2 * scores).softmax(-1)"))
    assert failures(report) == {"returned-when-told": "values.differ"}
    (verdict,) = [v for v in report.verdicts if v.case == "returned-when-told"]
    assert verdict.message.fields["what"] == "weights"


FLAT = """
if mask is not None:
    if mask.dim() == 2:
        mask = mask{}
    scores = scores.masked_fill(~mask, float("-inf"))
"""


@pytest.mark.parametrize(
    ("turned", "wrong"),
    [("[:, None, None]", []), ("[None, None]", []), ("[:, None, :, None]", ["mask-kinds"])],
)
def test_rank_that_the_source_asks_for_has_to_be_right(grade_source, turned, wrong):
    report = grade_source(attention(forward="x, mask=None", mask=FLAT.format(turned)))
    assert list(lost(report)) == wrong
    assert "told-apart" not in spared(report)


EITHER = """
if mask is not None and mask.dtype == torch.bool:
    scores = scores.masked_fill(~mask, float("-inf"))
elif mask is not None:
    scores = scores {} mask
"""


@pytest.mark.parametrize(
    ("sign", "wrong"), [("+", []), ("-", ["mask-kinds"]), ("*", ["mask-kinds"])]
)
def test_dtype_that_the_source_asks_for_has_to_be_right(grade_source, sign, wrong):
    report = grade_source(attention(forward="x, mask=None", mask=EITHER.format(sign)))
    assert list(lost(report)) == wrong


def test_shape_that_is_taken_by_chance_is_not_charged(grade_source):
    report = grade_source(attention(forward="x, mask=None", mask=masked("~mask[:, None]")))
    assert lost(report) == {}
    assert "mask-kinds" in spared(report)["told-apart"]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("if mask.dim() == 2:", ToldApart((2,))),
        ("if attn_mask.ndim in (2, 4) and len(attn_mask.shape) != 3:", ToldApart((2, 3, 4))),
        ("if m.dtype is torch.bool:", ToldApart((), frozenset({"m"}))),
        (
            "if torch.is_floating_point(mask) or mask.is_floating_point():",
            ToldApart((), frozenset({"mask"})),
        ),
        ("if x.dim() == 2 and x.dtype == torch.float16:", ToldApart()),
        ("while mask.dim() < 4:", ToldApart()),
        (
            "n = mask.dim()\nif n == 2 or n not in (3, 4): pass\nif x == 5: pass",
            ToldApart((2, 3, 4)),
        ),
        ("if (n := mask.ndim) == 2:\n    pass\nelif n == 3: pass", ToldApart((2, 3))),
        ("rank = x.dim()\nif rank == 2: pass", ToldApart()),
        (
            "match mask.dim():\n    case 2:\n        y = 5\n    case 3 | 4:\n        pass\nz = 6",
            ToldApart((2, 3, 4)),
        ),
    ],
)
def test_kinds_are_read_off_the_source(source, expected):
    assert tell_apart(source, "m", alone=True) == expected


BY_RANK = """
if mask is not None:
    match mask.dim():
        case 2:
            mask = mask{}
        case 3:
            mask = mask[:, None]
    scores = scores.masked_fill(~mask, float("-inf"))
"""


@pytest.mark.parametrize(
    ("axes", "wrong"), [("[None, None]", []), (".flip(-1)[None, None]", ["mask-kinds"])]
)
def test_ranks_that_are_matched_have_to_be_right(grade_source, axes, wrong):
    report = grade_source(attention(forward="x, mask=None", mask=BY_RANK.format(axes)))
    assert list(lost(report)) == wrong


def test_of_two_masks_each_has_its_own_kinds():
    source = "if pad.dim() == 2 and mask.dim() == 3: pass"
    assert tell_apart(source, "pad", alone=False) == ToldApart((2,))
    assert tell_apart(source, "mask", alone=False) == ToldApart((3,))


HARD = "self.drop = nn.Dropout(0.2)"


@pytest.mark.parametrize(
    ("pieces", "key"),
    [
        ({}, None),
        ({"scale": "/ (q.shape[-1] ** 0.5 if not self.training else 1.0)"}, "values.differ"),
        ({"mask": MASKED.replace("None:", "None and not self.training:")}, "values.differ"),
        ({"parts": HARD, "softmax": f"self.drop({CLEAN})"}, None),
        (
            {
                "parts": HARD,
                "softmax": f"self.drop({CLEAN})",
                "mask": MASKED.replace("None:", "None and not self.training:"),
            },
            "dropout.mean-of-default",
        ),
    ],
    ids=["plain", "scale", "mask", "dropout", "mask-and-dropout"],
)
def test_training_mode_is_looked_at_without_a_rate_to_set(grade_source, pieces, key):
    report = grade_source(attention(**{"forward": "x, mask=None", "mask": MASKED, **pieces}))
    assert failures(report) == ({"dropout-of-zero": key} if key else {})


@pytest.mark.parametrize(
    ("pieces", "right"),
    [
        ({"softmax": f"self.drop({CLEAN})"}, True),
        ({"last": "output = self.drop(output)"}, True),
        ({"softmax": f"self.drop({CLEAN})", "last": "output = self.drop(output)"}, True),
        ({"softmax": f"self.drop({CLEAN})", "mask": CAUSAL}, True),
        ({"mask": "v = self.drop(v)"}, False),
        ({"mask": "v = self.drop(v)", "softmax": f"self.drop({CLEAN})"}, False),
        ({"mask": "v = self.drop(v)", "last": "output = self.drop(output)"}, False),
        ({"mask": "v = self.drop(v)" + CAUSAL}, False),
        ({"last": "output = output + self.drop(x) - x", "returned": "output + x"}, True),
    ],
)
def test_dropout_on_values_is_told_from_dropout_on_weights_and_output(grade_source, pieces, right):
    if "returned" in pieces:
        pieces = {"last": "output = self.drop(output)", "returned": "output + x"}
    report = grade_source(
        attention(init="d, h, p=0.1", parts="self.drop = nn.Dropout(p)", **pieces)
    )
    assert failures(report) == ({} if right else {"dropout-place": "dropout.on-values"})


BERT = """
if config.hidden_size % config.num_attention_heads and not hasattr(config, "embedding_size"):
    raise ValueError("not a multiple")
d, h = config.hidden_size, config.num_attention_heads
"""
TYPED = """
from typing import TypedDict

class Settings(TypedDict):
    emb_dim: int
    n_heads: int
    qkv_bias: bool
    drop_rate: float
"""


def test_name_that_is_only_asked_for_is_not_there(grade_source):
    whole = attention(init="config", sizes=BERT)
    passes(
        grade_source(
            whole.replace(
                '        if d % h:\n            raise ValueError("d is not divisible by h")\n', ""
            )
        )
    )


def test_typed_dictionary_is_filled(grade_source):
    pieces = {"init": "cfg: Settings", "sizes": 'd, h = cfg["emb_dim"], cfg["n_heads"]'}
    report = grade_source(attention(above=TYPED, **pieces))
    passes(report)
    assert said(report)[0] == ("convention.build", {"arguments": "cfg = settings"})
