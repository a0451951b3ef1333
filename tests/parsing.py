"""What is written of a report, read back by each format's own parser."""

import csv
import io
import json
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser

from grader.exports import EXPORTS, HOSTS
from grader.model import Graded
from grader.reports import FORMATS, View, escape
from grader.texts import load_texts


class Tags(HTMLParser):
    """What a page has of elements and attributes."""

    def __init__(self):
        super().__init__()
        self.found = set()

    def handle_starttag(self, tag, attrs):
        self.found |= {tag, *(name for name, _ in attrs)}


def check_outputs(report):
    """Each format's own parser reads what is written, and finds the file in it once."""
    graded, texts = [Graded("s1", report, "2026-03-01T12:00:00+00:00", "Ada")], load_texts("zh")
    assert json.loads(FORMATS["json"](report, texts))["schema"] == 1
    written = {name: "".join(EXPORTS[name](graded, texts, View())) for name in EXPORTS}
    (one,), line = json.loads(written["array"]), json.loads(written["jsonl"])
    assert one == line
    (suite,) = ElementTree.fromstring(written["junit"])
    assert suite.get("name") == "s1"
    head, row = csv.reader(io.StringIO(written["csv"], newline=""))
    assert len(head) == len(row)
    for name in ("gradescope", "check50", "prairielearn"):
        assert isinstance(json.loads(HOSTS[name](graded[0], texts, View())), dict)
    tags = Tags()
    tags.feed(FORMATS["html"](report, texts))
    assert not any(name.startswith("on") for name in tags.found)
    assert "img" not in tags.found


def check_escapers(printed):
    quoted = escape.for_html(printed)
    assert ElementTree.fromstring(f"<a>{quoted}</a>").text == printed
    target = io.StringIO()
    csv.writer(target).writerow([escape.for_csv(printed)])
    ((cell,),) = csv.reader(io.StringIO(target.getvalue(), newline=""))
    assert cell == printed
    logged = escape.for_log(printed)
    assert not any(odd in logged for odd in ("\n", "::", "##["))
