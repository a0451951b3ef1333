"""Text made safe for a format: once more for each, though what candidates wrote was cleaned.

Names of files and of students come from outside too, and may hold what no format can.
"""

from __future__ import annotations

import re

from grader.clean import clean
from grader.reports.as_json import LONE

# Production [2] Char of XML 1.0, and what it advises against.
NOT_XML = re.compile(
    "[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufdcf\ufdf0-\ufffd\U00010000-\U0010ffff]"
)
# What makes spreadsheets take a cell for a formula (OWASP, CSV Injection), full-width forms too.
FORMULA = tuple("=+-@\t\r\n＝＋－＠|%")
MAX_CELL = 2000


def for_xml(text: object) -> str:
    """Without the characters that XML cannot hold, escaped or not; the rest is its writer's."""
    return NOT_XML.sub("\ufffd", str(text))


def for_cell(value: object) -> object:
    """A cell of a CSV file; text that a spreadsheet would compute gets a leading apostrophe."""
    if not isinstance(value, str):
        return value
    text = clean(value, MAX_CELL)
    return "'" + text if value.startswith(FORMULA) or text.startswith(FORMULA) else text


def for_log(text: str) -> str:
    """A line of a CI log in which nothing is a command: no new line, no `::`, no `##[`."""
    one_line = " ".join(LONE.sub("\ufffd", text).split())
    return one_line.replace("::", ": :").replace("##[", "# #[")
