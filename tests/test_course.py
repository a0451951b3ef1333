"""A course from folder to figures: graded once each, resumed, regraded, summed up."""

import json
import os
import signal
import subprocess
import sys
import time
import zipfile
from dataclasses import replace
from pathlib import Path

import nursing
import pytest
from pages import read_page
from test_cli import mha_grade

from grader.cli.exports import write_feedback
from grader.course.batch import Batch
from grader.course.command import Console, grade_course
from grader.course.gather import gather
from grader.course.options import Options
from grader.course.settings import Settings, choose_settings
from grader.course.standing import counted, moved
from grader.course.store import Store
from grader.course.summary import render
from grader.errors import UsageError
from grader.grading import grade
from grader.model import Message, Terms, stored
from grader.reports import View
from grader.reports.figures import sum_up
from grader.texts import load_texts

ROOT = Path(__file__).parent.parent
RIGHT = (ROOT / "reference" / "self_attention.py").read_text(encoding="utf-8")
HEADED = "# mha-grade: self-attention\n" + RIGHT
WRONG = HEADED.replace(" / math.sqrt(self.head_dim)", "")
assert WRONG != HEADED
CANVAS = (
    "Student,ID,SIS User ID,SIS Login ID,Section,MHA (77)\n"
    "    Points Possible,,,,,100\n"
    '"Lovelace, Ada",1,ada,,S1,\n'
    '"Bo",2,bo,,S1,\n'
    '"Nobody",3,zed,,S1,\n'
)


@pytest.fixture
def folder(tmp_path):
    files = tmp_path / "submissions"
    files.mkdir()
    (files / "ada.py").write_text(HEADED, encoding="utf-8")
    (files / "bo.py").write_text(WRONG, encoding="utf-8")
    (files / "cy.py").write_text("def (:\n", encoding="utf-8")
    (files / "di.py").write_bytes(b"\x00\x01")
    return files


class Here:
    """An executor in this process, on the suite's zygote; counts what it is given."""

    def __init__(self, forge):
        self.forge = forge
        self.keys = []

    def run(self, tasks):
        for task in tasks:
            self.keys.append(task.key)
            report = grade(task.submission, self.forge, replace(task.request, walked=False))
            yield task.key, json.loads(json.dumps(stored.dump(report)))


@pytest.fixture
def here(forge):
    return Here(forge)


def run(folder, store, executor, settings=None, again=False, trusted=True, pictured=False):
    entries = gather([folder])
    batch = Batch(entries, settings or Settings(), 5, trusted=trusted, pictured=pictured)
    return batch.run(store, executor, lambda progress: None, again)


def test_each_file_gets_one_result_and_only_what_changed_is_graded_again(folder, here):
    with Store() as store:
        first = run(folder, store, here)
        assert (first.graded, first.passed, first.refused, first.errors) == (4, 1, 2, 0)
        assert sorted(here.keys) == ["ada.py", "bo.py", "cy.py"]
        here.keys.clear()
        (folder / "bo.py").write_text(HEADED + "\n", encoding="utf-8")
        (folder / "cy.py").unlink()
        second = run(folder, store, here)
        assert here.keys == ["bo.py"]
        assert (second.known, second.passed) == (1, 1)
        scores = {r.key: r.graded.report.score for r in store.results()}
        assert scores == {"ada.py": 100.0, "bo.py": 100.0, "cy.py": 0.0, "di.py": 0.0}


@pytest.mark.parametrize(
    "changed",
    [
        Settings(terms=Terms({"dropout": 0.0})),
        Settings(terms=Terms(limits={"probe_seconds": 3.0})),
        Settings(exercise="causal-self-attention"),
    ],
    ids=["weights", "limits", "exercise"],
)
def test_other_terms_are_another_grade(folder, here, changed):
    with Store() as store:
        run(folder, store, here)
        here.keys.clear()
        run(folder, store, here, changed)
        assert sorted(here.keys) == ["ada.py", "bo.py", "cy.py"]


def test_weights_of_a_course_are_the_points(folder, here):
    with Store() as store:
        run(folder, store, here, Settings(terms=Terms({"scaling": 120.0})))
        report = {r.key: r.graded.report for r in store.results()}["bo.py"]
    assert report.areas["scaling"] == pytest.approx(100 * 120 / (100 - 12 + 120))
    assert report.score == pytest.approx(100 - report.available("scaling"), abs=3.0)


def test_nothing_is_graded_unsealed_unless_trusted(folder, here):
    with Store() as store:
        with pytest.raises(UsageError) as caught:
            run(folder, store, Unsealed(here), trusted=False)
        assert caught.value.message.key == "course.not-sealed"
        assert all(r.key == "di.py" for r in store.results())


class Unsealed:
    """Says of every report that nothing was shut in."""

    def __init__(self, executor):
        self.executor = executor

    def run(self, tasks):
        for key, data in self.executor.run(tasks):
            yield key, {**data, "isolation": ["none", [], []]}


