"""Lanes whose zygotes are forked from one that has torch; and where there is none, all goes on."""

import os
import signal
import socket
import time
from dataclasses import replace
from pathlib import Path

import pytest

from grader.course import lanes
from grader.course.lanes import Local
from grader.course.work import Task
from grader.errors import ZygoteError
from grader.grading import Request, grade
from grader.intake import submit_text
from grader.model import stored
from grader.sandbox import twins
from grader.sandbox.forge import open_forge
from grader.sandbox.line import Output
from grader.sandbox.twins import Twin, launch_twin, open_stem

ROOT = Path(__file__).parent.parent
RIGHT = (ROOT / "reference" / "self_attention.py").read_text(encoding="utf-8")


@pytest.fixture
def launched(monkeypatch):
    """What is launched to fork twins from, of which there is to be one."""
    begun = []

    def noting(program):
        begun.append(launch(program))
        return begun[-1]

    launch = twins.launch_zygote
    monkeypatch.setattr(twins, "launch_zygote", noting)
    return begun


def parent_of(pid):
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.split("PPid:")[1].split()[0])


def open_twin(stem):
    forge = open_forge(rehearsed=True, stem=stem)
    assert forge.environment["torch"]
    return forge


def ends(pid):
    until = time.monotonic() + 5.0
    while Path(f"/proc/{pid}").exists() and time.monotonic() < until:
        time.sleep(0.01)
    return not Path(f"/proc/{pid}").exists()


def test_lanes_have_twins_of_one_zygote_and_the_same_reports(launched, forge):
    with open_stem(2) as stem:
        one, other = open_twin(stem), open_twin(stem)
        pids = [each.launched.process.pid for each in (one, other)]
        assert [parent_of(pid) for pid in pids] == [launched[0].process.pid] * 2
        assert {*one.environment} == {"python", "torch", "system"}
        reports = [
            grade(submit_text("a.py", RIGHT), each, Request(3)) for each in (one, other, forge)
        ]
        assert len({repr(replace(report, seconds=0.0)) for report in reports}) == 1
        assert reports[0].score == 100.0
        one.close()
        assert ends(pids[0])
        assert not ends_soon(pids[1])
        other.close()
    assert ends(pids[1])
    assert ends(launched[0].process.pid)


def ends_soon(pid):
    time.sleep(0.1)
    return not Path(f"/proc/{pid}").exists()


def test_twin_that_is_killed_gives_way_to_another_twin(launched):
    with open_stem(2) as stem:
        forge = open_twin(stem)
        lost = forge.launched.process.pid
        os.kill(lost, signal.SIGKILL)
        assert ends(lost)
        with pytest.raises(ZygoteError):
            forge.make(Output(0))
        forge.restart()
        worker = forge.make(Output(0))
        assert parent_of(worker.pid) == forge.launched.process.pid
        assert parent_of(forge.launched.process.pid) == launched[0].process.pid
        worker.end()
        forge.close()


def test_twin_that_is_stopped_is_killed():
    with open_stem(2) as stem:
        forge = open_twin(stem)
        twin = forge.launched.process.pid
        os.kill(twin, signal.SIGSTOP)
        forge.close()
        assert ends(twin)


@pytest.mark.parametrize("is_asked_before", [False, True])
def test_without_the_first_zygote_a_lane_has_one_of_its_own(is_asked_before):
    stem, other_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    if not is_asked_before:
        other_end.close()
    forge = open_forge(rehearsed=True, stem=stem)
    other_end.close()
    assert forge.environment["torch"]
    assert not isinstance(forge.launched.process, Twin)
    assert parent_of(forge.launched.process.pid) == os.getpid()
    forge.close()
    stem.close()


def test_twin_that_never_was_is_neither_waited_for_nor_killed():
    stem, other_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with stem, other_end:
        twin = launch_twin(stem)
        assert twin.process.pid == 0
        twin.process.kill()
        twin.process.wait(0.0)
        twin.control.close()


def test_course_imports_torch_once(launched):
    tasks = [Task(str(n), submit_text(f"{n}.py", RIGHT), Request(3)) for n in range(4)]
    done = Local(lanes=2).run(tasks)
    found = dict([next(done)])
    first = launched[0].process.pid
    children = Path(f"/proc/{first}/task/{first}/children").read_text().split()
    assert 1 <= len(children) <= 2
    found.update(done)
    assert sorted(found) == ["0", "1", "2", "3"]
    assert {stored.load(report).score for report in found.values()} == {100.0}
    assert len(launched) == 1
    assert ends(first)


def test_one_lane_needs_no_twin(launched):
    with open_stem(1) as stem:
        assert stem is None
    assert launched == []
    assert lanes.Local(lanes=1).lanes == 1
