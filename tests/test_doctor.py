"""The doctor's attacks are real: without the walls they get through."""

import os
from dataclasses import replace

import pytest

from grader.doctor import Examination, examine, render_examination
from grader.doctor.examination import load_attacks
from grader.model import Isolation
from grader.sandbox import launch
from grader.sandbox.level import WALLS
from grader.texts import load_texts

pytestmark = pytest.mark.skipif(not launch.can_fork(), reason="Linux")
# Held by the limits, or by the way a worker is started.
ALWAYS_HELD = {"read-environment", "import-answers", "take-memory", "never-end"}
# Of the superuser alone: nobody else may trace a process that hides its memory.
OF_ROOT = {"read-parent", "trace-parent"}


@pytest.fixture(scope="module")
def sealed():
    return examine()


def test_what_the_level_promises_is_held(sealed):
    assert sealed.is_sound
    assert list(sealed.held) == list(load_attacks())
    if sealed.isolation.level == "full":
        assert set(sealed.held.values()) == {True}


@pytest.mark.every
def test_without_walls_attacks_get_through():
    found = examine(without=WALLS)
    assert found.isolation.level == "none"
    held = {name for name, is_held in found.held.items() if is_held}
    assert held - OF_ROOT == ALWAYS_HELD
    assert os.geteuid() != 0 or not held & OF_ROOT
    assert found.is_sound


@pytest.mark.parametrize("language", ["en", "zh"])
def test_page_says_what_held(sealed, language):
    texts = load_texts(language)
    said = render_examination(sealed, texts)
    for name in sealed.held:
        assert texts(f"doctor.attack.{name}") in said
    assert texts("doctor.not-held") not in said or sealed.isolation.level != "full"


def test_unsound_level_is_said(sealed):
    broken = replace(sealed, isolation=Isolation("full", ()), held={"read-file": False})
    said = render_examination(broken, load_texts("en"))
    assert "Attacks that were run, each as a file that is graded runs (0 of 1 held)" in said
    assert "  GOT THROUGH  read a file of yours" in said
    assert "An attack got through that this level should hold." in said


def test_lower_level_promises_less():
    assert Examination(Isolation("reduced", ()), {"list-folder": False}).is_sound
