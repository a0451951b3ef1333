"""What follows from the facts of a drill: the review, the schedule, the history."""

import re

import pytest
from drills import START, Clock, sit_down

from grader.drill.cli.words import write_review as tell_review
from grader.drill.facts import Facts
from grader.drill.history import draw_history, gather_history
from grader.drill.model import REVIEWED, Event
from grader.drill.practice import DueQuestions, choose_due, plan_practice, write_practice
from grader.drill.review import recommend, write_review
from grader.drill.schedule import rate, schedule
from grader.drill.store import Store
from grader.errors import UsageError
from grader.texts import load_texts

DAY = 86400.0
SELF = "self-attention"
FULL = {"shapes": 1.0, "state": 1.0, "scaling": 1.0, "mixed-precision": 1.0}


def facts(**changed):
    known = {
        "kind": "implement",
        "exercise": "self-attention",
        "minutes": 25.0,
        "spent": 900.0,
        "saves": 3,
        "score": 100.0,
        "best": 100.0,
        "score_in_time": 100.0,
        "passed": True,
        "passed_after": 800.0,
        "shares": FULL,
        "hints": {},
        "looked_up": 0,
        "made": (),
        "mended": (),
        "left": (),
        "setbacks": 0,
    }
    return Facts(**known | changed)


def grades(review):
    return {mark.what: mark.grade for mark in review.marks}


@pytest.fixture
def store(tmp_path):
    opened = Store(tmp_path / "data")
    yield opened
    opened.close()


def test_all_right_in_time_alone_is_a_strong_yes():
    review = write_review(facts())
    assert set(grades(review).values()) == {3}
    assert review.recommendation == "strong-yes"
    assert review.reason.key == "drill.reason.nothing"


@pytest.mark.parametrize(
    ("changed", "what", "grade"),
    [
        ({"passed": False, "score": 99.5}, "correctness", 2),
        ({"passed": False, "score": 60.0}, "correctness", 1),
        ({"passed": False, "score": 59.0}, "correctness", 0),
        ({"passed_after": 1400.0}, "time", 2),
        ({"passed_after": 1600.0, "score_in_time": 10.0}, "time", 1),
        ({"passed": False, "passed_after": None, "score_in_time": 80.0}, "time", 1),
        ({"passed": False, "passed_after": None, "score_in_time": 70.0}, "time", 0),
        ({"shares": FULL | {"shapes": 0.7}}, "edges", 2),
        ({"shares": FULL | {"shapes": 0.1, "state": 0.0}}, "edges", 0),
        ({"shares": FULL | {"scaling": 0.2}}, "care", 1),
        ({"hints": {"hint": 2}}, "independence", 2),
        ({"hints": {"hint": 3}}, "independence", 1),
        ({"hints": {"hint": 1, "pointer": 1}}, "independence", 1),
        ({"looked_up": 1}, "independence", 1),
        ({"hints": {"hint": 1, "pointer": 1, "fix": 1}}, "independence", 0),
    ],
)
def test_rubric(changed, what, grade):
    review = write_review(facts(**changed))
    assert grades(review)[what] == grade


def test_areas_that_were_not_judged_have_no_line():
    assert grades(write_review(facts(shares={}))).keys() == {
        "correctness",
        "time",
        "independence",
    }


@pytest.mark.parametrize(
    ("marks", "verdict"),
    [
        ((3, 3, 3), "strong-yes"),
        ((3, 2, 3), "strong-yes"),
        ((3, 2, 2), "yes"),
        ((2, 3, 3), "yes"),
        ((3, 3, 0), "lean-no"),
        ((1, 3, 3), "lean-no"),
        ((0, 0, 3), "no"),
    ],
)
def test_recommendation(marks, verdict):
    assert recommend(dict(zip(("correctness", "time", "independence"), marks))) == verdict


def test_reason_is_what_held_it_back_most():
    review = write_review(facts(hints={"fix": 1}, passed_after=1400.0))
    assert review.recommendation == "lean-no"
    assert review.reason.key == "drill.reason.independence"


