"""JUnit XML: a test suite for each submission, for CI servers and IDEs.

There is no official schema; this is what pytest's xunit1 family and its readers agree on. A wrong
value is a `failure`; what did not come back (an exception, a time limit, a death), a file that
cannot be graded and the grader's own faults are an `error`; what was not reached is `skipped`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from xml.etree import ElementTree as ET

from grader.clean import clean
from grader.exports.rows import MAX_NAME, Row, file_of, is_trouble, name_of, rows
from grader.model import Graded, Message, Outcome, Report, Verdict
from grader.reports.escape import for_xml
from grader.reports.view import PLAIN, View
from grader.texts import Texts

COUNTED = {"failure": "failures", "error": "errors", "skipped": "skipped"}


def render(graded: Collection[Graded], texts: Texts, view: View = PLAIN) -> Iterator[str]:
    """One document; points stand as properties `points` and `max_points`."""
    kinds: Counter[str] = Counter()
    seconds = 0.0
    for one in graded:
        kinds += _kinds(one.report)
        seconds += one.report.seconds
    about = {"name": "mha-grade", **_counts(kinds), "time": f"{seconds:.3f}"}
    told = " ".join(f'{name}="{value}"' for name, value in about.items())
    yield f'<?xml version="1.0" encoding="utf-8"?>\n<testsuites {told}>\n'
    for one in graded:
        suite = _suite(one, texts, view)
        ET.indent(suite, level=1)
        yield f"  {ET.tostring(suite, 'unicode')}\n"
    yield "</testsuites>\n"


def _kinds(report: Report) -> Counter[str]:
    """How many cases there are of each kind, the refusal of a file among them."""
    refused = ["error"] if report.refusal is not None else []
    return Counter([*refused, *map(_kind, report.verdicts)])


def _counts(kinds: Counter[str]) -> dict[str, str]:
    counts = {plural: str(kinds[kind]) for kind, plural in COUNTED.items()}
    return {"tests": str(kinds.total()), **counts}


def _suite(graded: Graded, texts: Texts, view: View) -> ET.Element:
    report = graded.report
    suite = ET.Element("testsuite", name=for_xml(name_of(graded)))
    student = clean(graded.student, MAX_NAME)
    facts = {"student": student, "attempt": graded.attempt, "exercise": report.exercise}
    facts |= {"score": report.score, "max_score": report.max_score}
    if report.seed is not None:
        facts["seed"] = report.seed
    _add_properties(suite, facts)
    if report.refusal is not None:
        _add_refusal(suite, report, report.refusal, texts)
    for row in rows(report, texts, view):
        _add_case(suite, report, row)
    suite.attrib.update(_counts(_kinds(report)))
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
    child = _kind(verdict)
    if child:
        kind = verdict.mistake or (verdict.message.key if verdict.message else "unknown")
        told = {"message": for_xml(row.sentence), "type": for_xml(kind)}
        ET.SubElement(case, child, told).text = for_xml(row.text)


def _kind(verdict: Verdict) -> str:
    """The child that says what became of it; "" for a case that passed."""
    if verdict.outcome is Outcome.FAILED:
        return "error" if is_trouble(verdict.message) else "failure"
    if verdict.outcome is Outcome.ERROR:
        return "error"
    return "" if verdict.outcome is Outcome.PASSED else "skipped"


def _add_refusal(suite: ET.Element, report: Report, refusal: Message, texts: Texts) -> None:
    line = refusal.fields.get("line")
    case = _testcase(suite, report, "load", "load", line if isinstance(line, int) else 0)
    said = for_xml(texts.say(refusal))
    ET.SubElement(case, "error", message=said, type=refusal.key).text = said
