"""What a worker that is held ready does before there is a file: everything, and without a trace."""

import sys

import pytest
import torch

from grader.bank import load_exercise
from grader.sandbox import reserve
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