def test_review_reads_as_an_interviewer_would_write():
    done = facts(
        passed=False,
        passed_after=None,
        score=91.5,
        score_in_time=85.0,
        spent=1605.0,
        hints={"hint": 1},
        made=("missing-scale", "nan-dead-rows"),
        mended=("missing-scale",),
        left=("nan-dead-rows",),
        setbacks=1,
        shares=FULL | {"state": 0.75},
    )
    assert "\n".join(tell_review(write_review(done), load_texts("en"))) == (
        """What an interviewer would write

  Score 91.5 of 100 in 26:45, with 25 minutes given. Hints: 1.
  * Correctness: close to complete, 91.5 of 100; what is missing is a detail, not the idea.
  * Time: not complete within 25 minutes; the score then was 85, and 26:45 were used in all.
  * Edge cases: most are handled. Points lost: state and parameters.
  * Masks and precision: all right in the finished file, in every dtype.
  * Independence: needed a nudge or two (hints: 1) and went on alone from there.
  * Mistakes made and mended on the way: missing-scale.
  * Mistakes still in the file: nan-dead-rows.
  * Saves that made it worse than the one before: 1.

  Recommendation: yes. What weighs most is the time it took.
"""
    )


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_mark_has_a_sentence(language):
    sentences = load_texts(language).sentences
    assert all(f"drill.review.time.{how}" in sentences for how in (3, 2, "late", "over", "early"))
    for what in ("correctness", "edges", "care", "independence"):
        assert all(f"drill.review.{what}.{grade}" in sentences for grade in range(4))
        assert f"drill.reason.{what}" in sentences


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({}, "Time: all right after 13:20, well inside the 25 minutes."),
        ({"passed_after": 1200.0}, "Time: all right after 20:00 of 25 minutes."),
        (
            {"passed_after": 1600.0, "spent": 1700.0, "score_in_time": 70.0},
            "Time: all right after 26:40, with 25 minutes given; when they were up the score was "
            "70.",
        ),
        (
            {"passed": False, "passed_after": None, "spent": 1700.0, "score_in_time": 70.0},
            "Time: not complete within 25 minutes; the score then was 70, and 28:20 were used in "
            "all.",
        ),
        (
            {"passed": False, "passed_after": None, "spent": 128.0, "score": 88.97},
            "Time: finished at 2:08 of 25 minutes with 88.97 of 100; not everything was right.",
        ),
    ],
)
def test_time_is_told_as_it_was(changed, sentence):
    said = {mark.what: mark.said for mark in write_review(facts(**changed)).marks}
    assert load_texts("en").say(said["time"]) == sentence


@pytest.mark.parametrize(
    ("language", "sentence"),
    [
        ("en", "Edge cases: most are handled. Points lost: all-masked rows, dropout."),
        ("zh", "边界情况：大多处理正确，失分在全 mask 行、dropout。"),
    ],
)
def test_areas_that_lost_points_are_named_the_worst_first(language, sentence):
    shares = dict.fromkeys(("divisibility", "shapes", "state", "non-contiguous"), 1.0)
    shares |= {"dropout": 0.9, "all-masked-rows": 0.0}
    said = {mark.what: mark.said for mark in write_review(facts(shares=shares)).marks}
    assert load_texts(language).say(said["edges"]) == sentence


@pytest.mark.parametrize(
    ("changed", "rating"),
    [
        ({"passed_after": 700.0}, 4),
        ({"passed_after": 800.0}, 3),
        ({"hints": {"hint": 1}}, 2),
        ({"passed_after": 1600.0}, 2),
        ({"passed": False}, 1),
    ],
)
def test_exercise_is_rated_by_time_and_help(changed, rating):
    assert dict(rate(facts(**changed), ()))["exercise:self-attention"] == rating


def test_mistakes_are_rated_by_what_became_of_them():
    known = ("mistake:double-softmax", "mistake:missing-scale", "question:why-scale")
    rated = dict(rate(facts(made=("missing-scale",), mended=("missing-scale",)), known))
    assert rated.pop("exercise:self-attention") == 3
    assert rated == {"mistake:missing-scale": 3, "mistake:double-softmax": 3}
    left = facts(made=("missing-scale",), left=("missing-scale",), passed=False)
    assert dict(rate(left, known)) == {"exercise:self-attention": 1, "mistake:missing-scale": 1}


def review_events(*pairs, key="exercise:self-attention"):
    return [Event("d", START + d * DAY, REVIEWED, {"key": key, "rating": r}) for d, r in pairs]


def test_schedule_is_of_days_and_grows_with_success():
    def days(*pairs):
        (card,) = schedule(review_events(*pairs))
        return round((card.at - (START + pairs[-1][0] * DAY)) / DAY)

    assert days((0, 1)) == 1
    assert days((0, 1)) <= days((0, 2)) <= days((0, 3)) < days((0, 4)) == 8
    assert days((0, 3), (2, 3)) > days((0, 3))
    assert days((0, 3), (2, 3), (14, 1)) < days((0, 3), (2, 3))


def test_schedule_repeats_itself():
    events = review_events((0, 3), (3, 2)) + review_events((1, 1), key="mistake:missing-scale")
    assert schedule(events) == schedule(events)
    assert [card.key for card in schedule(events)] == [
        "mistake:missing-scale",
        "exercise:self-attention",
    ]


def test_practice_names_what_is_due_and_what_was_never_tried(store, tmp_path):
    desk = sit_down(store, tmp_path / "one")
    desk.grade("mistake:missing-scale area:state")
    (tmp_path / "one" / "self_attention.py").write_text("mistake:missing-scale area:state")
    desk.finish()
    now = plan_practice(store, START + 60)
    assert now.due == ()
    assert now.untried == ("causal-self-attention", "cross-attention")
    then = plan_practice(store, START + 2 * DAY)
    assert [card.key for card in then.due] == [
        "exercise:self-attention",
        "mistake:missing-scale",
    ]
    assert write_practice(then, load_texts("en")) == [
        "Due now",
        "  implement, self-attention: mha-drill start --kind implement --exercise self-attention",
        "  the mistake missing-scale (the scores are not divided by the square root of the head "
        "size): mha-drill start --due",
        "Not tried yet: mha-drill start --exercise causal-self-attention",
        "Not tried yet: mha-drill start --exercise cross-attention",
        "Another kind, not tried yet (find the bugs): mha-drill start --kind bugs",
        "Another kind, not tried yet (shapes): mha-drill start --kind shapes",
        "Another kind, not tried yet (explain): mha-drill start --kind explain",
    ]


