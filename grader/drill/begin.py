"""A new drill: what was wished for, made into a plan, a folder and a running clock."""

from __future__ import annotations

import math
import random
import secrets
import time
from dataclasses import dataclass
from pathlib import Path

from grader.bank import exercise_ids
from grader.disk import reaching
from grader.drill.folder import make_folder, remove_folder
from grader.drill.kinds import KINDS
from grader.drill.model import Drill
from grader.drill.store import Store
from grader.errors import UsageError
from grader.grading import choose_seed
from grader.questions import FIRST_ROUND, LEVELS

# Where nothing is asked for: what the others build on.
FIRST_EXERCISE = "self-attention"
# Without what is easily misread or makes a word.
LETTERS = "bcdfghjkmnpqrstvwxz23456789"
LENGTH = 4
LONGEST_MINUTES = 24 * 60


@dataclass(frozen=True)
class Wish:
    """What was asked for; None is "as the kind has it", an exercise of None the first."""

    kind: str = "implement"
    exercise: str | None = None
    is_random: bool = False
    minutes: float | None = None
    folder: Path | None = None
    level: str = FIRST_ROUND
    seed: int | None = None
    language: str = "en"


def begin(store: Store, wish: Wish, now: float | None = None) -> Drill:
    """Write the folder, then start the clock; raises UsageError for what there is not."""
    check(wish)
    kind = KINDS[wish.kind]
    seed = choose_seed(wish.seed)
    known = exercise_ids()
    first = FIRST_EXERCISE if FIRST_EXERCISE in known else known[0]
    chosen = random.Random(seed).choice(known) if wish.is_random else first
    prepared = kind.prepare(wish.exercise or chosen, seed)
    name = _draw_name(store)
    wanted = wish.folder or Path(f"{prepared.exercise}-{name}")
    with reaching(wanted, "file.not-created"):
        folder = wanted.absolute()
    make_folder(folder, name, prepared)
    drill = Drill(
        id=name,
        kind=wish.kind,
        exercise=prepared.exercise,
        folder=str(folder),
        file=prepared.file,
        seed=seed,
        minutes=kind.minutes if wish.minutes is None else wish.minutes,
        level=wish.level,
        language=wish.language,
        started=time.time() if now is None else now,
        plan=prepared.plan,
    )
    try:
        store.add(drill)
    except UsageError:
        remove_folder(folder, prepared)
        raise
    return drill


def check(wish: Wish) -> None:
    """Refuse what there is not, before anything is written."""
    if wish.kind not in KINDS:
        raise UsageError("drill.kind-unknown", wanted=wish.kind, known=", ".join(KINDS))
    if wish.level not in LEVELS:
        raise UsageError("drill.level-unknown", wanted=wish.level, known=", ".join(LEVELS))
    known = exercise_ids()
    if wish.exercise is not None and wish.exercise not in known:
        raise UsageError("exercise.unknown", wanted=wish.exercise, known=", ".join(known))
    minutes = wish.minutes
    if minutes is not None and not (math.isfinite(minutes) and 0 < minutes <= LONGEST_MINUTES):
        raise UsageError("drill.minutes", minutes=minutes, most=LONGEST_MINUTES)


def _draw_name(store: Store) -> str:
    while True:
        name = "".join(secrets.choice(LETTERS) for _ in range(LENGTH))
        if store.drill(name) is None:
            return name
