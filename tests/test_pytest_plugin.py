"""Cases as pytest's items: the same verdicts in the same words, and nothing else disturbed.

Every run is a pytest of its own, which finds the plugin as an installed package would offer it.
"""

import re
from pathlib import Path
from xml.etree import ElementTree

import nursing
import pytest

from grader.bank import load_exercise

pytest_plugins = ["pytester"]
ROOT = Path(__file__).parent.parent
RIGHT = (ROOT / "reference" / "self_attention.py").read_text(encoding="utf-8")
WRONG = (ROOT / "tests/submissions/wrong/missing_scale.py").read_text(encoding="utf-8")
TINY = """
contract: {inputs: [x], mask: attention, causal: false}
areas: {shapes: 50, scaling: 50}
cases:
  - {id: constructs, area: shapes, check: constructs, args: {d_model: 6, num_heads: 2},
     points: 10, catches: a}
  - {id: values, area: scaling, check: matches_reference, points: 50, catches: b}
  - {id: shape, area: shapes, check: has_output_shape, points: 10, catches: c}
  - {id: two, area: shapes, check: has_output_shape, points: 10, needs: [two-sequences],
     catches: d}
  - {id: odd, area: shapes, check: keeps_dtype, args: {dtype: int3}, points: 10, catches: e}
  - {id: indivisible, area: shapes, check: constructs, args: {d_model: 6, num_heads: 4},
     points: 10, catches: f}
"""
# What a run would grade with, put in its place by a conftest.py: no worker, and each call counted.
COUNTED = """
import dataclasses, pathlib
import grader.pytest_plugin.items as items
from grader.bank import load_exercise
from grader.errors import ZygoteError
from grader.model import Isolation, Message, Outcome, Printed, Report, Verdict

def grade(submission, forge, request):
    with open("calls", "a") as file:
        file.write(f"{pathlib.Path(submission.path).name} {request.seed}\\n")
    if "torch is missing" in submission.source:
        raise ZygoteError("zygote.no-torch")
    exercise = load_exercise(request.exercise)
    verdicts = [
        Verdict(case.id, case.area, Outcome.PASSED, case.points, case.points)
        for case in exercise.cases
    ]
    verdicts[0] = dataclasses.replace(
        verdicts[0], outcome=Outcome.SKIPPED, points=0.0,
        message=Message("skipped.after", {"case": "values"}),
    )
    return Report(
        submission, exercise.id, request.seed, tuple(verdicts), exercise.areas, (),
        Isolation("none", ()), {}, Printed("", 0), 0.0,
    )

items.grade = grade
items.open_forge = lambda: open("calls", "a")
"""


@pytest.fixture
def run(pytester, monkeypatch):
    """Arguments -> a pytest of its own in a folder with these files; `run.path` is the folder."""
    written = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    entry = re.search(r'\[project\.entry-points\.pytest11\]\n(.+) = "(.+)"\n', written)
    metadata = pytester.mkdir("installed") / "mha_grade-0.dist-info"
    metadata.mkdir()
    lines = f"[pytest11]\n{entry[1]} = {entry[2]}\n"
    (metadata / "entry_points.txt").write_text(lines, encoding="utf-8")
    (metadata / "METADATA").write_text("Name: mha-grade\nVersion: 0\n", encoding="utf-8")
    for name, value in nursing.environment(metadata.parent).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("LANG", "C")
    monkeypatch.delenv("LC_ALL", raising=False)

    def run_one(*arguments, **files):
        for stem, text in files.items():
            (pytester.path / f"{stem}.py").write_text(text, encoding="utf-8")
        # The start of other plugins takes five times as long as all else.
        idle = {"jaxtyping", "hypothesispytest", "xdist"} - (
            {"xdist"} if "-n" in arguments else set()
        )
        without = [part for name in ("cacheprovider", *idle) for part in ("-p", f"no:{name}")]
        plain = (*without, "-W", "error")
        return pytester.runpytest_subprocess(*plain, *arguments, timeout=300)

    run_one.path = pytester.path
    return run_one


@pytest.fixture
def tiny(run):
    """Options with which a file is graded by six cases."""
    (run.path / "bank").mkdir()
    (run.path / "bank" / "tiny.yaml").write_text(TINY, encoding="utf-8")
    return "--mha-bank", "bank", "--mha-exercise", "tiny"


def calls(run):
    return (run.path / "calls").read_text(encoding="utf-8").splitlines()


def block(result, name):
    """The lines below the heading of one failure."""
    text = "\n".join(result.outlines)
    heading = rf"\n_+ (?:ERROR at setup of )?{name} _+\n"
    found = re.search(rf"{heading}(.*?)\n(?=[_=]{{5}}|-+ |mha-grade)", text, re.DOTALL)
    return found[1].splitlines()


