"""Rules that name mistakes from what was seen, in the order in which they are tried."""

from __future__ import annotations

import re
from dataclasses import dataclass

from grader.model import Message, Verdict

VALUES = r"values\.(differ|not-finite)|trouble\.raised|shape\.differs"
RANDOM = r"dropout|bernoulli|\.rand|random_|multinomial|alpha_drop"
SEEDED = r"manual_seed|set_rng_state|\.seed\("
LAYERS = r"^(?!__init__)\w+> .*\b(Linear|Parameter|Conv1d|LazyLinear|xavier\w+|kaiming\w+)\("
# Padding of the keys put where the queries are, which no broadcast takes between two lengths.
ON_QUERIES = (
    r"^(?!__init__)\w+> .*(pad|mask|valid|keep)\w*"
    r"(\[:, None, :, None\]|\.unsqueeze\(1\)\.unsqueeze\((-1|3)\))"
)


@dataclass(frozen=True)
class Rule:
    """One way to recognise a mistake: `key` of the message, patterns for its text and the case.

    With a pattern for the case, the mistake is meant only where nothing but such cases fails, and
    those that `among` names; unless it need not stand `alone`. `source` and `without` are patterns
    for the file's statements: one of them has to be like this, or none may be.
    """

    mistake: str
    key: str
    text: str = ""
    case: str = ""
    among: str = ""
    alone: bool = True
    source: str = ""
    without: str = ""

    def fits(self, verdict: Verdict, statements: str = "") -> bool:
        """True where the verdict is a sign of the mistake, in a file of these statements."""
        message = verdict.message
        if message is None:
            return False
        # Of a mask of some form, what came of it says more.
        inner = message.fields.get("inner")
        keys = [message.key] + ([inner.key] if isinstance(inner, Message) else [])
        if not any(re.fullmatch(self.key, key) for key in keys):
            return False
        if not (re.search(self.text, _said(message)) and re.search(self.case, verdict.case)):
            return False
        if self.without and re.search(self.without, statements, re.MULTILINE):
            return False
        return bool(re.search(self.source, statements, re.MULTILINE))


def _said(message: Message) -> str:
    """The text of an exception, what was got, or the names of what is meant."""
    inner = message.fields.get("inner")
    if isinstance(inner, Message):
        return _said(inner)
    return next(
        (str(message.fields[k]) for k in ("text", "got", "names") if k in message.fields), ""
    )


