"""The generator of mutants: each kind of change, what is left alone, what a mutant is called."""

import random
from collections import Counter

import pytest

from benchmarks.mutation import mutate
from grader.audit import load_file


def mutants(body, *arguments):
    """Mutants of one function with these arguments and this body, on one line each."""
    source = f"def f({', '.join(arguments)}):\n    {body}\nf\n"
    return list(mutate(source, random.Random(0)))


def afters(body, kind, *arguments):
    return {m.after for m in mutants(body, *arguments) if m.kind == kind}


@pytest.mark.parametrize(
    ("body", "kind", "expected"),
    [
        ("return 7.0 + 9j", "operator", {"return (7.0 - 9j)"}),
        ("return 'a' @ 'b'", "operator", {"return ('a' * 'b')"}),
        ("return 'a' / 'b'", "operator", {"return ('a' * 'b')"}),
        ("return 'a' == 'b'", "comparison", {"return ('a' != 'b')"}),
        ("return 'a' >= 'b'", "comparison", {"return ('a' > 'b')", "return ('a' <= 'b')"}),
        ("return 'a' is None", "comparison", {"return ('a' is not None)"}),
        ("return 'a' and 'b'", "condition", {"return ('a' or 'b')"}),
        ("return 'a' if 'b' else 'c'", "condition", {"return ('c' if 'b' else 'a')"}),
        ("return not 'a'", "negation", {"return 'a'"}),
        ("return True", "truth", {"return False"}),
        ("return -1", "number", {f"return {n}" for n in (-3, -2, 0, 1, 2)}),
        ("return 18", "number", {"return 17", "return 19"}),
        ("return 'a'.g()", "dropped call", {"return 'a'"}),
        ("return g('a', 'b')", "dropped call", {"return 'a'"}),
        ("return g('a', 'b')", "exchanged arguments", {"return g('b', 'a')"}),
        ("return g('a', b='c')", "dropped argument", {"return g('a')"}),
        ("g('a')", "dropped statement", {"pass"}),
        ("return g.transpose(1, 2)", "exchanged arguments", set()),
    ],
)
def test_change_is_made(body, kind, expected):
    assert afters(body, kind) == expected


def test_condition_is_turned_round_and_made_constant():
    source = "def f():\n    if g():\n        return 'a'\nf\n"
    found = {m.after for m in mutate(source, random.Random(0)) if m.kind == "condition"}
    assert found == {"if (not g()):", "if True:", "if False:"}


def test_names_are_exchanged_once_they_have_a_value():
    source = "def f(x):\n    a = x\n    b = a\n    return b\nf\n"
    found = {(m.before, m.after) for m in mutate(source, random.Random(0)) if "names" in m.kind}
    assert found == {("b = a", "b = x"), ("return b", "return a"), ("return b", "return x")}


def test_attributes_made_alike_are_exchanged():
    source = (
        "class A:\n    def __init__(self):\n        self.q = L()\n        self.k = L()\n"
        "        self.n = 'n'\n    def f(self):\n        return self.q\n"
    )
    found = [m.after for m in mutate(source, random.Random(0)) if "attributes" in m.kind]
    assert found == ["return self.k"]


def test_what_cannot_show_is_left_alone():
    source = (
        "def f(x: g(1) = 0.5) -> h(2):\n"
        '    """Three."""\n'
        "    raise ValueError(f'{x + 4}')\n"
        "def unused(x):\n    return x.transpose(1, 2)\n"
        "if __name__ == '__main__':\n    f(5)\n"
    )
    assert [m.kind for m in mutate(source, random.Random(0))] == ["dropped statement"]


def test_rest_of_the_text_stays_as_it_is():
    source = "def f(x):  # 键\n    y = '键' + x  # sum\n    return y\nf\n"
    found = next(m for m in mutate(source, random.Random(0)) if m.kind == "operator")
    assert found.source == "def f(x):  # 键\n    y = ('键' - x)  # sum\n    return y\nf\n"
    assert found.key == "operator: y = '键' + x => y = ('键' - x)"


def test_model_answer_has_hundreds_of_mutants_each_once():
    source = load_file("reference", "self-attention").source
    found = list(mutate(source, random.Random(0)))
    assert len({m.source for m in found}) == len(found) > 200
    assert source not in {m.source for m in found}
    assert len(Counter(m.kind for m in found)) >= 8
