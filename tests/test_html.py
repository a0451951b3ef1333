"""The page of one report: its words and numbers, nothing from outside, nothing of a candidate's."""

import base64
import hashlib
import json
import math
import re
import shlex
from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace

import pytest
from pages import read_page
from samples import ENGLISH, SNAPSHOTS, WRONG_ONE, check_snapshot, evil
from test_reports import FREE_SAMPLE, SAMPLE

from grader.exports import Sight, Visibility, for_students
from grader.model import Message, Submission
from grader.model.evidence import Attention, Evidence, Slope
from grader.reports import FORMATS, View
from grader.reports.html.page import style
from grader.reports.html.pictures.heat import brief
from grader.reports.html.sections.closing import replay
from grader.texts import load_texts

EVIDENCE = Evidence(
    lines=(
        *((number, f"    line {number}") for number in (27, 28, 29, 30)),
        (31, "    weights = scores.softmax(-1)  # <b>&amp;"),
        (32, ""),
    ),
    attention=Attention(
        expected=(((1.0, 0.0), (0.25, 0.75)), ((1.0, 0.0), (0.5, 0.5))),
        got=(((1.0, 0.0), (0.2, 0.8)), ((1.0, 0.4), (0.5, 0.5))),
        visible=(((True, False), (True, True)),) * 2,
        line=31,
    ),
    gradients=(Slope("x", 4.0, 4.0, 1e-16), Slope("qkv.weight", 2.0, 3.0, 0.25)),
    allowed=1e-6,
)
PICTURED = replace(SAMPLE, evidence=EVIDENCE, follow_ups=("why-scale",))


def page(report=PICTURED, language="en", view=None):
    return read_page(FORMATS["html"](report, load_texts(language), view or View()))


def words(node):
    return " ".join(node.text.split())


@pytest.mark.parametrize("language", ["en", "zh"])
def test_pictured_page_matches_its_snapshot(language):
    text = FORMATS["html"](PICTURED, load_texts(language), View(answers=True, hints=3))
    check_snapshot(f"html-pictured.{language}.txt", text)


@pytest.mark.parametrize("report", [PICTURED, SAMPLE, FREE_SAMPLE])
def test_page_needs_nothing_from_outside(report):
    for node in page(report, view=View(answers=True)).walk():
        assert node.tag not in {"script", "link", "img", "iframe", "object", "form", "base"}
        for name, value in node.attrs.items():
            assert name not in {"src", "srcset", "style", "action", "background", "data"}
            assert not name.startswith("on")
            assert name != "href" or value.startswith("#")
            assert "://" not in value
    assert "url(" not in style()
    assert "@import" not in style()


def test_policy_lets_in_the_pages_own_style_and_nothing_else():
    text = FORMATS["html"](PICTURED, ENGLISH)
    (inside,) = re.findall("<style>(.*?)</style>", text, re.DOTALL)
    own = base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()
    metas = page().all("meta")
    (policy,) = (m.attrs["content"] for m in metas if "http-equiv" in m.attrs)
    assert policy == (
        f"default-src 'none'; style-src 'sha256-{own}'; base-uri 'none'; form-action 'none'"
    )
    # Before anything that it is about.
    assert text.index("Content-Security-Policy") < text.index("<style>")


@pytest.mark.parametrize(("language", "tag"), [("en", "en"), ("zh", "zh-Hans")])
def test_page_says_its_language(language, tag):
    assert page(language=language).one("html").attrs == {"lang": tag}


def test_page_has_one_title_and_headings_in_order():
    read = page()
    assert words(read.one("h1")) == "my_solution.py"
    assert words(read.one("head").one("title")) == "self-attention: my_solution.py"
    levels = [int(n.tag[1]) for n in read.walk() if re.fullmatch("h[1-6]", n.tag)]
    assert levels[0] == 1
    assert all(later <= before + 1 for before, later in pairwise(levels))


def test_sections_stand_in_the_order_of_the_terminal():
    heads = [words(head) for head in page().all("h2")]
    assert heads == [
        "What went wrong",
        "Attention weights",
        "Gradients",
        "Shapes, line by line (B batch, H heads, L queries, S keys, d head size, D model)",
        "The cases",
        "How it was read",
        "What an interviewer may ask next",
        "Your code printed 14 bytes; the first lines:",
    ]
    assert words(page(FREE_SAMPLE).all("h2")[0]) == "How it was read"


