"""`grade(MultiHeadAttention)`: a class as the notebook has it now, and what is shown of it."""

from __future__ import annotations

import contextlib
import inspect
import sys
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.calling import header_exercise
from grader.course.work import Lane
from grader.errors import GraderError, UnusableSubmission, UsageError
from grader.grading import Request, choose_seed
from grader.grading import grade as grade_submission
from grader.intake import read_submission, submit_bytes
from grader.jupyter.cells import classes_of, gather
from grader.model import Report, Submission, Terms
from grader.reports import FORMATS, View
from grader.reports.html.element import el
from grader.texts import Texts, load_texts, system_language

# What a submission from the cells is called; no file has this name.
CELLS = "<notebook>"
# One zygote for as long as the kernel runs: torch is imported over there once.
LANE = Lane()


@dataclass(frozen=True, repr=False)
class Shown:
    """A report, and how it is to be shown: as a page in a notebook, as text elsewhere."""

    report: Report
    texts: Texts
    view: View

    def __repr__(self) -> str:
        return FORMATS["terminal"](self.report, self.texts, self.view)

    def _repr_html_(self) -> str:
        """A frame of its own: neither its style nor that of the notebook reaches the other."""
        page = FORMATS["html"](self.report, self.texts, self.view)
        title = self.texts("jupyter.frame")
        size = "width: 100%; height: 44rem; border: 0"
        return el("iframe", srcdoc=page, sandbox="", title=title, style=size)


def grade(
    cls: type,
    *,
    exercise: str | None = None,
    seed: int | None = None,
    hints: int = View.hints,
    answers: bool = False,
    packages: Collection[str] = (),
    lang: str | None = None,
) -> Shown:
    """Grade a class as `mha-grade` grades a file, and show the report.

    The class stands in cells of this notebook, or in a file that was imported. `exercise` is the
    one that it answers; without it a first line `# mha-grade: ID` of its cell or file, else the
    class is judged by its own convention. The other arguments are the command's options. Raises
    ValueError, with the reason in words, for what cannot be graded at all.
    """
    texts = _choose_texts(lang)
    try:
        if not isinstance(cls, type):
            raise UsageError("jupyter.no-class", got=type(cls).__name__)
        submission, header = _find(cls)
        chosen = exercise or header
        request = _request(chosen, cls.__name__, seed, packages)
        return Shown(run(submission, request), texts, View(hints, answers=answers))
    except GraderError as error:
        raise ValueError(texts.say(error.message)) from None


def grade_cell(
    cell: str,
    *,
    exercise: str | None = None,
    class_name: str | None = None,
    seed: int | None = None,
    view: View,
) -> Shown:
    """Grade what a cell defines; raises GraderError."""
    cells = [*read_history(), cell]
    names = [class_name] if class_name else classes_of(cell)
    chosen = exercise or header_exercise(cell)
    request = _request(chosen, class_name, seed, ())
    report = run(_submit(cells, names), request)
    return Shown(report, load_texts(system_language()), view)


def run(submission: Submission, request: Request) -> Report:
    """Grade on this kernel's zygote, which is given up where it was interrupted."""
    try:
        return grade_submission(submission, LANE.open(), request)
    except BaseException:
        LANE.close()
        raise


def read_history() -> list[str]:
    """The cells that this kernel has run, as they were written; none outside of IPython."""
    ipython = sys.modules.get("IPython")
    shell: Any = ipython.get_ipython() if ipython else None
    return [] if shell is None else [str(cell) for cell in shell.history_manager.input_hist_raw]


def _find(cls: type) -> tuple[Submission, str | None]:
    """The source of a class, and the exercise that its first lines name."""
    cells = read_history()
    defining = [cell for cell in cells if cls.__name__ in classes_of(cell)]
    if cls.__module__ == "__main__" and defining:
        return _submit(cells, [cls.__name__]), header_exercise(defining[-1])
    with contextlib.suppress(TypeError, OSError, UnusableSubmission):
        submission = read_submission(Path(inspect.getfile(cls)))
        if cls.__name__ in classes_of(submission.source):
            return submission, None
    raise UsageError("jupyter.no-source", name=cls.__qualname__)


def _submit(cells: Sequence[str], names: Sequence[str]) -> Submission:
    return submit_bytes(CELLS, gather(cells, names).encode())


def _request(
    exercise: str | None, class_name: str | None, seed: int | None, packages: Collection[str]
) -> Request:
    terms = Terms(packages=tuple(packages))
    return Request(choose_seed(seed), exercise, class_name, pictured=True, terms=terms)


def _choose_texts(lang: str | None) -> Texts:
    try:
        return load_texts(lang or system_language())
    except UsageError as error:
        raise ValueError(load_texts("en").say(error.message)) from None
