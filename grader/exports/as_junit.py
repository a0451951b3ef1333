"""JUnit XML: a test suite for each submission, for CI servers and IDEs.

There is no official schema; this is what pytest's xunit1 family and its readers agree on. A wrong
value is a `failure`; what did not come back (an exception, a time limit, a death), a file that
cannot be graded and the grader's own faults are an `error`; what was not reached is `skipped`.
"""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree as ET

from grader.exports.escape import for_xml
from grader.exports.rows import Row, file_of, is_trouble, name_of, rows
from grader.model import Graded, Message, Outcome, Report
from grader.reports.view import PLAIN, View
from grader.texts import Texts

COUNTED = {"failure": "failures", "error": "errors", "skipped": "skipped"}


def render(graded: Sequence[Graded], texts: Texts, view: View = PLAIN) -> str:
    """One document; points stand as properties `points` and `max_points`."""
    root = ET.Element("testsuites")
    for one in graded:
        root.append(_suite(one, texts, view))
    cases = list(root.iter("testcase"))
    counts = _count(cases)
    seconds = sum(one.report.seconds for one in graded)
    root.attrib.update({"name": "mha-grade", **counts, "time": f"{seconds:.3f}"})
    ET.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(root, "unicode") + "\n"


def _suite(graded: Graded, texts: Texts, view: View) -> ET.Element:
    report = graded.report
    suite = ET.Element("testsuite", name=for_xml(name_of(graded)))
    facts = {"student": graded.student, "attempt": graded.attempt, "exercise": report.exercise}
    facts |= {"score": report.score, "max_score": report.max_score}
    if report.seed is not None:
        facts["seed"] = report.seed
    _add_properties(suite, facts)
    if report.refusal is not None:
        _add_refusal(suite, report, report.refusal, texts)
    for row in rows(report, texts, view):
        _add_case(suite, report, row)
    suite.attrib.update(_count(suite.findall("testcase")))
    suite.attrib.update(time=f"{report.seconds:.3f}", timestamp=for_xml(graded.at))
    suite.set("file", for_xml(file_of(report)))
    return suite


def _add_properties(parent: ET.Element, facts: dict[str, object]) -> None:
    properties = ET.SubElement(parent, "properties")
    for name, value in facts.items():
        ET.SubElement(properties, "property", name=name, value=for_xml(value))


def _testcase(suite: ET.Element, report: Report, area: str, name: str, line: int) -> ET.Element:
    classname = f"{report.exercise or 'submission'}.{area}"
    about = {"classname": for_xml(classname), "name": name, "time": "0.000"}
    about |= {"file": for_xml(file_of(report))} | ({"line": str(line)} if line else {})
    return ET.SubElement(suite, "testcase", about)


def _add_case(suite: ET.Element, report: Report, row: Row) -> None:
    verdict = row.verdict
    case = _testcase(suite, report, verdict.area, verdict.case, row.line)
    _add_properties(case, {"points": verdict.points, "max_points": verdict.max_points})
    child = _kind(row)
    if child:
        kind = verdict.mistake or (verdict.message.key if verdict.message else "unknown")
        told = {"message": for_xml(row.sentence), "type": for_xml(kind)}
        ET.SubElement(case, child, told).text = for_xml(row.text)


def _kind(row: Row) -> str:
    outcome = row.verdict.outcome
    if outcome is Outcome.FAILED:
        return "error" if is_trouble(row.verdict.message) else "failure"
    if outcome is Outcome.ERROR:
        return "error"
    return "" if outcome is Outcome.PASSED else "skipped"


def _add_refusal(suite: ET.Element, report: Report, refusal: Message, texts: Texts) -> None:
    line = refusal.fields.get("line")
    case = _testcase(suite, report, "load", "load", line if isinstance(line, int) else 0)
    said = for_xml(texts.say(refusal))
    ET.SubElement(case, "error", message=said, type=refusal.key).text = said


def _count(cases: Sequence[ET.Element]) -> dict[str, str]:
    counts = {
        plural: str(sum(case.find(child) is not None for case in cases))
        for child, plural in COUNTED.items()
    }
    return {"tests": str(len(cases)), **counts}