RULES = (
    # Before what it raised is looked at.
    Rule("copy-loses-state", r"state\.pickle-(differs|broken)"),
    Rule("not-filled-in", r"trouble\.unfilled"),
    Rule("super-init-missing", r"trouble\.raised", r"before Module\.__init__\(\) call"),
    Rule("view-on-non-contiguous", r"trouble\.raised", r"view size is not compatible"),
    Rule("fill-overflows-float16", r"trouble\.raised", r"without overflow"),
    Rule("mask-tested-for-truth", r"trouble\.raised", r"Boolean value of Tensor with more than"),
    Rule("mask-none-used", r"trouble\.raised", case=r"none$"),
    Rule("no-such-method", r"trouble\.raised", r"has no attribute '(?!.*(Batch|Fake))"),
    Rule(
        "in-place-breaks-backward", r"trouble\.raised", r"modified by an inplace|in-place operation"
    ),
    Rule(
        "state-kept", r"trouble\.raised", r"dtype|expected", case=r"^cast-after-use$", alone=False
    ),
    Rule("dtypes-mixed", r"trouble\.raised", r"dtype|scalar type|c10::"),
    Rule(
        "padding-on-query-axis",
        r"trouble\.raised",
        r"size of tensor a .* must match",
        source=ON_QUERIES,
    ),
    Rule("wrong-cross-length", r"shape\.lengths"),
    Rule("divisibility-unchecked", r"divisibility\.accepted"),
    Rule("head-dim-floored", r"divisibility\.(floored|cut)"),
    Rule("divisibility-checked-late", r"divisibility\.only-in-forward"),
    Rule("divisibility-asserted", r"divisibility\.other-exception"),
    Rule(
        "divisibility-check-reversed",
        r"trouble\.raised",
        r"(?i)divi|multiple|evenly|整除|^$",
        case=r"^constructs$",
        source=r"> (if|assert) .*%",
    ),
    Rule("nan-dead-rows", r"dead\.not-finite|dead\.weights-not-finite|values\.not-finite-dead"),
    Rule("uniform-dead-rows", r"dead\.uniform(-half)?"),
    Rule("dead-output-zeroed", r"dead\.output-zero", case="dead"),
    Rule("dead-rows-not-zero", r"dead\.not-zero|dead\.output"),
    Rule("nan-dead-gradients", r"dead\.gradient-not-finite"),
    Rule("state-kept", r"dropout\.differs-in-eval", without=RANDOM),
    Rule("dropout-always-on", r"dropout\.on-in-eval|dropout\.differs-in-eval"),
    Rule("dropout-never-applied", r"dropout\.never-on"),
    Rule("global-switch-turned", r"dropout\.repeats", source=SEEDED),
    Rule("dropout-repeats", r"dropout\.repeats"),
    Rule("dropout-not-inverted", r"dropout\.scale"),
    Rule("dropout-renormalised", r"dropout\.renormalised"),
    Rule(
        "dropout-misplaced",
        r"dropout\.(elsewhere|mean|before-softmax|not-finite)",
        case="^(?!.*mask)",
        alone=False,
    ),
    Rule("dropout-shared", r"dropout\.together|dropout\.uneven"),
    Rule("dropout-rate-wrong", r"dropout\.rate(-of-zero)?"),
    Rule("dropout-argument-missing", r"dropout\.no-argument"),
    Rule("dropout-gradient-wrong", r"dropout\.slope"),
    Rule("training-weights-wrong", r"dropout\.returned"),
    Rule(
        "dropout-zero-ignored",
        VALUES,
        case=r"^dropout-of-zero$",
        source=r"(drop\w*|\bp|rate) or |= 0(\.0)? else|if (drop\w*|p|rate) else",
    ),
    Rule("training-mode-differs", r"dropout\.mean-of-default", source=r"(if|elif) .*\.training\b"),
    Rule("training-mode-differs", VALUES, case=r"^dropout-of-zero$", among=r"^dropout-under-mask"),
    Rule("state-kept", r"state\.(kept|changed-by-training|not-loaded)"),
    Rule("copy-shares-weights", r"state\.copy-leans"),
    Rule("weights-by-name-misread", r"state\.(by-name|vmap)-differs"),
    Rule("input-changed-in-place", r"state\.input-changed"),
    Rule("parameters-not-registered", r"state\.(unregistered|no-parameters)"),
    Rule("parameter-unused", r"state\.idle-parameter"),
    Rule("extra-parameter", r"state\.extra-parameter"),
    Rule("layers-rebuilt", r"state\.turned", r"random state", source=LAYERS, without=SEEDED),
    Rule("dropout-always-on", r"state\.turned", r"random state", source=RANDOM, without=SEEDED),
    Rule("global-switch-turned", r"state\.turned"),
    Rule("tensor-left-behind", r"state\.stays-behind"),
    Rule("ready-made-attention", r"state\.ready-made"),
    Rule("output-dtype-changed", r"dtype\.differs"),
    Rule("softmax-in-half", r"values\.imprecise"),
    Rule("empty-input-mishandled", r"shape\.empty"),
    Rule("weights-missing", r"shape\.not-a-pair"),
    Rule(
        "weights-averaged",
        r"shape\.differs",
        r"^\[\d+, \d+, \d+\]$",
        case=r"^weights-shape$",
        alone=False,
    ),
    Rule("key-heads-in-two-orders", r"heads\.two-orders"),
    Rule("output-projection-missing", r"shape\.no-output-projection"),
    Rule("gradient-cut", r"gradient\.missing"),
    Rule("gradient-cut", r"gradient\.differs", r"^-?0$"),
    Rule("second-gradient-cut", r"gradient\.second", case=r"gradients-of-gradients"),
    Rule("future-leaks", r"mask\.future-leaks"),
    Rule("padding-leaks", r"mask\.hidden-leaks"),
    Rule("identity-shortcut", VALUES, case=r"^one-tensor-for-all$"),
    Rule("single-head-mishandled", VALUES, case=r"^(mask-)?one-head$"),
    Rule("dead-rows-in-some-heads", VALUES, case=r"^dead-rows-in-some-heads$"),
    Rule("zero-taken-for-hidden", VALUES, case=r"^faint-scores$", among=r"^long-rows-float16$"),
    Rule("sums-in-half", r"values\.differ", case=r"^long-rows-(b?float16)$"),
    Rule("overflow-in-half", r"values\.not-finite", case=r"^large-values-float16$"),
    Rule(
        "scores-clamped",
        r"values\.differ",
        case=r"large-logits|masked-scores",
        source=r"forward.*(clamp|clip|tanh|hardtanh|minimum)",
    ),
    Rule(
        "fill-too-small",
        r"values\.differ",
        case=r"hidden-however-large",
        among=r"large-logits|masked-scores|large-values",
        source=r"fill|where|[fi]info|\d+e\d|\d{3,}",
    ),
    Rule(
        "exp-overflow",
        r"values\.not-finite",
        case=r"large-logits",
        among=r"large-values|hidden-however-large|masked-scores",
    ),
    Rule(
        "wrong-cross-length",
        VALUES,
        case=r"(more-keys|more-queries|two-lengths)",
        among="^value-is-not-key",
    ),
    Rule(
        "state-kept", VALUES, case=r"^no-state|shorter-after|^cast-after-use$", among="^mask-forms"
    ),
)
# What else goes wrong because of a mistake: mistakes named so far, by the name or the name and the
# case, and what has no name yet, by the key of its message or the key and the case.
DEAD_IN_SOME = r"values\.differ dead-rows-in-some-heads"
NOT_FINITE = r"values\.not-finite(-dead)?|gradient\..*"
FOLLOWS = {
    "wrong-cross-length": ("", r"(trouble\.raised|shape\.differs|values\.differ) value-is-not-key"),
    # A deep copy takes the way of a pickled one, where it has none of its own.
    "copy-loses-state": (r"copy-shares-weights", r"trouble\.raised deep-copy"),
    "parameters-not-registered": (
        r"tensor-left-behind|state-kept|dtypes-mixed|dropout-always-on",
        "",
    ),
    "head-dim-floored": (r"divisibility-unchecked", ""),
    "gradient-cut": (
        r"parameter-unused|dropout-gradient-wrong|second-gradient-cut",
        r"gradient\..*|dropout\.slope",
    ),
    "tensor-left-behind": (r"dtypes-mixed", ""),
    "ready-made-attention": (r"mask-form-refused|mask-form-misread", ""),
    "weights-missing": (r"training-weights-wrong|empty-input-mishandled", ""),
    "weights-averaged": (r"training-weights-wrong", ""),
    "uniform-dead-rows": (r"mask-form-misread", DEAD_IN_SOME),
    "state-kept": (
        r"future-leaks|padding-leaks|dropout-always-on|copy-shares-weights|mask-form-misread",
        r"values\.mixed|mask\..*",
    ),
    "layers-rebuilt": (r"dropout-always-on", r"values\.(differ|mixed|unordered)|mask\..*"),
    "dropout-always-on": ("", r"values\.(differ|mixed|unordered)|mask\..*|gradient\..*"),
    "dead-output-zeroed": (r"mask-form-misread", ""),
    # A rate taken for what is kept drops everything where it is 0, as in other cases that train.
    "dropout-rate-wrong": (
        r"training-mode-differs|gradient-cut (gradients-in-training|dropout-gradients)",
        r"gradient\.\w+ gradients-in-training",
    ),
    "input-changed-in-place": (r"in-place-breaks-backward", ""),
    # Through it the weights that were applied cannot be read, to compare them with those returned.
    "dropout-misplaced": (
        r"training-weights-wrong",
        r"dropout\.(elsewhere|mean|before-softmax|not-finite)",
    ),
    "dead-rows-not-zero": (r"mask-form-misread", DEAD_IN_SOME),
    # Large values come among queries and keys.
    "fused-split-by-view": ("", r"values\.(not-finite|differ) large-values-float16"),
    # What is subtracted before the exponentials matters then, and is often cut off from the graph;
    # and where little is added, it is told only after some cases.
    "softmax-not-normalised": (
        "",
        r"gradient\.(slope|second)|values\.not-finite large-values-float16",
    ),
    "softmax-denominator-padded": (
        "",
        r"gradient\.(slope|second)"
        r"|values\.differ (one-token|one-head|as-many-heads-as-dimensions|other-sizes)",
    ),
    # Where all that a softmax runs over is hidden, there is nothing to divide by.
    "softmax-over-queries": ("", NOT_FINITE),
    "softmax-over-heads": ("", NOT_FINITE),
}
