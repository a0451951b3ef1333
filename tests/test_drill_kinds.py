"""What differs between kinds of drills: the file, what a save comes to, what became of it."""

import pytest
from drills import Clock, sit_down

from grader.drill.cli.words import write_keys
from grader.drill.cli.words import write_review as tell_review
from grader.drill.facts import gather_facts
from grader.drill.folder import file_of
from grader.drill.kinds import KINDS
from grader.drill.model import TALKED
from grader.drill.outlines import outline
from grader.drill.planting import Planted
from grader.drill.review import write_review
from grader.drill.sheets import Sheet
from grader.drill.store import Store
from grader.errors import UsageError
from grader.grading import Request, grade
from grader.texts import load_texts


@pytest.fixture
def store(tmp_path):
    opened = Store(tmp_path / "data")
    yield opened
    opened.close()


@pytest.fixture
def sit(store, tmp_path):
    """A kind of drill -> a desk at one."""

    def sit_at(kind, **wish):
        return sit_down(store, tmp_path / kind, Clock(), kind=kind, **wish)

    return sit_at


def filled(sheet, right):
    """The sheet's text with so many blanks filled in rightly, and the rest with nonsense."""
    lines = sheet.source.split("\n")
    for number, blank in enumerate(sheet.blanks):
        shape = blank.wanted if number < right else "[B]"
        lines[blank.line - 1] = lines[blank.line - 1].replace("____", shape)
    return "\n".join(lines)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("exercise", ["self-attention", "causal-self-attention", "cross-attention"])
def test_every_kind_begins_with_a_file_and_a_task(sit, kind, exercise):
    desk = sit(kind, exercise=exercise)
    assert desk.drill.exercise == exercise
    assert len(desk.task()) > 150
    assert desk.drill.minutes == KINDS[kind].minutes
    assert (desk.read() == "") == (kind == "explain")


def test_same_seed_begins_with_the_same_file(store, tmp_path):
    for kind in ("bugs", "shapes"):
        one, other = (
            sit_down(store, tmp_path / f"{kind}{n}", kind=kind, exercise="self-attention")
            for n in range(2)
        )
        assert one.read() == other.read()


def test_bugs_are_settled_by_what_was_planted(sit, forge):
    desk = sit("bugs", exercise="self-attention")
    planted = Planted.restore(desk.drill.plan)
    assert desk.read() == planted.source
    assert f"This file has bugs, {len(planted.mistakes)} of them" in desk.task()
    request = Request(5, "self-attention", walked=False)
    desk.warm.grade = lambda submission: grade(submission, forge, request)
    desk.grade(planted.source)
    assert set(desk.facts().settled.left) == set(planted.mistakes)
    look = desk.grade(planted.answer)
    assert look.passed
    facts = desk.facts()
    assert (facts.settled.found, facts.settled.left) == (planted.mistakes, ())
    assert facts.mended == planted.mistakes
    assert facts.left == ()


def test_bugs_never_looked_at_are_all_left(sit):
    desk = sit("bugs", exercise="self-attention")
    assert desk.facts().left == Planted.restore(desk.drill.plan).mistakes


def test_sheet_is_marked_at_each_save(sit):
    desk = sit("shapes", exercise="cross-attention")
    sheet = Sheet.restore(desk.drill.plan)
    count = len(sheet.blanks)
    look = desk.grade(filled(sheet, count - 2))
    assert look.score == round(100 * (count - 2) / count, 2)
    assert [trouble.line for trouble in look.troubles] == [b.line for b in sheet.blanks[-2:]]
    assert not look.passed
    last = desk.grade(filled(sheet, count))
    assert (last.score, last.passed, last.troubles) == (100.0, True, ())


def test_hints_about_a_blank_are_its_line_its_axes_its_shape(sit):
    desk = sit("shapes", exercise="self-attention")
    sheet = Sheet.restore(desk.drill.plan)
    look = desk.grade(filled(sheet, len(sheet.blanks) - 1))
    blank = sheet.blanks[-1]
    right = f"Blanks right: {len(sheet.blanks) - 1} of {len(sheet.blanks)}; wrong: 1; empty: 0; "
    right += "not understood: 0."
    assert desk.describe(look) == f"{right} A hint says more about the first."
    axes = blank.wanted.count(",") + 1
    assert [desk.hint().text for _ in range(3)] == [
        f"Look at the blank in line {blank.line}.",
        f"The shape in line {blank.line} has this many axes: {axes}.",
        f"{blank.name} in line {blank.line} is {blank.wanted}.",
    ]
    assert desk.hint() is None
    assert desk.describe(look) == f"{right} The first shows in line {blank.line}."


