"""Honest code keeps working sealed: what students do that is harmless works, or gets one sentence.

Each piece stands at the top of a right answer, which is then graded as ever.
"""

import importlib.util
import sys
from pathlib import Path

import pytest
from sharing import as_share

from grader.files import read_data
from grader.model import Outcome
from grader.sandbox import launch
from grader.sandbox.level import CLOSED
from grader.texts import load_texts
from grader.worker.imports import NEVER

pytestmark = pytest.mark.skipif(not launch.can_fork(), reason="Linux")

ANSWER = Path(__file__).parent.parent / "reference" / "self_attention.py"
HEADER, _, REST = ANSWER.read_text(encoding="utf-8").partition("\n")
REST = REST.replace("from __future__ import annotations\n", "")
LINES = ANSWER.read_text(encoding="utf-8").count("\n")
# Of other systems, or left out where this Python was built.
ABSENT = ("_dbm", "_gdbm", "_msi", "_overlapped", "_scproxy", "_winapi", "msilib", "msvcrt", "nt")
ABSENT += ("winreg", "winsound")
GROUP = 30


@pytest.fixture
def grade_with(grade_source):
    """Lines to stand before a right answer -> its report."""
    return lambda lines: grade_source(f"{HEADER}\n{lines.strip()}\n{REST}")


def check_right(report):
    """Every case passed that can be judged."""
    assert report.refusal is None, load_texts("en").say(report.refusal)
    lost = [v for v in report.verdicts if v.outcome not in (Outcome.PASSED, Outcome.NOT_APPLICABLE)]
    assert lost == []
    assert report.score == 100


def is_there(name):
    """True for a module that this Python has."""
    return importlib.util.find_spec(name) is not None


MODULES = sorted(name for name in sys.stdlib_module_names - {*CLOSED} if is_there(name))
GROUPS = [MODULES[at : at + GROUP] for at in range(0, len(MODULES), GROUP)]


@pytest.mark.every
@pytest.mark.parametrize("names", GROUPS, ids=lambda names: f"{names[0]}-{names[-1]}")
def test_standard_library_is_imported(grade_with, names):
    check_right(grade_with("\n".join(f"import {name}" for name in names)))


def test_modules_of_other_systems_are_all_that_is_missing():
    missing = sys.stdlib_module_names - {*MODULES, *CLOSED}
    assert missing <= {*ABSENT, "_tkinter", "tkinter", "_curses", "_curses_panel", "_lzma", "_bz2"}


@pytest.mark.parametrize("name", sorted({*CLOSED} & sys.stdlib_module_names))
def test_module_that_does_something_is_closed(grade_source, name):
    assert NEVER.match(name)
    report = grade_source(f"import {name}")
    said = [load_texts(language).say(report.refusal) for language in ("en", "zh")]
    assert said == [
        f"The file imports {name} (line 1), a module of Python's own that is not open to graded "
        "files.",
        f"文件导入了 {name}（第 1 行），评测中不开放标准库的这个模块。",
    ]


HARMLESS = read_data(Path(__file__).with_name("honest.yaml"))


@pytest.mark.parametrize("piece", [as_share(piece, piece) for piece in HARMLESS])
def test_harmless_piece_changes_nothing(grade_with, piece):
    check_right(grade_with(HARMLESS[piece]))


CLOSED_EN = (
    "The import of the file asks for something that is closed while it is graded (line 2): a file, "
    "the network, another program or a thread ({})"
)
CLOSED_ZH = "导入文件时用到了评测期间不开放的资源（第 2 行）：文件、网络、其他程序或线程（{}）"
REFUSED = {
    "open('data.txt')": "FileNotFoundError: [Errno 2] No such file or directory: 'data.txt'",
    "open('out.txt', 'w')": "PermissionError: [Errno 13] Permission denied: 'out.txt'",
    "import os; os.makedirs('out')": "PermissionError: [Errno 13] Permission denied: 'out'",
    "import os; os.listdir('.')": "FileNotFoundError: [Errno 2] No such file or directory: '.'",
    "import torch; torch.load('m.pt')": "FileNotFoundError: [Errno 2] No such file or directory: "
    "'m.pt'",
    "import numpy; numpy.save('x.npy', 1)": "PermissionError: [Errno 13] Permission denied: "
    "'x.npy'",
    "import tempfile; tempfile.mkdtemp()": "FileNotFoundError: [Errno 2] No usable temporary "
    "directory found in ['/tmp', '/var/tmp', '/usr/tmp', '/']",
    "import threading; threading.Thread(target=print).start()": "RuntimeError: can't start new "
    "thread",
    "import subprocess; subprocess.run(['ls'])": "PermissionError: [Errno 1] Operation not "
    "permitted",
    "import asyncio; asyncio.new_event_loop()": "PermissionError: [Errno 1] Operation not "
    "permitted",
}


