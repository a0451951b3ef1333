"""The command as people run it: exit codes, exact sentences, both formats."""

import json
import subprocess
import sys
from pathlib import Path

import nursing
import pytest
from pages import read_page
from sources import attention

from grader.audit import claims
from grader.cli.audit import check_bank
from grader.mistakes import known_for
from grader.texts import load_pages, load_texts

ROOT = Path(__file__).parent.parent
RIGHT = ROOT / "reference" / "self_attention.py"
WRONG = ROOT / "tests" / "submissions" / "wrong" / "missing_scale.py"


def mha_grade(*arguments, folder=None, env=None, nursed=True):
    """Run the command in a process of its own."""
    command = [sys.executable, "-m", "grader", *map(str, arguments)]
    places = nursing.environment() if nursed else {"PYTHONPATH": str(ROOT)}
    environment = {"PATH": "/usr/bin:/bin", **places, **(env or {})}
    return subprocess.run(
        command, capture_output=True, text=True, cwd=folder, env=environment, timeout=120
    )


def test_right_file_exits_with_zero():
    done = mha_grade(RIGHT, "--seed", 5, nursed=False)
    assert done.returncode == 0, done.stderr
    assert "Score: 100 / 100" in done.stdout
    assert "Every case passed." in done.stdout
    assert "--seed 5" in done.stdout
    assert done.stdout.split("\n")[2].startswith("Isolation: ")


def test_wrong_file_exits_with_one_and_names_the_mistake():
    done = mha_grade(WRONG)
    assert done.returncode == 1, done.stderr
    assert (
        "missing-scale (line 28): the scores are not divided by the square root of the head size"
        in " ".join(done.stdout.split())
    )


WALK = "Shapes, line by line (B batch, H heads, L queries, S keys, d head size, D model)"


def test_walk_is_shown_where_asked_for():
    plain = mha_grade(RIGHT, "--seed", 5).stdout
    walked = mha_grade(RIGHT, "--seed", 5, "--walk").stdout
    assert WALK not in plain
    # After the verdict, before the questions.
    shown = walked[walked.index(WALK) : walked.index("What an interviewer")].splitlines()
    lines = RIGHT.read_text(encoding="utf-8").splitlines()
    made = [line for line in shown[1:] if line]
    assert all(int(line.split()[0]) <= len(lines) for line in made)
    for shape, name in (
        ("[B, H, L, d]", "q"),
        ("[B, H, L, S]", "scaled scores"),
        ("[B, L, D]", "output"),
    ):
        assert any(line.endswith(name) and shape in line for line in made), made


@pytest.mark.parametrize("hints", [None, 0, 1, 2, 3])
def test_hints_give_away_as_much_as_asked(hints):
    options = () if hints is None else ("--hints", hints)
    done = mha_grade(WRONG, *options, env={"COLUMNS": "100"})
    said = " ".join(done.stdout.split())
    page = load_pages("en")["missing-scale"]
    given = 1 if hints is None else hints
    for level, (label, part) in enumerate(
        (("Hint", "hint"), ("Where to look", "pointer"), ("Fix", "fix"))
    ):
        assert (f"{label}: {' '.join(page[part].split())}" in said) == (level < given)


def test_json_holds_the_diagnosis():
    report = json.loads(mha_grade(WRONG, "--format", "json", "--seed", 3).stdout)
    found = report["diagnosis"]
    assert list(found) == ["mistakes", "departure", "departures", "walk"]
    (mistake,) = found["mistakes"]
    line = 1 + next(
        at for at, text in enumerate(WRONG.read_text().splitlines()) if "softmax" in text
    )
    assert (mistake["id"], mistake["line"]) == ("missing-scale", line)
    assert mistake["cases"] == [v["case"] for v in report["verdicts"] if v["mistake"]]
    assert list(mistake["page"]) == ["what", "why", "hint", "pointer", "fix", "question"]
    departure = found["departure"]
    assert departure == found["departures"][0]
    assert (departure["key"], departure["line"]) == ("departure.unscaled", line)
    assert departure["case"] in mistake["cases"]
    assert list(found["walk"][0]) == ["line", "name", "operation", "shape", "what"]


def test_min_score_decides_the_exit_code():
    assert mha_grade(WRONG, "--min-score", 50).returncode == 0
    assert mha_grade(WRONG, "--min-score", 99).returncode == 1