def test_ring_is_as_full_as_the_score():
    ring = page().one("svg", "ring")
    assert words(ring.one("title")) == "Score: 38.89 / 100"
    assert [words(text) for text in ring.all("text")] == ["38.89", "of 100"]
    dash, around = map(float, ring.one("circle", "arc").attrs["stroke-dasharray"].split())
    assert around == pytest.approx(2 * math.pi * 62, abs=0.01)
    assert dash / around == pytest.approx(0.3889, abs=1e-4)


def test_ring_of_a_full_score_is_closed():
    right = replace(SAMPLE, verdicts=SAMPLE.verdicts[:1])
    assert page(right).one("svg", "ring").one("circle", "full")
    assert "Every case passed." in words(page(right))
    assert not page().one("svg", "ring").all("circle", "full")


def test_areas_have_a_bar_and_points():
    rows = page().one("table", "areas").all("tr")[1:]
    assert [words(row) for row in rows] == [
        "shapes4 / 4",
        "scaling and softmax0 / 8",
        "causal mask3 / 3",
        "non-contiguous inputs0 / 3",
        "state and parameters0 / 0",
    ]
    lengths = [row.all("rect")[1].attrs["width"] for row in rows]
    assert lengths == ["160", "0", "160", "0", "0"]


def test_line_of_a_mistake_is_marked_among_its_neighbours():
    card = page().all("article", "mistake")[0]
    assert words(card.one("p", "tags")) == "Line 31missing-scale"
    assert words(card.one("h3")) == (
        "the scores are not divided by the square root of the head size"
    )
    source = card.one("pre", "source")
    assert [words(n) for n in source.all("span", "number")] == ["28", "29", "30", "31", "32"]
    assert words(source.one("mark")) == "31weights = scores.softmax(-1) # <b>&amp;"
    assert "Line 31: softmax gets scores that were never scaled" in words(card)
    assert [words(case) for case in card.one("ul", "cases").all("li")] == [
        "values",
        "values-wide-heads",
    ]
    assert "scaling and softmax, -8" in words(card)
    assert "got -8.721, expected -6.573" in words(card)


def test_hints_are_as_many_as_asked_for():
    counts = [len(page(view=View(hints=n)).all("p", "hint")) for n in range(4)]
    assert counts == [0, 1, 2, 3]


def test_what_no_mistake_explains_has_a_card_too():
    card = page().all("article", "mistake")[1]
    assert words(card.one("h3")) == "forward raised RuntimeError (line 12): <b>]]> =1+1 ::error::"
    # The report has no such line to show.
    assert card.all("pre") == []


def test_heat_maps_show_expected_got_and_difference():
    maps = page().all("svg", "heat")[1:]
    assert [words(drawn.one("title")) for drawn in maps] == [
        *("Head 0: expected", "Head 0: got", "Head 0: got - expected"),
        *("Head 1: expected", "Head 1: got", "Head 1: got - expected"),
    ]
    assert [words(drawn.one("desc")) for drawn in maps[:3]] == [
        "Query 0: 1.00, 0.00. Query 1: 0.25, 0.75.",
        "Query 0: 1.00, 0.00. Query 1: 0.20, 0.80.",
        "Query 0: 0.00, 0.00. Query 1: -0.05, 0.05.",
    ]


def cells(drawn):
    """(class, how full) of each cell."""
    return [(r.attrs["class"], float(r.attrs["fill-opacity"])) for r in drawn.all("rect")]


def test_colour_is_the_number():
    expected, got, difference = page().all("svg", "heat")[1:4]
    assert cells(expected) == [("more", 1), ("more", 0), ("more", 0.25), ("more", 0.75)]
    assert cells(got) == [("more", 1), ("more", 0), ("more", 0.2), ("more", 0.8)]
    # Differences are drawn on one scale for all heads, whose largest is 0.4.
    assert cells(difference) == [("more", 0), ("more", 0), ("less", 0.125), ("more", 0.125)]


