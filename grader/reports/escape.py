"""Candidates' text made safe for one format each, by the writer of that format.

Text has been cleaned where it came in (grader/clean.py): no controls, nothing invisible, no half
characters, so most of these need not look for them. What is left is what means something to a
format. Terminal and JSON need nothing beyond that: a cleaned text has no escapes, and json.dumps
has its own.
"""

from __future__ import annotations

import html
import re

# A cell that begins so is a formula to a spreadsheet; to some the full-width forms are one too.
FORMULA = tuple("=+-@\t\r\n|%＝＋－＠")
# All but production [2] Char of XML 1.0, and what that advises against.
NOT_XML = re.compile(
    "[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufdcf\ufdf0-\ufffd\U00010000-\U0010ffff]"
)
MARKDOWN = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|~&:@])")


def for_html(text: str) -> str:
    """For the text of an element or a quoted attribute, in HTML or XML."""
    return html.escape(text, quote=True)


def for_xml(text: object) -> str:
    """Without what XML cannot hold, escaped or not; the rest is its writer's."""
    return NOT_XML.sub("\ufffd", str(text))


def for_csv(text: str) -> str:
    """For a cell, whose quotes the csv module adds: never a formula."""
    return "'" + text if text.lstrip().startswith(FORMULA) else text


def for_markdown(text: str) -> str:
    """For running text in one line: neither a link, nor a mention, nor markup."""
    return MARKDOWN.sub(r"\\\1", text.replace("\n", " "))


def for_log(text: str) -> str:
    """For the log of a build service: one line, no command to it wherever it stands."""
    return " ".join(text.split()).replace("::", ": :").replace("##[", "# #[")