def test_json_is_one_object_on_one_line():
    done = mha_grade(WRONG, "--format", "json", "--seed", 3)
    assert done.stdout.count("\n") == 1
    report = json.loads(done.stdout)
    wanted = {"schema", "submission", "exercise", "seed", "score", "max_score", "isolation"}
    wanted |= {"convention", "verdicts", "environment", "seconds"}
    assert wanted <= set(report)
    assert (report["exercise"], report["seed"]) == ("self-attention", 3)
    assert set(report["verdicts"][0]) >= {"case", "area", "outcome", "points", "max_points"}
    isolation = report["isolation"]
    assert isolation["text"].startswith(f"Isolation: {isolation['level']}. ")
    assert "memory-limit" in isolation["layers"]
    assert not {*isolation["layers"]} & {*isolation["missing"]}


def test_chinese_report_has_no_english_sentence():
    done = mha_grade(WRONG, "--lang", "zh")
    assert done.returncode == 1
    for word in ("Isolation", "What went wrong", "expected", "the same seed"):
        assert word not in done.stdout


def test_language_follows_the_system():
    done = mha_grade("--list", env={"LANG": "zh_CN.UTF-8", "PYTHONIOENCODING": "utf-8"})
    assert "self-attention" in done.stdout
    assert "Exercises" not in done.stdout


def test_report_is_written_to_a_file(tmp_path):
    target = tmp_path / "report.json"
    done = mha_grade(RIGHT, "--format", "json", "--output", target)
    assert done.returncode == 0
    assert done.stdout == ""
    assert json.loads(target.read_text(encoding="utf-8"))["score"] == 100.0
    assert done.stderr == f"Report written to {target}\n"


def test_list_names_the_exercises():
    done = mha_grade("--list")
    assert done.returncode == 0
    for name in ("self-attention", "causal-self-attention", "cross-attention"):
        assert f"  {name}: " in done.stdout


def test_new_writes_a_stub_and_never_overwrites(tmp_path):
    done = mha_grade("--new", "cross-attention", folder=tmp_path)
    path = tmp_path / "cross_attention.py"
    assert done.returncode == 0, done.stderr
    assert path.read_text(encoding="utf-8").startswith("# mha-grade: cross-attention\n")
    path.write_text("mine", encoding="utf-8")
    again = mha_grade("--new", "cross-attention", folder=tmp_path)
    assert again.returncode == 2
    assert again.stderr == (
        "mha-grade: There is a file of that name already, and it stays as it is: "
        "cross_attention.py\n"
    )
    assert path.read_text(encoding="utf-8") == "mine"


def test_unfilled_stub_scores_nothing_and_is_no_error(tmp_path):
    mha_grade("--new", "self-attention", folder=tmp_path)
    done = mha_grade("self_attention.py", folder=tmp_path)
    assert done.returncode == 1
    assert "Score: 0 / 100" in done.stdout
    assert "Not filled in yet: the constructor raises NotImplementedError" in done.stdout


def test_free_is_no_exercise_to_write():
    done = mha_grade("--list")
    assert "free" not in done.stdout
    done = mha_grade("--new", "free")
    assert done.returncode == 2
    assert done.stderr == (
        "mha-grade: There is no exercise free. "
        "There is: causal-self-attention, cross-attention, self-attention\n"
    )


