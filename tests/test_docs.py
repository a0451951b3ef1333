"""The documents show what the command prints today."""

import re
from pathlib import Path

from grader.grade import Request, grade
from grader.reports import FORMATS
from grader.texts import load_texts

DOCS = Path(__file__).parent.parent / "docs"


def test_report_of_a_free_file_is_shown_as_it_is(forge, submit):
    text = (DOCS / "conventions.md").read_text(encoding="utf-8")
    source, shown = (
        re.search(rf"^```{kind}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE).group(1)
        for kind in ("python", "text")
    )
    report = grade(submit(source, "my_attention.py"), forge, Request(seed=7))
    printed = FORMATS["terminal"](report, load_texts("en"))
    assert printed.startswith(shown + "\nIsolation: ")
