"""Packs: their scripts are run as a host would, in a folder of the test's own."""

import io
import json
import os
import stat
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import yaml
from samples import ENGLISH, WRONG_ONE, decode

from grader import __version__
from grader.clean import clean
from grader.errors import UsageError
from grader.exports import HOSTS, PACKS, Pack
from grader.reports import PLAIN
from grader.texts import load_texts

# In the place of the real command: says how it was called, and does what the test wants.
COMMAND = """#!/bin/sh
echo "$@" > "{log}"
while [ "$1" != --output ]; do shift; done
{then}
"""
NORMAL = 'cp "{report}" "$2"'
NOTICES = [
    "::notice title=Autograding complete::Points 38.89/100",
    '::notice title=Autograding report::{"totalPoints":38.89,"maxPoints":100}',
]


def unpack(name, folder, pack=None, language="en"):
    """A pack's files in `folder`, with the rights the archive gives them."""
    made = PACKS[name](pack or Pack(), load_texts(language))
    with zipfile.ZipFile(io.BytesIO(made)) as archive:
        assert archive.testzip() is None
        archive.extractall(folder)
        for info in archive.infolist():
            (folder / info.filename).chmod(info.external_attr >> 16)
    return folder


def install(where, format_, then=NORMAL):
    """An environment with a stand-in for the grader; gives the file it writes its arguments to."""
    report, log = where / "made-before", where / "arguments"
    report.write_text(HOSTS[format_](WRONG_ONE, ENGLISH, PLAIN), encoding="utf-8")
    folder = where / "venv" / "bin"
    folder.mkdir(parents=True)
    command = folder / "mha-grade"
    command.write_text(COMMAND.format(log=log, then=then.format(report=report)), encoding="utf-8")
    command.chmod(0o755)
    (folder / "python").symlink_to(sys.executable)
    return log


def run(*command, **more):
    environment = {**os.environ, **{name: str(value) for name, value in more.items()}}
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)


# Gradescope


@pytest.fixture
def gradescope(tmp_path):
    """A container's folders, with the pack unpacked and one submission."""

    def make(then=NORMAL, names=("attention.py",), pack=None, seconds=60):
        root = tmp_path / "autograder"
        source = unpack("gradescope", root / "source", pack)
        log = install(source, "gradescope", then)
        for name in names:
            (root / "submission" / name).parent.mkdir(parents=True, exist_ok=True)
            (root / "submission" / name).write_text("", encoding="utf-8")
        (root / "submission").mkdir(exist_ok=True)
        done = run(source / "run_autograder", AUTOGRADER_ROOT=root, MHA_SECONDS=seconds)
        results = root / "results"
        assert [path.name for path in results.iterdir()] == ["results.json"]
        assert done.returncode == 0
        arguments = log.read_text(encoding="utf-8") if log.exists() else ""
        return json.loads((results / "results.json").read_text("utf-8")), arguments

    return make


def test_gradescope_zip_has_its_scripts_at_the_root(tmp_path):
    unpack("gradescope", tmp_path)
    found = {path.name: path.stat().st_mode & stat.S_IXUSR for path in tmp_path.iterdir()}
    assert {name for name, runs in found.items() if runs} == {"setup.sh", "run_autograder"}
    assert set(found) == {
        "setup.sh",
        "run_autograder",
        "crashed.json",
        "no-file.json",
        "unreadable.json",
    }


def test_gradescope_zip_is_the_same_each_time():
    packed = [PACKS["gradescope"](Pack(), ENGLISH) for _ in range(2)]
    assert packed[0] == packed[1]


def test_submission_is_graded(gradescope):
    results, arguments = gradescope()
    assert results == json.loads(HOSTS["gradescope"](WRONG_ONE, ENGLISH, PLAIN))
    assert arguments.startswith("./attention.py --format gradescope --output ")
    assert "--course" not in arguments


def test_course_file_is_used(gradescope):
    _, arguments = gradescope(pack=Pack(extra={"course.yaml": b"exercise: self-attention\n"}))
    assert arguments.rstrip().endswith("source/course.yaml")
    assert "--course" in arguments


