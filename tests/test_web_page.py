"""The page's own files: no markup from text, every sentence there, colours that can be read."""

import hashlib
import json
import re
from pathlib import Path

import pytest

from grader.drill.web import guard
from grader.drill.web.sentences import choose_sentences
from grader.texts import languages, load_texts

STATIC = Path(guard.__file__).with_name("static")
SCRIPTS = sorted((STATIC / "js").glob("*.js"))


def test_no_script_makes_markup_or_runs_text():
    forbidden = re.compile(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|srcdoc"
        r"|setTimeout\([\"'`]|https?://(?!www\.w3\.org/2000/svg)"
    )
    found = [
        f"{path.name}: {hit[0]}"
        for path in (*SCRIPTS, STATIC / "index.html")
        for hit in forbidden.finditer(path.read_text(encoding="utf-8"))
    ]
    assert found == []


def test_nothing_of_the_page_stands_in_its_own_markup():
    page = (STATIC / "index.html").read_text(encoding="utf-8")
    assert re.findall(r"<script(?![^>]*\ssrc=)|<style|\son\w+=|\sstyle=", page) == []
    outside = re.findall(r'(?:src|href)="(?!static/|#)([^"]*)"', page)
    assert outside == []


def written_names():
    """Sentence by name as scripts ask for them; one with a value in it stands for its family."""
    for path in SCRIPTS:
        text = path.read_text(encoding="utf-8")
        yield from re.findall(r'\bsay\("([a-z0-9-]+)"', text)
        yield from re.findall(r"\bsay\(`([a-z0-9.-]+)\$", text)
    phrases = (STATIC / "js" / "phrases.js").read_text(encoding="utf-8")
    yield from (f"find.{name}" for name in re.findall(r': "([a-z-]+)"', phrases))


@pytest.mark.parametrize("language", languages())
def test_every_sentence_of_the_page_is_there_and_is_used(language):
    there = choose_sentences(load_texts(language))
    asked = set(written_names())
    families = {name for name in asked if name.endswith(("-", "."))}
    assert sorted(asked - families - set(there)) == []
    unused = {
        name
        for name in set(there) - asked - {"noscript", "language"}
        if not name.startswith(tuple(families))
    }
    assert unused == set()


def test_no_script_holds_a_sentence():
    """Text that people read comes from the server: two words in a row are a sentence."""
    words = re.compile(r'"[A-Z]?[a-z]+ [a-z]+ ?[a-z]*[.?:]?"')
    found = [
        f"{path.name}: {hit}"
        for path in SCRIPTS
        if path.name != "phrases.js"
        for hit in words.findall(re.sub(r"//.*", "", path.read_text(encoding="utf-8")))
        if not set(hit.strip('"').split()) <= classes()
    ]
    assert found == []


def classes():
    """Words that style sheets know as classes."""
    sheets = (STATIC / "css").glob("*.css")
    return {
        name for path in sheets for name in re.findall(r"\.([a-z][a-z0-9-]*)", path.read_text())
    }


def test_scripts_are_of_a_readable_size():
    assert [path.name for path in SCRIPTS if len(path.read_text().splitlines()) > 300] == []


def test_bundle_names_no_machine_and_has_its_licences():
    bundle = (STATIC / "editor.js").read_text(encoding="utf-8")
    assert re.findall(r"node_modules/|file://", bundle) == []
    licences = (STATIC / "editor.LICENSE.txt").read_text(encoding="utf-8")
    pinned = json.loads((STATIC.parent / "editor" / "package.json").read_text())["dependencies"]
    for name, version in pinned.items():
        assert f"{name} {version}\n" in licences
    assert licences.count("Permission is hereby granted") == licences.count(f"\n{'-' * 72}\n") + 1


def test_bundle_is_that_of_its_sources():
    first = (STATIC / "editor.js").read_text(encoding="utf-8").partition("\n")[0]
    built = dict(re.findall(r"([a-z.-]+) ([0-9a-f]{64})", first))
    editor = STATIC.parent / "editor"
    assert built == {
        name: hashlib.sha256((editor / name).read_bytes()).hexdigest()
        for name in ("editor.js", "package-lock.json")
    }


def luminance(colour):
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    parts = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def contrast(one, other):
    bright, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


def tokens(at):
    """Colour by name, in light (0) or dark (1)."""
    sheet = (STATIC / "css" / "tokens.css").read_text(encoding="utf-8")
    found = re.findall(r"--([a-z-]+): light-dark\((#\w{6}), (#\w{6})\)", sheet)
    return {name: pair[at] for name, *pair in found}


def test_contrast_of_black_on_white_is_21():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.005)


TEXTS = [
    *[(ink, ground) for ink in ("ink", "soft") for ground in ("page", "panel", "sunken", "active")],
    *[(ink, "panel") for ink in ("accent", "good", "part", "bad")],
    *[(ink, "page") for ink in ("accent", "part", "bad")],
    ("on-accent", "accent"),
    ("ink", "marked"),
    *[
        (f"code-{what}", ground)
        for what in ("keyword", "string", "value", "comment", "name")
        for ground in ("panel", "active", "selected", "marked")
    ],
    ("ink", "selected"),
]


SHAPES = [("control", "panel"), ("control", "page"), ("accent", "page"), ("good", "panel")]


@pytest.mark.parametrize("at", [0, 1], ids=["light", "dark"])
def test_colours_reach_the_contrast_of_wcag_aa(at):
    found = tokens(at)
    low = [
        f"{one} on {other}: {contrast(found[one], found[other]):.2f}"
        for pairs, least in ((TEXTS, 4.5), (SHAPES, 3.0))
        for one, other in pairs
        if contrast(found[one], found[other]) < least
    ]
    assert low == []


def test_every_colour_used_is_a_token():
    found = set(tokens(0)) | {"sans", "mono", "code-size", "gap", "round"}
    for path in (STATIC / "css").glob("*.css"):
        text = path.read_text(encoding="utf-8")
        assert set(re.findall(r"var\(--([a-z-]+)\)", text)) <= found
        if path.name != "tokens.css":
            assert re.findall(r"#[0-9a-f]{3,8}\b", text) == []
