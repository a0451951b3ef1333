"""A file graded again: what was asked before is asked ahead, and nothing else is different."""

import threading
import time
from dataclasses import replace

import pytest
from drills import RIGHT, WRONG

from grader.audit.specimens import make_specimen
from grader.bank import load_exercise
from grader.drill.warm import Warm
from grader.errors import LateError
from grader.grading import Request, grade
from grader.intake import submit_text
from grader.model import Outcome
from grader.sandbox.foresight import First

EXERCISE = "self-attention"


@pytest.fixture(scope="module")
def warm():
    opened = Warm(EXERCISE, 5)
    yield opened
    opened.close()


@pytest.fixture
def hits(monkeypatch):
    """Counts the answers that were foreseen."""
    taken = []
    take = First.take

    def counting(self, at):
        found = take(self, at)
        taken.append(at)
        return found

    monkeypatch.setattr(First, "take", counting)
    return taken


def cold(forge, source):
    return plain(grade(submit_text("a.py", source), forge, Request(5, EXERCISE, walked=False)))


def plain(report):
    """A report without what is measured."""
    return replace(report, seconds=0.0, environment={}, isolation=None)


def again(warm, source):
    report = warm.grade(submit_text("a.py", source))
    warm.restock()
    return plain(report)


def broken(mistake):
    return make_specimen(load_exercise(EXERCISE), mistake).source


def test_same_file_is_foreseen_whole(warm, hits):
    again(warm, RIGHT)
    asked = len(again(warm, f"{RIGHT}\n# tidied").verdicts)
    assert asked > 100
    assert len(hits) == len(warm._script.names) > 80


@pytest.mark.parametrize(
    "mistakes",
    [
        pytest.param(("missing-scale", "mask-inverted", "missing-scale"), marks=pytest.mark.every),
        ("softmax-over-queries", "split-without-transpose"),
    ],
)
def test_report_is_that_of_a_cold_grade(warm, forge, hits, mistakes):
    for source in (RIGHT, *map(broken, mistakes), WRONG, RIGHT):
        assert again(warm, source) == cold(forge, source)
    assert hits


def test_file_that_dies_or_raises_is_reported_the_same(warm, forge):
    dying = RIGHT.replace("        scores = ", "        import os; os._exit(3)\n        scores = ")
    raising = RIGHT.replace("        scores = ", "        assert not mask, 'no'\n        scores = ")
    assert dying != RIGHT
    for source in (RIGHT, dying, RIGHT, raising, dying):
        assert again(warm, source) == cold(forge, source)


def test_file_that_does_not_load_is_refused_the_same(warm, forge):
    for source in ("def (", "import nothing_of_that_name", RIGHT, "1 / 0", RIGHT):
        found, wanted = again(warm, source), cold(forge, source)
        assert (found.refusal, found.score) == (wanted.refusal, wanted.score)


def test_what_the_file_imports_late_is_there(warm, forge):
    source = RIGHT.replace("        scores = ", "        import einops\n        scores = ")
    assert source != RIGHT
    again(warm, RIGHT)
    assert again(warm, source).all_passed
    assert cold(forge, source).all_passed


def test_what_a_file_prints_is_counted(warm):
    for _ in range(3):
        report = again(warm, f"{RIGHT}\nprint('hello')\n")
        assert report.printed.text == "hello\n"


def test_file_that_never_ends_can_be_dropped(warm):
    endless = broken("missing-scale").replace(
        "        scores = ", "        while True: pass\n        scores = "
    )
    threading.Timer(0.7, warm.drop).start()
    began = time.monotonic()
    with pytest.raises(LateError) as caught:
        warm.grade(submit_text("a.py", endless))
    assert caught.value.message.key == "drill.dropped"
    assert time.monotonic() - began < 30
    warm.restock()
    assert again(warm, RIGHT).all_passed


@pytest.mark.parametrize("source", ["while True: pass", "forward"])
def test_what_is_dropped_is_not_waited_for(monkeypatch, source):
    terms = load_exercise(EXERCISE)
    hours = replace(terms.limits, load_seconds=1e4, probe_seconds=1e4, total_seconds=1e4)
    monkeypatch.setattr(Warm, "_terms", replace(terms, limits=hours))
    if source == "forward":
        source = RIGHT.replace("        scores = ", "        while True: pass\n        scores = ")
    opened, ended = Warm(EXERCISE, 5), []
    again(opened, RIGHT)

    def grade_it():
        with pytest.raises(LateError) as caught:
            opened.grade(submit_text("a.py", source))
        ended.append(caught.value.message.key)

    thread = threading.Thread(target=grade_it, daemon=True)
    thread.start()
    for _ in range(600):
        thread.join(0.1)
        if not thread.is_alive():
            break
        opened.drop()
    assert ended == ["drill.dropped"]
    opened.close()


def test_lost_zygote_is_begun_again(warm):
    again(warm, RIGHT)
    warm._forge.launched.process.kill()
    warm._forge.launched.process.wait()
    report = again(warm, f"{RIGHT}\n# after")
    outcomes = {verdict.outcome for verdict in report.verdicts}
    assert outcomes <= {Outcome.PASSED, Outcome.ERROR} or report.refusal is not None
    assert again(warm, f"{RIGHT}\n# later").all_passed
