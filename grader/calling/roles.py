"""What an argument's name says of its role; the words are those that public code uses."""

from __future__ import annotations

import re
from collections.abc import Sequence

# Of the constructor, in the order in which they are tried; the whole name must fit.
HEADS = (
    r"(n|num|nb|nr|number_?of|no)?_?((attn|attention|att|mha|q|query|encoder|decoder)_?)*heads?"
    r"(_?(num|count|number))?|h|nh|n_?h|n_?heads?|(n|num)_?(q|query|queries)"
)
KV_HEADS = (
    r"((n|num|nb|nr|number_?of|no)_?)?(kv|key_?value|k_?v)_?(heads?|groups?|h)|n_?kv|kv_?n"
    r"|((n|num)_?)?(query_?)?groups?|(n|num)_?query_?groups?"
)
VALUE_DIM = r"d_?v|dim_?v|v_?dim|value_?(size|dim)|(v|value)_?head_?(dim|size)|d_?value"
HEAD_DIM = (
    r"d_?(k|q|h|head|qk|kv)|dim_?(head|k|q|per_head)|(attention_?)?head_?(dim|size|width|d|channels)"
    r"|(key|query|qk|kv)_?size|key_?dim|qk_?dim|k_?dim|q_?dim|depth|per_head_dim|dk|dh"
)
# Of those, what may also be the width of an input.
EITHER = r"(key|value|query|k|v|q)_?(size|dim)"
ROTARY_DIM = r"rot(ary)?_?(emb(edding)?_?)?n?_?dims?|rope_?n?dims?|rotary_size"
ROTARY_SHARE = r"(partial_)?(rotary|rope)_?(emb_?)?(pct|percent\w*|factor|fraction|share)"
ROTARY_BASE = r"(rope|rotary)_?(emb_?)?(theta|base)"
LENGTH = (
    r"(block|context|ctx|window)_?(size|len|length)|n_?(ctx|positions|tokens)|.*max_?(seq|len|pos|ctx).*"
    r"|seq\w*_?len\w*|(num|max)_?(tokens|positions)|context_window|sequence_length|max_t|max_l"
    r"|context|ctx|((sliding|local|attn|attention)_?)*window(_?(size|len|length))?"
)
DROPOUT = r".*drop.*|p|p_attn|rate"
ATTENTION_DROPOUT = r".*att.*drop.*|.*drop.*att.*|p_attn"
WIDTH = (
    r"((encoder|decoder)_?)?d_?(model|in|out|emb\w*|x|cross|context|kv|cond|memory|hidden|inner|attn|input|output)|(n|num)_?(embd?|embed\w*|state|units|dims?|hiddens?)"
    r"|((encoder|decoder)_?)?((model|hidden|input|output|in|out|feature|attention|attn|inner|latent|token|context|query|embed\w*"
    r"|emb\w*|all_head|n)_?)?(dims?|size|width|features|channels|units|d)|emb\w*|dim_?(model|in|out|emb\w*)"
    r"|width|hidden|nx|d|c|e|dm|m|d_?m"
)
# Of those, what may also be the width of one head alone.
OUT = r"d_?out|dim_?out|out(put)?_?(d|dim|dims|size|width|features|channels)"
BATCH = r"batch(_?size)?|bs"
SETTINGS = r".*(config|cfg|conf|hparams|hps|args|params|opts?|options|settings)"
DEVICE = r"device"
SWITCH = (
    r".*(causal|mask|decoder|autoregress|bias|flash|cache|return|need|norm|residual|batch_first).*"
)
BUILD = (
    ("kv_heads", KV_HEADS),
    ("num_heads", HEADS),
    ("value_dim", VALUE_DIM),
    ("rotary_dim", ROTARY_DIM),
    ("head_dim", HEAD_DIM),
    ("dropout", DROPOUT),
    ("length", LENGTH),
    ("batch", BATCH),
    ("d_model", WIDTH),
)

# Of forward.
FLAG = (
    r"(is_|use_|apply_|with_|make_)?(causal|causal_attention|autoregressive|masked|look_?ahead"
    r"|(causal|future|look_?ahead)_?mask(ing|ed)?|(mask|hide)_?(the_)?future)"
)
# Of a constructor, what may turn causality on, or else only say that masks are taken.
PERHAPS = r"mask(ing|s)?|(use|apply|with)_?mask(ing|s)?|(is_?)?decoder"
RETURNS = (
    r"(need|return|output|give|get|with|want)_?(the_?)?(attn|attention|weight|prob|score|map)\w*"
    r"|(average|avg|mean)_?\w*(weight|attn|attention|head)\w*|return_\w*"
)
LENGTHS = r".*(lens|lengths?|len)|valid_?lens?"
PADDING = r".*pad.*|(key|k|kv|src_key|memory_key)_mask"
MASK = r".*(mask|bias).*|m|keep\w*|valid|visible|allowed|attend\w*|adj\w*|blocked|ignore\w*"
MASK += r"|(is_)?(real|present)(_?(tokens?|keys?))?"
OF = r"(_?(in|inputs?|x|states?|seq|tokens?|emb\w*))?"
QUERY = rf"(x_?|in_?)?q(uery|ueries|uerys|s)?{OF}|tgt|target|x_?q"
KEY = rf"(x_?|in_?)?k(eys?|s)?{OF}"
VALUE = rf"(x_?|in_?)?v(alues?|als?|s)?{OF}"
CONTEXT = (
    r"(x_?)?(a|context|ctx|memory|mem|kv|key_?values?|enc\w*|cross\w*|source|src|cond\w*|other|y|z)"
    r"(_?(in|inputs?|x|out\w*|states?|seq|tokens?|hidden_states|emb\w*))?"
)
# Rotary positions that are worked out elsewhere, and where in a text a sequence begins.
TURN = (
    r"((rotary|rope)_?)?(freqs?|frequencies)(_?(cis|complex))?|(rotary|rope)_?(emb\w*|table|cache)"
    r"|rope|((rotary|rope)_?)?pos(ition)?_?emb\w*|cos_?(and_?)?sin"
)
COS = r"((rotary|rope|pos)_?)?cos(ines?)?(_?(emb\w*|table|cached?))?"
SIN = r"((rotary|rope|pos)_?)?sin(es?)?(_?(emb\w*|table|cached?))?"
START = r"start_?pos(ition)?|pos(ition)?_?offset|start|offset"
CACHE = r".*past.*|.*cache.*|incremental_?\w*"
SKIP = rf".*head_mask.*|.*position.*|.*layer_?idx.*|{CACHE}"
FORWARD = (
    ("start", START),
    ("turn", TURN),
    ("cos", COS),
    ("sin", SIN),
    ("skip", SKIP),
    ("flag", FLAG),
    ("returns", RETURNS),
    ("lengths", LENGTHS),
    ("padding", PADDING),
    ("mask", MASK),
    ("query", QUERY),
    ("key", KEY),
    ("value", VALUE),
    ("context", CONTEXT),
)


def normal(name: str) -> str:
    """A name in small letters, its words apart: numHeads -> num_heads."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower().strip("_")


def role_in(name: str, roles: Sequence[tuple[str, str]]) -> str:
    """The first role whose words fit the whole name, "" where none do."""
    plain = normal(name)
    return next((role for role, words in roles if re.fullmatch(words, plain)), "")