@pytest.mark.parametrize(
    "then",
    [
        *("exit 3", "kill -9 $$", 'printf "{{" > "$2"; exit 0', 'printf "[]" > "$2"', "sleep 60"),
        'printf "{{}}" > "$2"',
    ],
)
def test_whatever_happens_there_is_an_answer(gradescope, then):
    results, _ = gradescope(then, seconds=1 if then.startswith("sleep") else 60)
    assert results["score"] == 0.0
    assert results["visibility"] == "visible"
    assert results["output"] == (
        "The grader did not finish. This says nothing about your file. "
        "Ask your instructor to run it again."
    )


def test_file_that_is_no_source_text_is_said_to_be_none(gradescope):
    results, _ = gradescope("exit 2")
    assert results["output"] == (
        "The file could not be read. It has to be Python source text, and not too long. "
        "If it is, ask your instructor."
    )


def test_report_of_a_refused_file_is_used(gradescope):
    results, _ = gradescope(NORMAL + "; exit 2")
    assert results["score"] == 38.89


@pytest.mark.parametrize("names", [(), ("a.py", "b.py"), ("a.txt",), (".a.py",), (".git/a.py",)])
def test_one_file_is_asked_for(gradescope, names):
    results, arguments = gradescope(names=names)
    assert arguments == ""
    assert results["tests"][0]["output"] == (
        "Nothing was graded: hand in exactly one Python file (.py)."
    )


@pytest.mark.parametrize(
    ("names", "graded"),
    [
        (("mine/my file.py", "__MACOSX/._my file.py"), "./mine/my file.py"),
        (("-o.py",), "./-o.py"),
        (("submission.py", "helpers.py"), "./submission.py"),
    ],
)
def test_file_is_found(gradescope, names, graded):
    _, arguments = gradescope(names=names)
    assert arguments.startswith(f"{graded} --format")


def test_answers_are_in_the_courses_language(tmp_path):
    unpack("gradescope", tmp_path, language="zh")
    answer = json.loads((tmp_path / "no-file.json").read_text(encoding="utf-8"))
    assert answer["output"] == "没有评测：请提交且仅提交一个 Python 文件（.py）。"


# Set-up


