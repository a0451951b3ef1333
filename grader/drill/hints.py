"""Hints, one at a time, about the first thing that is wrong; what may be said unasked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from grader.drill.model import HINTED, Event, Hint, Look, Trouble
from grader.model import Message
from grader.texts import Texts, load_pages

# Parts of a mistake's page, in the order they are given.
PARTS = ("hint", "pointer", "fix")
# Without a known mistake there is no page: the area, then what its first case says.
AREA_PARTS = PARTS[:2]
# What a crash says is told unasked; what is left is how to see it.
CRASH_PARTS = PARTS[:1]
# Of a talk the points are read out once it is over.
NO_PARTS: Sequence[str] = ()


def count_hints(events: Sequence[Event]) -> Counter[str]:
    """How many hints were given, by what they were about."""
    return Counter(str(event.data["about"]) for event in events if event.what == HINTED)


def next_hint(look: Look, events: Sequence[Event], texts: Texts) -> Hint | None:
    """The next hint about the first trouble that has one left; None where there is nothing."""
    given = count_hints(events)
    before = [event.data["about"] for event in events if event.what == HINTED][-1:]
    for trouble in look.troubles:
        parts = parts_of(trouble)
        at = given[trouble.key]
        if at < len(parts):
            text = _write(trouble, parts[at], texts)
            if before not in ([], [trouble.key]):
                text = texts("drill.hint.other", text=text)
            number = sum(given.values()) + 1
            return Hint(trouble.key, parts[at], text, number, at + 1 < len(parts))
    return None


def explain_none(look: Look | None) -> Message:
    """Why there is no hint after this look."""
    if look is not None and look.refusal is not None:
        return look.refusal
    is_stuck = look is not None and look.troubles
    return Message("drill.hint.no-more" if is_stuck else "drill.hint.none")


def parts_of(trouble: Trouble) -> Sequence[str]:
    """The hints there are about this."""
    if trouble.kind == "mistake":
        page = load_pages("en").get(trouble.id, {})
        return [part for part in PARTS if part in page]
    return {"area": AREA_PARTS, "crash": CRASH_PARTS, "blank": PARTS}.get(trouble.kind, NO_PARTS)


def write_trouble(trouble: Trouble, given: int, texts: Texts) -> str:
    """What may be said of a trouble unasked, after so many hints: its name is the last to come."""
    if trouble.kind == "mistake" and given >= len(PARTS):
        return _name(trouble, texts)
    if trouble.kind == "crash" and trouble.said is not None:
        return texts.say(trouble.said)
    if not parts_of(trouble):
        return ""
    if is_placed(trouble, given) and trouble.line:
        return texts("drill.trouble.placed", line=trouble.line)
    return texts("drill.trouble.unnamed")


def is_placed(trouble: Trouble, given: int) -> bool:
    """True once so many hints have said where it is."""
    # Which blank is wrong is the first hint about it, and a crash says it itself.
    return trouble.kind == "crash" or given >= (1 if trouble.kind == "blank" else len(AREA_PARTS))


def _write(trouble: Trouble, part: str, texts: Texts) -> str:
    if trouble.kind == "blank":
        axes = trouble.wanted.count(",") + 1
        named = {"name": trouble.id, "line": trouble.line}
        return texts(f"drill.hint.blank-{part}", **named, axes=axes, wanted=trouble.wanted)
    if trouble.kind == "crash":
        return texts("drill.hint.crash")
    if trouble.kind != "mistake":
        if part == "pointer" and trouble.said is not None:
            return texts.say(trouble.said)
        return texts("drill.hint.area", area=trouble.id)
    said = load_pages(texts.language)[trouble.id][part]
    if part == "fix":
        return texts("drill.hint.both", one=_name(trouble, texts), two=said)
    if part == "pointer" and trouble.line:
        line = texts("drill.hint.line", line=trouble.line)
        return texts("drill.hint.both", one=said, two=line)
    return said


def _name(trouble: Trouble, texts: Texts) -> str:
    named = {"name": trouble.id, "mistake": trouble.id, "line": trouble.line}
    return texts("drill.trouble.named", **named)
