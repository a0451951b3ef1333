"""What a worker that is held ready does before there is a file: everything, and without a trace."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from grader.bank import load_exercise
from grader.course import work
from grader.grading import Request, grade
from grader.sandbox import reserve
from grader.sandbox.forge import open_forge
from grader.sandbox.reserve import Reserve
from grader.worker import between, protocol, ready_made, rehearsal, values
from grader.worker.execute import Submission


@pytest.fixture
def play():
    submission = Submission()
    submission.module = rehearsal
    return submission


def test_every_probe_of_it_is_answered(play):
    for request, blobs in rehearsal.write_requests():
        reply, _ = play.probe(request, blobs)
        assert reply["status"] == "ok", (request, reply)
        assert len(reply["returned"]) == len(request["calls"])


def test_all_kinds_of_probes_are_among_it():
    asked = [request for request, _ in rehearsal.write_requests()]
    kinds = {request.get("between") for request in asked}
    dtypes = {request["dtype"] for request in asked}
    assert kinds == {None, *between.KINDS} - between.RARE
    assert dtypes == {n for n, dtype in values.DTYPES.items() if dtype.is_floating_point}
    assert set().union(*asked) <= {"op", "class", "construct", "dtype", *protocol.PROBE}
    # Others are for files of a kind of their own: configurations, masks of numbers, other devices.
    rare = {"globals", "output", "without_norms", "zeroed", "weights", "moved", "plain_inputs"}
    assert {*protocol.PROBE} - set().union(*asked) == rare | {"recast", "factor"}


def test_nothing_is_left_of_it():
    modules, state = {*sys.modules}, torch.get_rng_state()
    rehearsal.rehearse()
    assert {*sys.modules} == modules
    assert torch.equal(torch.get_rng_state(), state)
    assert ready_made.take(torch.nn.Identity()) == []


def test_workers_that_are_held_ready_have_rehearsed(forge, monkeypatch):
    books = []
    seal = reserve.seal

    def noting(worker, source, limits, book):
        books.append(book)
        return seal(worker, source, limits, book)

    monkeypatch.setattr(reserve, "seal", noting)
    held = Reserve(forge, load_exercise("self-attention").limits)
    held.restock("import torch")
    assert [book.rehearsed for book in books] == [True] * reserve.AHEAD
    held.close()


@pytest.fixture(scope="module")
def rehearsed():
    opened = open_forge(fork=True, rehearsed=True)
    yield opened
    opened.close()


# Of this torch warns once in a process.
WARNS = "\ntorch.ones(1, 2, 3).T\n"


def command_of(zygote):
    process = Path(f"/proc/{zygote.launched.process.pid}")
    assert zygote.environment["torch"]
    # A second thread would be missing in its children.
    assert len([*(process / "task").iterdir()]) == 1
    return (process / "cmdline").read_text().split("\0")[-3]


def test_zygote_that_rehearses_is_replaced_by_another_such(forge, rehearsed):
    assert command_of(forge) == "fork"
    assert command_of(rehearsed) == "rehearsed"
    rehearsed.restart()
    assert command_of(rehearsed) == "rehearsed"


@pytest.mark.parametrize("path", ["right/conv1d_fused.py", "wrong/missing_scale.py"])
@pytest.mark.parametrize("more", ["", WARNS])
def test_reports_are_the_same_after_it(forge, rehearsed, submit, path, more):
    source = (Path(__file__).parent / "submissions" / path).read_text(encoding="utf-8") + more
    usual, other = (grade(submit(source), by, Request(1)) for by in (forge, rehearsed))
    assert replace(usual, seconds=0.0) == replace(other, seconds=0.0)
    assert ("UserWarning" in usual.printed.text) == bool(more)


def test_lanes_of_a_course_have_zygotes_that_rehearse(monkeypatch):
    asked = []
    monkeypatch.setattr(work, "open_forge", lambda **options: asked.append(options))
    work.Lane().open()
    assert asked == [{"rehearsed": True, "stem": None}]