def test_regrade_shows_who_moved_and_by_which_case(folder, here):
    with Store() as store:
        run(folder, store, Milder(here))
        run(folder, store, here, again=True)
        moves = moved(store)
    assert [move.result.key for move in moves] == ["bo.py"]
    assert moves[0].before > moves[0].result.graded.report.score
    assert ("values", 5.5, 0.0) in moves[0].cases


class Milder:
    """An earlier bank, in which the plain values always passed."""

    def __init__(self, executor):
        self.executor = executor

    def run(self, tasks):
        for key, data in self.executor.run(tasks):
            for row in data["verdicts"]:
                if row[0] == "values":
                    row[3] = row[4]
            yield key, data


def test_fault_of_ours_is_an_error_and_no_grade(folder, here):
    class Broken:
        def run(self, tasks):
            for task in tasks:
                yield task.key, Message("course.lost")

    with Store() as store:
        progress = run(folder, store, Broken())
        assert progress.errors == 3
        figures = sum_up(counted(store, "latest"))
        assert run(folder, store, here).graded == 4
        assert sum_up(counted(store, "latest")).broken == []
    assert figures.broken == ["ada.py", "bo.py", "cy.py"]
    assert [path for path, _ in figures.refused] == ["di.py"]


@pytest.mark.parametrize(
    ("language", "sentences"),
    [
        (
            "en",
            [
                "4 submissions: 2 graded, 1 of them all right",
                "Scores (median",
                "Cases that fail most often",
                " 50%  values",
                "1  missing-scale: the scores are not divided by the square root of the head size",
                "Not gradable (2)",
                "di.py: Not Python source text: di.py",
            ],
        ),
        ("zh", ["共 4 份提交：已评测 2 份，其中全对 1 份", "失败最多的用例", "无法评测（2 份）"]),
    ],
)
def test_summary_says_what_a_teacher_asks(folder, here, language, sentences):
    with Store() as store:
        run(folder, store, here)
        shown = render(sum_up(counted(store, "latest")), load_texts(language))
    for sentence in sentences:
        assert sentence in shown


@pytest.mark.parametrize(
    ("options", "key"),
    [
        ({"keep": "first"}, "course.keep"),
        ({"shard": "3/2"}, "course.shard"),
        ({"shard": "x"}, "course.shard"),
        ({"executor": "ray"}, "course.executor"),
        ({"executor": "dask"}, "course.no-address"),
        ({"merge": (Path("none.db"),)}, "file.missing"),
    ],
)
def test_options_that_mean_nothing_are_said(folder, options, key):
    console = Console(load_texts("en"), print, print)
    asked = Options(seed=1, **options)

    def grade_all():
        with grade_course([folder], asked, choose_settings(asked), console):
            pass

    with pytest.raises(UsageError) as caught:
        grade_all()
    assert caught.value.message.key == key


def test_shards_are_a_partition(folder):
    def keys(shard):
        from grader.course.command import _shard

        return {e.key for e in _shard(gather([folder]), shard)}

    parts = [keys(f"{i}/3") for i in (1, 2, 3)]
    assert set.union(*parts) == keys(None)
    assert sum(map(len, parts)) == 4


def test_the_whole_flow_as_a_command(folder, tmp_path):
    results = tmp_path / "grades.db"
    common = [folder, "--results", results, "--jobs", "1", "--trust-these-files", "--seed", "5"]
    done = mha_grade(*common)
    assert done.returncode == 1, done.stderr
    assert "4 submissions: 2 graded, 1 of them all right" in done.stdout
    assert "4 graded, 0 known already, of 4" in done.stderr
    sheet = tmp_path / "canvas.csv"
    sheet.write_text(CANVAS, encoding="utf-8")
    handed = ["--feedback", tmp_path / "back", "--canvas", sheet, "--column", "MHA"]
    again = mha_grade(*common, "--format", "jsonl", *handed)
    assert "1 graded, 3 known already, of 4" in again.stderr
    rows = [json.loads(line) for line in again.stdout.splitlines()]
    assert [(r["student"], r["score"], r["seed"]) for r in rows] == [
        ("ada", 100.0, 5),
        ("bo", rows[1]["score"], 5),
        ("cy", 0.0, 5),
        ("di", 0.0, 5),
    ]
    assert sorted(p.name for p in (tmp_path / "back").iterdir()) == [
        "ada.txt",
        "bo.txt",
        "cy.txt",
        "di.txt",
    ]
    back = (tmp_path / "back" / "bo.txt").read_text(encoding="utf-8")
    assert "missing-scale" in back
    assert "--seed 5" not in back
    assert "2 grades written to" in again.stderr
    assert "In no row of the gradebook (2): cy, di" in again.stderr
    filled = (tmp_path / "canvas-graded.csv").read_text(encoding="utf-8")
    assert filled == CANVAS.replace("ada,,S1,", "ada,,S1,100").replace(
        "bo,,S1,", f"bo,,S1,{rows[1]['score']:g}"
    )


