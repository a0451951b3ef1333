"""`%%mha_grade`: runs a cell as any other, then grades the class that it defines."""

from __future__ import annotations

import argparse
import shlex
from typing import Any, NoReturn

from grader.errors import GraderError, UsageError
from grader.jupyter.kernel import Shown, grade_cell
from grader.reports import View
from grader.texts import load_texts, system_language

NAME = "mha_grade"


class Parser(argparse.ArgumentParser):
    """Options of one line; what is wrong with them is said in our words."""

    def error(self, message: str) -> NoReturn:
        """Raise UsageError, where argparse would end the process."""
        known = self.format_usage().partition(NAME)[2]
        raise UsageError("jupyter.options", known=" ".join(known.split()))


def register(shell: Any) -> None:
    """Make the magic known to this kernel."""

    def mha_grade(line: str, cell: str) -> Shown | None:
        return run_cell(shell, line, cell)

    shell.register_magic_function(mha_grade, magic_kind="cell", magic_name=NAME)


def run_cell(shell: Any, line: str, cell: str) -> Shown | None:
    """What is shown below the cell; nothing more where the cell itself has failed."""
    try:
        asked = read_options(line)
        if not shell.run_cell(cell).success:
            return None
        view = View(asked.hints, answers=asked.answers)
        chosen = {"exercise": asked.exercise, "class_name": asked.class_name, "seed": asked.seed}
        return grade_cell(cell, **chosen, view=view)
    except GraderError as error:
        print(load_texts(system_language()).say(error.message))
        return None


def read_options(line: str) -> argparse.Namespace:
    """The options after the name, which are those of `mha-grade`."""
    parser = Parser(prog=NAME, add_help=False, allow_abbrev=False)
    parser.add_argument("--exercise", metavar="ID")
    parser.add_argument("--class", dest="class_name", metavar="NAME")
    parser.add_argument("--seed", type=int, metavar="N")
    parser.add_argument("--hints", type=int, choices=range(4), default=View.hints)
    parser.add_argument("--answers", action="store_true")
    try:
        return parser.parse_args(shlex.split(line))
    except ValueError:
        parser.error("")
