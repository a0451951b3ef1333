"""What editors do to a file, and what is seen of it."""

import os
import time

import pytest

from grader.drill.cli import saves
from grader.drill.cli.saves import Saves


@pytest.fixture(autouse=True)
def _settle_soon(monkeypatch):
    monkeypatch.setattr(saves, "SETTLE_SECONDS", 0.05)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "a.py"
    path.write_text("stub")
    return path


def write(file, text):
    """Write at a time of its own, whatever the file system's clock can tell apart."""
    file.write_text(text)
    write.at += 1
    os.utime(file, (write.at, write.at))


write.at = 1_000_000


def test_known_text_is_no_news(file):
    assert Saves(file, "stub").look() is None
    assert Saves(file).look() == "stub"


def test_each_save_comes_out_once(file):
    seen = Saves(file, "stub")
    seen.look()
    write(file, "one")
    assert [seen.look(), seen.look()] == ["one", None]
    write(file, "two")
    assert [seen.look(), seen.look()] == ["two", None]


def test_touch_is_no_save(file):
    seen = Saves(file, "stub")
    seen.look()
    write(file, "stub")
    assert seen.look() is None


def test_file_put_in_place_of_another_is_a_save(file):
    seen = Saves(file, "stub")
    seen.look()
    new = file.with_name("new")
    new.write_text("moved")
    new.replace(file)
    assert seen.look() == "moved"


def test_moment_of_emptiness_is_passed_over(file):
    seen = Saves(file, "stub")
    seen.look()
    write(file, "")
    assert seen.look() is None
    write(file, "filled")
    assert seen.look() == "filled"


def test_file_left_empty_is_a_save(file):
    seen = Saves(file, "stub")
    seen.look()
    write(file, "")
    assert seen.look() is None
    time.sleep(0.06)
    assert seen.look() == ""


def test_moment_without_a_file_is_passed_over(file):
    seen = Saves(file, "stub")
    seen.look()
    file.unlink()
    assert seen.look() is None
    write(file, "back")
    assert seen.look() == "back"


def test_file_that_stays_away_is_told_once(file):
    seen = Saves(file, "stub")
    seen.look()
    file.unlink()
    seen.look()
    time.sleep(0.06)
    told = [seen.look(), seen.look()]
    assert (told[0].key, told[1]) == ("drill.file.gone", None)
    write(file, "stub")
    assert seen.look() is None
    write(file, "news")
    assert seen.look() == "news"


def test_file_that_is_no_text_is_told_in_its_own_words(file):
    seen = Saves(file, "stub")
    seen.look()
    file.write_bytes(b"\0\1")
    seen.look()
    time.sleep(0.06)
    assert seen.look().key == "file.not-text"