def test_each_case_has_its_outcome_and_its_words(run, tiny):
    options = ("--mha", "mine.py", *tiny, "--mha-seed", "5", "--junitxml", "out.xml")
    result = run(*options, "-l", "--tb=long", "-rs", mine=WRONG)
    result.assert_outcomes(passed=2, failed=2, skipped=1, errors=1)
    assert result.ret == 1
    assert block(result, "values")[:3] == [
        "missing-scale (line 28): the scores are not divided by the square root of the head size",
        "Line 28: softmax gets scores that were never scaled; they are made in line 25.",
        "Hint: Draw queries and keys of unit variance and watch the standard deviation of the "
        "scores",
    ]
    assert block(result, "indivisible") == [
        "indivisible [shapes, -10]",
        "  the constructor raised ValueError (line 10): d_model must be divisible by num_heads",
    ]
    assert block(result, "odd") == [
        "The grader failed on this case (KeyError: 'int3'). It costs nothing; please report it "
        "with the seed."
    ]
    result.stdout.fnmatch_lines(
        [
            "mha-grade: seed 5; the same seed repeats this run: --mha-seed 5",
            "SKIPPED [[]1[]] mine.py: Not applicable, and not charged: Takes one sequence only",
        ],
    )
    found = {e.get("name"): e for e in ElementTree.parse(run.path / "out.xml").iter("testcase")}
    assert {e.get("classname") for e in found.values()} == {"mine"}
    assert {name: [c.tag for c in e if c.tag != "properties"] for name, e in found.items()} == {
        "constructs": [],
        "values": ["failure"],
        "shape": [],
        "two": ["skipped"],
        "odd": ["error"],
        "indivisible": ["failure"],
    }
    assert found["values"].find("failure").get("message").startswith("missing-scale (line 28): ")
    assert {p.get("name"): p.get("value") for p in found["values"].iter("property")} == {
        "area": "scaling",
        "points": "0.0",
        "max_points": "50.0",
        "mistake": "missing-scale",
    }


@pytest.mark.every
def test_xdist_gives_the_same(run, tiny):
    result = run("--mha", "a.py", "--mha", "b.py", *tiny, "-n", "2", a=RIGHT, b=WRONG)
    result.assert_outcomes(passed=5, failed=3, skipped=2, errors=2)
    result.stdout.fnmatch_lines(["2 workers [[]12 items[]]"])


@pytest.mark.every
def test_xdist_shares_the_seed(run, tiny):
    run("--mha", "a.py", *tiny, "-n", "2", a=RIGHT, conftest=COUNTED)
    seeds = {line.split()[1] for line in calls(run)}
    assert len(seeds) == 1


def test_file_is_graded_once(run, tiny):
    files = ("--mha", "a.py", "--mha", "b.py", "--mha", "./a.py")
    result = run(*files, *tiny, a=RIGHT, b=RIGHT, conftest=COUNTED)
    result.assert_outcomes(passed=10, skipped=2)
    assert [line.split()[0] for line in calls(run)] == ["a.py", "b.py"]


def test_seed_is_passed_on_and_drawn_anew(run, tiny):
    for _ in range(2):
        run("--mha", "a.py", *tiny, a=RIGHT, conftest=COUNTED)
    run("--mha", "a.py", *tiny, "--mha-seed", "7")
    first, second, third = [line.split()[1] for line in calls(run)]
    assert first != second
    assert third == "7"


def test_case_that_was_not_judged_is_skipped(run, tiny):
    result = run("--mha", "a.py", *tiny, "-rs", a=RIGHT, conftest=COUNTED)
    result.stdout.fnmatch_lines(
        ["SKIPPED [[]1[]] a.py: Not judged: it builds on values, which failed."]
    )


def test_cases_are_known_before_grading(run):
    result = run("--mha", "a.py", "--collect-only", "-q", a=RIGHT, conftest=COUNTED)
    ids = [f"a.py::{case.id}" for case in load_exercise("self-attention").cases]
    assert [line for line in result.outlines if "::" in line] == ids
    assert not (run.path / "calls").exists()


def test_words_of_a_case_and_its_area_choose(run):
    result = run("--mha", "a.py", "-k", "dropout and eval", a=RIGHT, conftest=COUNTED)
    cases = load_exercise("self-attention").cases
    wanted = [c for c in cases if "eval" in c.id and "dropout" in c.id + c.area]
    assert wanted
    result.assert_outcomes(passed=len(wanted), deselected=len(cases) - len(wanted))


