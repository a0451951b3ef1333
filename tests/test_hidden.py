"""What a constructor takes out of its variable arguments is found in the source."""

import pytest

from grader.calling.hidden import MAX_HIDDEN, reveal
from grader.model import Argument, CandidateClass

WIDTH = Argument("dim", "positional_or_keyword", True)
VARIABLE = (Argument("args", "var_positional", False), Argument("kwargs", "var_keyword", False))


def reveal_in(body, shown=(), signature="self, **kwargs"):
    source = (
        f"class Other:\n    pass\n\n\nclass One:\n    def __init__({signature}):\n        {body}\n"
    )
    cls = CandidateClass("One", 5, True, True, (*shown, *VARIABLE), (), ())
    return [(a.name, a.kind, a.required, a.default) for a in reveal(cls, source).constructor]


@pytest.mark.parametrize(
    ("body", "required", "default"),
    [
        ('self.d = kwargs["width"]', True, ""),
        ("self.d = kwargs['width']", True, ""),
        ('self.d = kwargs.pop("width")', True, ""),
        ('self.d = kwargs.get("width", 64)', False, "64"),
        ('self.d = kwargs.get("width", None)', False, "None"),
        ('self.d = kwargs.pop("width",\n            0.5\n        )', False, "0.5"),
    ],
)
def test_what_is_looked_up_is_an_argument(body, required, default):
    assert reveal_in(body) == [("width", "keyword_only", required, default)]


def test_arguments_that_are_shown_stay_first_and_are_not_doubled():
    body = 'kwargs["dim"], kwargs["heads"], kwargs["heads"]'
    assert reveal_in(body, [WIDTH], "self, dim, *args, **kwargs") == [
        ("dim", "positional_or_keyword", True, ""),
        ("heads", "keyword_only", True, ""),
    ]


def test_what_is_unpacked_comes_by_position():
    found = reveal_in("heads, rate = args", [WIDTH], "self, dim, *args")
    assert [(name, kind) for name, kind, _, _ in found] == [
        ("dim", "positional_only"),
        ("heads", "positional_only"),
        ("rate", "positional_only"),
    ]


@pytest.mark.parametrize("body", ["super().__init__(**kwargs)", 'self.of = other["width"]'])
def test_what_is_only_handed_on_says_nothing(body):
    assert reveal_in(body) == []


def test_classes_without_variable_arguments_are_left():
    assert len(reveal_in('kwargs["width"]', [WIDTH], "self, dim")) == 3


def test_there_are_not_endless_arguments():
    body = ", ".join(f'kwargs["a{i}"]' for i in range(100))
    assert len(reveal_in(body)) == MAX_HIDDEN
