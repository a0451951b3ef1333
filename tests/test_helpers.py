"""Helper modules of a course: importable by files that are graded, from memory alone."""

import json
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
from test_cli import mha_grade
from test_loader import GOOD

from grader.bank import load_exercise, use_banks
from grader.bank.helpers import read_helpers
from grader.bank.schema import Reader
from grader.course.batch import _fingerprint
from grader.course.settings import read_settings
from grader.errors import BankError, UsageError
from grader.grading import Request, grade
from grader.model import Helper, Limits, Status, Terms
from grader.sandbox.session import Session
from grader.texts import load_texts

ROOT = Path(__file__).parent.parent
REFERENCE = (ROOT / "reference" / "self_attention.py").read_text(encoding="utf-8")
# A right answer whose heads are split and scores scaled by the course's module.
HELPER = '''
"""Given by the course."""
import colorsys
from dataclasses import dataclass


@dataclass
class Sizes:
    d_model: int
    num_heads: int


def scale_of(head_dim):
    """One over the square root of the head size."""
    return 1 / head_dim**0.5
'''
SOURCE = REFERENCE.replace("import math\n", "import given\nfrom given import scale_of\n")
SOURCE = SOURCE.replace(
    "self.num_heads = num",
    "self.sizes = given.Sizes(d_model, num_heads)\n        self.num_heads = num",
)
SOURCE = SOURCE.replace("q = q / math.sqrt(self.head_dim)", "q = q * scale_of(self.head_dim)")
HELPERS = (Helper("given.py", HELPER),)


def grade_with(forge, submit, source, helpers=HELPERS):
    request = Request(seed=3, exercise="self-attention", terms=Terms(helpers=helpers))
    return grade(submit(source), forge, request)


def test_file_imports_what_the_course_gives(forge, submit):
    report = grade_with(forge, submit, SOURCE)
    assert report.all_passed
    assert report.isolation.level == "full"


def test_wrong_helper_makes_wrong_values(forge, submit):
    wrong = HELPER.replace("1 / head_dim**0.5", "1 / head_dim")
    report = grade_with(forge, submit, SOURCE, (Helper("given.py", wrong),))
    assert [found.mistake for found in report.diagnosis.mistakes] == ["scale-by-head-dim"]


def test_without_the_helper_the_file_is_refused(forge, submit):
    report = grade_with(forge, submit, SOURCE, ())
    assert load_texts("en").say(report.refusal) == (
        "The file imports given (line 12), which is not open to it. If it is installed, "
        "--package given opens it."
    )


BODY = """
import inspect, linecache, traceback
import given

def say():
    try:
        given.fail()
    except ZeroDivisionError as error:
        print(traceback.format_exc())
    print(inspect.getsource(given.fail))
    print(given.__name__, given.__file__, given.inner.__file__)
    try:
        open(given.__file__)
    except OSError as error:
        print(type(error).__name__)
say()
"""


def test_traceback_and_source_of_a_helper(forge, submit):
    helpers = (
        Helper("lib/given.py", "import inner\n\ndef fail():\n    return inner.divide(1, 0)\n"),
        Helper("inner.py", "def divide(a, b):\n    return a / b\n"),
    )
    session = Session(forge, submit(BODY), Limits(), helpers=helpers)
    assert session.load().status is Status.OK
    session.close()
    printed = session.printed.text
    assert 'File "helpers/given.py", line 4, in fail\n    return inner.divide(1, 0)\n' in printed
    assert 'File "helpers/inner.py", line 2, in divide\n    return a / b\n' in printed
    assert "def fail():\n    return inner.divide(1, 0)\n" in printed
    assert "given helpers/given.py helpers/inner.py\nFileNotFoundError" in printed


