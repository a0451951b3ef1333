"""Where to look in a file for mistakes that leave no trace among its tensors.

Patterns are for statements as `forward> scores = q @ k.mT`, tried in order; the first statement
that fits is the line. {name} is what the verdict's message names.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence

from grader.mistakes.rules import LAYERS, RANDOM
from grader.mistakes.statements import Statement, find_line
from grader.model import Verdict

LEAVES = ("self", "weight", "bias")
OUTSIDE = r"^(?!__init__>)\w+> "
INIT = r"^__init__> "
DROPS = (OUTSIDE + rf".*({RANDOM})", OUTSIDE + r".*drop\w*\(", RANDOM)
# Around a layer that makes something else than the weights.
AFTER = OUTSIDE + r".*drop\w*\((self\.)?(?!\w*(attn|attention|weigh|prob|score|soft))\w+\("
WIDTH = (INIT + r".*//", INIT + r".*(int\(.*/|divmod)", r"//", r"> def __init__")
CHANGES = (
    OUTSIDE + r".*\.(?!requires_grad_)[a-z]\w*_\(",
    r"inplace=True",
    OUTSIDE + r".*[-+*/|&]=",
    OUTSIDE + r".*\] =",
)
CUTS = (
    OUTSIDE + r".*(\.detach\(|\.data\b|no_grad|inference_mode|\.numpy\(|\.item\(|\.tolist\()",
    OUTSIDE + r".*torch\.tensor\(",
    r"\.detach\(|\.data\b|no_grad|set_grad_enabled|inference_mode",
)
MADE = (r"> (self\.{name}|{name})\b.* = ", r"self\.{name}\b", r"register\w*\('{name}'")
MASK = r"\b(m|h|\w*(mask|pad|keep|hidden|visible|valid|lens)\w*)"
# Of several methods of that name the last is the one of the module itself.
RETURN = (r"^forward> return",)
FILL = (
    OUTSIDE + r".*(masked_fill|-?inf\b|torch\.where|finfo)",
    OUTSIDE + r".*(\d+e\d|-\s?\d{4,})",
)
HALF = (OUTSIDE + r"(\w+) = \1 \+ ", OUTSIDE + r".*(cumsum|\+=)", OUTSIDE + r".*(\.sum\(|softmax)")
TRIANGLE = (r"\b(tril|triu)\w*\(", OUTSIDE + r"\w+ = .* (<=|>=|<|>) ")
# Done to a copy that is thrown away.
UNUSED = (OUTSIDE + r"\w+\.masked_fill\(",)
TURNS = r"(?i:rot|rope|turn|emb|cos|angle)"
WAVES = (OUTSIDE + r".* \* (\w*(cos|sin)\w*|[cs])\b.* [+-] .* \* (\w*(cos|sin)\w*|[cs])\b",)
REPEATED = (r"mask.*\.(repeat|tile|repeat_interleave)\(", r"\.(repeat|tile|repeat_interleave)\(")
POINTERS: dict[str, Sequence[str]] = {
    "divisibility-unchecked": WIDTH,
    "head-dim-floored": WIDTH,
    "divisibility-checked-late": WIDTH,
    "divisibility-check-incomplete": (INIT + r"(if|assert) ", *WIDTH),
    "divisibility-check-reversed": (r"> (if|assert) .*%",),
    "divisibility-asserted": (INIT + r"(assert|raise|if) ", *WIDTH),
    "dropout-always-on": (OUTSIDE + r".*(F|functional)\.dropout", *DROPS),
    "dropout-repeats": DROPS,
    "dropout-not-inverted": DROPS,
    "dropout-misplaced": (AFTER, *DROPS),
    "dropout-shared": DROPS,
    "dropout-rate-wrong": (r"\b(min|max|clamp)\(.*(drop|\bp\b|rate)", INIT + ".*1 - ", *DROPS),
    "dropout-gradient-wrong": (OUTSIDE + r".*\.data\b", *DROPS),
    "dropout-zero-ignored": (r"\bor \d", r" or ", *DROPS),
    "dropout-argument-missing": (r"> def __init__",),
    "training-mode-differs": (OUTSIDE + r".*\.training",),
    "training-weights-wrong": (OUTSIDE + r".*\.training", *RETURN),
    "state-kept": (
        OUTSIDE + r"(self\.\w+(\[.*\])?(, self\.\w+)*|\w*cache\w*\[.*\]) (\+|=)(?!.* None$)",
        OUTSIDE + r".*self\.\w+\.(copy_|append|update|add|setdefault|\w+_)\(",
        r"cache",
    ),
    "copy-loses-state": (
        r"^(__getstate__|__reduce__|__reduce_ex__)> (?!def )",
        r"__getstate__|__reduce|__setstate__",
    ),
    "weights-by-name-misread": (
        OUTSIDE + r".*(isinstance|\btype|is_leaf)\b.*",
        r"^vmap> return",
        r"^vmap> ",
        r"nn\.Parameter\b",
    ),
    "copy-shares-weights": (r"__deepcopy__|__copy__", r"lambda", r"partial"),
    "input-changed-in-place": CHANGES,
    "in-place-breaks-backward": CHANGES,
    "parameters-not-registered": (
        *MADE,
        INIT + r"self\.\w+ = (\[|\(|\{|torch\.|list|dict|tuple)",
    ),
    "parameter-unused": MADE,
    "extra-parameter": MADE,
    "tensor-left-behind": MADE,
    "global-switch-turned": (
        r"manual_seed|set_default|set_rng|set_grad_enabled|use_deterministic|set_num|\.seed\("
        r"|backends|set_float32",
        OUTSIDE + rf".*({RANDOM})",
    ),
    "layers-rebuilt": (LAYERS,),
    "ready-made-attention": (
        r"scaled_dot_product_attention|multi_head_attention_forward",
        r"MultiheadAttention|Transformer\w+Layer",
        r"{name}",
    ),
    "output-dtype-changed": (
        OUTSIDE + r".*(\.float\(|\.double\(|\.half\()",
        OUTSIDE + r".*(\.to\(|type\(|dtype=)",
    ),
    "softmax-in-half": (OUTSIDE + r".*(softmax|exp\()",),
    "sums-in-half": HALF,
    "overflow-in-half": (OUTSIDE + r".*exp\(", OUTSIDE + r".*(@|matmul|einsum|\.sum\()"),
    "exp-overflow": (OUTSIDE + r".*exp\(",),
    "scores-clamped": (OUTSIDE + r".*(clamp|clip|tanh|minimum)",),
    "fill-too-small": FILL,
    "nan-dead-gradients": (OUTSIDE + r".*inf\b", *FILL),
    "uniform-dead-rows": (OUTSIDE + r".*softmax", *FILL),
    "weights-missing": RETURN,
    "weights-averaged": (OUTSIDE + r".*\.mean\(", *RETURN),
    "output-projection-missing": RETURN,
    "gradient-cut": CUTS,
    "second-gradient-cut": (r"autograd\.Function", *CUTS, r"backward"),
    "batch-squeezed": (r"squeeze\(", r"== 1", *RETURN),
    "length-squeezed": (r"squeeze\(", r"== 1", *RETURN),
    "length-limited": (OUTSIDE + r".*\b\d\d+\b", r".*\b(tril|triu|arange)\("),
    "identity-shortcut": (r"\bis\b (?!None|not)", r" is "),
    "single-head-mishandled": (OUTSIDE + r"if .*(head|H|h)\w* == 1", r"== 1"),
    "causal-reversed": TRIANGLE,
    "causal-one-ahead": TRIANGLE,
    "causal-diagonal-hidden": TRIANGLE,
    "causal-overwritten": (OUTSIDE + r"(\w+ =|return) .*pad\w*(\[|\.)(?!.*[&|])",),
    "causal-mask-missing": UNUSED,
    "padding-mask-ignored": UNUSED,
    "mask-ignored": UNUSED,
    "masks-joined-by-or": (
        OUTSIDE + r".*( \| |logical_or|\|=)",
        # Of what is hidden, and is or.
        OUTSIDE + r".*( & |logical_and|&=)",
    ),
    "padding-on-query-axis": (
        MASK + r"(\[:, None, :, None\]|\[\.\.\., None\]"
        r"|\.unsqueeze\((-1|3)\)|\.(view|reshape)\(.*, 1\))",
    ),
    "mask-transposed": (r"mask.*(transpose\(|\.mT|\.T\b|permute\(|swapaxes\()",),
    "mask-shifted": (
        r"\.roll\(|torch\.roll|\bcat\(.*mask|F\.pad",
        OUTSIDE + r"\w+ = .*\barange\(.* (<=|>=|<|>) .*len",
    ),
    "mask-of-first-sample": (MASK + r"(\[(0|:1)\]|\.select\(0)",),
    "mask-of-first-head": (MASK + r"(\[(0, 0|:, :1|:, 0)|\.select\(1)",),
    "first-head-shared": (
        OUTSIDE + r".*\[(:, |\.\.\., )+(:1|0)[\],]",
        OUTSIDE + r".*\[\.\.\., :\w",
        OUTSIDE + r".*(\.select\(|\.narrow\(|slice\((0|None),)",
    ),
    "softmax-denominator-padded": (
        OUTSIDE + r".* / \(.* \+ ",
        OUTSIDE + r".*(sum\(.*\)|total|denom\w*|norm\w*|[zZ]) \+ ",
        OUTSIDE + r".*(sum|total|denom\w*|norm\w*) \+= (?!\w*exp)",
    ),
    "running-softmax-not-rescaled": (
        OUTSIDE + r"(?P<sum>\w+) = (?P=sum) \+ .*(exp|sum\(|@)",
        OUTSIDE + r"\w+ \+= .*(exp|sum\(|@)",
        OUTSIDE + r"(?P<sum>\w+) = (?P=sum) \+ ",
        OUTSIDE + r"\w+ \+= ",
    ),
    "fused-split-by-view": (OUTSIDE + r".*\.(view|reshape)\((\w+(\.\w+)?, )?[23], ",),
    "rotary-on-values": (OUTSIDE + r"\(?(.*\b)?x?v(alue)?s?\b.* = .*" + TURNS,),
    "rotary-no-rotation": WAVES,
    "rotary-mispaired": WAVES,
    "rotary-uneven": (OUTSIDE + r".*\b(\w+)\(\1\(",),
    "window-imposed": (
        r"\btril\w*\(.*-\s?\(?[\w.]+|\btriu\w*\(.*-\s?\(?(?!1\b)[\w.]+",
        r"\babs\(.* (<=|>=|<|>) ",
        OUTSIDE + r".* - .* (<=|>=|<|>) ",
        r"\babs\(",
        r"window|band\b|radius|nearby",
    ),
    "dropout-renormalised": (
        OUTSIDE + r"(?!.*softmax).* / .*\bsum\(",
        OUTSIDE + r".*(normalize\(|div_?\(.*\bsum\()",
        OUTSIDE + r"(\w+) = \1 / \w+$",
        OUTSIDE + r"\w+ /= ",
        OUTSIDE + r".*\bsum\(",
    ),
    "one-head-for-all": (r"slice\(0,", r"\[:, (:1|0)\b"),
    "projection-unused": (
        OUTSIDE + r"(v|values?|k|keys?|q|quer\w+) = (x|query|key|value|inputs?)$",
    ),
    "mask-in-order-of-heads": REPEATED,
    "mask-in-order-of-samples": REPEATED,
    "key-heads-in-two-orders": (OUTSIDE + r".*\.(repeat|tile|repeat_interleave)\(", REPEATED[1]),
    "scale-floored": (r"int\(.*(0\.5|sqrt)|floor|isqrt|// ?1\b",),
    "dead-rows-in-some-heads": (OUTSIDE + r".*\.(any|all)\(",),
    "dead-rows-not-zero": (OUTSIDE + r".*-\s?(\d\.?\d*e\d|\d{4,})",),
    "dtypes-mixed": (r"torch\.float32|\.float\(\)|FloatTensor",),
    "mask-form-misread": (OUTSIDE + r".*(\.dim\(\)|\.ndim)", OUTSIDE + r".*squeeze"),
    "mask-form-refused": (OUTSIDE + r".*(\.dim\(\)|\.ndim)", OUTSIDE + r".*squeeze"),
    "zero-taken-for-hidden": (OUTSIDE + r".*(== 0|!= 0)",),
    "empty-input-mishandled": (OUTSIDE + r".*(numel\(|== 0|< 1|not .*(shape|size|len))",),
    "dead-output-zeroed": (OUTSIDE + r".*(masked_fill|where|\* )",),
}


# Where the text says more than the tensors do: these show far from where they are made.
SURE = (
    "batch-squeezed",
    "causal-diagonal-hidden",
    "causal-mask-missing",
    "causal-one-ahead",
    "causal-overwritten",
    "causal-reversed",
    "copy-loses-state",
    "dead-rows-in-some-heads",
    "dead-rows-not-zero",
    "dtypes-mixed",
    "exp-overflow",
    "fill-too-small",
    "first-head-shared",
    "fused-split-by-view",
    "identity-shortcut",
    "layers-rebuilt",
    "length-limited",
    "mask-ignored",
    "mask-in-order-of-heads",
    "mask-in-order-of-samples",
    "mask-of-first-head",
    "mask-of-first-sample",
    "mask-shifted",
    "mask-transposed",
    "masks-joined-by-or",
    "one-head-for-all",
    "padding-mask-ignored",
    "padding-on-query-axis",
    "parameters-not-registered",
    "projection-unused",
    "ready-made-attention",
    "rotary-mispaired",
    "rotary-no-rotation",
    "rotary-on-values",
    "rotary-uneven",
    "running-softmax-not-rescaled",
    "scale-floored",
    "single-head-mishandled",
    "softmax-denominator-padded",
    "state-kept",
    "tensor-left-behind",
    "training-weights-wrong",
    "window-imposed",
)


def point(mistake: str, group: Sequence[Verdict], statements: Sequence[Statement]) -> int | None:
    """The line of a mistake, as far as the text of the file tells it."""
    outward = mistake != "parameters-not-registered"
    names = list(_names(group, outward))
    for pattern in POINTERS.get(mistake, ()):
        for name in names if "{name}" in pattern else [""]:
            line = find_line(statements, pattern.replace("{name}", name), pattern in RETURN)
            if line is not None:
                return line
    return None


def _names(group: Sequence[Verdict], outward: bool) -> Iterator[str]:
    """`heads.0.tell.weight` in a message is `tell` or `heads` in the file."""
    messages = [verdict.message for verdict in group if verdict.message]
    for message, key in itertools.product(messages, ("names", "name")):
        for name in str(message.fields.get(key, "")).split(", "):
            parts = [p for p in re.findall(r"\w+", name) if not p.isdecimal() and p not in LEAVES]
            yield from reversed(parts) if outward else parts
