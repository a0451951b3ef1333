"""Which class is meant, and how its signature says it is built and called."""

import numpy as np
import pytest

from grader.calling import (
    CallPlan,
    MaskStyle,
    NotOfferedError,
    Slot,
    choose_class,
    header_exercise,
    plan_exercise,
    propose_builds,
    propose_forwards,
)
from grader.calling.masks import cut_to, split_mask
from grader.errors import UnusableSubmission
from grader.model import Argument, CandidateClass, Contract, Input, Option, Settings


def arguments(text):
    """ "x mask=None *args" -> Arguments; what follows = is a default, a leading / keyword-only."""
    found = []
    for word in text.split():
        kind = "positional_or_keyword"
        if word.startswith("**"):
            kind = "var_keyword"
        elif word.startswith("*"):
            kind = "var_positional"
        elif word.startswith("/"):
            kind = "keyword_only"
        name, equals, default = word.strip("/*").partition("=")
        name, _, annotation = name.partition(":")
        found.append(Argument(name, kind, not equals, default, annotation))
    return tuple(found)


def candidate(
    name="MultiHeadAttention", forward="x mask=", constructor="d_model num_heads", **more
):
    return CandidateClass(
        name=name,
        line=more.get("line", 1),
        is_module=more.get("is_module", True),
        has_forward=more.get("has_forward", True),
        constructor=arguments(constructor),
        forward=arguments(forward),
        used_by=tuple(more.get("used_by", ())),
        reads=tuple(more.get("reads", ())),
    )


def chosen(*classes, wanted=None):
    return choose_class(classes, wanted).name


def refusal(*classes, wanted=None):
    with pytest.raises(UnusableSubmission) as caught:
        choose_class(classes, wanted)
    return caught.value.message.key, dict(caught.value.message.fields)


def test_only_module_is_chosen():
    assert chosen(candidate("Net")) == "Net"
    assert chosen(candidate("Config", is_module=False), candidate("Net")) == "Net"
    assert chosen(candidate("Base", has_forward=False), candidate("Net")) == "Net"


def test_attention_is_chosen_by_name():
    assert chosen(candidate("Mlp"), candidate("MyAttention"), candidate("Block")) == "MyAttention"
    assert chosen(candidate("LayerNorm"), candidate("MHA")) == "MHA"


def test_helper_is_not_chosen():
    helper = candidate("AttentionHead", used_by=["MyAttention"])
    assert chosen(helper, candidate("MyAttention")) == "MyAttention"
    assert chosen(candidate("MyAttention"), helper) == "MyAttention"


def test_attention_inside_a_block_is_chosen():
    attention = candidate("MultiHeadAttention", used_by=["Block"])
    assert chosen(attention, candidate("Block"), candidate("Mlp", used_by=["Block"])) == (
        "MultiHeadAttention"
    )


def test_multi_head_is_preferred():
    assert chosen(candidate("Attention"), candidate("MultiHeadAttention")) == "MultiHeadAttention"


def test_user_of_multi_head_is_preferred():
    base = candidate("MultiHeadAttention", used_by=["CausalMultiHeadAttention"])
    assert chosen(base, candidate("CausalMultiHeadAttention")) == "CausalMultiHeadAttention"


def test_two_attentions_are_refused():
    two = candidate("CrossAttention"), candidate("SelfAttention")
    assert refusal(*two) == ("class.several", {"names": "CrossAttention, SelfAttention"})


def test_two_nameless_modules_are_refused():
    assert refusal(candidate("A"), candidate("B")) == ("class.several", {"names": "A, B"})


@pytest.mark.parametrize(
    "classes",
    [
        (),
        (candidate("MultiHeadAttention", is_module=False),),
        (candidate("MultiHeadAttention", has_forward=False),),
    ],
    ids=["empty", "plain-class", "no-forward"],
)
def test_no_module_is_refused(classes):
    assert refusal(*classes) == ("class.none", {})


def test_wanted_class_is_chosen():
    two = candidate("CrossAttention"), candidate("SelfAttention")
    assert chosen(*two, wanted="SelfAttention") == "SelfAttention"
    assert chosen(*two, candidate("Mlp"), wanted="Mlp") == "Mlp"