def make_wheel():
    """A package of the grader's name and version that is nothing but a command."""
    out, name = io.BytesIO(), f"mha_grade-{__version__}"
    info = f"{name}.dist-info"
    files = {
        "mha_grade_stand_in.py": "def main():\n    print('installed')\n",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: mha-grade\nVersion: {__version__}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": "[console_scripts]\nmha-grade = mha_grade_stand_in:main\n",
    }
    files[f"{info}/RECORD"] = "".join(f"{path},,\n" for path in [*files, f"{info}/RECORD"])
    with zipfile.ZipFile(out, "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)
    return f"wheels/{name}-py3-none-any.whl", out.getvalue()


@pytest.mark.slow
@pytest.mark.every
def test_setup_installs_from_wheels_without_a_network(tmp_path):
    path, wheel = make_wheel()
    folder = unpack("gradescope", tmp_path / "with space", Pack(extra={path: wheel}))
    # This Python can make environments; the script would have to install one that can.
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = run("bash", folder / "setup.sh", PATH=path, PIP_NO_INDEX=1, PIP_CONFIG_FILE=os.devnull)
    assert done.returncode == 0, done.stderr
    assert run(folder / "venv" / "bin" / "mha-grade").stdout == "installed\n"


def test_scripts_name_this_version_and_no_placeholder(tmp_path):
    for name in PACKS:
        unpack(name, tmp_path / name, Pack("my_attention.py"))
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    texts = {path.name: path.read_text(encoding="utf-8") for path in files}
    assert f'"mha-grade=={__version__}"' in texts["setup.sh"]
    assert "./my_attention.py" in texts["run_autograder"]
    assert [name for name, text in texts.items() if "@version@" in text or "@file@" in text] == []


@pytest.mark.parametrize("name", ["", "/a.py", "a b.py", "$(x).py", 'a".py', "a\n.py", "李.py"])
def test_odd_name_of_a_file_is_refused(name):
    with pytest.raises(UsageError) as caught:
        PACKS["github"](Pack(name), ENGLISH)
    shown = clean(name, 99)
    assert ENGLISH.say(caught.value.message) == (
        f"A file of the name {shown} cannot be packed; expected letters, digits and . _ - /"
    )


# GitHub


@pytest.fixture
def step(tmp_path):
    """The step's script, run as the runner would; gives what it did, its output, its arguments."""

    def make(then=NORMAL, pack=None, **environment):
        folder = unpack("github", tmp_path, pack) / ".github" / "mha-grade"
        log = install(folder, "classroom", then)
        output = tmp_path / "output"
        done = run(
            *("bash", folder / "grade.sh"), GITHUB_OUTPUT=output, MHA_FILE="a b.py", **environment
        )
        written = output.read_text(encoding="utf-8") if output.exists() else ""
        return done, written, log.read_text(encoding="utf-8")

    return make


def test_step_hands_on_the_result(step):
    done, written, arguments = step()
    assert done.returncode == 0
    assert json.loads(decode(written)) == json.loads(
        decode(HOSTS["classroom"](WRONG_ONE, ENGLISH, PLAIN))
    )
    assert written.count("\n") == 1
    assert arguments.startswith("a b.py --format classroom --output ")
    assert "::notice" not in done.stdout


def test_step_prints_the_notices_if_asked_to(step):
    done, _, _ = step(MHA_NOTICES="true")
    assert done.stdout.splitlines()[-2:] == NOTICES


def test_step_lets_nothing_that_is_printed_be_a_command(step):
    done, _, _ = step("echo '::error::x'; " + NORMAL)
    before, said, after = done.stdout.splitlines()[:3]
    assert said == "::error::x"
    assert before.startswith("::stop-commands::mha-")
    assert after == f"::{before.removeprefix('::stop-commands::')}::"


def test_step_without_a_report_fails(step):
    done, written, _ = step("exit 2")
    assert (done.returncode, written) == (2, "")


def test_step_of_a_report_that_is_not_there_fails(step):
    assert step("exit 0")[0].returncode == 3


def test_step_uses_the_course_file(step):
    _, _, arguments = step(pack=Pack(extra={"course.yaml": b""}))
    assert arguments.rstrip().endswith(".github/mha-grade/course.yaml")


def test_workflow_uses_the_step_and_the_reporter(tmp_path):
    unpack("github", tmp_path, Pack("src/attention.py"))
    workflow = yaml.safe_load((tmp_path / ".github/workflows/classroom.yml").read_text("utf-8"))
    checkout, python, mha, reporter = workflow["jobs"]["grade"]["steps"]
    assert (tmp_path / mha["uses"] / "action.yml").is_file()
    assert mha["with"] == {"file": "src/attention.py"}
    assert reporter["with"]["runners"] == mha["id"]
    assert reporter["env"] == {"MHA_RESULTS": "${{ steps.mha.outputs.result }}"}
    action = yaml.safe_load((tmp_path / ".github/mha-grade/action.yml").read_text("utf-8"))
    setup, grade = action["runs"]["steps"]
    assert grade["env"] == {
        "MHA_FILE": "${{ inputs.file }}",
        "MHA_NOTICES": "${{ inputs.notices }}",
    }
    scripts = [one["run"].rpartition("/")[2].rstrip('"') for one in (setup, grade)]
    assert all((tmp_path / ".github/mha-grade" / script).is_file() for script in scripts)
    assert action["outputs"]["result"]["value"] == "${{ steps.grade.outputs.result }}"
    assert set(mha["with"]) <= set(action["inputs"])
    assert (checkout["uses"], python["uses"]) == ("actions/checkout@v4", "actions/setup-python@v5")


@pytest.mark.parametrize("name", ["setup.sh", "run_autograder", "grade.sh"])
def test_script_is_valid_bash(tmp_path, name):
    for pack in PACKS:
        unpack(pack, tmp_path / pack)
    for path in tmp_path.rglob(name):
        assert run("bash", "-n", path).stderr == ""
