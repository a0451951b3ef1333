"""Killed at any moment, a drill has lost nothing that was told."""

import os
import random
import signal
import subprocess
import sys
import time

import pytest
from drills import ROOT

from grader.drill.facts import gather_facts
from grader.drill.model import FINISHED, GRADED, HINTED, REVIEWED
from grader.drill.schedule import schedule
from grader.drill.store import Store

WRITER = """
import sys, time
from pathlib import Path
sys.path[:0] = [{tests!r}, {root!r}]
from drills import sit_down
from grader.drill.store import Store
store = Store(Path({data!r}))
number = len(store.drills())
while True:
    desk = sit_down(store, Path({work!r}) / str(number), clock=time.time)
    print("started", desk.drill.id, flush=True)
    for save in range(3):
        desk.grade(f"mistake:missing-scale area:state {{save}}")
        print("graded", desk.drill.id, flush=True)
        if desk.hint():
            print("hinted", desk.drill.id, flush=True)
    desk.finish()
    print("finished", desk.drill.id, flush=True)
    number += 1
"""


@pytest.mark.every
def test_killed_at_random_moments_nothing_told_is_lost(tmp_path):
    rng = random.Random(7)
    data, told = tmp_path / "data", []
    for _ in range(6):
        fields = {"tests": str(ROOT / "tests"), "root": str(ROOT)}
        code = WRITER.format(**fields, data=str(data), work=str(tmp_path / "work"))
        writer = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
        told.append(writer.stdout.readline())
        time.sleep(rng.uniform(0.0, 0.25))
        os.kill(writer.pid, signal.SIGKILL)
        told += writer.stdout.read().splitlines()
        writer.wait()
        writer.stdout.close()
    check(Store(data), [tuple(line.split()) for line in told if line.count(" ") == 1])


def check(store, told):
    """Every line that was told is in the store, and what is there is whole."""
    for drill in {name for _, name in told}:
        kept = store.drill(drill)
        events = [event.what for event in store.events(drill)]
        said = [what for what, name in told if name == drill]
        assert kept.started > 0
        for what in (GRADED, HINTED, FINISHED):
            assert events.count(what) >= said.count(what)
        # The end and what is rated by it come together or not at all.
        assert (FINISHED in events) == (REVIEWED in events)
        assert gather_facts(kept, store.events(drill), None, kept.started).saves == events.count(
            GRADED
        )
    assert any(what == "finished" for what, _ in told)
    assert {card.key for card in schedule(store.events())} == {
        "exercise:self-attention",
        "mistake:missing-scale",
    }
    store.close()
