"""Cases that are asked together: one request for many, and nothing else is different."""

import time
from pathlib import Path

import pytest

from grader.bank import ahead
from grader.bank.ahead import Ahead, Posed
from grader.model import Observation, Outcome, Probe, Returned, Status
from grader.sandbox.session import Session

ROOT = Path(__file__).parent.parent
RIGHT = (ROOT / "reference" / "self_attention.py").read_text(encoding="utf-8")
WEIGHTS = {"w": None}


def call(number):
    return Probe("A", (18, 3), weights=WEIGHTS, calls=((number,),), fresh=False)


def answer(probe):
    calls = (Returned("single", ("tensor",), {0: inputs[0]}, {}, ()) for inputs in probe.calls)
    return Observation(Status.OK, returned=tuple(calls))


def look_ahead(*probes):
    return Ahead({str(at): Posed(None, probe) for at, probe in enumerate(probes)})


@pytest.fixture
def asked(monkeypatch):
    """The probes that a graded file is asked."""
    found = []
    run = Session.run

    def noting(self, probe):
        found.append(probe)
        return run(self, probe)

    monkeypatch.setattr(Session, "run", noting)
    return found


def test_one_request_is_made_for_all_of_a_kind():
    probes = [call(number) for number in range(3)]
    other = call(3)._replace(train=True)
    group = look_ahead(*probes, other)
    made = []

    def run(probe):
        made.append(probe)
        return answer(probe)

    seen = [group.answer(probe, run, 0.0) for probe in probes]
    assert [one.returned[0].tensors[0] for one in seen] == [0, 1, 2]
    assert all(len(one.returned) == 1 and one.shared for one in seen)
    assert [probe.calls for probe in made] == [((0,), (1,), (2,))]
    # Asked again, as after a failure, it is asked for itself; so is one of which there is no other.
    assert group.answer(probes[0], run, 0.0) is None
    assert group.answer(other, run, 0.0) is None
    assert len(made) == 1


@pytest.mark.parametrize("status", [status for status in Status if status is not Status.OK])
def test_what_fails_together_is_asked_alone(status):
    probes = [call(number) for number in range(3)]
    group = look_ahead(*probes)
    made = []

    def run(probe):
        made.append(probe)
        return Observation(status)

    assert [group.answer(probe, run, 0.0) for probe in probes] == [None] * 3
    assert len(made) == 1


def test_slow_calls_are_asked_alone():
    probes = [call(number) for number in range(3)]
    group = look_ahead(*probes)
    assert [group.answer(p, answer, ahead.QUICK_SECONDS) for p in probes] == [None] * 3


def test_most_values_of_a_right_file_come_together(grade_source, asked):
    report = grade_source(RIGHT)
    assert report.all_passed
    together = [len(probe.calls) for probe in asked if not probe.fresh and len(probe.calls) > 12]
    assert len(together) == 1
    assert len(asked) < len(report.verdicts)


def test_one_mask_that_is_refused_costs_its_own_cases(grade_source):
    refused = "if mask is not None and mask.shape[0] == 1:\n            raise TypeError('batch')"
    source = RIGHT.replace("q = self.split", f"{refused}\n        q = self.split", 1)
    lost = [v for v in grade_source(source).verdicts if v.outcome is Outcome.FAILED]
    assert {v.message.fields.get("inner", v.message).key for v in lost} == {"trouble.raised"}
    assert 0 < len(lost) < 10


def test_slow_file_is_right_in_its_own_time(grade_source, asked, monkeypatch):
    run = Session.run

    def slow(self, probe):
        seen = run(self, probe)
        time.sleep(0.001 * len(probe.calls))
        return seen

    monkeypatch.setattr(Session, "run", slow)
    monkeypatch.setattr(ahead, "QUICK_SECONDS", 0.001)
    assert grade_source(RIGHT).all_passed
    together = [probe for probe in asked if not probe.fresh and len(probe.calls) > 12]
    assert together == []
