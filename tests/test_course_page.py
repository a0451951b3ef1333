"""A course on one page: figures, a list, and each report behind its name."""

import re
from dataclasses import replace

from pages import read_page
from samples import BATCH, ENGLISH, OURS, RIGHT_ONE, WRONG_ONE, evil
from test_html import EVIDENCE, words

from grader.exports import EXPORTS
from grader.model import Diagnosis
from grader.reports import PLAIN
from grader.reports.html.page import style


def page(batch=BATCH):
    return read_page("".join(EXPORTS["html"](batch, ENGLISH, PLAIN)))


def test_list_leads_to_each_report():
    read = page()
    links = [row.one("a") for row in read.one("table", "list").all("tr")[1:]]
    reports = read.all("article", "report")
    assert [link.attrs["href"] for link in links] == ["#s1", "#s2", "#s3", "#s4"]
    assert [report.attrs["id"] for report in reports] == ["s1", "s2", "s3", "s4"]
    assert [words(link) for link in links] == ["Ada Lovelace", "李雷", "s3", "O'Hara, Bea"]
    assert words(reports[1].one("p", "whose")) == "李雷 · s2 (2)"
    back = {report.one("p", "back").one("a").attrs["href"] for report in reports}
    assert back == {"#" + read.one("main").attrs["id"]}


def test_list_says_what_a_teacher_looks_for():
    rows = page().one("table", "list").all("tr")[1:]
    assert [[words(cell) for cell in row.all("td")[1:]] for row in rows] == [
        ["100", "all right"],
        ["38.89", "missing-scale"],
        ["", "not gradable"],
        ["38.89", "grader error, look at it"],
    ]


def test_points_that_no_known_mistake_explains_are_named_by_their_areas():
    report = replace(WRONG_ONE.report, diagnosis=Diagnosis())
    rows = page([replace(WRONG_ONE, report=report)]).one("table", "list").all("tr")[1:]
    assert words(rows[0].all("td")[-1]) == (
        "no known mistake; points lost: "
        "scaling and softmax, non-contiguous inputs, state and parameters"
    )


def test_figures_are_those_of_the_terminal():
    read = page()
    assert words(read.all("header")[0]) == (
        "Course report4 submissions: 3 graded, 1 of them all right"
    )
    histogram = read.one("svg", "histogram")
    assert words(histogram.one("desc")) == (
        "0-10: 0; 10-20: 0; 20-30: 0; 30-40: 2; 40-50: 0; 50-60: 0; 60-70: 0; 70-80: 0; "
        "80-90: 0; 90-100: 0; 100: 1"
    )
    assert [r.attrs["height"] for r in histogram.all("rect")] == ["120", "60"]
    # Below a column stands where it begins; the full score has one of its own.
    assert [words(label) for label in histogram.all("text", "axis")] == [
        *("0", "10", "20", "30", "40", "50", "60", "70", "80", "90", "100")
    ]
    shares = read.one("table", "shares").all("tr")[1:]
    assert [words(row) for row in shares] == [
        *("transposed-storage100% 2 of 2", "values100% 2 of 2", "values-wide-heads100% 2 of 2")
    ]
    # Of those who got so far; the one that passed has no such case.
    mistakes = read.one("table", "mistakes").all("tr")[1:]
    assert [words(row) for row in mistakes] == [
        "missing-scalethe scores are not divided by the square root of the head size2"
    ]


def test_reports_are_whole():
    pictured = replace(WRONG_ONE, report=replace(WRONG_ONE.report, evidence=EVIDENCE))
    (report,) = page([pictured]).all("article", "report")
    assert len(report.all("svg", "heat")) == 7
    assert words(report.one("mark")).startswith("31weights")


def test_one_report_at_a_time_is_shown():
    rules = dict(re.findall(r"^([^{}@\n]+) \{ ([^{}]+) \}$", style(), re.MULTILINE))
    assert rules[".report"] == "display: none;"
    assert rules[".report:target"] == "display: block;"
    assert rules["body:has(.report:target) .overview"] == "display: none;"


def test_ids_are_used_once():
    ids = [node.attrs["id"] for node in page().walk() if "id" in node.attrs]
    assert len(ids) == len(set(ids))


def test_hostile_names_are_text():
    read = page([evil(WRONG_ONE), RIGHT_ONE, OURS])
    assert len(read.all("article", "report")) == 3
    assert read.all("b") != []
    assert "<b>&amp;" in read.one("table", "list").text


def test_nobody_is_no_error():
    read = page([])
    assert words(read.one("h1")) == "Course report"
    assert read.all("svg") == []