def test_mistake_in_a_helper_is_told_by_the_line_that_calls_it(forge, submit):
    broken = HELPER.replace("1 / head_dim**0.5", "head_dim / 0")
    report = grade_with(forge, submit, SOURCE, (Helper("given.py", broken),))
    first = next(v for v in report.verdicts if v.message and v.message.key == "trouble.raised")
    assert first.message.fields["type"] == "ZeroDivisionError"
    assert first.message.fields["line"] == 1 + SOURCE.split("\n").index(
        "        q = q * scale_of(self.head_dim)  # [B, H, L, Dh]"
    )


@pytest.fixture
def read(tmp_path):
    def read_list(names, files, packages=()):
        for path, content in files.items():
            target = tmp_path / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        return read_helpers(Reader("course.yaml"), names, tmp_path, packages)

    return read_list


def test_files_beside_and_below_are_read(read):
    found = read(["given.py", "lib/rope.py"], {"given.py": b"x = 1\n", "lib/rope.py": b"y = 2\r\n"})
    assert found == (Helper("given.py", "x = 1\n"), Helper("lib/rope.py", "y = 2\n"))
    assert [helper.name for helper in found] == ["given", "rope"]


REFUSED = [
    (["absent.py"], "No such file: DIR/absent.py", "文件不存在：DIR/absent.py"),
    (["big.py"], "The file is larger than 256 KiB: DIR/big.py", "文件超过 256 KiB：DIR/big.py"),
    (["zero.py"], "Not Python source text: DIR/zero.py", "不是 Python 源码文本：DIR/zero.py"),
    (
        ["bad.py"],
        "course.yaml: helpers: bad.py is not valid Python: invalid syntax (bad.py, line 2)",
        "course.yaml：helpers：bad.py 不是合法的 Python 代码：invalid syntax (bad.py, line 2)",
    ),
    *(
        (
            [name],
            f"course.yaml: helpers: {name} has the name of a module that there is already; give it "
            "another name",
            f"course.yaml：helpers：{name} 与已有模块重名，请改名",
        )
        for name in ("random.py", "torch.py", "numpy.py", "lib/grader.py", "submission.py")
    ),
    *(
        (
            [name],
            f"course.yaml: helpers: got {name}; expected a file NAME.py beside this one or below "
            "it, NAME being one that can be imported",
            f"course.yaml：helpers：实际为 {name}，应为本文件旁边或其下级目录中的 NAME.py，且 NAME "
            "可以被 import",
        )
        for name in ("../given.py", "/etc/passwd", "given", "my-own.py", "given.ipynb", "lib")
    ),
    (
        ["given.py", "lib/given.py"],
        "course.yaml: helpers: lib/given.py has the name of a module that there is already; give "
        "it another name",
        "course.yaml：helpers：lib/given.py 与已有模块重名，请改名",
    ),
    (
        ["given.py"] * 17,
        "course.yaml: helpers: got 17; expected at most 16",
        "course.yaml：helpers：实际为 17，应为 at most 16",
    ),
    (
        "given.py",
        "course.yaml: helpers: got given.py; expected a list",
        "course.yaml：helpers：实际为 given.py，应为 a list",
    ),
]


@pytest.mark.parametrize(("names", "english", "chinese"), REFUSED)
def test_what_cannot_be_served_is_refused_in_one_sentence(read, tmp_path, names, english, chinese):
    files = {
        "given.py": b"",
        "lib/given.py": b"",
        "big.py": b"#" * (256 << 10) + b"\n",
        "zero.py": b"\0",
        "bad.py": b"\nx = = 1\n",
        **{f"{name}.py": b"" for name in ("random", "torch", "numpy", "lib/grader", "submission")},
    }
    with pytest.raises(BankError) as caught:
        read(names, files)
    said = [load_texts(language).say(caught.value.message) for language in ("en", "zh")]
    assert [text.replace(str(tmp_path), "DIR") for text in said] == [english, chinese]


def test_name_of_an_open_package_is_taken(read):
    with pytest.raises(BankError) as caught:
        read(["not_installed.py"], {"not_installed.py": b""}, ["not_installed"])
    assert caught.value.message.key == "bank.helper-taken"


