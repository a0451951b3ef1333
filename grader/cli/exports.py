"""What is written besides reports: gradebooks filled, each student's own file, packs for hosts."""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from pathlib import Path

from grader.cli import console
from grader.cli.course import read_course
from grader.cli.options import Asked
from grader.course.settings import Settings
from grader.disk import reaching, read_bytes, write_bytes
from grader.errors import UsageError
from grader.exports import GRADEBOOKS, PACKS, Filled, Pack, Visibility, for_students
from grader.model import Graded
from grader.reports import FORMATS, View
from grader.texts import Texts

# What students may be handed, and what such files end in.
SUFFIXES = {"terminal": ".txt", "html": ".html"}
# What a file name may hold on every system.
ODD = re.compile(r"[^\w.@+-]+")


@dataclass(frozen=True)
class Shown(Collection[Graded]):
    """A batch as students may see it, made anew each time it is gone through."""

    batch: Collection[Graded]
    settings: Settings

    def __iter__(self) -> Iterator[Graded]:
        """Each with its report cut to what the course lets students see."""
        return (show_student(graded, self.settings) for graded in self.batch)

    def __len__(self) -> int:
        """How many there are."""
        return len(self.batch)

    def __contains__(self, graded: object) -> bool:
        """True for one of these."""
        return any(graded == one for one in self)


def show_student(graded: Graded, settings: Settings) -> Graded:
    """What the student may see of it now."""
    visibility = Visibility(settings.visibility, settings.deadline)
    now = datetime.now(timezone.utc)
    return replace(graded, report=for_students(graded.report, visibility, now))


def write_feedback(
    folder: Path, batch: Iterable[Graded], texts: Texts, view: View, format_: str = "terminal"
) -> None:
    """A file for each submission, named by student and, from the second on, by attempt.

    It is a text, or a page where that is the `format_` asked for.
    """
    format_ = format_ if format_ in SUFFIXES else "terminal"
    taken: set[str] = set()
    with reaching(folder, "file.unwritable"):
        folder.mkdir(parents=True, exist_ok=True)
        for graded in batch:
            report = FORMATS[format_](graded.report, texts, view)
            path = folder / f"{_name_file(graded, taken)}{SUFFIXES[format_]}"
            path.write_text(report, encoding="utf-8", errors="backslashreplace")


def _name_file(graded: Graded, taken: set[str]) -> str:
    """A name that every system takes, and that nobody else's file has."""
    attempt = f"-{graded.attempt}" if graded.attempt > 1 else ""
    plain = (ODD.sub("_", graded.student).strip(".") or "_")[:100] + attempt
    numbered = (f"{plain}_{number}" for number in itertools.count(2))
    # Some systems take upper and lower case for the same.
    name = next(n for n in itertools.chain([plain], numbered) if n.lower() not in taken)
    taken.add(name.lower())
    return name


def fill_gradebooks(asked: Asked, batch: Collection[Graded], texts: Texts) -> None:
    """Each gradebook that was named, filled and written beside it as NAME-graded.csv."""
    for system, path in (("canvas", asked.canvas), ("moodle", asked.moodle)):
        if path is None:
            continue
        column = asked.column
        if column is None:
            if system == "canvas":
                raise UsageError("gradebook.column")
            column = "Grade"
        filled = GRADEBOOKS[system](read_bytes(path), batch, column)
        target = path.with_name(f"{path.stem}-graded{path.suffix}")
        write_bytes(target, filled.content)
        for line in _tell(filled, target, texts):
            console.note(line)


def _tell(filled: Filled, target: Path, texts: Texts) -> Iterator[str]:
    yield texts("gradebook.filled", count=len(filled.filled), path=target)
    for kind in ("unmatched", "ambiguous", "kept", "failed", "without"):
        names = getattr(filled, kind)
        if names:
            yield texts(f"gradebook.{kind}", count=len(names), names=", ".join(names))


def write_pack(asked: Asked, texts: Texts) -> None:
    """A pack for a host, with the course file in it, to --output."""
    if asked.pack not in PACKS:
        raise UsageError("pack.unknown", wanted=asked.pack, known=", ".join(PACKS))
    if asked.output is None:
        raise UsageError("pack.no-output")
    extra = {} if asked.course is None else {"course.yaml": read_bytes(asked.course)}
    if asked.course is not None:
        # They lie beside the course file there as here.
        helpers = read_course(asked, texts)[0].terms.helpers
        extra |= {helper.path: helper.source.encode() for helper in helpers}
    write_bytes(asked.output, PACKS[asked.pack](Pack(extra=extra), texts))
    console.note(texts("written", path=asked.output))
