"""Explain: the spoken version, by an outline, marked by oneself against its points."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from grader.drill.clock import write_seconds
from grader.drill.model import Drill, Grade, Look, Prepared, Settled, Trouble
from grader.drill.outlines import headline, hear, outline, point_text, what_to_say
from grader.model import Submission
from grader.texts import Texts

FILE = "talk.txt"


@dataclass(frozen=True)
class Point:
    """One point of a talk: its id, its words, and whether it was made, as far as a page tells."""

    id: str
    text: str
    made: bool | None


class Explain:
    """The file is for who wants to type what they say; what counts is how one marks oneself."""

    minutes = 4.0
    runs_code = False
    is_talk = True

    def prepare(self, exercise: str, seed: int) -> Prepared:
        """An empty page."""
        return Prepared(exercise, FILE, "")

    def task(self, drill: Drill, texts: Texts) -> str:
        """The headings, each with its time; what to say there is told once it has been said."""
        title = texts("drill.task.explain", exercise=drill.exercise)
        return "\n\n".join((title, *_list_parts(drill, "drill.task.part", texts)))

    def look(self, drill: Drill, submission: Submission, grade: Grade) -> Look:
        """What the page seems to say, before one has marked oneself."""
        heard = hear(outline(drill.exercise), submission.source)
        return look_at_points(drill, set(heard.covered), submission.sha256)

    def settle(self, drill: Drill, look: Look | None) -> Settled | None:
        """Nothing was wrong before it was said."""
        return None


def write_talk(drill: Drill, texts: Texts) -> list[str]:
    """What could have been said, part by part; for the time after it was said."""
    return [texts("drill.talk.said"), *_list_parts(drill, "drill.talk.part", texts)]


def _list_parts(drill: Drill, key: str, texts: Texts) -> Iterator[str]:
    plan, language, at = outline(drill.exercise), texts.language, 0
    for part in plan.parts:
        time = f"{write_seconds(at)}-{write_seconds(at + part.seconds)}"
        said = {"what": headline(part, language), "said": what_to_say(plan, part, language)}
        yield texts(key, time=time, **said)
        at += part.seconds


def list_points(
    drill: Drill, missed: Collection[str], is_written: bool, texts: Texts
) -> list[Point]:
    """Every point in its order; `is_written` says that there is a page to tell from."""
    return [
        Point(name, point_text(name, texts.language), name not in missed if is_written else None)
        for name in outline(drill.exercise).points
    ]


def look_at_points(drill: Drill, made: Collection[str], sha256: str = "") -> Look:
    """The share of the points that were made; each other one is a trouble."""
    points = outline(drill.exercise).points
    missed = tuple(Trouble("point", point) for point in points if point not in made)
    score = round(100 * (1 - len(missed) / len(points)), 2)
    return Look(sha256, score, not missed, troubles=missed)
