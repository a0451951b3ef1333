"""Exports of one submission for a host: their snapshots, held against what each host documents."""

import json
from dataclasses import replace

import pytest
from samples import (
    BATCH,
    ENGLISH,
    OURS,
    REFUSED_ONE,
    WRONG,
    WRONG_ONE,
    check_snapshot,
    decode,
    evil,
)
from test_reports import FREE_SAMPLE, RAISED

from grader import __version__
from grader.exports import HOSTS
from grader.model import Diagnosis, Message, Outcome, Verdict
from grader.reports import FORMATS, PLAIN, View
from grader.texts import Texts, load_texts


def host(name, graded, texts=ENGLISH, view=PLAIN):
    return HOSTS[name](graded, texts, view)


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("name", HOSTS)
def test_host_matches_its_snapshot(name, language):
    texts = load_texts(language)
    made = [host(name, one, texts).rstrip("\n") + "\n" for one in BATCH]
    parts = [f"# {one.student}\n{text}" for one, text in zip(BATCH, made)]
    if name == "classroom":
        parts += [decode(text) + "\n" for text in made]
    check_snapshot(f"export-{name}.{language}.txt", "".join(parts))


# Gradescope

FORMAT = {"text", "html", "simple_format", "md", "ansi"}
SEEN = {"hidden", "after_due_date", "after_published", "visible"}


def read_gradescope(graded, **options):
    """The file, held against what Gradescope's specification allows."""
    read = json.loads(host("gradescope", graded, **options))
    assert set(read) <= {
        *("score", "execution_time", "output", "output_format", "test_output_format"),
        *("test_name_format", "visibility", "stdout_visibility", "extra_data", "tests"),
    }
    assert {read[key] for key in read if key.endswith("_format")} <= FORMAT
    assert {read[key] for key in read if key.endswith("visibility")} <= SEEN
    assert isinstance(read["score"], (int, float))
    for test in read["tests"]:
        assert set(test) <= {"score", "max_score", "status", "name", "output", "tags"}
        assert test.get("status") in {"passed", "failed", None}
        assert all(isinstance(tag, str) for tag in test.get("tags", []))
    return read


def test_gradescope_gets_the_score_and_a_row_for_each_case():
    read = read_gradescope(WRONG_ONE)
    assert read["score"] == 38.89
    assert read["execution_time"] == 1.25
    assert read["output"] == FORMATS["terminal"](replace(WRONG, seed=None), ENGLISH)
    statuses = [test["status"] for test in read["tests"]]
    assert statuses == ["passed", "failed", "failed", "passed", "failed", "failed"]
    assert read["tests"][1]["name"] == "scaling and softmax: values"
    assert (read["tests"][1]["score"], read["tests"][1]["max_score"]) == (0.0, 6.0)


def test_gradescope_shows_every_row_and_no_printed_text():
    read = read_gradescope(OURS)
    assert (read["visibility"], read["stdout_visibility"]) == ("visible", "hidden")
    assert not any("visibility" in test for test in read["tests"])


def test_gradescope_charges_nobody_for_our_errors():
    ours = read_gradescope(OURS)["tests"][-1]
    assert ours["name"] == "state and parameters: no-state"
    assert not {"score", "max_score", "status"} & set(ours)


def test_gradescope_says_why_a_file_is_refused():
    read = read_gradescope(REFUSED_ONE)
    assert read["score"] == 0.0
    assert read["tests"] == [
        {
            "name": "The file cannot be graded",
            "status": "failed",
            "output": "The file is not valid Python (line 3): invalid syntax",
        }
    ]


def test_hints_are_given_as_far_as_asked_for():
    def said(hints):
        return read_gradescope(WRONG_ONE, view=View(hints))["tests"][1]["output"]

    assert [said(hints).count("\n") for hints in range(4)] == [2, 3, 4, 5]
    assert "\nHint: " in said(1)
    assert "\nFix: " not in said(2)


# GitHub Classroom


def read_classroom(graded):
    read = json.loads(decode(host("classroom", graded)))
    assert read["version"] == 1
    assert isinstance(read["max_score"], int)
    for test in read["tests"]:
        assert {"name", "status", "score", "test_code", "filename", "line_no"} <= set(test)
        assert test["status"] in {"pass", "fail", "error"}
        assert isinstance(test["line_no"], int)
    return read


@pytest.mark.parametrize(("graded", "points"), [*zip(BATCH, ["100", "38.89", "0", "38.89"])])
def test_classroom_reads_the_points_from_notices(graded, points):
    assert host("classroom", graded).splitlines()[:2] == [
        f"::notice title=Autograding complete::Points {points}/100",
        f'::notice title=Autograding report::{{"totalPoints":{points},"maxPoints":100}}',
    ]


@pytest.mark.parametrize("graded", [*BATCH, replace(WRONG_ONE, report=FREE_SAMPLE)])
def test_scores_of_a_result_add_up(graded):
    """The reporter's total is the sum of the tests' scores."""
    read = read_classroom(graded)
    total = 0.0
    # Not sum(): from Python 3.12 on it adds more exactly than the reporter does.
    for test in read["tests"]:
        total += test["score"]
    assert total == graded.report.score
    assert read["max_score"] == 100


