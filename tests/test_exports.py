"""Exports of a batch: their snapshots, and what readers that nobody here wrote make of them."""

import csv
import io
import json
import weakref
from dataclasses import replace
from xml.etree import ElementTree as ET

import junitparser
import pytest
from pages import read_page
from samples import (
    AT,
    BATCH,
    ENGLISH,
    OURS,
    REFUSED_ONE,
    RIGHT,
    RIGHT_ONE,
    WRONG,
    WRONG_ONE,
    check_snapshot,
    evil,
)
from test_reports import FREE_SAMPLE, RAISED

from grader.exports import EXPORTS
from grader.model import Message, Outcome, Submission, Verdict
from grader.model.report import UNJUDGED
from grader.reports import FORMATS, PLAIN
from grader.texts import load_texts


def render(name, graded=BATCH, texts=ENGLISH, view=PLAIN):
    return "".join(EXPORTS[name](graded, texts, view))


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("name", EXPORTS)
def test_export_matches_its_snapshot(name, language):
    check_snapshot(f"export-{name}.{language}.txt", render(name, texts=load_texts(language)))


def test_nothing_to_export_is_no_error():
    assert render("array", []) == "[]\n"
    assert render("jsonl", []) == ""
    header = "student,name,attempt,at,file,exercise,score,max_score,passed,refusal,errors,unjudged"
    assert render("csv", []) == header + ",flags,mistakes\n"
    assert read_junit([]).tests == 0


class Stored:
    """A batch that makes its submissions as they are asked for, and knows how many are held."""

    def __init__(self):
        self.held = []

    def __len__(self):
        return 20

    def __contains__(self, one):
        return False

    def __iter__(self):
        for at in range(len(self)):
            one = replace(WRONG_ONE, student=f"s{at}")
            self.held.append(weakref.ref(one))
            yield one

    def count(self):
        return sum(ref() is not None for ref in self.held)


@pytest.mark.parametrize("name", EXPORTS)
def test_submissions_are_let_go_once_written(name):
    batch, most, text = Stored(), 0, ""
    for piece in EXPORTS[name](batch, ENGLISH, PLAIN):
        text += piece
        most = max(most, batch.count())
    assert "s19" in text
    assert most <= 2


# JSON and JSON Lines


def test_json_is_an_array_of_reports():
    read = json.loads(render("array"))
    assert [one["student"] for one in read] == ["s1", "s2", "s3", "s4"]
    assert read[1]["name"] == "李雷"
    assert (read[1]["attempt"], read[1]["at"]) == (2, AT)
    report = json.loads(FORMATS["json"](WRONG, ENGLISH))
    assert {key: read[1][key] for key in report} == report


def test_each_line_of_jsonl_is_a_submission():
    lines = render("jsonl").splitlines()
    assert [json.loads(line) for line in lines] == json.loads(render("array"))


# CSV


def test_csv_has_a_row_for_each_submission():
    rows = list(csv.DictReader(io.StringIO(render("csv"), newline="")))
    assert [row["student"] for row in rows] == ["s1", "s2", "s3", "s4"]
    assert [row["score"] for row in rows] == ["100.0", "38.89", "0.0", "38.89"]
    assert [row["max_score"] for row in rows] == ["100.0"] * 4
    assert [row["passed"] for row in rows] == ["true", "false", "false", "false"]
    assert [row["refusal"] for row in rows] == ["", "", "load.syntax", ""]
    assert [row["errors"] for row in rows] == ["0", "0", "0", "1"]
    assert [row["mistakes"] for row in rows] == ["", "missing-scale", "", "missing-scale"]
    assert [row["shapes"] for row in rows] == ["4.0", "4.0", "", "4.0"]
    assert [row["scaling"] for row in rows] == ["", "0.0", "", "0.0"]


def test_csv_holds_no_formula():
    (row,) = csv.DictReader(io.StringIO(render("csv", [evil(WRONG_ONE)]), newline=""))
    assert row["student"].startswith("'=1+1\\x00")
    assert not any(cell.startswith(tuple("=+-@\t\r")) for cell in row.values())


def test_csv_says_what_a_person_must_look_at():
    ours = replace(REFUSED_ONE.report, refusal=Message("error.grader", {"type": "E", "text": ""}))
    flagged = replace(WRONG, flags=(("ctypes", 3), ("=1", 4)))
    verdict = replace(WRONG.verdicts[0], message=Message(UNJUDGED), outcome=Outcome.NOT_APPLICABLE)
    unjudged = replace(WRONG, verdicts=(verdict,))
    batch = [replace(WRONG_ONE, report=report) for report in (ours, flagged, unjudged)]
    rows = list(csv.DictReader(io.StringIO(render("csv", batch), newline="")))
    assert [row["errors"] for row in rows] == ["1", "0", "0"]
    assert [row["flags"] for row in rows] == ["", "ctypes =1", ""]
    assert [row["unjudged"] for row in rows] == ["false", "false", "true"]


