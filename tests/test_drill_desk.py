"""A drill at its desk: saves, hints, the clock, the end; and nothing lost between processes."""

import pytest
from drills import RIGHT, START, Clock, Judge, sit_down

from grader.drill import clock as clocks
from grader.drill.begin import Wish, begin
from grader.drill.cli.words import write_look
from grader.drill.desk import Desk
from grader.drill.folder import marked
from grader.drill.model import FINISHED, GRADED, OVERTIME, REVIEWED
from grader.drill.store import Store
from grader.drill.warm import Warm
from grader.errors import UnusableSubmission, UsageError
from grader.texts import load_pages, load_texts


@pytest.fixture
def store(tmp_path):
    opened = Store(tmp_path / "data")
    yield opened
    opened.close()


@pytest.fixture
def desk(store, tmp_path):
    return sit_down(store, tmp_path / "work")


def again(desk, store, clock=None):
    """Another process at the same drill."""
    drill = store.drill(desk.drill.id)
    return Desk(store, drill, desk.texts, Judge(), clock or desk.now)


def test_folder_holds_stub_and_marker(desk, tmp_path):
    stub = (tmp_path / "work" / "self_attention.py").read_text()
    assert stub.startswith("# mha-grade: self-attention\n")
    assert desk.read() == stub
    assert marked(tmp_path / "work") == desk.drill.id


def test_nothing_is_written_over(store, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "self_attention.py").write_text("mine")
    with pytest.raises(UsageError) as caught:
        sit_down(store, tmp_path / "mine")
    assert caught.value.message.key == "drill.folder-taken"
    assert (tmp_path / "mine" / "self_attention.py").read_text() == "mine"
    assert store.drills() == []


@pytest.mark.parametrize(
    ("wish", "key"),
    [
        ({"kind": "sing"}, "drill.kind-unknown"),
        ({"level": "junior"}, "drill.level-unknown"),
        ({"exercise": "flash"}, "exercise.unknown"),
        ({"minutes": 0.0}, "drill.minutes"),
        ({"minutes": float("nan")}, "drill.minutes"),
        ({"minutes": 1e9}, "drill.minutes"),
        ({"seed": -1}, "usage.seed"),
    ],
)
def test_what_there_is_not_is_refused_before_anything_is_written(store, tmp_path, wish, key):
    with pytest.raises(UsageError) as caught:
        begin(store, Wish(folder=tmp_path / "work", **wish))
    assert caught.value.message.key == key
    assert not (tmp_path / "work").exists()


def test_where_no_drill_came_of_it_nothing_is_left_behind(store, tmp_path, monkeypatch):
    monkeypatch.setattr("grader.drill.folder.MARKER", "no/such/folder")
    with pytest.raises(UsageError) as caught:
        sit_down(store, tmp_path / "work")
    assert caught.value.message.key == "file.not-created"
    assert not (tmp_path / "work").exists()
    monkeypatch.undo()
    store._connection.execute("PRAGMA query_only = 1")
    with pytest.raises(UsageError) as caught:
        sit_down(store, tmp_path / "work")
    assert caught.value.message.key == "drill.store-unusable"
    assert not (tmp_path / "work").exists()
    store._connection.execute("PRAGMA query_only = 0")
    assert sit_down(store, tmp_path / "work").read()


@pytest.mark.parametrize(
    ("spoil", "read"),
    [
        ("UPDATE events SET data = '{'", lambda store: store.events()),
        ("UPDATE drills SET plan = 'x'", lambda store: store.drills()),
        ("INSERT INTO latest SELECT id, x'00' FROM drills", lambda s: s.look(s.drills()[0].id)),
    ],
)
def test_row_that_nobody_can_read_is_told_of(spoil, read, store, desk):
    desk.finish()
    store._connection.execute("DELETE FROM latest")
    store._connection.execute(spoil)
    with pytest.raises(UsageError) as caught:
        read(store)
    assert caught.value.message.key == "drill.store-unusable"
    assert caught.value.message.fields["path"] == str(store.path)


def test_random_exercise_follows_from_the_seed(store, tmp_path):
    drawn = [
        begin(store, Wish(folder=tmp_path / f"{n}", seed=n % 4, is_random=True)).exercise
        for n in range(8)
    ]
    assert drawn[:4] == drawn[4:]
    assert len(set(drawn)) > 1


def test_save_is_graded_and_its_change_told(desk):
    first = desk.grade("mistake:missing-scale area:state")
    assert (first.score, first.change, first.passed) == (70.0, None, False)
    assert first.lost == {"scaling": 20.0, "state": 10.0}
    assert [trouble.key for trouble in first.troubles] == ["mistake:missing-scale", "area:state"]
    second = desk.grade("area:state")
    assert (second.score, second.change) == (90.0, 20.0)
    third = desk.grade("all right")
    assert (third.score, third.change, third.passed) == (100.0, 10.0, True)


