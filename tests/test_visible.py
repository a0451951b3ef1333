"""What students see: nothing of hidden cases but their points, in whatever format."""

import base64
from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pytest
from samples import AT, ENGLISH
from test_reports import FREE_SAMPLE, SAMPLE

from grader.exports import EXPORTS, GRADEBOOKS, HOSTS, Sight, Visibility, for_students
from grader.grading import Request, grade
from grader.intake import read_submission
from grader.model import Departure, Diagnosis, Graded, Message, NamedMistake, Outcome, Verdict
from grader.model.report import UNJUDGED
from grader.questions import load_questions
from grader.reports import FORMATS, PLAIN, View

NOW = datetime(2026, 3, 1, 12, tzinfo=timezone.utc)
SECRET = Message("values.differ", {**SAMPLE.verdicts[1].message.fields, "got": "-7.777"})
FOLLOWED = Message("followed", {"mistake": "causal-one-ahead"})
# Two mistakes: one that visible cases show as well, one that only hidden cases know.
REPORT = replace(
    SAMPLE,
    seed=123454321,
    verdicts=(
        Verdict("one-head", "shapes", Outcome.PASSED, 4.0, 4.0),
        replace(SAMPLE.verdicts[1], case="values"),
        Verdict("values-wide", "scaling", Outcome.FAILED, 0.5, 2.0, SECRET, "missing-scale"),
        Verdict("causal-long", "causal-mask", Outcome.FAILED, 0, 3.0, SECRET, "causal-one-ahead"),
        Verdict("padding", "scaling", Outcome.PASSED, 1.0, 1.0, FOLLOWED),
        Verdict(
            "later", "shapes", Outcome.SKIPPED, 0, 1.0, Message("skipped.after", {"case": "deep"})
        ),
        Verdict("deep", "causal-mask", Outcome.FAILED, 0, 1.0, SECRET),
        Verdict(
            "lost-one",
            "causal-mask",
            Outcome.ERROR,
            0,
            2.0,
            Message("error.grader", {"type": "KeyError", "text": "7.777"}),
        ),
        Verdict("spared", "dropout", Outcome.NOT_APPLICABLE, 0, 1, Message("not-offered.dropout")),
    ),
    areas={"shapes": 5.0, "scaling": 9.0, "causal-mask": 6.0, "dropout": 1.0},
    diagnosis=Diagnosis(
        mistakes=(
            NamedMistake("missing-scale", 777, ("values", "values-wide")),
            NamedMistake("causal-one-ahead", 888, ("causal-long",)),
        ),
        departures=(
            Departure(
                777, Message("departure.unscaled", {"line": 777, "scores": 1}), "values-wide"
            ),
            Departure(
                888,
                Message("departure.unknown", {"line": 888, "operation": "tril"}),
                "causal-long",
            ),
        ),
    ),
    printed=replace(SAMPLE.printed, text="a hidden input: 7.777"),
    follow_ups=tuple(
        name
        for name, question in load_questions("en").items()
        if "mistake:causal-one-ahead" in question.after
    ),
)
CAUSAL = Visibility({"causal-mask": Sight.HIDDEN, "values-wide": Sight.HIDDEN})
ALL_SIGHTS = [
    CAUSAL,
    Visibility({"default": Sight.HIDDEN}),
    Visibility({"default": Sight.NAME_ONLY}),
    Visibility({"scaling": Sight.NAME_ONLY, "default": Sight.AFTER_DEADLINE}),
]


def shown(sights, report=REPORT, deadline=None):
    return for_students(report, Visibility(sights, deadline), NOW)


def cases(report):
    return [verdict.case for verdict in report.verdicts]


def by_case(report):
    return {verdict.case: verdict for verdict in report.verdicts}


def test_seed_is_never_a_students():
    assert for_students(REPORT, Visibility(), NOW) == replace(REPORT, seed=None)
    seen = for_students(SAMPLE, Visibility(), NOW)
    assert "Seed" not in FORMATS["terminal"](seen, ENGLISH)
    assert '"seed": null' in FORMATS["json"](seen, ENGLISH)


def test_hidden_cases_become_one_row():
    seen = for_students(REPORT, CAUSAL, NOW)
    assert cases(seen) == [
        *("one-head", "values", "padding", "later", "spared", "hidden-cases", "hidden-errors")
    ]
    hidden, errors = seen.verdicts[-2:]
    assert (hidden.area, hidden.outcome) == ("hidden", Outcome.FAILED)
    assert (hidden.points, hidden.max_points) == (0.5, 6.0)
    assert ENGLISH.say(hidden.message) == "Cases that are not shown: 3. Not all of them passed."
    assert (errors.outcome, errors.max_points) == (Outcome.ERROR, 2.0)
    assert ENGLISH.say(errors.message) == (
        "Cases that are not shown and on which the grader failed: 1. They cost nothing."
    )