def test_unknown_wanted_class_is_refused():
    classes = candidate("Attention"), candidate("Config", is_module=False)
    for wanted in ("Mlp", "Config", "attention"):
        fields = {"wanted": wanted, "names": "Attention"}
        assert refusal(*classes, wanted=wanted) == ("class.unknown", fields)


@pytest.mark.parametrize(
    ("source", "exercise"),
    [
        ("# mha-grade: self-attention\n", "self-attention"),
        ("#mha-grade:cross-attention", "cross-attention"),
        ("# mha-grade: self-attention; expect: passed\n", "self-attention"),
        ('"""Mine."""\n\n# mha-grade: self-attention\n', "self-attention"),
        ("\n\n\n\n# mha-grade: self-attention\n", "self-attention"),
        ("\n\n\n\n\n# mha-grade: self-attention\n", None),
        ("x = 1  # mha-grade: self-attention\n", None),
        ("# mha-grade:\n", None),
        ("# see mha-grade: self-attention\n", None),
        ("", None),
    ],
)
def test_header_names_exercise(source, exercise):
    assert header_exercise(source) == exercise


@pytest.mark.parametrize(
    ("constructor", "dropout"),
    [
        ("d_model num_heads", None),
        ("d_model num_heads dropout=", "dropout"),
        ("d_model num_heads dropout", "dropout"),
        ("d_model num_heads bias= dropout=", "dropout"),
        ("d_model num_heads attn_drop=", "attn_drop"),
        ("d_model num_heads p=", "p"),
        ("d_model num_heads /dropout_p=", "dropout_p"),
        ("d_model num_heads rate=", "rate"),
        ("d_model num_heads bias=", None),
        ("d_model num_heads is_causal=", None),
        ("d_model num_heads max_len=", None),
        ("d_model num_heads block_size", None),
        ("d_model num_heads *args **kwargs", None),
        ("*args **dropout", None),
        ("config", None),
        ("", None),
    ],
)
def test_plan_finds_dropout(constructor, dropout):
    found = candidate("Mine", constructor=constructor, line=7)
    plan = plan_exercise(found, Contract(("x",), "attention", causal=False))
    assert (plan.class_name, plan.line) == ("Mine", 7)
    assert [s.name for s in plan.build if s.role == "dropout"] == ([dropout] if dropout else [])


def builds(constructor, others=(), **more):
    """Each proposed build as "name=role ..." with the numbers of the file behind a bar."""
    found = candidate(constructor=constructor, **more)
    return [
        " ".join(f"{s.name}={s.role}" for s in slots)
        + "".join(f" | {n}={r}" for n, r in numbers.items())
        for slots, numbers in propose_builds(found, [found, *others])
    ]


@pytest.mark.parametrize(
    ("constructor", "first"),
    [
        ("d_model num_heads", "d_model=d_model num_heads=num_heads"),
        ("h d_model dropout=0.1", "h=num_heads d_model=d_model dropout=dropout"),
        ("embed_dim=512 n_heads=8", "embed_dim=d_model n_heads=num_heads"),
        ("hidden_size num_attention_heads", "hidden_size=d_model num_attention_heads=num_heads"),
        ("num_hiddens num_heads", "num_hiddens=d_model num_heads=num_heads"),
        ("n_head d_model d_k d_v", "n_head=num_heads d_model=d_model d_k=head_dim d_v=value_dim"),
        (
            "d_model num_heads num_kv_heads=None head_dim=None causal=False",
            "d_model=d_model num_heads=num_heads num_kv_heads=spare kv_heads "
            "head_dim=spare head_dim causal=switch",
        ),
        (
            "d n_q n_kv",
            "d=d_model n_q=num_heads n_kv=kv_heads",
        ),
        (
            "dim n_heads n_kv_heads context",
            "dim=d_model n_heads=num_heads n_kv_heads=kv_heads context=length",
        ),
        (
            "query_dim context_dim=None heads=8 dim_head=64",
            "query_dim=d_model heads=num_heads dim_head=head_dim",
        ),
        (
            "d_in d_out context_length dropout num_heads qkv_bias=False",
            "d_in=d_model d_out=d_model context_length=length dropout=dropout num_heads=num_heads",
        ),
        ("n_embd n_head block_size", "n_embd=d_model n_head=num_heads block_size=length"),
        ("dim heads window", "dim=d_model heads=num_heads window=length"),
        (
            "dim heads sliding_window=4096",
            "dim=d_model heads=num_heads sliding_window=length",
        ),
        ("/dim /heads", "dim=d_model heads=num_heads"),
        ("dim heads causal", "dim=d_model heads=num_heads causal=option"),
        ("a b", "a=d_model b=num_heads"),
        ("numHeads dModel", "numHeads=num_heads dModel=d_model"),
    ],
)
def test_constructor_is_filled_by_name(constructor, first):
    assert builds(constructor)[0] == first