def test_cases_are_chosen_by_their_ids(run, tiny):
    ids = ("a.py::values", "a.py::odd")
    result = run("--mha", "a.py", *tiny, *ids, "-v", a=RIGHT, conftest=COUNTED)
    result.assert_outcomes(passed=2)
    assert [line.split()[0] for line in result.outlines if "PASSED" in line] == list(ids)


@pytest.mark.every
def test_chosen_ids_reach_xdist(run, tiny):
    result = run("--mha", "a.py", *tiny, "a.py::values", "-n", "2", a=RIGHT, conftest=COUNTED)
    result.assert_outcomes(passed=1)


def test_unknown_id_is_wrong_usage(run, tiny):
    result = run("--mha", "a.py", *tiny, "a.py::valued", a=RIGHT, conftest=COUNTED)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: There is no case a.py::valued."])


def test_other_tests_are_collected_where_asked_for(run, tiny):
    files = {"a": RIGHT, "test_other": "def test_other(): pass\n", "conftest": COUNTED}
    result = run("--mha", "a.py", *tiny, "test_other.py", **files)
    result.assert_outcomes(passed=6, skipped=1)
    result = run("--mha", "a.py", *tiny)
    result.assert_outcomes(passed=5, skipped=1)


def test_nothing_of_a_file_runs_in_pytest(run, tiny):
    trap = f"open({str(run.path / 'sprung')!r}, 'w')\n"
    theirs = run.path / "theirs"
    theirs.mkdir()
    for name in ("conftest.py", "test_mine.py", "__init__.py"):
        (theirs / name).write_text(trap, encoding="utf-8")
    result = run("--mha", "theirs/test_mine.py", *tiny, conftest=COUNTED)
    result.assert_outcomes(passed=5, skipped=1)
    for name in ("conftest.py", "__init__.py"):
        (theirs / name).unlink()
    for more in (("--doctest-modules", "theirs"), ("theirs/test_mine.py",)):
        result = run("--mha", "theirs/test_mine.py", *tiny, *more)
        result.assert_outcomes(passed=5, skipped=1)
    assert not (run.path / "sprung").exists()


def test_file_that_does_not_load_fails_every_case(run, tiny):
    result = run("--mha", "a.py", *tiny, a="class A(:\n")
    result.assert_outcomes(failed=6)
    assert block(result, "shape")[0] == "The file cannot be graded"
    assert "line 1" in block(result, "shape")[1]


def test_grader_that_cannot_work_is_an_error(run, tiny):
    result = run("--mha", "a.py", *tiny, a="# torch is missing\n", conftest=COUNTED)
    result.assert_outcomes(errors=6)
    assert block(result, "shape") == [
        "torch is not installed for this Python. Install it, for example: pip install torch"
    ]
    assert len(calls(run)) == 1


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--mha", "none.py"), "ERROR: No such file: *none.py"),
        (("--mha", "a.py", "--mha-exercise", "none"), "ERROR: There is no exercise none. *"),
        (("--mha", "a.py", "--mha-bank", "none"), "ERROR: There is no folder none; *"),
        (("--mha", "a.py", "--mha-seed", "-1"), "ERROR: A seed is a whole number from 0 * -1"),
    ],
)
def test_what_cannot_be_graded_is_wrong_usage(run, options, sentence):
    result = run(*options, a=RIGHT)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([sentence])


def test_chinese_terminal_gets_chinese_words(run, tiny, monkeypatch):
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    result = run("--mha", "a.py", *tiny, "--mha-seed", "5", a=RIGHT, conftest=COUNTED)
    result.stdout.fnmatch_lines(["mha-grade：seed 5；复现本次运行：--mha-seed 5"])


def test_runs_without_the_option_are_left_alone(run):
    plain = (
        "import sys\n"
        "def test_plain(request):\n"
        "    assert not request.config.pluginmanager.has_plugin('mha-grade-hooks')\n"
        "    assert request.config.pluginmanager.has_plugin('mha-grade')\n"
        "    assert not {'numpy', 'yaml', 'torch', 'grader.bank'} & {*sys.modules}\n"
    )
    result = run(test_plain=plain)
    result.assert_outcomes(passed=1)
    assert "mha-grade: seed" not in "\n".join(result.outlines)


def test_helpers_of_a_bank_are_there(run):
    (run.path / "bank").mkdir()
    bank = "extends: self-attention\nhelpers: [given.py]\n"
    (run.path / "bank" / "week.yaml").write_text(bank, encoding="utf-8")
    (run.path / "bank" / "given.py").write_text("import math\n", encoding="utf-8")
    source = RIGHT.replace("import math\n", "from given import math\n")
    assert source != RIGHT
    done = run("--mha", "a.py", "--mha-bank", "bank", "--mha-exercise", "week", a=source)
    assert done.ret == 0
