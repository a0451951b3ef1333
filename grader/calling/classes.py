"""Which class of a file is the attention, and which exercise its header line names."""

from __future__ import annotations

import re
from collections.abc import Sequence

from grader.errors import UnusableSubmission
from grader.model import CandidateClass

HEADER = re.compile(r"^#\s*mha-grade:\s*([\w-]+)", re.MULTILINE)
ATTENTION = re.compile(r"attention|attn|mha|multi_?head", re.IGNORECASE)
MULTI_HEAD = re.compile(r"mha|multi_?head", re.IGNORECASE)


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


def _names(classes: Sequence[CandidateClass]) -> str:
    return ", ".join(cls.name for cls in classes)


def _attention(classes: Sequence[CandidateClass]) -> list[CandidateClass]:
    return [cls for cls in classes if ATTENTION.search(cls.name)]


def _multi_head(classes: Sequence[CandidateClass]) -> list[CandidateClass]:
    return [cls for cls in classes if MULTI_HEAD.search(cls.name)]


def _not_helpers(classes: Sequence[CandidateClass]) -> list[CandidateClass]:
    names = {cls.name for cls in classes}
    return [cls for cls in classes if not names & set(cls.used_by)]
