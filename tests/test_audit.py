"""The bank put to its own test: mistakes are caught and named, and what does not hold is said."""

from dataclasses import replace

import pytest

from grader.audit import audit_exercise, load_file, make_specimen, render_audits
from grader.audit.claims import Audit
from grader.audit.specimens import read_edits
from grader.bank import exercise_ids, load_exercise
from grader.errors import BankError
from grader.mistakes import OF_EXERCISES, known_for
from grader.model import Isolation, Message, Outcome, Printed, Report, Submission, Verdict
from grader.texts import load_texts

# Under a causal mask that fits no other shape these two raise in every call; and a score of 0 is
# one, whoever put it there.
UNNAMED = {
    ("causal-self-attention", "attention-over-heads"): [],
    ("causal-self-attention", "sequence-first"): [],
    ("self-attention", "mask-multiplied"): ["mask-filled-with-zero"],
    ("causal-self-attention", "mask-multiplied"): ["mask-filled-with-zero"],
    ("cross-attention", "mask-multiplied"): ["mask-filled-with-zero"],
}
EXERCISE = replace(
    load_exercise("self-attention"),
    cases=load_exercise("self-attention").cases[:3],
)


def make_report(*outcomes, mistake=None, refusal=None):
    """A report on the first cases of an exercise; `followed` is passed with that message."""
    verdicts = []
    for case, outcome in zip(EXERCISE.cases, outcomes):
        message = Message("followed", {"mistake": mistake}) if outcome == "followed" else None
        kept = Outcome.PASSED if message else Outcome(outcome)
        points = case.points if kept is Outcome.PASSED else 0.0
        named = mistake if kept is Outcome.FAILED else None
        verdicts.append(Verdict(case.id, case.area, kept, points, case.points, message, named))
    return Report(
        submission=Submission("x.py", "", ""),
        exercise=EXERCISE.id,
        seed=1,
        verdicts=tuple(verdicts),
        areas={},
        convention=(),
        isolation=Isolation("none", ()),
        environment={},
        printed=Printed("", 0),
        seconds=0.0,
        refusal=refusal,
    )


RIGHT = make_report("passed", "passed", "passed")
STUB = make_report("failed", "skipped", "skipped")
GOOD = Audit(
    EXERCISE,
    RIGHT,
    STUB,
    {
        "missing-scale": make_report("passed", "failed", "followed", mistake="missing-scale"),
        "mask-ignored": make_report("passed", "failed", "passed"),
    },
)


@pytest.mark.every
@pytest.mark.parametrize("exercise", exercise_ids())
def test_every_mistake_is_caught_and_named(exercise, forge):
    told = []
    audit = audit_exercise(load_exercise(exercise), forge, 7, told.append)
    assert [*audit.broken()] == []
    assert list(audit.trials) == [m.id for m in known_for(audit.exercise.contract)]
    for mistake in audit.trials:
        assert audit.names(mistake) == UNNAMED.get((exercise, mistake), [mistake])
    assert [m.fields["number"] for m in told] == [*range(1, len(audit.trials) + 3)]
    text = render_audits([audit], 7, load_texts("en"))
    assert "All claims hold" in text
    for case in audit.exercise.cases:
        assert text.count(f"  {case.id}  ") >= 1


def test_every_mistake_has_its_edit():
    assert set(read_edits()) == set(OF_EXERCISES)


@pytest.mark.parametrize("exercise", exercise_ids())
def test_specimens_are_all_different_and_compile(exercise):
    found = load_exercise(exercise)
    sources = [make_specimen(found, m.id).source for m in known_for(found.contract)]
    sources.append(load_file("reference", exercise).source)
    assert len(set(sources)) == len(sources)
    for source in sources:
        compile(source, "specimen.py", "exec")


def test_edit_without_a_place_is_refused():
    with pytest.raises(BankError) as caught:
        make_specimen(load_exercise("self-attention"), "masks-joined-by-or")
    assert load_texts("en").say(caught.value.message) == (
        "specimens.yaml: masks-joined-by-or, self-attention: the model answer has no such text: "
        "visible & padding_mask"
    )


def test_cases_are_known_by_what_they_catch():
    constructs, second, third = EXERCISE.cases
    assert GOOD.caught_by(second) == ["missing-scale", "mask-ignored"]
    assert GOOD.following("missing-scale") == [third.id]
    assert GOOD.idle() == [constructs, third]
    assert GOOD.names("mask-ignored") == []
    assert [*GOOD.broken()] == []


def test_table_says_what_each_case_is_good_for():
    assert render_audits([GOOD], 5, load_texts("en")) == (
        "self-attention: 3 cases, 2 known mistakes\n\n"
        "  The model answer scores 100.\n"
        "  The stub scores 0.\n\n"
        "Each mistake, made in the model answer\n"
        "  missing-scale   60.00 points; cases that fail:  1, that follow it:  1\n"
        "  mask-ignored    60.00 points; cases that fail:  1, that follow it:  0\n\n"
        "Cases, and the mistakes that they catch\n"
        "  indivisible-10-by-4   2: missing-scale, mask-ignored\n\n"
        "Mistakes that only one case catches (2)\n"
        "  missing-scale  indivisible-10-by-4\n"
        "  mask-ignored   indivisible-10-by-4\n\n"
        "Mistakes that are caught but not called by their name (1)\n"
        "  mask-ignored  no name\n\n"
        "Cases that catch none of these mistakes (2), and what they are there for\n"
        "  constructs           a constructor that raises, hangs or is not written yet\n"
        "  indivisible-12-by-8  a check that lets pass what a later view happens to swallow\n\n"
        "All claims hold: model answers score 100, stubs score 0, and every mistake fails a case.\n"
        "\nSeed 5; the same seed repeats this run: --check-bank --seed 5\n"
    )


REFUSED = make_report(refusal=Message("load.unreadable"))
BROKEN = {
    "answer": ({"answer": STUB}, "the model answer scores 0; expected 100"),
    "stub": ({"stub": RIGHT}, "the stub scores 100; expected 0."),
    "uncaught": ({"trials": {"mask-ignored": RIGHT}}, "no case fails for the mistake mask-ignored"),
    "refused": (
        {"trials": {"mask-ignored": REFUSED}},
        "mask-ignored cannot be graded: The process",
    ),
    "error": ({"stub": make_report("failed", "error")}, "failed on a case of exercises."),
}


@pytest.mark.parametrize("name", BROKEN)
def test_claim_that_does_not_hold_is_said(name):
    changes, sentence = BROKEN[name]
    audit = replace(GOOD, **changes)
    assert len([*audit.broken()]) == 1
    said = " ".join(render_audits([audit], 1, load_texts("en")).split())
    assert "Claims that do not hold * self-attention: " in said
    assert sentence in said
    assert "All claims hold" not in said


def test_chinese_table_has_no_english_sentence():
    text = render_audits([GOOD], 5, load_texts("zh"))
    for word in ("scores", "follow it", "catch", "claims", "repeats"):
        assert word not in text.replace("a check that lets pass", "")
