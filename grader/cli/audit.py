"""`--check-bank`: every known mistake put to the bank."""

from __future__ import annotations

import sys
from pathlib import Path

from grader.audit import audit_exercise, render_audits
from grader.bank import exercise_ids, load_exercise
from grader.cli.codes import NOT_PASSED, PASSED
from grader.cli.console import write
from grader.cli.stubs import check_exercise
from grader.model import Message
from grader.sandbox.forge import open_forge
from grader.texts import Texts


def check_bank(exercise: str | None, seed: int, output: Path | None, texts: Texts) -> int:
    """Every exercise, or the one named, put to the test; 0 when every claim holds."""

    def tell(message: Message) -> None:
        print(texts.say(message), file=sys.stderr, flush=True)

    if exercise is not None:
        check_exercise(exercise)
    exercises = [load_exercise(name) for name in ([exercise] if exercise else exercise_ids())]
    forge = open_forge()
    try:
        audits = [audit_exercise(found, forge, seed, tell) for found in exercises]
    finally:
        forge.close()
    write(render_audits(audits, seed, texts), output, texts)
    return NOT_PASSED if any([*audit.broken()] for audit in audits) else PASSED
