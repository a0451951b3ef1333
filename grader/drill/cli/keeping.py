"""What is kept of a user: looked at, written out, forgotten."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from grader.cli import console
from grader.cli.codes import NOT_PASSED, PASSED
from grader.disk import reaching
from grader.drill.cli.keys import Keys
from grader.drill.history import draw_history, gather_history
from grader.drill.model import FINISHED, Drill, Event
from grader.drill.practice import plan_practice, write_practice
from grader.drill.schedule import schedule
from grader.drill.store import Store
from grader.errors import UsageError
from grader.reports.columns import wrap
from grader.texts import Texts

YES = "yes"
# Of what happened in a drill that is open, what names no mistake.
OPENLY = {"score", "passed", "refusal", "sha256"}


def tell_history(texts: Texts) -> int:
    """The picture of all drills."""
    history = gather_history(Store(), time.time())
    console.show(
        draw_history(history, texts) if history.rows else texts("drill.history.none") + "\n"
    )
    return PASSED


def tell_next(texts: Texts) -> int:
    """What is due."""
    for line in write_practice(plan_practice(Store(), time.time()), texts):
        console.tell(*wrap(line, "", "    "))
    return PASSED


def export(path: Path, texts: Texts) -> int:
    """Everything that is kept, as JSON, into a file that was not there."""
    store = Store()
    drills = store.drills()
    if path.exists():
        raise UsageError("file.exists", path=str(path))
    with (
        reaching(path, "file.not-created"),
        open(path, "x", encoding="utf-8", errors="backslashreplace") as file,
    ):
        json.dump(_gather(store), file, ensure_ascii=False, indent=1)
        file.write("\n")
    console.tell(*wrap(texts("drill.exported", drills=len(drills), path=path), "", "  "))
    return PASSED


def delete(is_sure: bool, texts: Texts) -> int:
    """Forget everything, once that was said to be meant."""
    store = Store()
    if not is_sure:
        console.tell(*wrap(texts("drill.delete.ask", drills=len(store.drills())), "", ""))
        is_sure = (Keys().line() or "").strip().lower() == YES
    if is_sure:
        store.erase()
    console.tell(texts("drill.deleted" if is_sure else "drill.not-deleted"))
    return PASSED if is_sure else NOT_PASSED


def _gather(store: Store) -> dict[str, Any]:
    events = store.events()
    drills = [
        _write_drill(drill, [event for event in events if event.drill == drill.id])
        for drill in store.drills()
    ]
    return {
        "drills": drills,
        "elsewhere": [_plain(event) for event in events if not event.drill],
        "cards": [asdict(card) for card in schedule(events)],
    }


def _write_drill(drill: Drill, events: Sequence[Event]) -> dict[str, Any]:
    """A drill and its events; what is wrong in an open one is for its candidate to find."""
    if not any(event.what == FINISHED for event in events):
        drill = replace(drill, plan={})
        events = [replace(e, data={k: e.data[k] for k in OPENLY & e.data.keys()}) for e in events]
    return asdict(drill) | {"events": [*map(_plain, events)]}


def _plain(event: Event) -> dict[str, Any]:
    return {"at": event.at, "what": event.what, **event.data}