def test_hidden_cells_are_crossed_and_leaks_have_their_number():
    _, clean, *_, leaking, difference = page().all("svg", "heat")
    assert len(clean.all("line", "hidden")) == 1
    # Without the axes: what is hidden and 0 has a cross and no number.
    assert [words(t) for t in clean.all("text", "value")] == ["1.00", "0.25", "0.75"]
    assert [words(t) for t in leaking.all("text", "value")] == ["1.00", "0.40", "0.50", "0.50"]
    assert [words(t) for t in difference.all("text", "value")] == ["0.00", "0.40", "0.00", "0.00"]


def test_mask_is_drawn_once_where_all_heads_share_it():
    (mask,) = page().all("svg", "mask")
    assert words(mask.one("title")) == "The mask"
    assert words(mask.one("desc")) == "Query 0 sees 0. Query 1 sees 0, 1."
    assert [r.attrs["class"] for r in mask.all("rect")] == ["shown", "blank", "shown", "shown"]
    other = (((True, False), (False, False)), EVIDENCE.attention.visible[0])
    seen = EVIDENCE.attention._replace(visible=other)
    read = page(replace(PICTURED, evidence=EVIDENCE._replace(attention=seen)))
    assert [words(m.one("title")) for m in read.all("svg", "mask")] == [
        "The mask of head 0",
        "The mask of head 1",
    ]
    assert words(read.all("svg", "mask")[0].one("desc")) == ("Query 0 sees 0. Query 1 sees no key.")


def attention_said(**changes):
    seen = EVIDENCE.attention._replace(**changes)
    read = page(replace(PICTURED, evidence=EVIDENCE._replace(attention=seen)))
    titled = {words(head): part for part in read.all("section") for head in part.all("h2")}
    found = titled["Attention weights"]
    return words(found.all("p")[1]), found


def test_one_sentence_says_what_the_maps_show():
    expected = EVIDENCE.attention.expected
    assert attention_said()[0] == (
        "The weights (made in line 31) differ most at head 1, query 0, key 1: got 0.40, "
        "expected 0.00."
    )
    assert attention_said(got=expected, line=None)[0] == "The weights are the expected ones."
    broken = ((1.0, 0.0), (None, None))
    assert attention_said(got=(broken, expected[1]))[0] == (
        "Of the 8 weights (made in line 31), 2 are NaN or infinite; expected numbers everywhere."
    )


def test_weights_that_cannot_be_seen_are_not_drawn():
    said, found = attention_said(got=(), line=None)
    assert said == (
        "The file's own weights could not be seen among its tensors, so only the expected ones "
        "are drawn."
    )
    titles = [words(drawn.one("title")) for drawn in found.all("svg", "heat")]
    assert titles == ["The mask", "Head 0: expected", "Head 1: expected"]


def test_nan_stands_in_its_cell():
    broken = ((None, 0.0), (0.25, 0.75))
    _, found = attention_said(got=(broken, EVIDENCE.attention.expected[1]))
    drawn = found.all("svg", "heat")[2]
    assert cells(drawn)[0] == ("nan", 1.0)
    assert words(drawn.one("desc")) == "Query 0: NaN, 0.00. Query 1: 0.25, 0.75."


@pytest.mark.parametrize(
    ("value", "written"),
    [
        *((0.256, "0.26"), (-0.001, "0.00"), (-0.05, "-0.05"), (None, "NaN"), (12.34, "12")),
        *((-1234.5, "-1234"), (1e9, "1e+09"), (-3.2e38, "-3e+38"), (9.999, "10")),
    ],
)
def test_numbers_are_short(value, written):
    assert brief(value) == written


def test_gradients_are_bars_by_powers_of_ten():
    table = page().one("table", "gradients")
    rows = table.all("tr")[1:]
    assert [words(row) for row in rows] == ["x1.0e-1644", "qkv.weight2.5e-0132"]
    bars = [row.all("rect")[1].attrs for row in rows]
    assert [bar["class"] for bar in bars] == ["good", "bad"]
    assert [float(bar["width"]) for bar in bars] == [
        pytest.approx(160 * 1 / 17, abs=0.1),
        pytest.approx(160 * (17 + math.log10(0.25)) / 17, abs=0.1),
    ]
    marks = [float(row.one("line", "allowed").attrs["x1"]) for row in rows]
    assert marks == [pytest.approx(160 * 11 / 17, abs=0.1)] * 2


