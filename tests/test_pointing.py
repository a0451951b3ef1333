"""Lines that are read off the text of a file."""

import re

import pytest

from grader.mistakes import point, read_statements
from grader.mistakes.pointing import POINTERS, SURE
from grader.mistakes.statements import LARGEST
from grader.model import Message, Outcome, Verdict
from grader.texts import load_pages

SOURCE = """
import torch
from torch import nn

class Attention(nn.Module):
    def __init__(self, d, h, dropout=0.0):
        super().__init__()
        self.size = d // h  # tril
        self.heads = [nn.Linear(d, d) for _ in range(h)]
        self.drop = nn.Dropout(dropout or 0.1)

    @torch.no_grad()
    def weigh(self, q, k, mask):
        if mask is not None:
            mask = mask[:1]
        self.last = mask
        return (
            q @ k.mT
        )

    def forward(self, x, mask=None):
        '''tril'''
        visible = torch.ones(5, 5).triu() == 1
        return self.drop(self.weigh(x, x, mask))

    def finish(self, x):
        return self.drop(self.out(x))
"""
LINES = SOURCE.split("\n")


def line_of(text):
    return next(number for number, line in enumerate(LINES, 1) if text in line)


def verdict(**fields):
    return Verdict("case", "state", Outcome.FAILED, 0.0, 1.0, Message("state.unregistered", fields))


@pytest.mark.parametrize(
    ("mistake", "text"),
    [
        ("divisibility-unchecked", "d // h"),
        ("dropout-always-on", "self.drop(self"),
        ("dropout-zero-ignored", "dropout or"),
        ("dropout-misplaced", "self.drop(self.out"),
        ("gradient-cut", "def weigh"),
        ("causal-reversed", ".triu()"),
        ("mask-of-first-sample", "mask[:1]"),
        ("state-kept", "self.last"),
        ("weights-missing", "return self.drop"),
    ],
)
def test_line_is_that_of_the_statement(mistake, text):
    assert point(mistake, [], read_statements(SOURCE)) == line_of(text)


def test_names_in_a_message_lead_to_where_they_are_made():
    group = [verdict(names="heads[0].weight, heads[1].weight")]
    statements = read_statements(SOURCE)
    assert point("parameters-not-registered", group, statements) == line_of("self.heads = [")
    assert point("parameters-not-registered", [verdict(names="")], statements) == line_of(
        "self.heads = ["
    )


def test_mistake_without_a_pattern_has_no_line():
    assert point("missing-scale", [], read_statements(SOURCE)) is None


def test_comments_and_docstrings_say_nothing():
    said = " ".join(statement.said for statement in read_statements(SOURCE))
    assert "tril" not in said
    assert "forward> visible = torch.ones(5, 5).triu() == 1" in said
    assert "@torch.no_grad() def weigh(self, q, k, mask)" in said


@pytest.mark.parametrize("source", ["def (", "x = 1\0", "-" * 50_000 + "1", "#" * (LARGEST + 1)])
def test_what_cannot_be_read_has_no_statements(source):
    assert read_statements(source) == ()


def test_patterns_are_of_mistakes_that_exist():
    assert set(POINTERS) <= set(load_pages("en"))
    assert set(SURE) <= set(POINTERS)
    for patterns in POINTERS.values():
        for pattern in patterns:
            re.compile(pattern.replace("{name}", "x"))
