"""What is typed comes out in the order it was typed, however it arrives."""

import os
import sys

import pytest

from grader.drill.cli.keys import END, Keys


@pytest.fixture
def typed(monkeypatch):
    """Keys, and what types into them; None ends it."""
    ours, theirs = os.pipe()
    with os.fdopen(ours) as stdin:
        monkeypatch.setattr(sys, "__stdin__", stdin)

        def write(raw):
            os.write(theirs, raw)

        yield Keys, write, lambda: os.close(theirs)


def test_a_pasted_answer_of_many_chunks_stays_in_order(typed):
    make, write, close = typed
    lines = [f"line {number} " + "x" * 50 for number in range(1000)]
    keys = make()
    write("\n".join(lines).encode() + b"\n")
    close()
    assert [keys.line() for _ in lines] == lines
    assert keys.line() is None


def test_a_line_without_end_is_one_line(typed):
    make, write, close = typed
    keys = make()
    write(b"y" * 60_000)
    close()
    assert keys.line() == "y" * 60_000
    assert keys.line() is None


def test_lines_after_a_key_are_left_for_who_asks_next(typed):
    make, write, close = typed
    keys = make()
    write(b"h rest\nf\nan answer\n\n3\n")
    close()
    assert keys.get_keys(5) == ["h", "r"]
    assert keys.get_keys(5) == ["f"]
    assert [keys.line() for _ in range(3)] == ["an answer", "", "3"]
    assert keys.get_keys(5) == [END]