def test_gradient_that_never_came_is_said():
    evidence = EVIDENCE._replace(gradients=(Slope("a", 1.0, None, None),))
    row = page(replace(PICTURED, evidence=evidence)).one("table", "gradients").all("tr")[1]
    assert words(row) == "anone, or not finitenone, or not finite1"
    assert row.all("rect")[1].attrs["class"] == "bad"


def test_walk_is_a_table():
    rows = page().one("table", "walk").all("tr")
    assert [words(cell) for cell in rows[0].all("th")] == [
        *("Line", "Variable", "Operation", "Shape", "What it is")
    ]
    assert [words(cell) for cell in rows[1].all("td")] == [
        *("28", "scores", "matmul", "[B, H, L, S]", "scores")
    ]


def test_cases_that_lost_points_are_open_and_others_folded():
    open_, folded = page().all("table", "verdicts")
    names = [[words(head) for head in table.all("th")[5:]] for table in (open_, folded)]
    assert names == [
        ["values", "values-wide-heads", "transposed-storage", "no-state"],
        ["shapes", "causal-values", "strided-slice"],
    ]
    assert words(page().one("summary")) == "The other cases (3)"


def test_answers_are_shown_only_where_asked_for():
    question = "Why are the scores divided by the square root of the head size?"
    plain = page().one("ol", "questions")
    assert question in words(plain)
    assert plain.all("details") == []
    folded = page(view=View(answers=True)).one("ol", "questions").one("details")
    assert "open" not in folded.attrs
    assert words(folded.one("summary")) == "Key points of an answer, and the trap"
    assert len(folded.all("li")) >= 3
    assert "The trap: " in words(folded)


def test_command_repeats_the_run():
    assert words(page().one("footer").one("code")) == (
        "mha-grade my_solution.py --exercise self-attention --class MultiHeadAttention --seed 42"
    )
    assert replay(replace(FREE_SAMPLE, convention=())) == (
        "mha-grade my_solution.py --free --seed 42"
    )


def test_command_is_one_whatever_a_file_is_called():
    named = (Message("convention.class", {"name": "A; rm -rf b", "line": 1}),)
    report = replace(SAMPLE, submission=Submission("-a $(b) 'c'.py", "", ""), convention=named)
    command = shlex.split(replay(report))
    assert command[:2] == ["mha-grade", "./-a $(b) 'c'.py"]
    assert command[command.index("--class") + 1] == "A; rm -rf b"


def test_refused_file_shows_the_line():
    fields = {"text": "invalid syntax", "line": 31, "type": "SyntaxError"}
    refused = replace(PICTURED, verdicts=(), areas={}, refusal=Message("load.syntax", fields))
    read = page(refused)
    card = read.one("article", "mistake")
    assert words(card.one("p", "what")) == (
        "The file is not valid Python (line 31): invalid syntax"
    )
    assert words(card.one("mark")).startswith("31weights")
    assert read.all("svg") == []


def test_students_see_no_seed_and_no_pictures_of_what_is_hidden():
    now = SimpleNamespace()
    every = for_students(PICTURED, Visibility(), now)
    assert every.evidence == EVIDENCE
    assert "mha-grade my_solution.py" not in words(page(every))
    # A hidden case that passed has nothing to give away, one that failed has.
    for case, is_kept in (("shapes", True), ("values", False), ("transposed-storage", False)):
        for sight in (Sight.HIDDEN, Sight.NAME_ONLY):
            seen = for_students(PICTURED, Visibility({case: sight}), now)
            assert (seen.evidence is not None) == is_kept, case


def outline(node):
    """The tags alone."""
    return [one.tag for one in node.walk()]


def test_hostile_text_is_text():
    hostile = evil(WRONG_ONE).report
    tame = replace(hostile, submission=Submission("x", "", ""), printed=SAMPLE.printed)
    fields = {"phase": "forward", "type": "x", "text": "x", "line": 3}
    tame = replace(
        tame,
        verdicts=tuple(
            replace(v, message=Message("trouble.raised", fields)) for v in tame.verdicts
        ),
    )
    read = page(hostile)
    assert outline(read) == outline(page(tame))
    assert "<b>&amp;" in read.one("h1").text
    assert not set(FORMATS["html"](hostile, ENGLISH)) & set("\0\x1b\udc80\ud800\ufffe")


