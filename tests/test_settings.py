"""A course file: what it decides, and what it may not say."""

import datetime

import pytest

from grader.bank import load_exercise
from grader.course.settings import Settings, open_banks, read_settings
from grader.errors import BankError, UsageError
from grader.model import Terms
from grader.texts import load_texts

COURSE = """
exercise: self-attention
files: "*.py"
keep: best
weights: {scaling: 30, dropout: 0}
limits: {probe_seconds: 2, memory_mib: 1024}
hints: 2
language: zh
visibility: {default: visible, all-masked-rows: after-deadline, values: hidden}
deadline: 2026-12-24T23:59:00+01:00
banks: [private]
packages: [pluggy]
"""


@pytest.fixture
def read(tmp_path):
    def read_one(text):
        path = tmp_path / "course.yaml"
        path.write_text(text, encoding="utf-8")
        return read_settings(path)

    return read_one


def test_every_key_is_read(read, tmp_path):
    found = read(COURSE)
    assert (found.exercise, found.files, found.keep) == ("self-attention", "*.py", "best")
    assert found.terms == Terms(
        {"scaling": 30.0, "dropout": 0.0},
        {"probe_seconds": 2.0, "memory_mib": 1024.0},
        ("pluggy",),
    )
    assert (found.hints, found.language) == (2, "zh")
    assert found.visibility["values"] == "hidden"
    assert found.deadline == datetime.datetime.fromisoformat("2026-12-24T22:59:00+00:00")
    assert found.banks == (tmp_path / "private",)


def test_empty_file_decides_nothing(read):
    found = read("")
    assert (found.exercise, found.keep, found.terms) == (None, "latest", Terms())


@pytest.mark.parametrize(
    ("text", "key", "words"),
    [
        ("exercize: x", "bank.unknown-key", ("course.yaml", "exercize")),
        ("keep: first", "bank.wrong-value", ("keep", "first")),
        ("hints: 4", "bank.wrong-value", ("hints", "4")),
        ("weights: [1]", "bank.wrong-value", ("weights",)),
        ("weights: {skaling: 1}", "bank.unknown-key", ("weights", "skaling")),
        ("weights: {scaling: -1}", "bank.wrong-value", ("weights: scaling", "-1")),
        ("limits: {seconds: 1}", "bank.unknown-key", ("limits", "seconds")),
        ("visibility: {values: never}", "bank.wrong-value", ("visibility: values", "never")),
        ("deadline: soon", "bank.wrong-value", ("deadline", "soon")),
        ("keep: best\nkeep: all", "bank.not-yaml", ("keep",)),
    ],
)
def test_mistakes_name_file_and_key(read, text, key, words):
    with pytest.raises(BankError) as caught:
        read(text)
    assert caught.value.message.key == key
    said = str(dict(caught.value.message.fields))
    assert all(word in said for word in words)


def test_missing_file_is_said(tmp_path):
    with pytest.raises(UsageError) as caught:
        read_settings(tmp_path / "none.yaml")
    assert caught.value.message.key == "file.unreadable"


def test_points_still_make_a_hundred():
    plain = load_exercise("self-attention")
    found = plain.on_terms(Terms({"scaling": 50.0, "dropout": 0.0}, {"memory_mib": 1024.0}))
    assert sum(found.areas.values()) == pytest.approx(100.0)
    assert found.areas["dropout"] == 0.0
    assert found.areas["scaling"] / found.areas["shapes"] == pytest.approx(
        50.0 / plain.areas["shapes"]
    )
    for area, points in found.areas.items():
        assert sum(c.points for c in found.cases if c.area == area) == pytest.approx(points)
    assert found.limits.memory_mib == 1024
    assert type(found.limits.memory_mib) is int
    assert found.limits.probe_seconds == plain.limits.probe_seconds


def test_what_is_to_be_hidden_must_exist():
    open_banks(Settings(visibility={"default": "hidden", "values": "visible", "dropout": "hidden"}))
    with pytest.raises(UsageError) as caught:
        open_banks(Settings(visibility={"valves": "hidden"}))
    assert load_texts("en").say(caught.value.message) == (
        "visibility: there is no case and no area valves"
    )
