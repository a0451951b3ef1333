"""What candidates write cannot become markup, a formula or a command in any format."""

import csv
import io
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.clean import clean
from grader.reports import escape


def parse_html(text):
    seen = []
    parser = HTMLParser()
    parser.handle_starttag = lambda tag, attrs: seen.append(tag)
    parser.handle_data = lambda data: seen.append(data)
    parser.feed(text)
    parser.close()
    return seen


@given(st.text(min_size=1, max_size=60))
def test_text_comes_back_from_html_and_xml(text):
    kept = clean(text, 100)
    # An attribute keeps every character; XML has no way to write those that clean() takes out.
    element = ElementTree.fromstring(f'<a b="{escape.for_html(kept)}">{escape.for_html(kept)}</a>')
    assert (element.text, element.get("b")) == (kept, kept)
    assert "".join(parse_html(escape.for_html(kept))) == kept


@given(st.text(max_size=60))
def test_cell_is_never_a_formula(text):
    kept = clean(text, 100, keep_lines=True)
    target = io.StringIO()
    csv.writer(target).writerow(["name", escape.for_csv(kept)])
    (row,) = csv.reader(io.StringIO(target.getvalue(), newline=""))
    assert row[1].removeprefix("'") == kept.removeprefix("'")
    assert not row[1].lstrip().startswith(escape.FORMULA)


@pytest.mark.parametrize(
    "text", ["=1+1", " =1+1", "@SUM(A1)", "-1", "+cmd|' /C calc'!A0", "|x", "＝1"]
)
def test_formula_is_disarmed(text):
    assert escape.for_csv(text) == "'" + text


def test_markdown_is_plain_text():
    assert escape.for_markdown("[a](b) <i> @x\n# y") == r"\[a\]\(b\) \<i\> \@x \# y"


@pytest.mark.parametrize(
    ("text", "logged"),
    [
        ("::error::no", ": :error: :no"),
        ("  ::set-output name=x::y", ": :set-output name=x: :y"),
        ("a ##[error]b", "a # #[error]b"),
        ("a\n::stop::\u2028b", "a : :stop: : b"),
    ],
)
def test_log_line_is_no_command(text, logged):
    assert escape.for_log(text) == logged


def test_xml_holds_what_is_left():
    assert escape.for_xml("a\0\ud800\ufffe\U0001f600\t") == "a\ufffd\ufffd\ufffd\U0001f600\t"