def test_result_passes_only_where_everything_passed():
    assert [read_classroom(one)["status"] for one in BATCH] == ["pass", "fail", "fail", "error"]
    tests = read_classroom(OURS)["tests"]
    assert [test["status"] for test in tests] == [
        *("pass", "fail", "fail", "pass", "fail", "fail", "error")
    ]
    assert (tests[1]["line_no"], tests[1]["filename"]) == (31, "my_solution.py")


def test_fault_of_ours_with_a_whole_file_is_an_error():
    message = Message("error.grader", {"type": "KeyError", "text": "q"})
    one = replace(REFUSED_ONE, report=replace(REFUSED_ONE.report, refusal=message))
    read = read_classroom(one)
    assert [read["status"], read["tests"][0]["status"]] == ["error", "error"]
    assert "status" not in read_gradescope(one)["tests"][0]


def test_result_of_a_refused_file_says_why():
    read = read_classroom(REFUSED_ONE)
    said = "The file is not valid Python (line 3): invalid syntax"
    assert read["message"] == said
    assert read["tests"][0]["message"] == said
    assert read["tests"][0]["line_no"] == 3


def test_nothing_in_a_result_is_a_command():
    text = host("classroom", evil(WRONG_ONE))
    assert len(text.splitlines()) == 3
    said = [test["message"] for test in read_classroom(evil(WRONG_ONE))["tests"]]
    assert not any("::" in one or "##[" in one or "\n" in one or "\r" in one for one in said)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_result_fits_into_an_environment_variable(language):
    long = Message("trouble.raised", {**RAISED.fields, "text": "乘" * 2000})
    verdicts = [
        Verdict(f"case-{at}", "shapes", Outcome.FAILED, 0, 1, long, "missing-scale")
        for at in range(120)
    ]
    report = replace(WRONG, verdicts=tuple(verdicts))
    text = host("classroom", replace(WRONG_ONE, report=report), load_texts(language))
    assert max(map(len, text.splitlines())) < 128 << 10
    assert len(json.loads(decode(text))["tests"]) == 120


# check50


def read_check50(graded):
    """The object, held against check50's JSON specification."""
    read = json.loads(host("check50", graded))
    assert set(read) in ({"slug", "results", "version"}, {"slug", "error", "version"})
    for result in read.get("results", []):
        assert set(result) == {
            *("name", "description", "passed", "log", "cause", "data", "dependency")
        }
        assert result["passed"] in (True, False, None)
        assert (result["cause"] is None) == (result["passed"] is True)
        assert ("expected" in (result["cause"] or {})) == ("actual" in (result["cause"] or {}))
    return read


def test_check50_has_a_result_for_each_case():
    read = read_check50(OURS)
    assert (read["slug"], read["version"]) == ("mha-grade/self-attention", __version__)
    passed = [result["passed"] for result in read["results"]]
    assert passed == [True, False, False, True, False, None, None]
    causes = {result["name"]: result["cause"] for result in read["results"]}
    assert (causes["values"]["expected"], causes["values"]["actual"]) == ("-6.573", "-8.721")
    assert causes["values"]["help"].startswith("Hint: ")
    assert causes["transposed-storage"]["error"]["type"] == "RuntimeError"
    assert [result["dependency"] for result in read["results"]][5] == "transposed-storage"


def test_check50_run_on_a_refused_file_is_an_error():
    assert read_check50(REFUSED_ONE)["error"] == {
        "type": "load.syntax",
        "value": "The file is not valid Python (line 3): invalid syntax",
        "traceback": [],
        "data": {},
        "actions": {
            "show_traceback": False,
            "message": "The file is not valid Python (line 3): invalid syntax",
        },
    }


# PrairieLearn


def test_prairielearn_has_points_on_every_test():
    read = json.loads(host("prairielearn", OURS))
    assert (read["gradable"], read["score"]) == (True, 0.3889)
    assert [test["name"] for test in read["tests"]] == [v.case for v in WRONG.verdicts]
    assert all({"points", "max_points"} <= set(test) for test in read["tests"])
    assert read["message"].startswith("no-state: The grader failed on this case (KeyError: q).")


def test_prairielearn_takes_no_attempt_for_a_refused_file():
    read = json.loads(host("prairielearn", REFUSED_ONE))
    said = "The file is not valid Python (line 3): invalid syntax"
    assert read == {"gradable": False, "format_errors": [said]}


def test_prairielearn_stays_below_a_megabyte():
    long = Message("trouble.raised", {**RAISED.fields, "text": "乘" * 2000})
    verdicts = tuple(
        Verdict(f"case-{at}", f"area-{at}", Outcome.FAILED, 0, 1, long) for at in range(120)
    )
    areas = dict.fromkeys((v.area for v in verdicts), 1.0)
    texts = Texts("en", {**ENGLISH.sentences, **{f"area.{area}": area for area in areas}})
    report = replace(WRONG, verdicts=verdicts, areas=areas, diagnosis=Diagnosis())
    assert len(host("prairielearn", replace(WRONG_ONE, report=report), texts)) < 1_000_000


# Everywhere


@pytest.mark.parametrize("name", HOSTS)
@pytest.mark.parametrize("graded", BATCH)
def test_hostile_text_leaves_a_file_readable(name, graded):
    text = host(name, evil(graded))
    text.encode()
    read = json.loads(decode(text) if name == "classroom" else text)
    json.dumps(read, ensure_ascii=False).encode()