def test_sheet_says_what_it_does_not_understand_and_at_the_end_what_is_right(sit):
    desk = sit("shapes", exercise="self-attention")
    sheet = Sheet.restore(desk.drill.plan)
    first, second, third = sheet.blanks[:3]
    lines = filled(sheet, len(sheet.blanks)).split("\n")
    for blank, given in ((first, "____"), (second, "[B]"), (third, "what?")):
        comment = lines[blank.line - 1].rpartition("#")[2]
        lines[blank.line - 1] = lines[blank.line - 1].replace(comment, f" shape: {given}")
    text = "\n".join(lines)
    file_of(desk.drill).write_text(text)
    look = desk.grade(text)
    count = len(sheet.blanks)
    assert desk.describe(look) == (
        f"Blanks right: {count - 3} of {count}; wrong: 1; empty: 1; not understood: 1. "
        f"Not understood in line {third.line}: write letters or numbers, such as [B, L, D] or BLD. "
        "A hint says more about the first."
    )
    said = "\n".join(tell_review(desk.finish(), desk.texts))
    assert (
        "  * Blanks that are not right: 3. By line: what was given → what is right.\n"
        f"  * line {first.line}  {first.name}  ____ → {first.wanted}\n"
        f"  * line {second.line}  {second.name}  [B] → {second.wanted}\n"
        f"  * line {third.line}  {third.name}  what? → {third.wanted}\n"
    ) in said


def test_talk_is_marked_by_oneself_and_its_clock_has_stopped_by_then(sit):
    desk = sit("explain", exercise="self-attention")
    desk.now.now += 200
    points = desk.points()
    assert [point.id for point in points] == list(outline("self-attention").points)
    assert {point.made for point in points} == {None}
    desk.now.now += 1000
    assert (desk.standing().left, desk.time_is_up(), desk.standing().is_talked) == (
        40.0,
        False,
        True,
    )
    desk.mark_points([point.id for point in points])
    review = desk.finish()
    assert (review.facts.score, review.facts.spent, review.facts.in_time) == (100.0, 200.0, True)
    assert review.marks[0].said.key == "drill.review.explain.3"
    assert review.recommendation == "strong-yes"


def test_typed_talk_suggests_the_points_it_makes(sit):
    desk = sit("explain", exercise="self-attention")
    page = "q times k transposed gives scores of shape [B, H, L, L]."
    assert 0 < desk.grade(page).score < 100
    file_of(desk.drill).write_text(page)
    made = [point.text for point in desk.points() if point.made]
    assert "The scores have shape [B, H, L, L]." in made


def test_other_drills_have_no_points(sit):
    desk = sit("implement")
    assert desk.points() == ()
    assert not any(event.what == TALKED for event in desk.events())


def test_facts_are_the_same_in_another_process(sit, store):
    desk = sit("shapes", exercise="self-attention")
    desk.grade(desk.read())
    drill = store.drill(desk.drill.id)
    again = gather_facts(drill, store.events(drill.id), desk.look(), desk.now())
    assert again == desk.facts()
    assert write_review(again).recommendation == "no"


def test_unknown_exercise_is_refused_by_every_kind(store, tmp_path):
    for kind in KINDS:
        with pytest.raises(UsageError) as caught:
            sit_down(store, tmp_path / kind, kind=kind, exercise="flash")
        assert caught.value.message.key == "exercise.unknown"


@pytest.mark.parametrize("language", ["en", "zh"])
def test_only_the_stub_is_said_to_have_the_contract(sit, language):
    said = {"en": "The file has the contract in full.", "zh": "完整的约定写在文件里。"}[language]
    tasks = {kind: sit(kind, exercise="self-attention") for kind in KINDS}
    for kind, desk in tasks.items():
        desk.texts = load_texts(language)
        assert (said in desk.task()) == (kind == "implement")


def test_what_to_say_is_told_only_once_it_was_said(sit):
    desk = sit("explain", exercise="self-attention")
    said = "Read the last axis as H groups of Dh"
    assert "0:00-0:25  Fix the sizes first\n\n" in desk.task()
    assert said not in desk.task()
    assert desk.talk() == ()
    desk.points()
    title, *parts = desk.talk()
    assert title == "What one could have said:"
    assert parts[2].startswith("0:")
    assert said in parts[2]
    assert sit("implement").talk() == ()


@pytest.mark.parametrize(
    ("kind", "keys"),
    [
        ("implement", "h hint   r report   t task   f finish   q leave"),
        ("bugs", "h hint   r report   t task   f finish   q leave"),
        ("shapes", "h hint   t task   f finish   q leave"),
        ("explain", "t task   f finish   q leave"),
    ],
)
def test_only_keys_that_there_are_are_offered(sit, kind, keys):
    assert write_keys(sit(kind, exercise="self-attention")) == keys