def test_areas_lose_the_points_of_hidden_cases():
    seen = for_students(REPORT, CAUSAL, NOW)
    assert seen.areas == {"shapes": 5.0, "scaling": 7.0, "dropout": 1.0, "hidden": 8.0}
    assert [seen.available(area) for area in seen.areas] == [5.0, 7.0, 0.0, 6.0]


@pytest.mark.parametrize("visibility", ALL_SIGHTS)
@pytest.mark.parametrize("report", [REPORT, SAMPLE, FREE_SAMPLE])
def test_score_stays_what_it_is(report, visibility):
    seen = for_students(report, visibility, NOW)
    assert seen.score == report.score
    assert seen.all_passed == report.all_passed
    assert seen.has_errors == report.has_errors


@pytest.mark.parametrize("visibility", ALL_SIGHTS)
def test_what_passed_still_passes(visibility):
    right = replace(REPORT, verdicts=REPORT.verdicts[:1], diagnosis=Diagnosis())
    assert for_students(right, visibility, NOW).all_passed
    followed = replace(right, verdicts=(REPORT.verdicts[0], REPORT.verdicts[4]))
    assert not followed.all_passed
    assert not for_students(followed, visibility, NOW).all_passed


def test_unjudged_file_stays_unjudged():
    positions = Verdict("far", "shapes", Outcome.NOT_APPLICABLE, 0, 1.0, Message(UNJUDGED))
    report = replace(SAMPLE, verdicts=(SAMPLE.verdicts[0], positions), diagnosis=Diagnosis())
    seen = shown({"far": Sight.HIDDEN}, report)
    assert cases(seen) == ["shapes", "hidden-unjudged"]
    assert seen.is_unjudged
    assert not seen.all_passed
    assert (seen.score, seen.available("hidden")) == (100.0, 0.0)


def test_words_to_look_at_are_the_teachers():
    flagged = replace(REPORT, flags=(("ctypes", 3),))
    assert for_students(flagged, Visibility(), NOW).flags == ()
    assert for_students(flagged, CAUSAL, NOW).flags == ()


def test_hidden_cases_that_passed_say_nothing():
    hidden = shown({"one-head": Sight.HIDDEN}).verdicts[-1]
    assert (hidden.case, hidden.outcome, hidden.message) == ("hidden-cases", Outcome.PASSED, None)


def test_name_only_leaves_outcome_and_points():
    told = by_case(shown({"values": Sight.NAME_ONLY, "one-head": Sight.NAME_ONLY}))
    assert (told["values"].outcome, told["values"].max_points) == (Outcome.FAILED, 6.0)
    assert ENGLISH.say(told["values"].message) == "What happened in this case is not shown."
    assert told["values"].mistake is None
    assert told["one-head"].message is None


def test_words_of_a_course_file_are_sights():
    words = Visibility({"causal-mask": "hidden", "values-wide": "hidden"})
    assert for_students(REPORT, words, NOW) == for_students(REPORT, CAUSAL, NOW)
    with pytest.raises(ValueError, match="'hiden' is not a valid Sight"):
        for_students(REPORT, Visibility({"default": "hiden"}), NOW)


def test_narrower_sight_wins():
    sights = {"values": Sight.VISIBLE, "scaling": Sight.HIDDEN, "default": Sight.NAME_ONLY}
    assert cases(shown(sights)) == [
        *("one-head", "values", "causal-long", "later", "deep", "lost-one", "spared"),
        "hidden-cases",
    ]


@pytest.mark.parametrize(
    ("deadline", "is_shown"),
    [(NOW, True), (NOW - timedelta(1), True), (NOW + timedelta(0, 1), False), (None, False)],
)
def test_case_is_shown_from_the_deadline_on(deadline, is_shown):
    seen = shown({"values": Sight.AFTER_DEADLINE}, deadline=deadline)
    assert ("values" in cases(seen)) == is_shown


