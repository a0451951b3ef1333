"""The follow-up round of a drill: planned once, challenged, marked, gone on with."""

import pytest
from drills import Clock, Judge, sit_down

from grader.drill.cli.follow_up import hold_round
from grader.drill.desk import Desk
from grader.drill.model import ANSWERED, ASKED, MARKED, REVIEWED
from grader.drill.rounds import LAYERED, SCENARIO, Mark
from grader.drill.store import Store
from grader.errors import UsageError
from grader.questions import load_questions


@pytest.fixture
def desk(tmp_path):
    store = Store(tmp_path / "data")
    opened = sit_down(store, tmp_path / "work", Clock())
    opened.grade("mistake:missing-scale")
    (tmp_path / "work" / "self_attention.py").write_text("mistake:missing-scale")
    yield opened
    store.close()


@pytest.fixture
def follow_up(desk):
    desk.finish()
    return desk.round()


def questions(desk, what):
    return [event.data["question"] for event in desk.events() if event.what == what]


def test_round_begins_once_the_drill_has_ended(desk):
    with pytest.raises(UsageError) as caught:
        desk.round()
    assert caught.value.message.key == "drill.not-finished"


def test_spoken_round_goes_through_all_three_forms(desk, follow_up):
    asked = []
    while (now := follow_up.ask()) is not None:
        asked.append(now)
        follow_up.mark(3)
    (plan,) = [event.data for event in desk.events() if event.what == ASKED]
    forms = [step["form"] for step in plan["steps"]]
    assert forms == [SCENARIO, LAYERED, "direct", "direct"]
    assert len(asked) > len(forms)
    assert questions(desk, MARKED) == [one.question.id for one in asked]
    assert "why-scale" in questions(desk, MARKED)
    with pytest.raises(UsageError) as caught:
        follow_up.mark(3)
    assert caught.value.message.key == "drill.round.over"


def test_another_process_goes_on_with_the_same_round(desk, follow_up):
    first = follow_up.ask()
    follow_up.mark(2)
    again = Desk(desk.store, desk.drill, desk.texts, Judge(), desk.now).round()
    assert again.ask() == follow_up.ask() != first
    assert [e.what for e in desk.events()].count(ASKED) == 1


def test_mark_goes_to_the_schedule(desk, follow_up):
    name = follow_up.ask().question.id
    follow_up.mark(4)
    reviewed = [event.data for event in desk.events() if event.what == REVIEWED]
    assert reviewed[-1] == {"key": f"question:{name}", "rating": 4}


def test_typed_answer_is_kept_and_read(desk, follow_up):
    asked = follow_up.ask()
    suggestion = follow_up.answer("\n".join(asked.question.points))
    assert (suggestion.mark, suggestion.missed) == (Mark.EASY, ())
    assert follow_up.ask() == asked
    (kept,) = [event.data for event in desk.events() if event.what == ANSWERED]
    assert kept["text"] == "\n".join(asked.question.points)


def test_trap_in_a_chain_is_challenged_before_the_points_are_shown(follow_up):
    follow_up.mark(3)
    asked = follow_up.ask()
    trap = load_questions("en")[asked.question.id].trap.split("'")[1]
    challenged = follow_up.answer(trap) is None
    again = follow_up.ask()
    assert challenged
    assert again.question == asked.question
    assert again.said != asked.said
    # Stated again, it is not challenged again.
    assert follow_up.answer(trap).trap
    follow_up.mark(1)
    assert follow_up.ask().question != asked.question


def test_no_mark_is_refused(follow_up):
    for wrong in (0, 5):
        with pytest.raises(UsageError) as caught:
            follow_up.mark(wrong)
        assert caught.value.message.fields == {"wanted": wrong}


def test_questions_are_numbered_and_one_may_be_skipped_without_a_mark(desk, follow_up):
    first = follow_up.ask()
    follow_up.skip()
    second = follow_up.ask()
    assert second.question.id != first.question.id
    assert (first.number, second.number) == (1, 2)
    assert first.count == second.count >= 5
    assert questions(desk, MARKED) == []


def test_who_comes_back_is_told_what_was_asked_before(desk, follow_up):
    follow_up.mark(3)
    asked = follow_up.ask()
    follow_up.mark(3)
    again = Desk(desk.store, desk.drill, desk.texts, Judge(), desk.now).round().ask()
    assert asked.before == ""
    assert again.before == asked.said


def test_mark_may_be_a_word_and_what_is_none_is_said(desk, follow_up, capsys):
    first = follow_up.ask().question.id
    hold_round(follow_up, Typed("", "fine", "Good", "s", "a first line", "q"))
    told = " ".join(capsys.readouterr().out.split())
    assert "fine is no mark: type 1, 2, 3 or 4, or the word beside it." in told
    assert f" 1 of {follow_up.ask().count}. " in told
    assert questions(desk, MARKED) == [first]
    assert [event.data["rating"] for event in desk.events() if event.what == MARKED] == [3]
    assert questions(desk, ANSWERED) == []
    before = follow_up.ask().before
    hold_round(follow_up, Typed("q"))
    told = " ".join(capsys.readouterr().out.split())
    assert f"The question before was: {before}" in told


class Typed:
    """A terminal at which these lines are typed, and something happens before one of them."""

    def __init__(self, *lines, before=None):
        self.lines = list(lines)
        self.before = before

    def line(self):
        if self.before is not None and len(self.lines) == self.before[0]:
            self.before[1]()
        return self.lines.pop(0) if self.lines else None


# Lines that are left when the other terminal gives its mark: before the answer, before the mark.
@pytest.mark.parametrize("left", [3, 1])
def test_what_is_said_to_a_question_counts_for_no_other(desk, follow_up, capsys, left):
    elsewhere = desk.round()
    first = follow_up.ask().question.id
    keys = Typed("mine", "", "4", before=(left, lambda: elsewhere.mark(1)))
    hold_round(follow_up, keys)
    assert questions(desk, MARKED) == [first]
    assert [e.data["rating"] for e in desk.events() if e.what == MARKED] == [1]
    said = " ".join(capsys.readouterr().out.split())
    assert (
        "This question was answered somewhere else meanwhile; nothing of it was kept here." in said
    )
    assert said.endswith(" ".join(follow_up.ask().said.split()))