# JUnit


def read_junit(graded):
    return junitparser.JUnitXml.fromstring(render("junit", graded).encode())


def test_junit_has_a_suite_for_each_submission():
    suites = list(read_junit(BATCH))
    assert [suite.name for suite in suites] == ["s1", "s2 (2)", "s3", "s4"]
    found = [(suite.tests, suite.failures, suite.errors, suite.skipped) for suite in suites]
    assert found == [(1, 0, 0, 0), (6, 2, 1, 1), (1, 0, 1, 0), (7, 2, 2, 1)]
    assert [suite.time for suite in suites] == [1.25] * 4
    assert suites[0].timestamp == AT


def test_junit_sums_up_its_suites():
    root = ET.fromstring(render("junit"))
    assert {key: root.get(key) for key in ("tests", "failures", "errors", "skipped", "time")} == {
        "tests": "15",
        "failures": "4",
        "errors": "4",
        "skipped": "2",
        "time": "5.000",
    }


def test_junit_maps_outcomes():
    cases = {case.name: case for case in next(iter(read_junit([OURS])))}
    kinds = {name: [type(r).__name__ for r in case.result] for name, case in cases.items()}
    assert kinds == {
        "shapes": [],
        "values": ["Failure"],
        "values-wide-heads": ["Failure"],
        "causal-values": [],
        "transposed-storage": ["Error"],
        "strided-slice": ["Skipped"],
        "no-state": ["Error"],
    }
    (failure,) = cases["values"].result
    assert failure.type == "missing-scale"
    assert failure.message.startswith("output (float64): 180 of 180 values differ; worst at")
    assert failure.text.splitlines()[1] == (
        "missing-scale (line 31): the scores are not divided by the square root of the head size"
    )
    assert cases["values"].classname == "self-attention.scaling"


def test_junit_maps_what_is_not_offered_to_skipped():
    suite = next(iter(read_junit([replace(WRONG_ONE, report=FREE_SAMPLE)])))
    assert (suite.tests, suite.failures, suite.errors, suite.skipped) == (6, 1, 0, 4)


def test_trouble_inside_another_sentence_is_an_error():
    message = Message("shape.empty", {"axis": "batch", "inner": RAISED})
    report = replace(RIGHT, verdicts=(Verdict("a", "shapes", Outcome.FAILED, 0, 1, message),))
    suite = next(iter(read_junit([replace(RIGHT_ONE, report=report)])))
    assert (suite.failures, suite.errors) == (0, 1)


def test_junit_keeps_points_as_properties():
    root = ET.fromstring(render("junit", [WRONG_ONE]))
    case = root.find(".//testcase[@name='values']")
    found = {p.get("name"): p.get("value") for p in case.iter("property")}
    assert found == {"points": "0.0", "max_points": "6.0"}
    assert (case.get("file"), case.get("line")) == ("my_solution.py", "31")
    suite = {p.get("name"): p.get("value") for p in root.find("testsuite/properties")}
    assert (suite["score"], suite["student"], suite["seed"]) == ("38.89", "s2", "42")


def test_junit_leaves_out_what_xml_cannot_hold():
    text = render("junit", [evil(WRONG_ONE)])
    root = ET.fromstring(text.encode())
    error = root.find(".//error")
    assert "]]>" in error.text
    assert "<b>&amp;" in error.text
    assert not set(text) & set("\0\x1b\udc80\ud800\ufffe")


# Everywhere


@pytest.mark.parametrize("name", EXPORTS)
@pytest.mark.parametrize("graded", BATCH)
def test_hostile_text_leaves_a_file_readable(name, graded):
    text = render(name, [evil(graded)])
    text.encode()
    if name == "junit":
        assert ET.fromstring(text).find("testsuite") is not None
    elif name == "html":
        assert len(read_page(text).all("article", "report")) == 1
    elif name == "csv":
        assert len(list(csv.reader(io.StringIO(text, newline=""), strict=True))) == 2
    else:
        assert len(text.splitlines()) == {"array": 3, "jsonl": 1}[name]
        json.dumps(json.loads(text), ensure_ascii=False).encode()


def test_broken_file_name_is_written_as_its_code():
    report = replace(WRONG, submission=Submission("a\udc80.py", "", "0" * 64))
    read = json.loads(FORMATS["json"](report, ENGLISH))
    assert read["submission"]["path"] == "a\\udc80.py"