def test_due_mistake_is_practised_where_it_was_made(store, tmp_path):
    for number, exercise in enumerate(("cross-attention", "self-attention")):
        desk = sit_down(store, tmp_path / str(number), exercise=exercise)
        desk.grade("mistake:missing-scale" if number == 0 else "fine")
    key = "mistake:missing-scale"
    store.note([Event("", START, REVIEWED, {"key": key, "rating": 1})])
    assert choose_due(store, START + 2 * DAY) == ("implement", "cross-attention")
    assert choose_due(store, START) == ("implement", "causal-self-attention")
    store.note(review_events((0, 1), key="exercise:shapes/self-attention"))
    store.note(review_events((0, 4), key="mistake:missing-scale"))
    assert choose_due(store, START + 2 * DAY) == ("shapes", "self-attention")


def test_where_only_questions_are_due_no_drill_is_begun(store):
    for name in ("self-attention", "causal-self-attention", "cross-attention"):
        store.note(review_events((0, 4), key=f"exercise:{name}"))
    with pytest.raises(UsageError) as caught:
        choose_due(store, START + DAY)
    assert caught.value.message.key == "drill.due.nothing"
    store.note(review_events((0, 1), key="question:why-scale"))
    with pytest.raises(UsageError) as caught:
        choose_due(store, START + 2 * DAY)
    assert caught.value.message.key == "drill.due.questions"


def test_due_questions_are_asked_and_marked(store):
    store.note(review_events((0, 1), key="question:why-scale"))
    clock = Clock(START + 2 * DAY)
    asker = DueQuestions(store, load_texts("en"), clock)
    assert asker.ask().question.id == "why-scale"
    assert asker.answer("so that the variance of the dot product is 1").question == "why-scale"
    asker.mark(3)
    assert asker.ask() is None
    assert DueQuestions(store, load_texts("en"), clock).ask() is None


def test_history_draws_scores_and_fates_of_mistakes(store, tmp_path):
    """The third is open: its score is shown, and what is wrong in it is not."""
    texts = ("mistake:missing-scale", "mistake:double-softmax area:state", "mistake:mask-inverted")
    clock = Clock()
    for number, text in enumerate(texts):
        desk = sit_down(store, tmp_path / str(number), clock, minutes=10)
        if number == 1:
            desk.grade("mistake:missing-scale")
            desk.hint()
        clock.now += 90 if number else 700
        desk.grade(text)
        (tmp_path / str(number) / "self_attention.py").write_text(text)
        if number < 2:
            desk.finish()
    drawn = draw_history(gather_history(store, clock.now), load_texts("en"))
    dates = [line[2:12] for line in drawn.splitlines()[1:4]]
    assert drawn.replace(dates[0], "DATE") == (
        """Scores over time, out of 100
  DATE  implement, self-attention  ################....     80  11:40, over time
  DATE  implement, self-attention  ##############......     70  1:30, hints 1
  DATE  implement, self-attention  ################....     80  still open

Mistakes of your own in the drills where code is written, from the first to the last (x left in
  the file, o made and mended, . not made)
  missing-scale   xo
  double-softmax  .x
"""
    )


def test_history_takes_no_planted_mistake_and_no_sheet_for_ones_own(store, tmp_path):
    """A sheet, a talk and planted bugs between two drills with a mistake."""
    for number, kind in enumerate(("implement", "shapes", "explain", "bugs", "implement")):
        folder = tmp_path / str(number)
        desk = sit_down(store, folder, Clock(START + number), kind=kind, exercise=SELF)
        if kind == "implement":
            (folder / "self_attention.py").write_text("mistake:missing-scale")
        if kind == "bugs":
            (folder / "self_attention.py").unlink()
        desk.finish()
    history = gather_history(store, START)
    planted = history.rows[3].facts.left
    assert planted
    assert (history.mistakes, history.fate("missing-scale")) == (("missing-scale",), "x.x")
    drawn = draw_history(history, load_texts("en"))
    assert re.search(rf"find the bugs, {SELF} .* 0:00, found 0 of {len(planted)}\n", drawn)


def test_marking_oneself_down_is_no_setback(store, tmp_path):
    desk = sit_down(store, tmp_path / "talk", kind="explain", exercise=SELF)
    desk.grade("q times k transposed gives scores of shape [B, H, L, L].")
    desk.mark_points([])
    assert desk.finish().facts.setbacks == 0
