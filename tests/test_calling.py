"""Which class is meant, which exercise it answers, and how it is built."""

import pytest

from grader.calling import CallPlan, choose_class, guess_exercise, header_exercise, plan_call
from grader.errors import UnusableSubmission
from grader.model import Argument, CandidateClass


def arguments(text):
    """ "x mask= *args" -> Arguments; a trailing = is a default, a leading / is keyword-only."""
    found = []
    for word in text.split():
        kind = "positional_or_keyword"
        if word.startswith("**"):
            kind = "var_keyword"
        elif word.startswith("*"):
            kind = "var_positional"
        elif word.startswith("/"):
            kind = "keyword_only"
        found.append(Argument(word.strip("/*="), kind, not word.endswith("=")))
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
    ("forward", "exercise"),
    [
        ("x", "self-attention"),
        ("x mask=", "self-attention"),
        ("x attn_mask= need_weights=", "self-attention"),
        ("x /mask", "self-attention"),
        ("x padding_mask=", "causal-self-attention"),
        ("x key_padding_mask=", "causal-self-attention"),
        ("x lengths=", "causal-self-attention"),
        ("query key value", "cross-attention"),
        ("query key value mask=", "cross-attention"),
        ("q k v mask", "cross-attention"),
        ("x context", "cross-attention"),
    ],
)
def test_exercise_follows_forward(forward, exercise):
    assert guess_exercise(candidate(forward=forward), "") == exercise


@pytest.mark.parametrize(
    ("forward", "exercise"),
    [
        ("x mask", "self-attention"),
        ("x attention_mask", "self-attention"),
        ("x padding_mask", "causal-self-attention"),
    ],
)
def test_required_mask_is_no_sequence(forward, exercise):
    assert guess_exercise(candidate(forward=forward), "") == exercise


@pytest.mark.parametrize(
    ("name", "source", "exercise"),
    [
        ("CausalSelfAttention", "", "causal-self-attention"),
        ("MaskedMultiHeadAttention", "", "causal-self-attention"),
        ("MultiHeadAttention", "torch.tril(x)", "causal-self-attention"),
        ("MultiHeadAttention", "torch.triu(x, 1)", "causal-self-attention"),
        ("MultiHeadAttention", "x.untrilled", "self-attention"),
    ],
)
def test_exercise_follows_causality(name, source, exercise):
    assert guess_exercise(candidate(name, forward="x"), source) == exercise


def test_mask_argument_outweighs_source():
    assert guess_exercise(candidate(forward="x mask="), "m = torch.tril(y)") == "self-attention"


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
    assert plan_call(found) == CallPlan("Mine", 7, dropout)