@pytest.mark.parametrize("line", REFUSED)
def test_closed_thing_is_said_in_one_sentence(grade_with, line):
    refusal = grade_with(line).refusal
    assert load_texts("en").say(refusal) == CLOSED_EN.format(REFUSED[line])
    assert load_texts("zh").say(refusal) == CLOSED_ZH.format(REFUSED[line].replace(": ", "：", 1))


def test_torch_that_cannot_save_is_closed_too(grade_with):
    said = load_texts("en").say(grade_with("import torch; torch.save(1, 'm.pt')").refusal)
    assert said.startswith(CLOSED_EN.format("RuntimeError: [enforce")[:-1])
    assert said.endswith("Permission denied)")


@pytest.mark.parametrize(
    "line", ["import torch; torch.ones(2).cuda()", "import torch; torch.ones(2, device='cuda')"]
)
def test_graphics_card_is_said_not_to_be_there(grade_with, line):
    refusal = grade_with(line).refusal
    assert load_texts("en").say(refusal) == (
        "The import of the file asks for a graphics card (line 2); code is graded on the processor "
        "alone."
    )
    assert load_texts("zh").say(refusal) == (
        "导入文件时要求使用显卡（第 2 行）；评测只在 CPU 上进行。"
    )


def test_graphics_card_in_forward_is_said_too(grade_source):
    answer = ANSWER.read_text(encoding="utf-8")
    check_right(grade_source(answer))
    source = answer.replace("scores = self.score(q, k)", "scores = self.score(q, k).cuda()")
    message = next(v.message for v in grade_source(source).verdicts if v.message)
    line = 1 + source[: source.index(".cuda()")].count("\n")
    assert load_texts("en").say(message) == (
        f"forward asks for a graphics card (line {line}); code is graded on the processor alone."
    )
    assert load_texts("zh").say(message) == (
        f"forward 中要求使用显卡（第 {line} 行）；评测只在 CPU 上进行。"
    )


@pytest.mark.parametrize("line", ["from .utils import x", "from . import utils"])
def test_neighbour_is_said_not_to_be_there(grade_with, line):
    refusal = grade_with(line).refusal
    assert load_texts("en").say(refusal) == (
        "The file imports from a package around it (line 2); it is graded by itself, without the "
        "files that lie beside it."
    )
    assert load_texts("zh").say(refusal) == (
        "文件使用了相对导入（第 2 行）；评测时只有这一个文件，没有同目录下的其他文件。"
    )


DRAWN = """
import io
import matplotlib.pyplot as plt
import torch
from mpl_toolkits.mplot3d import Axes3D
plt.style.use("ggplot"); plt.rcParams["font.family"] = "serif"
figure, axes = plt.subplots(2, 2)
axes[0][0].imshow(torch.rand(3, 3)); plt.colorbar(axes[0][0].images[0])
plt.plot([1, 2], label="$x^2$"); plt.title("loss"); plt.legend(); plt.tight_layout()
figure.canvas.draw(); plt.savefig(io.BytesIO(), format="png"); plt.show(); plt.close("all")
"""


@pytest.mark.skipif(not is_there("matplotlib"), reason="needs matplotlib")
def test_pictures_are_drawn_without_a_word(grade_with):
    report = grade_with(DRAWN)
    check_right(report)
    assert report.printed.text == ""


@pytest.mark.skipif(not is_there("matplotlib"), reason="needs matplotlib")
def test_picture_cannot_be_saved(grade_with):
    lines = "import matplotlib.pyplot as plt; plt.savefig('a.png')"
    said = "PermissionError: [Errno 13] Permission denied: 'a.png'"
    assert load_texts("en").say(grade_with(lines).refusal) == CLOSED_EN.format(said)


@pytest.mark.skipif(is_there("matplotlib"), reason="needs that there is no matplotlib")
def test_pictures_without_matplotlib_are_refused(grade_with):
    said = load_texts("en").say(grade_with("import matplotlib.pyplot as plt").refusal)
    assert said == "The file cannot be imported (line 2): No module named 'matplotlib'"


@pytest.mark.skipif(not is_there("tqdm"), reason="needs tqdm")
def test_progress_is_shown_without_a_word_of_threads(grade_with):
    lines = "from tqdm.auto import tqdm, trange\nfor _ in tqdm(trange(3)): pass"
    report = grade_with(lines)
    check_right(report)
    assert "100%" in report.printed.text
    assert "thread" not in report.printed.text