def test_file_without_a_header_is_judged_by_its_own_convention(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(attention(init="h, d"), encoding="utf-8")
    done = mha_grade(path, "--seed", 4)
    assert done.returncode == 0, done.stdout + done.stderr
    said = done.stdout
    assert said.startswith(f"attention, by its own convention: {path}\n\nIsolation: ")
    assert said.index("How it was read") < said.index("Score: ")
    assert "  Class MultiHeadAttention (line 8).\n" in said
    assert "  Constructor: h = num_heads, d = d_model.\n  Call: x; axes [B, L, D].\n" in said
    reasons = (
        "  Does not offer: a default length that may be exceeded, heads of another size, fewer key"
        " heads\n  than query heads, a choice of what is returned, a switch for the causal mask,"
        " masks of a\n  second kind, sequences that may be left out, a cache (8)\n"
        "  Takes no mask that says this (35)\n"
    )
    assert "Not applicable, and not charged\n" + reasons in said
    assert "Every case passed." in said


def test_free_outweighs_header_and_exercise():
    alone = json.loads(mha_grade(RIGHT, "--free", "--format", "json").stdout)
    both = ("--free", "--exercise", "cross-attention", "--format", "json")
    assert alone["exercise"] == json.loads(mha_grade(RIGHT, *both).stdout)["exercise"] == "free"
    keys = [message["key"] for message in alone["convention"]]
    assert "convention.call" in keys
    assert alone["score"] == 100.0
    named = json.loads(mha_grade(RIGHT, "--exercise", "free", "--format", "json").stdout)
    assert named["exercise"] == "free"


def test_file_that_cannot_be_called_exits_with_two(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(attention(returned="None"), encoding="utf-8")
    done = mha_grade(path)
    assert done.returncode == 2
    assert "The file cannot be graded\n  No way was found to build and call" in done.stdout
    assert "Score" not in done.stdout


SENTENCES = {
    "missing": (None, "No such file: {path}"),
    "syntax": ("def f(:\n", "The file is not valid Python (line 1): invalid syntax Seed "),
    "no-class": ("x = 1\n", "No class with a forward method was found in the file"),
    "raises": ("1 / 0\n", "The file raises ZeroDivisionError when it is imported (line 1)"),
    "exits": ("import sys\nsys.exit(3)\n", "The file ends the program when it is imported"),
    "dies": ("import os\nos._exit(0)\n", "The file ends the process when it is imported"),
    "input": ("input()\n", "The file waits for keyboard input when it is imported (line 1)"),
    "package": (
        "import no_such_thing\n",
        "The file imports no_such_thing (line 1), which is not open to it.",
    ),
    "several": (
        "from torch import nn\n"
        "class MultiHeadAttentionA(nn.Module):\n    def forward(self, x): return x\n"
        "class MultiHeadAttentionB(nn.Module):\n    def forward(self, x): return x\n",
        "Several classes could be the attention: MultiHeadAttentionA, MultiHeadAttentionB.",
    ),
}


@pytest.mark.parametrize("name", SENTENCES)
def test_file_that_cannot_be_graded_gets_one_sentence(name, tmp_path):
    source, sentence = SENTENCES[name]
    path = tmp_path / "answer.py"
    if source is not None:
        path.write_text(source, encoding="utf-8")
    done = mha_grade(path, env={"COLUMNS": "200"})
    assert done.returncode == 2, done.stdout + done.stderr
    said = " ".join((done.stdout + done.stderr).split())
    assert sentence.format(path=path) in said
    assert "Traceback" not in said


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "Name the file to grade: mha-grade my_solution.py"),
        (["--new", "knitting"], "There is no exercise knitting."),
        ([RIGHT, "--exercise", "knitting"], "There is no exercise knitting."),
        ([RIGHT, "--format", "pdf"], "There is no format pdf. There is: terminal, json"),
        ([RIGHT, "--lang", "tlh"], "There is no language tlh. There is: en, zh"),
        ([RIGHT, "--seed", "-1"], "A seed is a whole number from 0 to 2^63 - 1; got -1"),
        ([RIGHT, "--min-score", "101"], "--min-score takes a number from 0 to 100; got 101"),
        ([RIGHT, "--hints", "4"], "--hints takes 0, 1, 2 or 3; got 4"),
        ([RIGHT, "--hints", "-1"], "--hints takes 0, 1, 2 or 3; got -1"),
        ([RIGHT, "--class", "Nobody"], "There is no class Nobody with a forward method"),
        ([ROOT / "docs"], f"No submissions (.py) below {ROOT / 'docs'}"),
        ([RIGHT, "--output", "/no/such/folder/x"], "The report cannot be written"),
    ],
)
def test_wrong_usage_gets_one_sentence(arguments, sentence):
    done = mha_grade(*arguments)
    assert done.returncode == 2
    assert sentence in " ".join((done.stdout + done.stderr).split())
    assert "Traceback" not in done.stderr


def test_bank_is_checked_with_progress_apart(monkeypatch, capsys):
    """With three of the mistakes; all of them are tests/test_audit.py's."""
    monkeypatch.setattr(claims, "known_for", lambda contract: known_for(contract)[:3])
    assert check_bank("cross-attention", 3, None, load_texts("en")) in (0, 1)
    shown = capsys.readouterr()
    assert shown.out.startswith("cross-attention: ")
    assert "cross-attention: 3 of 5: missing-scale\n" in shown.err


def test_page_is_written_with_its_pictures(tmp_path):
    path = tmp_path / "report.html"
    done = mha_grade(WRONG, "--seed", 5, "--format", "html", "--output", path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"Report written to {path}\n"
    read = read_page(path.read_text(encoding="utf-8"))
    titles = [drawn.one("title").text for drawn in read.all("svg", "heat")]
    assert titles[:4] == [
        *("The mask", "Head 0: expected", "Head 0: got", "Head 0: got - expected")
    ]
    assert f"mha-grade {WRONG} --exercise self-attention --class MultiHeadAttention --seed 5" in (
        read.one("footer").text
    )
