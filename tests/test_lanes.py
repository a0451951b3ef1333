"""Tasks side by side: everything comes back once, whatever happens to a lane."""

import os
import time
from concurrent.futures import Executor, Future
from concurrent.futures.process import BrokenProcessPool

import pytest

from grader.course import lanes
from grader.course.lanes import LOST, Local, stream
from grader.course.work import Task, work
from grader.grading import Request
from grader.model import Submission


def tasks(*keys):
    return [Task(key, Submission(key, "", ""), Request(1)) for key in keys]


class Fragile(Executor):
    """Runs at once; breaks for good at a task called "killer"."""

    started = 0

    def __init__(self):
        type(self).started += 1
        self.broken = False

    def submit(self, function, batch):
        future = Future()
        self.broken |= any(task.key == "killer" for task in batch)
        if self.broken:
            future.set_exception(BrokenProcessPool("killed"))
        else:
            future.set_result([(task.key, {"key": task.key}) for task in batch])
        return future


@pytest.mark.parametrize("chunk", [1, 3])
@pytest.mark.parametrize("ahead", [1, 4])
def test_a_killer_costs_itself_alone(ahead, chunk):
    keys = ["a", "b", "killer", "c", "d", "e", "f"]
    done = list(stream(work, tasks(*keys), Fragile, ahead, chunk))
    assert sorted(key for key, _ in done) == sorted(keys)
    assert dict(done)["killer"] == LOST
    assert all(found == {"key": key} for key, found in done if key != "killer")


class Idle(Fragile):
    """Its first one is found broken only when something is asked of it."""

    def submit(self, function, batch):
        if type(self).started == 1:
            raise BrokenProcessPool("killed while idle")
        return super().submit(function, batch)


@pytest.mark.parametrize("keys", ["a", "ab", "abcd"])
def test_lane_that_died_idle_costs_nothing(keys):
    Idle.started = 0
    assert sorted(stream(work, tasks(*keys), Idle, 2)) == [(key, {"key": key}) for key in keys]


def test_lane_killed_once_from_outside_costs_nothing():
    class Once(Fragile):
        started = 0

        def submit(self, function, batch):
            self.broken = type(self).started == 1
            return super().submit(function, batch)

    assert list(stream(work, tasks("a"), Once, 2)) == [("a", {"key": "a"})]


def test_two_killers_are_both_found():
    done = dict(stream(work, tasks("killer", "a", "b"), Fragile, 4))
    assert done == {"killer": LOST, "a": {"key": "a"}, "b": {"key": "b"}}


def test_tasks_are_taken_only_as_they_are_needed():
    taken = []

    def watched():
        for task in tasks(*(str(n) for n in range(50))):
            taken.append(task.key)
            yield task

    found = stream(work, watched(), Fragile, 4)
    next(found)
    assert len(taken) <= 6
    assert len(list(found)) == 49


@pytest.mark.parametrize(
    ("files", "ahead", "sizes"),
    [(50, 2, [4] * 11 + [3, 2, 1]), (9, 5, [2, 2, 1, 1, 1, 1, 1]), (3, 5, [1, 1, 1])],
)
def test_chunks_are_smaller_where_little_is_left(files, ahead, sizes):
    given = []

    class Watched(Fragile):
        def submit(self, function, batch):
            given.append(len(batch))
            return super().submit(function, batch)

    keys = {str(number) for number in range(files)}
    assert {key for key, _ in stream(work, tasks(*keys), Watched, ahead, 4)} == keys
    assert given == sizes


def test_nothing_to_do_is_done():
    assert list(stream(work, [], Fragile, 4)) == []


def test_lanes_end_when_a_batch_is_left(monkeypatch):
    """Left in the middle, the processes are gone at once."""
    import multiprocessing

    monkeypatch.setattr(lanes, "work", sleepy)
    found = Local(2).run(tasks("a", "b", "c", "d"))
    assert next(found)[0] in "abcd"
    pids = [child.pid for child in multiprocessing.active_children()]
    assert pids
    found.close()
    assert not [pid for pid in pids if os.path.exists(f"/proc/{pid}/cmdline")]


def sleepy(batch):
    """Stands for the work of a lane: short for the first task, long for the others."""
    if batch[0].key != "a":
        time.sleep(60)
    return [(task.key, {}) for task in batch]