def test_same_text_is_not_graded_again(desk):
    desk.grade("area:state")
    assert desk.grade("area:state").score == 90.0
    assert desk.warm.graded == ["area:state"]
    assert [event.what for event in desk.events()] == [GRADED]


def test_half_a_file_changes_no_score(desk):
    desk.grade("area:state")
    half = desk.grade("half")
    assert (half.refusal.key, half.change) == ("class.none", None)
    assert desk.grade("fine").change == 10.0


def test_too_big_a_text_is_refused(desk):
    with pytest.raises(UnusableSubmission) as caught:
        desk.grade("x" * (1 << 20))
    assert caught.value.message.key == "file.too-big"


def test_another_process_sees_the_same(desk, store):
    look = desk.grade("mistake:missing-scale")
    other = again(desk, store)
    assert other.look().score == look.score == 80.0
    assert other.look().troubles[0].id == "missing-scale"
    assert other.hint().number == 1
    assert desk.hint().number == 2


def test_hints_are_nudge_pointer_fix_and_counted(desk):
    desk.grade("mistake:missing-scale")
    page = load_pages("en")["missing-scale"]
    hints = [desk.hint() for _ in range(3)]
    assert [(hint.part, hint.number, hint.left) for hint in hints] == [
        ("hint", 1, True),
        ("pointer", 2, True),
        ("fix", 3, False),
    ]
    assert hints[0].text == page["hint"]
    assert hints[1].text == f"{page['pointer']} It shows in line 7."
    assert hints[2].text == (
        "missing-scale (line 7): the scores are not divided by the square root of the head size. "
        + page["fix"]
    )
    assert desk.hint() is None
    assert desk.facts().hints == {"hint": 1, "pointer": 1, "fix": 1}


def test_mistake_is_named_only_after_its_fix_was_asked_for(desk):
    look = desk.grade("mistake:missing-scale")
    said = []
    for _ in range(4):
        said.append(desk.describe(look))
        desk.hint()
    assert said == [
        "Found wrong so far: 1. A hint says more about the first.",
        "Found wrong so far: 1. A hint says more about the first.",
        "Found wrong so far: 1. The first shows in line 7.",
        "Found wrong so far: 1. missing-scale (line 7): the scores are not divided by the square "
        "root of the head size.",
    ]


def test_hint_goes_on_to_the_next_trouble(desk):
    desk.grade("mistake:missing-scale area:state")
    for _ in range(3):
        desk.hint()
    hint = desk.hint()
    assert (hint.about, hint.part) == ("area:state", "hint")
    assert hint.text == (
        "This is about something else. Not everything about this is right: state and parameters. "
        "Think of an input that shows it, and try it."
    )
    assert desk.hint().text == "forward raised E (line 9): boom"
    assert desk.hint() is None


def test_without_trouble_there_is_no_hint(desk):
    assert desk.hint() is None
    desk.grade("fine")
    assert desk.hint() is None


def test_looking_at_the_report_is_noted_until_the_end(desk):
    assert desk.report() is None
    desk.grade("area:state")
    assert desk.report().score == 90.0
    desk.finish()
    desk.report()
    assert desk.facts().looked_up == 1


def test_clock_goes_on_while_nobody_watches(store, tmp_path):
    clock = Clock()
    desk = sit_down(store, tmp_path / "work", clock, minutes=10)
    clock.now = START + 590
    assert again(desk, store).standing().left == 10.0
    clock.now = START + 615.5
    assert desk.standing().left == -15.5


def test_time_is_up_just_once(store, tmp_path):
    clock = Clock()
    desk = sit_down(store, tmp_path / "work", clock, minutes=10)
    assert not desk.time_is_up()
    clock.now = START + 601
    assert [desk.time_is_up(), again(desk, store).time_is_up(), desk.time_is_up()] == [
        True,
        False,
        False,
    ]
    assert [event.what for event in desk.events()] == [OVERTIME]


def test_clock_is_never_before_the_start(desk):
    assert clocks.spent(desk.drill, START - 100) == 0.0
    assert [clocks.write_seconds(seconds) for seconds in (0, 59.9, 61, -75, 6000)] == [
        "0:00",
        "0:59",
        "1:01",
        "1:15",
        "100:00",
    ]


def test_finish_grades_what_is_in_the_file(desk, tmp_path):
    desk.grade("area:state")
    (tmp_path / "work" / "self_attention.py").write_text("fine")
    review = desk.finish()
    assert (review.facts.score, review.facts.passed) == (100.0, True)


def test_finish_without_a_file_counts_the_last_save(desk, tmp_path):
    desk.grade("area:state")
    (tmp_path / "work" / "self_attention.py").unlink()
    assert desk.finish().facts.score == 90.0


