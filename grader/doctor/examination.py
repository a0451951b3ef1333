"""Runs each attack in a worker of its own, by the way that a graded file takes."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.doctor.plants import Plants, plant
from grader.files import read_data
from grader.intake import submit_text
from grader.model import Isolation, Limits
from grader.sandbox.forge import Forge, open_forge
from grader.sandbox.level import lower
from grader.sandbox.session import Session

ATTACKS = Path(__file__).with_name("attacks.yaml")
LIMITS = Limits(load_seconds=3.0, total_seconds=10.0, memory_mib=512)


@dataclass(frozen=True)
class Examination:
    """The lowest level that a worker had, and for each attack whether it was held."""

    isolation: Isolation
    held: Mapping[str, bool]

    @property
    def is_sound(self) -> bool:
        """False where an attack got through that the level promises to hold."""
        return self.isolation.level != "full" or all(self.held.values())


def load_attacks() -> dict[str, str]:
    """Id -> the source of each attack."""
    return dict(read_data(ATTACKS))


def examine(without: Sequence[str] = ()) -> Examination:
    """Run every attack; a zygote of its own is started once the plants are there."""
    held: dict[str, bool] = {}
    isolation: Isolation | None = None
    with plant() as plants:
        forge = open_forge()
        try:
            for name, source in load_attacks().items():
                held[name], seen = _attack(forge, plants, source, without)
                isolation = lower(isolation, seen)
        finally:
            forge.close()
    assert isolation is not None
    return Examination(isolation, held)


def _attack(
    forge: Forge, plants: Plants, source: str, without: Sequence[str]
) -> tuple[bool, Isolation]:
    token = secrets.token_hex(8)
    submission = submit_text("attack.py", plants.prefix(token) + source)
    session = Session(forge, submission, LIMITS, without=without)
    session.load()
    session.close()
    return token not in session.printed.text, session.isolation
