"""Four submissions of a course for all exports: right, wrong, refused, and with errors of ours."""

import base64
import os
from dataclasses import replace
from pathlib import Path

from test_reports import SAMPLE

from grader.model import Diagnosis, Graded, Message, Submission
from grader.texts import load_texts

SNAPSHOTS = Path(__file__).parent / "snapshots"
AT = "2026-03-01T12:00:00+00:00"
RIGHT = replace(SAMPLE, verdicts=SAMPLE.verdicts[:1], diagnosis=Diagnosis(), areas={"shapes": 4.0})
WRONG = replace(SAMPLE, verdicts=SAMPLE.verdicts[:-1])
SYNTAX = {"text": "invalid syntax", "line": 3, "type": "SyntaxError"}
REFUSED = replace(
    SAMPLE, verdicts=(), areas={}, diagnosis=Diagnosis(), refusal=Message("load.syntax", SYNTAX)
)
BATCH = [
    Graded("s1", RIGHT, AT, "Ada Lovelace"),
    Graded("s2", WRONG, AT, "李雷", attempt=2),
    Graded("s3", REFUSED, AT),
    Graded("s4", SAMPLE, AT, "O'Hara, Bea"),
]
RIGHT_ONE, WRONG_ONE, REFUSED_ONE, OURS = BATCH
ENGLISH = load_texts("en")
# What no format holds, what some read as markup, formulas or commands, and the end of each.
EVIL = "=1+1\0\x1b[31m\udc80\ud800\ufffe\u2028]]>\"',;\n::error::x\r##[group]<b>&amp;\x85"


def evil(graded):
    """The same with hostile text wherever there is text from outside."""
    report = graded.report
    fields = {"phase": "forward", "type": EVIL, "text": EVIL, "line": 3}
    verdicts = [replace(v, message=Message("trouble.raised", fields)) for v in report.verdicts]
    report = replace(
        report,
        submission=Submission(EVIL, EVIL, "0" * 64),
        verdicts=tuple(verdicts),
        printed=replace(report.printed, text=EVIL),
    )
    return replace(graded, student=EVIL, name=EVIL, report=report)


def check_snapshot(name, text):
    path = SNAPSHOTS / name
    if os.environ.get("UPDATE_SNAPSHOTS"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


def decode(text):
    """The JSON in the line `result=`."""
    (line,) = (line for line in text.splitlines() if line.startswith("result="))
    return base64.b64decode(line.removeprefix("result="), validate=True).decode()
