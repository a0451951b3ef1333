"""Honest code keeps working sealed: what students do that is harmless works, or gets one sentence.

Each piece stands at the top of a right answer, which is then graded as ever.
"""

import importlib.util
import sys
from pathlib import Path

import pytest

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


HARMLESS = {
    "another-future": "from __future__ import annotations, division",
    "chdir": """
import os
os.chdir("/tmp"); os.chdir(os.path.dirname(os.path.abspath(__file__)))""",
    "threads": "import torch; torch.set_num_threads(8); torch.set_num_interop_threads(4)",
    "seeds": """
import random, numpy as np, torch
torch.manual_seed(0); torch.cuda.manual_seed_all(0); random.seed(0); np.random.seed(0)
random.random(), np.random.randn(3), np.random.default_rng(1).normal()""",
    "printed-tensors": """
import torch
torch.set_printoptions(precision=2, sci_mode=False)
print(torch.arange(1e4), torch.tensor([1 + 2j]), torch.eye(3).to_sparse(), torch.nn.Linear(2, 2))
print(torch.ones(2, requires_grad=True).sum(), torch.rand(2) > 0, torch.ones(2).half())""",
    "warnings": "import warnings; warnings.filterwarnings('ignore')",
    "strict-warnings": "import warnings; warnings.simplefilter('error')",
    "logging": """
import logging
logging.basicConfig(level=logging.INFO); logging.getLogger(__name__).info("here")""",
    "paths": """
import os, tempfile
from pathlib import Path
HERE = Path(__file__).resolve().parent
DATA = HERE.parent / "data" if (HERE / "data").exists() else Path.home() / ".cache"
os.path.expanduser("~/x"), os.environ["HOME"], os.environ.get("NONE"), Path.cwd()""",
    "search-path": """
import os, sys
sys.path.insert(0, ".."); sys.path.append(os.path.dirname(os.path.abspath(__file__)))""",
    "times": """
import datetime, time
time.time(), time.perf_counter(), time.sleep(0.001), time.strftime("%Y"), time.localtime()
datetime.datetime.now().astimezone()""",
    "cached-functions": """
from functools import cache, cached_property, lru_cache, partial, reduce
@lru_cache(maxsize=None)
def double(number): return 2 * number
double(3)""",
    "types": """
from __future__ import annotations
import abc, collections.abc, enum
from dataclasses import dataclass, field
from typing import *
from typing_extensions import Self
@dataclass(frozen=True)
class Sizes:
    width: int = 3
    names: list[str] = field(default_factory=list)
Sizes()""",
    "compiled": """
import torch
@torch.compile(mode="reduce-overhead", fullgraph=True)
def double(x): return 2 * x
double(torch.ones(2)), torch.compile(double)(torch.ones(2))""",
    "scripted": """
import torch
@torch.jit.script
def double(x: torch.Tensor) -> torch.Tensor:
    return 2 * x
class Twice(torch.nn.Module):
    def forward(self, x: torch.Tensor): return 2 * x
double(torch.ones(2)), torch.jit.script(Twice())(torch.ones(2))
torch.jit.trace(double, torch.ones(2))""",
    "default-dtype": "import torch; torch.set_default_dtype(torch.float64)",
    "default-device": """
import torch
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.set_default_device(device); torch.set_default_device("cpu")
torch.backends.mps.is_available(), torch.ones(2).to(device), torch.cuda.device_count()""",
    "switches": """
import torch
torch.backends.cudnn.deterministic = True; torch.backends.cudnn.benchmark = False
torch.backends.cuda.matmul.allow_tf32 = True; torch.backends.cuda.enable_flash_sdp(False)
torch.set_float32_matmul_precision("high"); torch.use_deterministic_algorithms(True)
torch.autograd.set_detect_anomaly(True)""",
    "absent-checkpoint": """
import os, torch
from pathlib import Path
if os.path.exists("model.pt") or Path("model.pt").is_file() or Path("model.pt").exists():
    torch.load("model.pt")
try:
    torch.load("model.pt"), open("model.json")
except FileNotFoundError:
    pass""",
    "question-in-the-main-block": """
if __name__ == "__main__":
    size = int(input("size? "))""",
    "recursion-limit": "import sys; sys.setrecursionlimit(10**5)",
    "data": """
import torch
from torch.utils.data import DataLoader, Dataset, TensorDataset, random_split
for batch in DataLoader(TensorDataset(torch.ones(4, 2)), batch_size=2, shuffle=True): pass""",
    "progress-or-not": """
try:
    from tqdm import tqdm
except ImportError:
    tqdm = lambda items: items
for _ in tqdm(range(3)): pass""",
    "arguments": """
import argparse, sys
parser = argparse.ArgumentParser()
parser.add_argument("--size", default=3); parser.parse_args()""",
    "tests-inside": """
import doctest, unittest
class TestIt(unittest.TestCase):
    def test(self): self.assertEqual(1, 1)
if __name__ == "__main__":
    unittest.main()
doctest.testmod()""",
    "closeness": """
import torch, numpy as np
from numpy.testing import assert_allclose
torch.testing.assert_close(torch.ones(2), torch.ones(2))
assert torch.allclose(torch.ones(2), torch.ones(2))
assert_allclose(np.ones(2), 1)""",
    "checked-gradients": """
import torch
torch.autograd.gradcheck(torch.sin, torch.ones(2, dtype=torch.float64, requires_grad=True))""",
    "training": """
import torch
weight = torch.nn.Parameter(torch.ones(2)); optimiser = torch.optim.Adam([weight])
(weight * weight).sum().backward(); torch.nn.utils.clip_grad_norm_([weight], 1.0); optimiser.step()
with torch.autocast("cpu", dtype=torch.bfloat16): torch.ones(2, 2) @ torch.ones(2, 2)""",
    "saved-in-memory": """
import io, torch
buffer = io.BytesIO(); torch.save({"w": torch.ones(2)}, buffer)
buffer.seek(0); torch.load(buffer)""",
    "einsum-by-name": """
import torch
from einops import einsum, rearrange, repeat
from einops.layers.torch import Rearrange
rearrange(torch.ones(2, 4), "a (b c) -> a b c", b=2), Rearrange("a b -> b a")(torch.ones(2, 3))""",
    "torch-at-large": """
import torch.distributed as dist, torch.fx, torch.hub
from torch.func import functional_call, grad, jacrev, vmap
from torch.nn.parallel import DistributedDataParallel
from torch.nn.utils import parametrize, weight_norm
from torch.profiler import profile, record_function
from torch.cuda.amp import GradScaler, autocast
dist.is_available(), torch.fx.symbolic_trace(torch.nn.Linear(2, 2))""",
    "own-text": """
import inspect, sys
def double(number): return 2 * number
assert "2 * number" in inspect.getsource(double); inspect.getsource(sys.modules[__name__])""",
    "about-the-computer": """
import getpass, multiprocessing, os, platform, socket, uuid
os.cpu_count(), multiprocessing.cpu_count(), platform.platform(), socket.gethostname()
getpass.getuser(), uuid.uuid4(), os.getpid()""",
    "program-by-the-shell": "import os; os.system('clear')",
    "gradients-off": "import torch; torch.set_grad_enabled(False)",
}


@pytest.mark.parametrize("piece", HARMLESS)
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
    report = grade_source(
        answer.replace("= self.split_heads(self.q", "= self.split_heads(self.q", 1)
    )
    check_right(report)
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
