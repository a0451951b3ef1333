"""What the page shows of a drill, as plain data: facts and finished sentences, no markup."""

from __future__ import annotations

from typing import Any

from grader.drill.closing import write_closing, write_notes, write_recommendation
from grader.drill.desk import Desk
from grader.drill.folder import file_of
from grader.drill.hints import count_hints, explain_none, is_placed
from grader.drill.kinds import KINDS
from grader.drill.model import Hint, Look, Trouble
from grader.drill.review import Review
from grader.drill.web.draft import read_draft
from grader.errors import UnusableSubmission
from grader.reports.failures import number
from grader.texts import Texts

Plain = dict[str, Any]


def show_drill(desk: Desk) -> Plain:
    """All that the page of one drill begins with."""
    drill, texts = desk.drill, desk.texts
    kind, look = KINDS[drill.kind], desk.look()
    return {
        "id": drill.id,
        "kind": texts(f"drill.kind.{drill.kind}"),
        "exercise": name(texts, "exercise", drill.exercise),
        "minutes": drill.minutes,
        "path": str(file_of(drill)),
        "file": drill.file,
        "task": desk.task().split("\n\n"),
        "look": show_look(desk, look),
        "has_hints": not kind.is_talk,
        "has_report": _has_report(desk, look),
        **show_draft(desk),
        **_show_standing(desk),
    }


def show_pulse(desk: Desk) -> Plain:
    """What may change without the page's doing: asked for again and again, so it costs little."""
    return _show_standing(desk) | {"version": show_draft(desk)["version"]}


def _show_standing(desk: Desk) -> Plain:
    desk.time_is_up()
    standing = desk.standing()
    return {
        "left": standing.left,
        "talked": standing.is_talked,
        "finished": standing.is_finished,
        "saves": standing.saves,
    }


def show_draft(desk: Desk) -> Plain:
    """The file as it is on the disk, or the sentence of why there is none."""
    try:
        draft = read_draft(file_of(desk.drill))
    except UnusableSubmission as error:
        return {"text": None, "version": None, "unreadable": desk.texts.say(error.message)}
    return {"text": draft.text, "version": draft.version, "unreadable": None}


def show_look(desk: Desk, look: Look | None) -> Plain | None:
    """What a save came to, with no more given away than was asked for."""
    if look is None:
        return None
    texts = desk.texts
    first = look.troubles[0] if look.troubles else None
    refused = look.refusal.fields.get("line") if look.refusal else None
    return {
        "version": look.sha256,
        "score": number(look.score),
        "share": look.score / 100,
        "change": f"{look.change:+g}" if look.change else None,
        "passed": look.passed,
        "refusal": texts.say(look.refusal) if look.refusal else None,
        "line": _line(desk, first) if first else refused,
        "wrong": desk.describe(look) if first else None,
        "lost": [
            {"area": name(texts, "area", area), "points": number(points)}
            for area, points in look.lost.items()
        ],
    }


def show_hint(desk: Desk, hint: Hint | None) -> Plain:
    """One hint, and what may be said of the trouble now; where there is none, why."""
    look, texts = desk.look(), desk.texts
    if hint is None:
        none = texts.say(explain_none(look))
        return {"said": none, "number": None, "look": show_look(desk, look)}
    said = texts(f"drill.hint.{hint.part}", number=hint.number, text=hint.text)
    more = texts("drill.hint.more") if hint.left else None
    return {"said": said, "more": more, "number": hint.number, "look": show_look(desk, look)}


def show_review(review: Review, texts: Texts) -> Plain:
    """The review as it would be read out."""
    facts = review.facts
    return {
        "closing": write_closing(facts, texts),
        "marks": [{"grade": mark.grade, "said": texts.say(mark.said)} for mark in review.marks],
        "notes": [*write_notes(facts, texts)],
        "recommendation": write_recommendation(review, texts),
        "passed": facts.passed,
    }


def name(texts: Texts, what: str, id_: str) -> str:
    """What an area, an exercise or a mistake is called; its id where it has no name."""
    return texts.sentences.get(f"{what}.{id_}", id_)


def _has_report(desk: Desk, look: Look | None) -> bool:
    """True where there can be one; after the end, where there is one."""
    if desk.is_finished:
        return look is not None and look.report is not None
    return KINDS[desk.drill.kind].runs_code


def _line(desk: Desk, trouble: Trouble) -> int | None:
    """Where it shows, once the hints have said so."""
    given = count_hints(desk.events())[trouble.key]
    return trouble.line if is_placed(trouble, given) else None