def test_killed_and_run_again_nothing_is_lost_or_twice(folder, tmp_path):
    for number in range(6):
        (folder / f"more{number}.py").write_text(f"{HEADED}# {number}\n", encoding="utf-8")
    results = tmp_path / "grades.db"
    command = [sys.executable, "-m", "grader", str(folder), "--results", str(results)]
    command += ["--jobs", "1", "--trust-these-files"]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    environment = os.environ | nursing.environment()
    process = subprocess.Popen(command, **streams, cwd=ROOT, env=environment)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and count(results) < 2:
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    kept = count(results)
    assert 2 <= kept < 10
    done = mha_grade(folder, "--results", results, "--jobs", "1", "--trust-these-files")
    assert "10 submissions: 8 graded, 7 of them all right" in done.stdout
    assert count(results) == 10
    assert not left_over(process.pid)


def test_students_see_what_the_course_lets_them(folder, tmp_path):
    course = tmp_path / "course.yaml"
    course.write_text("visibility: {scaling: hidden}\nhints: 3\nlanguage: zh\n", encoding="utf-8")
    wrong = folder / "bo.py"
    done = mha_grade(wrong, "--course", course, "--for-students", "--format", "json")
    report = json.loads(done.stdout)
    assert report["seed"] is None
    assert "values" not in [v["case"] for v in report["verdicts"]]
    assert "hidden-cases" in [v["case"] for v in report["verdicts"]]
    teacher = json.loads(mha_grade(wrong, "--course", course, "--format", "json").stdout)
    assert teacher["score"] == report["score"]
    assert "values" in [v["case"] for v in teacher["verdicts"]]
    assert teacher["diagnosis"]["mistakes"][0]["what"] == load_texts("zh")("mistake.missing-scale")


def test_pack_holds_the_course_file(tmp_path):
    course, packed = tmp_path / "course.yaml", tmp_path / "autograder.zip"
    course.write_text("keep: best\n", encoding="utf-8")
    done = mha_grade("--pack", "gradescope", "--course", course, "--output", packed)
    assert done.returncode == 0, done.stderr
    with zipfile.ZipFile(packed) as archive:
        assert {"setup.sh", "run_autograder", "course.yaml"} < set(archive.namelist())
        assert archive.read("course.yaml") == b"keep: best\n"


def count(results):
    if not os.path.exists(results):
        return 0
    try:
        with Store(results) as store:
            return len(store.known())
    except UsageError:
        return 0


def left_over(parent):
    """Processes that still say they belong to a parent that is gone."""
    time.sleep(1.0)
    found = subprocess.run(["ps", "-eo", "ppid="], capture_output=True, text=True, check=False)
    return str(parent) in found.stdout.split()


def test_no_feedback_overwrites_another(tmp_path, here, folder):
    with Store() as store:
        run(folder, store, here)
        one = next(iter(counted(store, "latest")))
    batch = [replace(one, student=name) for name in ("a/b", "a_b", "A_b", "..")]
    write_feedback(tmp_path / "back", batch, load_texts("en"), View())
    names = sorted(path.name for path in (tmp_path / "back").iterdir())
    assert names == ["A_b_3.txt", "_.txt", "a_b.txt", "a_b_2.txt"]


def test_pictures_are_gathered_once_and_kept(here, folder):
    with Store() as store:
        run(folder, store, here)
        assert all(r.graded.report.evidence is None for r in store.results())
        assert len(here.keys) == 3
        run(folder, store, here, pictured=True)
        assert len(here.keys) == 6
        run(folder, store, here, pictured=True)
        # What has pictures is good for those who want none.
        run(folder, store, here)
        assert len(here.keys) == 6
        found = {r.key: r.graded.report.evidence for r in store.results()}
    assert found["bo.py"].attention.got
    assert dict(found["cy.py"].lines)[1] == "def (:"
    assert found["di.py"] is None


def test_page_of_a_course_and_pages_for_its_students(tmp_path, folder):
    page, back = tmp_path / "course.html", tmp_path / "back"
    done = mha_grade(
        *(folder, "--format", "html", "--output", page, "--feedback", back),
        *("--seed", 5, "--trust-these-files"),
    )
    assert done.returncode == 1, done.stderr
    assert "4 submissions: 2 graded, 1 of them all right" in done.stdout
    read = read_page(page.read_text(encoding="utf-8"))
    assert len(read.all("article", "report")) == 4
    assert len(read.all("svg", "mask")) == 2
    assert sorted(path.name for path in back.iterdir()) == [
        *("ada.html", "bo.html", "cy.html", "di.html")
    ]
    student = (back / "bo.html").read_text(encoding="utf-8")
    assert "--seed" not in student
    assert len(read_page(student).all("mark")) == 1
