"""Results in a file: nothing lost, nothing twice."""

import sqlite3
from dataclasses import replace

import pytest

from grader.course.standing import counted, moved
from grader.course.store import Result, Store
from grader.errors import UsageError
from grader.model import (
    Departure,
    Diagnosis,
    Graded,
    Isolation,
    Message,
    NamedMistake,
    Outcome,
    Printed,
    Report,
    Stride,
    Submission,
    Verdict,
    stored,
)
from grader.model.evidence import Attention, Evidence, Slope

NESTED = Message("mask.form", {"shape": "[2, 3]", "inner": Message("values.differ", {"count": 3})})
REPORT = Report(
    submission=Submission("ada.py", "x = 1", "5e"),
    exercise="self-attention",
    seed=7,
    verdicts=(
        Verdict("values", "scaling", Outcome.FAILED, 1.5, 6.0, NESTED, "missing-scale"),
        Verdict("shapes", "shapes", Outcome.PASSED, 4.0, 4.0),
    ),
    areas={"scaling": 60.0, "shapes": 40.0},
    convention=(Message("convention.class", {"name": "A", "line": 3}),),
    isolation=Isolation("full", ("seccomp",)),
    environment={"torch": "2.13"},
    printed=Printed("hello\n", 6),
    seconds=0.25,
    bank="abc",
    diagnosis=Diagnosis(
        (NamedMistake("missing-scale", 12, ("values",), ("scale-by-head-dim",)),),
        (Departure(12, Message("departure.softmax", {"line": 9}), "values"),),
        (Stride(4, "q", "linear", "[B, L, D]", "q"),),
    ),
    follow_ups=("why-scale",),
    evidence=Evidence(
        ((12, "weights = scores.softmax(-1)"),),
        Attention((((1.0, 0.0),),), (((None, 0.5),),), (((True, False),),), 12),
        (Slope("x", 2.0, None, None), Slope("q.weight", 2.0, 2.5, 0.25)),
        1e-6,
    ),
)


def make(key="ada.py", report=REPORT, student="ada", attempt=1, at="2026-11-30T10:00:00+00:00"):
    return Result(key, Graded(student, report, at, "Ada", attempt), report.submission.sha256, "f1")


def without_source(report):
    return replace(report, submission=replace(report.submission, source=""))


@pytest.mark.parametrize(
    "report",
    [REPORT, replace(REPORT, verdicts=(), refusal=Message("load.syntax", {"line": 3}))],
    ids=["graded", "refused"],
)
def test_report_comes_back_as_it_was(tmp_path, report):
    assert stored.load(stored.dump(report), "x = 1") == report
    with Store(tmp_path / "g.db") as store:
        store.put([make(report=report)])
    with Store(tmp_path / "g.db") as store:
        (found,) = store.results()
    assert found == make(report=without_source(report))


def test_results_of_before_pictures_are_read():
    old = stored.dump(REPORT)
    del old["evidence"]
    old["mistakes"] = [mistake[:3] for mistake in old["mistakes"]]
    found = stored.load(old, "x = 1")
    assert found.evidence is None
    assert found.diagnosis.mistakes == (NamedMistake("missing-scale", 12, ("values",)),)


def test_one_result_a_submission_and_the_last_one_counts(tmp_path):
    better = replace(REPORT, verdicts=REPORT.verdicts[1:])
    with Store(tmp_path / "g.db") as store:
        store.put([make(), make("bo.py", student="bo")])
        store.put([make(report=better)])
        assert [r.key for r in store.results()] == ["ada.py", "bo.py"]
        assert store.known()["ada.py"] == ("5e", "f1")
        assert store.earlier("ada.py", "5e") == without_source(REPORT)
        assert store.earlier("ada.py", "other") is None
        (move,) = moved(store)
    assert (move.result.key, move.before) == ("ada.py", REPORT.score)
    assert move.cases == (("values", 1.5, 0.0),)


def test_what_is_gone_is_put_aside(tmp_path):
    with Store(tmp_path / "g.db") as store:
        store.put([make()])
        store.drop(["ada.py", "never.py"])
        assert list(store.results()) == []
        assert store.earlier("ada.py", "5e") is not None


def test_facts_stay_as_they_were_first(tmp_path):
    with Store(tmp_path / "g.db") as store:
        assert store.fact("seed", "5") == "5"
    with Store(tmp_path / "g.db") as store:
        assert store.fact("seed", "6") == "5"


def test_half_a_step_is_no_step(tmp_path):
    with Store(tmp_path / "g.db") as store:
        unwritable = make("zoe.py", report=replace(REPORT, areas={"x": object()}))
        with pytest.raises(TypeError):
            store.put([make(), unwritable])
        assert list(store.results()) == []
        store.put([make()])
        assert [r.key for r in store.results()] == ["ada.py"]


def test_merge_takes_what_is_newer(tmp_path):
    later = make(report=replace(REPORT, seconds=9.0), at="2026-11-30T11:00:00+00:00")
    with Store(tmp_path / "a.db") as store:
        store.fact("seed", "7")
        store.put([make(), make("bo.py", student="bo")])
    with Store(tmp_path / "b.db") as store:
        store.fact("seed", "7")
        store.put([later])
    with Store(tmp_path / "all.db") as store:
        assert store.merge(tmp_path / "b.db") == 1
        assert store.merge(tmp_path / "a.db") == 1
        assert store.merge(tmp_path / "a.db") == 0
        assert [(r.key, r.graded.report.seconds) for r in store.results()] == [
            ("ada.py", 9.0),
            ("bo.py", 0.25),
        ]


def test_merge_refuses_another_seed(tmp_path):
    for name, seed in (("a.db", "7"), ("b.db", "8")):
        with Store(tmp_path / name) as store:
            store.fact("seed", seed)
    with Store(tmp_path / "a.db") as store, pytest.raises(UsageError) as caught:
        store.merge(tmp_path / "b.db")
    assert caught.value.message.key == "course.merge-seed"


@pytest.mark.parametrize("content", [b"not a database, but long enough to be one" * 40])
def test_file_that_is_none_is_said(tmp_path, content):
    (tmp_path / "g.db").write_bytes(content)
    with pytest.raises(UsageError) as caught:
        Store(tmp_path / "g.db")
    assert caught.value.message.key == "course.results-unusable"
    assert (tmp_path / "g.db").read_bytes() == content


def test_file_of_another_format_is_said(tmp_path):
    Store(tmp_path / "g.db").close()
    connection = sqlite3.connect(tmp_path / "g.db")
    connection.execute("UPDATE facts SET value = '99' WHERE name = 'format'")
    connection.commit()
    connection.close()
    with pytest.raises(UsageError) as caught:
        Store(tmp_path / "g.db")
    assert caught.value.message.key == "course.results-format"


@pytest.mark.parametrize(
    ("keep", "chosen"),
    [("latest", ["a2"]), ("best", ["a1"]), ("all", ["a1", "a2"])],
)
def test_one_of_a_students_files_counts(keep, chosen):
    worse = replace(REPORT, verdicts=REPORT.verdicts[:1])
    with Store() as store:
        store.put([make("a2", worse, attempt=2), make("a1", REPORT, attempt=1)])
        batch = counted(store, keep)
        assert sorted(batch.keys) == chosen
        assert len(batch) == len(list(batch)) == len(list(batch)) == len(chosen)
