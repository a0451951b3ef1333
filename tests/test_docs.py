"""The documents show what the command prints today."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from grader.grading import Request, grade
from grader.intake import read_submission
from grader.model import Isolation
from grader.reports import FORMATS, View
from grader.texts import load_texts

DOCS = Path(__file__).parent.parent / "docs"


def test_report_of_a_free_file_is_shown_as_it_is(forge, submit):
    text = (DOCS / "conventions.md").read_text(encoding="utf-8")
    source, shown = (
        re.search(rf"^```{kind}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE).group(1)
        for kind in ("python", "text")
    )
    graded = grade(submit(source, "my_attention.py"), forge, Request(seed=7))
    report = replace(graded, isolation=Isolation("full", ()))
    printed = FORMATS["terminal"](report, load_texts("en"))
    assert printed.startswith(shown + "\nSeed 7; ")


def test_readme_shows_parts_of_that_report():
    readme = (DOCS.parent / "README.md").read_text(encoding="utf-8")
    shown = readme.split("$ mha-grade my_attention.py\n")[1].split("```")[0]
    whole = (DOCS / "conventions.md").read_text(encoding="utf-8")
    parts = [line.removesuffix(" ...") for line in shown.splitlines() if line.strip(" .")]
    assert len(parts) > 8
    assert [part for part in parts if part not in whole] == []


def test_diagnosis_is_shown_as_it_is(forge):
    text = (DOCS / "diagnosis.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```text\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    path = DOCS.parent / "tests" / "submissions" / "wrong" / "missing_scale.py"
    report = grade(read_submission(path), forge, Request(seed=1))
    printed = FORMATS["terminal"](report, load_texts("en"), View(walk=True))
    assert len(blocks) == 2
    for part in (part for block in blocks for part in block.split("   ...\n")):
        assert part in printed


@pytest.mark.parametrize(
    "key", [k for k in load_texts("en").sentences if k.startswith("departure.")]
)
def test_departure_is_described(key):
    """In the table of docs/report.md, with every field that its sentence has."""
    text = (DOCS / "report.md").read_text(encoding="utf-8")
    (row,) = re.findall(rf"^\| `{key}` \|(.*)\|$", text, re.MULTILINE)
    fields = set(re.findall(r"{(\w+)}", load_texts("en").sentences[key])) - {"line"}
    assert {name for name in fields if f"`{name}`" not in row} == set()