def test_unknown_arguments_are_tried_in_every_order():
    found = builds("a b")
    assert "a=num_heads b=d_model" in found
    assert found[0] == "a=d_model b=num_heads"


def test_size_of_keys_may_be_that_of_their_input():
    found = builds("key_size query_size num_hiddens num_heads")
    given = "num_hiddens=d_model num_heads=num_heads"
    assert found == [
        f"key_size=head_dim query_size=head_dim {given}",
        f"key_size=d_model query_size=d_model {given}",
    ]
    assert len(builds("d_model num_heads d_k head_dim")) == 1


def test_width_that_comes_out_may_be_that_of_one_head():
    found = builds("d_in d_out num_heads")
    assert found == [
        "d_in=d_model d_out=d_model num_heads=num_heads",
        "d_in=d_model d_out=head_dim num_heads=num_heads",
    ]
    # Alone, or as one of several, it is that of the model.
    assert len(builds("d_out num_heads")) == 1
    assert len(builds("d_in d_out out_dim num_heads")) == 1


def test_several_names_that_say_nothing_may_all_be_widths():
    found = builds("E_q E_k E_total nheads")
    assert "E_q=d_model E_k=d_model E_total=d_model nheads=num_heads" in found
    # One alone is tried as whatever is lacking.
    assert builds("a heads")[0] == "a=d_model heads=num_heads"


def test_counts_with_a_default_stand_in_for_what_is_lacking():
    found = builds("channels groups=4 stages=7 rate=0.1")
    assert found[:2] == [
        "channels=d_model groups=num_heads rate=dropout",
        "channels=d_model stages=num_heads rate=dropout",
    ]
    # Where both are named, a count keeps its default.
    assert builds("dim heads stages=7")[0] == "dim=d_model heads=num_heads"


def test_settings_object_is_recognised():
    assert builds("config")[0] == "config=settings"
    assert (
        builds("cfg: Config".replace(": ", ":"), [candidate("Config", is_module=False)])[0]
        == "cfg=settings"
    )
    assert builds("config layer_idx=None")[0] == "config=settings"


def test_settings_class_of_the_file_is_filled():
    found = candidate(constructor="c:AttnConfig")
    slots, _ = next(propose_builds(found, [found, candidate("AttnConfig", is_module=False)]))
    assert isinstance(slots[0].value, Settings)
    assert slots[0].value.class_name == "AttnConfig"


def test_numbers_of_the_file_are_set():
    assert builds("", reads=["n_embd", "n_head", "epochs"]) == [
        " | n_embd=d_model | n_head=num_heads"
    ]


def forwards(forward):
    found = candidate(forward=forward)
    return [" ".join(f"{s.name}={s.role}" for s in slots) for slots in propose_forwards(found)]