def test_hostile_evidence_is_text():
    name = "</td><script>alert(1)</script>\" onload='x"
    evidence = EVIDENCE._replace(
        lines=((31, "</pre>" + name),), gradients=(Slope(name, 1.0, 1.0, 0.0),)
    )
    read = page(replace(PICTURED, evidence=evidence))
    assert words(read.one("table", "gradients").all("code")[0]) == " ".join(name.split())
    assert words(read.one("mark")) == "31</pre>" + " ".join(name.split())
    assert read.all("script") == []


def test_what_scrolls_can_be_reached_by_keyboard():
    scrolling = page().all("div", "scroll")
    assert scrolling
    for node in scrolling:
        assert (node.attrs["role"], node.attrs["tabindex"]) == ("region", "0")
        assert node.attrs["aria-label"]


def test_each_picture_has_words_or_stands_beside_them():
    for drawn in page().all("svg"):
        if drawn.attrs.get("aria-hidden") != "true":
            assert drawn.attrs["role"] == "img"
            assert words(drawn.one("title"))
        else:
            assert drawn.all("text") == []


def test_json_has_the_same_evidence():
    read = json.loads(FORMATS["json"](PICTURED, ENGLISH))["evidence"]
    assert read["lines"][0] == {"line": 27, "text": "    line 27"}
    assert read["attention"]["got"] == [[[1.0, 0.0], [0.2, 0.8]], [[1.0, 0.4], [0.5, 0.5]]]
    assert read["attention"]["visible"][0] == [[True, False], [True, True]]
    assert read["gradients"][1] == {
        "name": "qkv.weight",
        "expected": 2.0,
        "got": 3.0,
        "error": 0.25,
    }
    assert read["allowed"] == 1e-6
    assert json.loads(FORMATS["json"](SAMPLE, ENGLISH))["evidence"] is None


# Contrast, by WCAG 2.2


def palette(scheme):
    """The colours of the style sheet by name."""
    light, dark, paper = re.findall(r":root \{(.*?)\}", style(), re.DOTALL)
    chosen = {"light": light, "dark": dark, "paper": paper}[scheme]
    return dict(re.findall(r"--(\w+): (#\w{6})", chosen))


def luminance(colour):
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in parts]
    return sum(share * x for share, x in zip((0.2126, 0.7152, 0.0722), linear))


def contrast(one, other):
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


TEXTS = [
    *(("ink", on) for on in ("page", "panel", "sunken", "marked", "more", "less", "broken")),
    *(("soft", on) for on in ("page", "panel", "sunken", "marked")),
    *((name, "panel") for name in ("accent", "good", "bad")),
    *((name, "page") for name in ("accent",)),
]
SHAPES = [(name, "panel") for name in ("accent", "good", "bad", "part", "hatch")]


@pytest.mark.parametrize("scheme", ["light", "dark", "paper"])
def test_contrast_is_enough(scheme):
    colours = palette(scheme)
    for name, on in TEXTS:
        assert contrast(colours[name], colours[on]) >= 4.5, (name, on)
    for name, on in SHAPES:
        assert contrast(colours[name], colours[on]) >= 3.0, (name, on)


def test_every_scheme_has_every_colour():
    assert set(palette("light")) == set(palette("dark")) == set(palette("paper"))
    used = set(re.findall(r"var\(--(\w+)\)", style()))
    assert used == set(palette("light"))


def test_every_class_of_the_style_sheet_is_in_use():
    made = {part for path in SNAPSHOTS.glob("*html*") for part in classes(path)}
    named = set(re.findall(r"\.([a-z]+)", re.sub(r"/\*.*?\*/|[\d.]+rem", "", style())))
    assert named - made <= {"spared", "full", "nan"}


def classes(path):
    read = read_page(path.read_text(encoding="utf-8"))
    return {part for node in read.walk() for part in node.attrs.get("class", "").split()}