def test_diagnosis_is_what_visible_cases_say():
    seen = for_students(REPORT, CAUSAL, NOW)
    assert seen.diagnosis.mistakes == (NamedMistake("missing-scale", None, ("values",)),)
    assert seen.diagnosis.departures == ()
    kept = shown({"causal-mask": Sight.HIDDEN}).diagnosis
    assert kept.mistakes == REPORT.diagnosis.mistakes[:1]
    assert kept.departures == REPORT.diagnosis.departures[:1]


def test_line_that_a_visible_case_names_is_kept():
    raised = replace(REPORT.verdicts[1], message=SAMPLE.verdicts[4].message)
    report = replace(REPORT, verdicts=(raised, *REPORT.verdicts[2:]))
    seen = for_students(report, CAUSAL, NOW)
    assert seen.diagnosis.mistakes == (NamedMistake("missing-scale", 12, ("values",)),)


def test_mistake_of_hidden_cases_is_not_named_where_others_follow_it():
    assert by_case(for_students(REPORT, CAUSAL, NOW))["padding"].message is None
    assert by_case(shown({"values": Sight.HIDDEN}))["padding"].message == FOLLOWED


def test_skipped_case_names_the_row_it_waited_for():
    later = by_case(for_students(REPORT, CAUSAL, NOW))["later"]
    assert ENGLISH.say(later.message) == ("Not judged: it builds on hidden-cases, which failed.")


def test_what_was_printed_goes_with_hidden_cases():
    assert for_students(SAMPLE, Visibility(), NOW).printed == SAMPLE.printed
    assert shown({"values": Sight.NAME_ONLY}, SAMPLE).printed.text == ""


def test_questions_that_only_hidden_cases_led_to_are_left_out():
    questions = load_questions("en")
    scale = next(n for n, q in questions.items() if "mistake:missing-scale" in q.after)
    other = next(n for n, q in questions.items() if "seen:einsum" in q.after)
    report = replace(SAMPLE, follow_ups=(scale, other))
    assert for_students(report, Visibility(), NOW).follow_ups == (scale, other)
    assert shown({"scaling": Sight.HIDDEN}, report).follow_ups == (other,)
    assert shown({"scaling": Sight.NAME_ONLY}, report).follow_ups == (other,)
    # One of the two cases is enough.
    assert shown({"values": Sight.HIDDEN}, report).follow_ups == (scale, other)


def every_export(report):
    """The report in each format there is, base64 laid open."""
    one = Graded("s1", report, AT)
    for view in (PLAIN, View(hints=3, walk=True, answers=True)):
        yield from ((name, write(report, ENGLISH, view)) for name, write in FORMATS.items())
        yield from ((name, "".join(write([one], ENGLISH, view))) for name, write in EXPORTS.items())
        for name, write in HOSTS.items():
            text = write(one, ENGLISH, view)
            _, mark, encoded = text.partition("result=")
            yield name, text + (base64.b64decode(encoded).decode() if mark else "")
    canvas = b"Student,ID,Section,HW (1)\nA,s1,S,\n"
    yield "canvas", GRADEBOOKS["canvas"](canvas, [one], "HW").content.decode()


SECRETS = [
    *("7.777", "123454321", "causal-long", "values-wide", "deep", "lost-one", "777", "888"),
    *("causal-one-ahead", "one position late", "tril", "causal-mask", "causal mask"),
    *REPORT.follow_ups,
]


def test_nothing_hidden_is_in_any_export():
    assert REPORT.follow_ups
    for name, text in every_export(for_students(REPORT, CAUSAL, NOW)):
        assert [secret for secret in SECRETS if secret in text] == [], name


def test_what_is_hidden_is_in_a_teachers_exports():
    """So the test above can fail."""
    text = "".join(text for _, text in every_export(REPORT))
    assert [secret for secret in SECRETS if secret not in text] == []


def test_nothing_hidden_of_a_real_file_is_in_any_export(forge, request):
    path = request.path.parent / "submissions" / "wrong" / "missing_scale.py"
    report = grade(read_submission(path), forge, Request(seed=987654321, pictured=True))
    seen = for_students(report, Visibility({"scaling": Sight.HIDDEN}), NOW)
    hidden = [v for v in report.verdicts if v.area == "scaling" and v.message]
    assert len(hidden) > 2
    secrets = [ENGLISH.say(verdict.message) for verdict in hidden]
    secrets += ["987654321", "missing-scale", "values-batch-of-one", "Line 28"]
    assert seen.score == report.score
    for name, text in every_export(seen):
        # The path names the mistake, and is the student's own.
        text = text.replace("missing_scale.py", "")
        assert [secret for secret in secrets if secret in text] == [], name