@pytest.mark.parametrize(
    ("forward", "first"),
    [
        ("x", "x=query"),
        ("x mask=None", "x=query mask=mask"),
        (
            "hidden_states attention_mask=None output_attentions=False",
            "hidden_states=query attention_mask=mask output_attentions=returns",
        ),
        ("q k v mask=None", "q=query k=key v=value mask=mask"),
        ("v k q mask", "v=value k=key q=query mask=mask"),
        ("values keys queries", "values=value keys=key queries=query"),
        ("x context", "x=query context=context"),
        ("memory query", "memory=context query=query"),
        ("x context=None mask=None", "x=query context=context mask=mask"),
        (
            "query key value key_padding_mask=None need_weights=True attn_mask=None",
            "query=query key=key value=value key_padding_mask=padding attn_mask=mask "
            "need_weights=returns",
        ),
        (
            "queries keys values valid_lens",
            "queries=query keys=key values=value valid_lens=padding",
        ),
        ("x is_causal=False", "x=query is_causal=flag"),
        ("x mask_future=False", "x=query mask_future=flag"),
        ("x causal_mask=None", "x=query causal_mask=mask"),
        ("x xa=None mask=None kv_cache=None", "x=query xa=context mask=mask kv_cache=cache"),
        ("x past=None use_cache=False", "x=query past=cache use_cache=caching"),
        ("x incremental_state=None", "x=query incremental_state=cache"),
        (
            "x context=None mask=None context_mask=None",
            "x=query context=context mask=mask context_mask=spare mask",
        ),
    ],
)
def test_forward_is_filled_by_name(forward, first):
    assert forwards(forward)[0] == first


def test_nameless_sequences_are_tried_in_every_order():
    assert len(forwards("a b c")) == 6
    assert "a=value b=key c=query" in forwards("a b c")


def plan(*forward, **more):
    return CallPlan("Mine", 1, (Slot("d_model"), Slot("num_heads")), forward, **more)


SIZES = (2, 3, 4, 5)
QUERY, KEY = np.ones((2, 4, 6)), np.full((2, 5, 6), 2.0)


def test_call_follows_the_order_of_the_arguments():
    value, query, key = plan(Slot("value", "v"), Slot("query", "q"), Slot("key", "k")).call(
        [QUERY, KEY, KEY + 1], None, SIZES, "float32"
    )
    assert [i.name for i in (value, query, key)] == ["v", "q", "k"]
    assert [float(i.value.flat[0]) for i in (value, query, key)] == [3.0, 1.0, 2.0]


def test_call_turns_the_axes():
    (found,) = plan(Slot("query", "x"), axes="l b m").call([QUERY], None, SIZES, "float32")
    assert found.value.shape == (4, 2, 6)
    assert plan(axes="b m l").arrange(QUERY).shape == (2, 6, 4)
    assert plan(axes="b m l").restore(np.zeros((2, 6, 4))).shape == (2, 4, 6)


def test_required_mask_shows_everything():
    style = MaskStyle("hidden", "bool", ("b k",))
    _, mask = plan(Slot("query", "x"), Slot("mask", "m", style=style, required=True)).call(
        [QUERY], None, SIZES, "float32"
    )
    assert mask.value.shape == (2, 5)
    assert not mask.value.any()


def test_mask_that_cannot_be_said_is_not_offered():
    between = np.tri(4, 5, dtype=bool)
    padded = plan(Slot("query"), Slot("padding", "p", style=MaskStyle(forms=("b k",))))
    with pytest.raises(NotOfferedError) as caught:
        padded.call([QUERY], between, SIZES, "float32")
    assert caught.value.what == "mask"
    with pytest.raises(NotOfferedError):
        plan(Slot("query")).call([QUERY], between, SIZES, "float32")


def test_mask_is_split_over_two_arguments():
    padding = np.array([[1, 1, 1, 1, 0], [1, 1, 0, 0, 0]], dtype=bool)[:, None, None]
    both = np.tri(4, 5, 1, dtype=bool) & padding
    two = plan(
        Slot("query"),
        Slot("mask", "m", style=MaskStyle("additive", "float", ("q k",))),
        Slot("padding", "p", style=MaskStyle("hidden", "bool", ("b k",))),
    )
    _, mask, hidden = two.call([QUERY], both, SIZES, "float16")
    assert mask.dtype == "float16"
    assert np.array_equal(mask.value == 0.0, (np.tri(4, 5, 1, dtype=bool) & padding.any(0))[0])
    assert np.array_equal(hidden.value, ~padding[:, 0, 0])
    # What one of them can say is said by it alone, padding that all samples share among it.
    for whole, name in ((padding, "p"), (np.tri(4, 5, 1, dtype=bool)[None, None], "m")):
        _, alone = two.call([QUERY], whole, SIZES, "float16")
        assert alone.name == name