def test_finished_drill_is_closed_for_good(desk, store):
    first = desk.finish()
    desk.now.now += 1000
    assert again(desk, store).finish() == first
    for act in (lambda: desk.grade("fine"), desk.hint):
        with pytest.raises(UsageError) as caught:
            act()
        assert caught.value.message.key == "drill.finished"
    assert store.open_drills() == []


def overtaken(desk, store):
    """A desk at the same drill that another one finishes while this one grades."""

    class Slow(Judge):
        def grade(self, submission):
            seen = super().grade(submission)
            self.review = desk.finish()
            return seen

    return Desk(store, store.drill(desk.drill.id), desk.texts, Slow(), desk.now)


def test_a_grade_that_ends_after_the_drill_was_finished_elsewhere_is_not_kept(desk, store):
    slow = overtaken(desk, store)
    with pytest.raises(UsageError) as caught:
        slow.grade("mistake:missing-scale")
    assert caught.value.message.key == "drill.finished"
    assert [e.what for e in slow.events()] == [GRADED, FINISHED, REVIEWED]
    assert slow.look().score == 100
    assert slow.finish() == slow.warm.review


def test_two_that_finish_at_once_write_one_end(desk, store, tmp_path):
    (tmp_path / "work" / "self_attention.py").write_text("area:state")
    slow = overtaken(desk, store)
    assert slow.finish() == slow.warm.review
    assert [e.what for e in slow.events()] == [GRADED, FINISHED, REVIEWED]


def test_overtime_is_nothing_to_a_finished_drill(store, tmp_path):
    clock = Clock()
    desk = sit_down(store, tmp_path / "late", clock)
    desk.finish()
    clock.now += 3600
    assert not desk.time_is_up()
    assert OVERTIME not in [e.what for e in desk.events()]


def test_two_drills_do_not_mix(store, tmp_path):
    one = sit_down(store, tmp_path / "one")
    other = sit_down(store, tmp_path / "other")
    one.grade("mistake:missing-scale")
    other.grade("area:state")
    one.hint()
    assert (one.facts().hint_count, other.facts().hint_count) == (1, 0)
    assert (one.look().score, other.look().score) == (80.0, 90.0)
    one.finish()
    assert [drill.id for drill in store.open_drills()] == [other.drill.id]


def test_finish_rates_exercise_and_mistakes(desk):
    desk.grade("mistake:missing-scale mistake:nan-dead-rows")
    desk.hint()
    desk.grade("mistake:nan-dead-rows")
    desk.finish()
    rated = {e.data["key"]: e.data["rating"] for e in desk.events() if e.what == REVIEWED}
    # The stub is in the file by then, and worth 100 to this judge.
    assert rated == {
        "exercise:self-attention": 2,
        "mistake:missing-scale": 2,
        "mistake:nan-dead-rows": 2,
    }


def test_right_file_gets_full_marks_from_the_sandbox(store, tmp_path):
    from grader.drill.desk import open_desk

    drill = begin(store, Wish(folder=tmp_path / "work", seed=3))
    real = open_desk(store, drill, load_texts("en"))
    try:
        real.warm_up()
        look = real.grade(RIGHT)
        assert (look.score, look.passed) == (100.0, True)
        real.make_ready()
        again = real.grade(RIGHT + "\n")
        assert (again.score, again.change) == (100.0, 0.0)
    finally:
        real.close()


NAME_ERROR = RIGHT.replace("self.split_heads(self.q_proj(x))", "self.split_heads(self.q_proj(y))")


def test_what_keeps_other_cases_from_being_judged_comes_first_and_says_itself(store, tmp_path):
    drill = begin(store, Wish(folder=tmp_path / "w", seed=7))
    desk = Desk(store, drill, load_texts("en"), Warm("self-attention", 7), Clock())
    try:
        unchecked = NAME_ERROR.replace("d_model % num_heads != 0", "False")
        look = desk.grade(unchecked)
    finally:
        desk.close()
    assert [trouble.key for trouble in look.troubles][:2] == [
        "crash:shapes",
        "mistake:divisibility-checked-late",
    ]
    line = unchecked[: unchecked.index("(y)")].count("\n") + 1
    assert " ".join(" ".join(write_look(desk, look)).split()).endswith(
        f"Found wrong so far: {len(look.troubles)}. The first keeps other cases from being judged: "
        f"forward raised NameError (line {line}): name 'y' is not defined"
    )
    assert [desk.hint().text for _ in range(2)] == [
        "Make a small module and call it as the contract says: it stops in the same place. "
        "Look at the names and the shapes that the line uses.",
        "This is about something else. "
        + load_pages("en")["divisibility-checked-late"]["hint"].strip(),
    ]
