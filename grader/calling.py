"""Which class of a file is the attention, which exercise it answers, how to build and call it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from grader.errors import UnusableSubmission
from grader.model import Argument, CandidateClass

HEADER = re.compile(r"^#\s*mha-grade:\s*([\w-]+)", re.MULTILINE)
ATTENTION = re.compile(r"attention|attn|mha|multi_?head", re.IGNORECASE)
MULTI_HEAD = re.compile(r"mha|multi_?head", re.IGNORECASE)
DROPOUT = re.compile(r"drop|^p$", re.IGNORECASE)
CAUSAL = re.compile(r"causal|decoder|masked|gpt", re.IGNORECASE)
MASK = re.compile(r"mask|bias|pad|length|causal", re.IGNORECASE)
PADDING = re.compile(r"pad|length|key_mask", re.IGNORECASE)


@dataclass(frozen=True)
class CallPlan:
    """How to build the candidate's class: (d_model, num_heads) by position, dropout by name."""

    class_name: str
    line: int
    dropout: str | None


def header_exercise(source: str) -> str | None:
    """The exercise named by a stub's header line, if the first lines have one."""
    found = HEADER.search("\n".join(source.split("\n")[:5]))
    return found.group(1) if found else None


def choose_class(classes: Sequence[CandidateClass], wanted: str | None = None) -> CandidateClass:
    """The attention among the classes of a file.

    Raises UnusableSubmission when there is none, or when more than one could be meant.
    """
    modules = [cls for cls in classes if cls.is_module and cls.has_forward]
    if wanted is not None:
        named = [cls for cls in modules if cls.name == wanted]
        if not named:
            raise UnusableSubmission("class.unknown", wanted=wanted, names=_names(modules))
        return named[0]
    if not modules:
        raise UnusableSubmission("class.none")
    for narrow in (_attention, _not_helpers, _multi_head, _not_helpers):
        modules = narrow(modules) or modules
        if len(modules) == 1:
            return modules[0]
    raise UnusableSubmission("class.several", names=_names(modules))


def guess_exercise(cls: CandidateClass, source: str) -> str:
    """The exercise whose contract this class looks most like."""
    tensors = [a for a in cls.forward if a.kind.startswith("positional")]
    required = [a for a in tensors if a.required]
    if len([a for a in required if not MASK.search(a.name)]) >= 2:
        return "cross-attention"
    hints = [a.name for a in tensors[1:]]
    built_in = re.search(r"\b(tril|triu|is_causal)\b", source) is not None
    if any(PADDING.search(name) for name in hints) or CAUSAL.search(cls.name):
        return "causal-self-attention"
    return "causal-self-attention" if built_in and not hints else "self-attention"


def plan_call(cls: CandidateClass) -> CallPlan:
    """How to construct `cls`; its dropout argument is the one named so, else the third."""
    arguments = [a for a in cls.constructor if not a.kind.startswith("var")]
    named = [a.name for a in arguments if DROPOUT.search(a.name)]
    third = [a.name for a in arguments[2:3] if not a.required and not _is_switch(a)]
    return CallPlan(cls.name, cls.line, next(iter(named + third), None))


def _is_switch(argument: Argument) -> bool:
    return re.search(r"bias|causal|mask|batch|len|size|max", argument.name) is not None


def _names(classes: Sequence[CandidateClass]) -> str:
    return ", ".join(cls.name for cls in classes)


def _attention(classes: Sequence[CandidateClass]) -> list[CandidateClass]:
    return [cls for cls in classes if ATTENTION.search(cls.name)]


def _multi_head(classes: Sequence[CandidateClass]) -> list[CandidateClass]:
    return [cls for cls in classes if MULTI_HEAD.search(cls.name)]


def _not_helpers(classes: Sequence[CandidateClass]) -> list[CandidateClass]:
    names = {cls.name for cls in classes}
    return [cls for cls in classes if not names & set(cls.used_by)]
