"""Which drill a command is about: the one named, the one of this folder, or the only one open."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from grader.drill.folder import marked
from grader.drill.model import FINISHED, Drill
from grader.drill.store import Store
from grader.errors import UsageError


def choose_open(store: Store, named: str | None) -> Drill:
    """The drill a command goes on with; raises UsageError where it is not clear, or none is."""
    found = named_or_here(store, named)
    if found is not None:
        return found
    drills = store.open_drills()
    if not drills:
        raise UsageError("drill.none-open")
    if len(drills) > 1:
        raise UsageError("drill.several-open", drills=_list(drills))
    return drills[0]


def choose_finished(store: Store, named: str | None) -> Drill:
    """The drill whose questions are asked: if none is named, the one that was finished last."""
    found = named_or_here(store, named)
    if found is not None:
        return found
    ended = [event.drill for event in store.events() if event.what == FINISHED]
    if not ended:
        raise UsageError("drill.none-finished")
    last = store.drill(ended[-1])
    assert last is not None
    return last


def named_or_here(store: Store, named: str | None) -> Drill | None:
    """The drill of this id, else of the folder one is in; raises UsageError for an unknown id.

    If that folder was moved since, it is there from now on.
    """
    try:
        here = Path.cwd()
    except OSError:
        # The folder one is in is gone: it is no drill's.
        here = Path()
    name = named or marked(here)
    if name is None:
        return None
    found = store.drill(name)
    if found is None and named is not None:
        drills = store.open_drills()
        if drills:
            raise UsageError("drill.unknown", drill=named, drills=_list(drills))
        raise UsageError("drill.unknown-none", drill=named)
    if found is not None and found.id == marked(here) != marked(Path(found.folder)):
        found = store.move(found, here)
    return found


def _list(drills: Sequence[Drill]) -> str:
    return ", ".join(f"{drill.id} ({drill.folder})" for drill in drills)