def test_changed_helper_is_another_version_of_the_exercise(bank):
    first = {"week_3.yaml": "helpers: [given.py]" + GOOD, "given.py": HELPER}
    use_banks([bank(first)])
    before = load_exercise("week-3")
    assert before.helpers == HELPERS
    use_banks([bank({"given.py": HELPER + "\n"})])
    assert load_exercise("week-3").version != before.version
    use_banks([bank({"given.py": HELPER})])
    assert load_exercise("week-3").version == before.version


def test_extending_keeps_helpers_or_names_others(bank):
    first = bank({"my_own.yaml": "helpers: [given.py]" + GOOD, "given.py": "x = 1"}, "first")
    use_banks([first, bank({"my_own.yaml": "extends: my-own"}, "second")])
    assert load_exercise("my-own").helpers == (Helper("given.py", "x = 1"),)
    second = {"my_own.yaml": "extends: my-own\nhelpers: [given.py]", "given.py": "x = 2"}
    use_banks([first, bank(second, "second")])
    assert load_exercise("my-own").helpers == (Helper("given.py", "x = 2"),)


def test_helper_of_a_course_goes_before_one_of_the_exercise():
    exercise = replace(load_exercise("self-attention"), helpers=(Helper("a.py", "x = 1"),))
    terms = Terms(helpers=(Helper("lib/a.py", "x = 2"), Helper("b.py", "")))
    assert exercise.on_terms(terms).helpers == (Helper("lib/a.py", "x = 2"), Helper("b.py", ""))


def test_changed_helper_of_a_course_grades_again(tmp_path):
    course = tmp_path / "course.yaml"
    course.write_text("helpers: [given.py]", encoding="utf-8")
    prints = set()
    for text in (HELPER, HELPER + "\n", HELPER):
        (tmp_path / "given.py").write_text(text, encoding="utf-8")
        prints.add(_fingerprint("self-attention", read_settings(course), 1, None))
    assert len(prints) == 2


def test_bank_with_a_missing_helper_is_refused(bank, tmp_path):
    with pytest.raises(UsageError) as caught:
        use_banks([bank({"week_3.yaml": "helpers: [absent.py]" + GOOD})])
    said = load_texts("en").say(caught.value.message)
    assert said == f"No such file: {tmp_path}/course/absent.py"


@pytest.fixture
def course(tmp_path):
    (tmp_path / "given.py").write_text(HELPER, encoding="utf-8")
    (tmp_path / "course.yaml").write_text(
        "exercise: self-attention\nhelpers: [given.py]\n", encoding="utf-8"
    )
    (tmp_path / "sent").mkdir()
    (tmp_path / "sent" / "ada.py").write_text(SOURCE, encoding="utf-8")
    return tmp_path


def test_command_takes_the_helpers_of_a_course_file(course):
    options = ("--course", "course.yaml", "--format", "json", "--seed", "1")
    done = mha_grade("sent/ada.py", *options, folder=course)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["score"] == 100


def test_folder_is_graded_with_the_helpers_of_a_course(course):
    options = ("--course", "course.yaml", "--format", "array", "--seed", "1", "--jobs", "1")
    done = mha_grade("sent", *options, folder=course)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)[0]["score"] == 100


def test_pack_holds_the_helpers_of_a_course(course):
    options = ("--course", "course.yaml", "--output", "pack.zip")
    assert mha_grade("--pack", "gradescope", *options, folder=course).returncode == 0
    with zipfile.ZipFile(course / "pack.zip") as pack:
        assert pack.read("given.py").decode() == HELPER
        assert b"helpers: [given.py]" in pack.read("course.yaml")


def test_script_for_one_case_is_written_with_helpers(course):
    wrong = SOURCE.replace("q = q * scale_of(self.head_dim)", "q = 1 * q")
    (course / "sent" / "ada.py").write_text(wrong, encoding="utf-8")
    options = ("--course", "course.yaml", "--repro", "values", "--seed", "1")
    done = mha_grade("sent/ada.py", *options, folder=course)
    assert done.returncode == 0, done.stderr
    compile(done.stdout, "repro.py", "exec")