@pytest.mark.parametrize(
    ("style", "dtype", "values"),
    [
        (MaskStyle("visible", "bool", ("b k",)), "bool", [True, True, False]),
        (MaskStyle("hidden", "bool", ("b k",)), "bool", [False, False, True]),
        (MaskStyle("visible", "int64", ("b k",)), "int64", [1, 1, 0]),
        (MaskStyle("hidden", "float", ("b k",)), "bfloat16", [0, 0, 1]),
        (MaskStyle("additive", "float", ("b k",)), "bfloat16", [0, 0, -np.inf]),
    ],
)
def test_mask_is_written_as_it_is_meant(style, dtype, values):
    mask = np.array([[[[True, True, False]]]])
    found = style.write(mask, (1, 2, 3, 3), "bfloat16")
    assert found.dtype == dtype
    assert found.value.tolist() == [values]


def test_lengths_count_what_comes_first():
    style = MaskStyle("lengths", "int64", ("b k",))
    mask = np.array([[1, 1, 0], [1, 0, 0]], dtype=bool)[:, None, None]
    assert style.write(mask, (2, 2, 3, 3), "float32").value.tolist() == [2, 1]
    assert style.write(mask[..., ::-1], (2, 2, 3, 3), "float32") is None


def test_mask_keeps_its_shape_where_it_may():
    style = MaskStyle("visible", "bool", ("b k", "b 1 1 k", "q k"))
    mask = np.ones((2, 1, 1, 5), dtype=bool)
    assert style.write(mask, SIZES, "float32").value.shape == (2, 1, 1, 5)
    assert style.write(np.tri(4, 5, dtype=bool), SIZES, "float32").value.shape == (4, 5)


def test_mask_is_cut_only_along_axes_that_make_no_difference():
    full = np.broadcast_to(np.tri(4, 5, dtype=bool), SIZES)
    assert cut_to(full, "q k").tolist() == np.tri(4, 5, dtype=bool).tolist()
    assert cut_to(full, "b q k").shape == (2, 4, 5)
    assert cut_to(full, "b k") is None


def test_mask_is_cut_to_axes_in_their_order():
    full = np.random.default_rng(1).random((2, 1, 4, 5)) < 0.5
    assert np.array_equal(cut_to(full, "q k b"), full[:, 0].transpose(1, 2, 0))
    assert np.array_equal(cut_to(full[:, :, :1], "1 k b"), full[:, 0, :1].transpose(1, 2, 0))
    assert np.array_equal(cut_to(full[:1], "q k 1"), full[:1, 0].transpose(1, 2, 0))


def test_mask_of_no_two_parts_is_not_split():
    mask = np.zeros(SIZES, dtype=bool)
    mask[0, :, 1, 1] = mask[0, :, 2, 2] = mask[1, :, 1, 2] = True
    assert split_mask(mask, SIZES) is None


def test_none_is_given_by_name():
    assert plan(Slot("query"), Slot("mask", "m")).without_mask() == Option(None, "m")
    with pytest.raises(NotOfferedError):
        plan(Slot("query"), Slot("mask", "m", required=True)).without_mask()


def test_sizes_go_where_the_plan_says():
    slots = (Slot("head_dim", "d_k"), Slot("num_heads"), Slot("length", "n"), Slot("dropout", "p"))
    built = CallPlan("Mine", 1, slots, (), {"n_embd": "d_model"}).construct(
        {"d_model": 18, "num_heads": 3, "q_len": 90}, dropout=0.25
    )
    assert built == {
        "construct": (3,),
        "construct_named": {"d_k": 6, "n": 90, "p": 0.25},
        "globals": {"n_embd": 18},
    }


def test_exercise_is_called_by_position():
    contract = Contract(("query", "key", "value"), "attention", causal=False)
    found = plan_exercise(candidate(), contract)
    mask = np.ones((4, 5), dtype=bool)
    call = found.call([QUERY, KEY, KEY], mask, SIZES, "float32")
    assert [type(i) for i in call] == [Input] * 4
    assert [i.name for i in call] == [None] * 4
    assert call[3].value.shape == (4, 5)
