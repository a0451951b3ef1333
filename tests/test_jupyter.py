"""In a notebook: what is gathered from cells, and the whole way in a real kernel."""

import json
import subprocess
import sys
import textwrap
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest
from pages import read_page
from test_reports import FREE_SAMPLE, SAMPLE

import grader
from grader.errors import UsageError
from grader.jupyter import Shown, grade
from grader.jupyter.cells import classes_of, gather
from grader.jupyter.magic import read_options
from grader.model import Submission
from grader.reports import FORMATS, View
from grader.texts import load_texts

ROOT = Path(__file__).parent.parent
ENGLISH = load_texts("en")


def cells(*texts):
    return [textwrap.dedent(text).strip("\n") for text in texts]


def gathered(*texts, names=("A",)):
    return gather(cells(*texts), names)


# What a class needs


def test_imports_helpers_and_numbers_come_along():
    source = gathered(
        """
        import math
        import torch
        from torch import nn
        from torch.nn import functional as F
        """,
        "SCALE = 2\nunused = torch.zeros(10**9)",
        "def scale(x):\n    return x / SCALE",
        "class A(nn.Module):\n    def forward(self, x):\n        return scale(F.relu(x))",
        "train(A())\nx = A()(data)",
    )
    assert source == textwrap.dedent(
        """\
        from torch import nn
        from torch.nn import functional as F
        SCALE = 2


        def scale(x):
            return x / SCALE



        class A(nn.Module):
            def forward(self, x):
                return scale(F.relu(x))
        """
    )


def test_names_that_a_function_has_for_itself_are_none_of_the_notebooks():
    source = gathered(
        "x = load_data()\nmask = x > 0\nq = 3",
        "class A:\n    def forward(self, x, mask=None):\n        q = [x for x in mask]\n"
        "        return q",
    )
    assert source.startswith("class A:")


def test_last_definition_counts():
    source = gathered("class A:\n    k = 1", "k = 1", "class A:\n    k = two", "two = 2", "two = 3")
    assert source == "class A:\n    k = two\n\ntwo = 3\n"


def test_decorators_bases_and_defaults_are_needed():
    source = gathered(
        "import functools\nBASE = 1\nclass B: pass\ndef keep(x): return x",
        "@keep\nclass A(B):\n    @functools.cache\n    def f(self, x=BASE): pass",
    )
    for line in ("import functools", "BASE = 1", "class B: pass", "def keep(x): return x", "@keep"):
        assert line in source.split("\n")


def test_functions_put_into_a_class_later_come_along():
    source = gathered(
        "class A: pass", "def forward(self, x):\n    return x", "A.forward = forward\nC.f = 1"
    )
    assert source.endswith("A.forward = forward\n")
    assert "def forward(self, x):" in source
    assert "C.f" not in source


def test_lines_for_the_notebook_are_left_out():
    source = gathered(
        "%load_ext grader\n!pip install einops\nimport torch",
        "%%time\nclass A:\n    def f(self): return torch",
        "%%bash\nclass A: no Python",
    )
    assert source == "import torch\n\n\nclass A:\n    def f(self): return torch\n"


def test_cell_of_the_magic_is_python():
    assert classes_of("%%mha_grade --seed 1\nclass A: pass\nclass B(A): pass") == ["A", "B"]
    assert classes_of("class A(:") == []


def test_imports_from_the_future_stand_first_and_stars_come_along():
    source = gathered(
        "from math import *\nX: int = 1", "from __future__ import annotations\nclass A: y = pi"
    )
    assert source.split("\n")[0] == "from __future__ import annotations"
    assert "from math import *" in source
    assert "X" not in source


def test_broken_cells_are_passed_over():
    assert gathered("this is no Python", "await it", "class A: pass") == "class A: pass\n"


def test_nothing_to_gather_is_an_empty_file():
    assert gathered("x = 1") == "\n"


# What is shown


def test_page_stands_in_a_frame_of_its_own():
    shown = Shown(SAMPLE, ENGLISH, View())
    frame = read_page(shown._repr_html_()).one("iframe")
    assert (frame.attrs["sandbox"], frame.attrs["title"]) == ("", "Report of mha-grade")
    assert frame.attrs["srcdoc"] == FORMATS["html"](SAMPLE, ENGLISH, View())
    assert repr(shown) == FORMATS["terminal"](SAMPLE, ENGLISH, View())


@pytest.mark.parametrize(
    ("report", "command"),
    [
        (SAMPLE, "grade(MultiHeadAttention, exercise='self-attention', seed=42)"),
        (FREE_SAMPLE, "grade(MultiHeadAttention, seed=42)"),
    ],
)
def test_run_is_repeated_in_the_notebook(report, command):
    inside = replace(report, submission=Submission("<notebook>", "", ""))
    footer = read_page(FORMATS["html"](inside, ENGLISH)).one("footer")
    assert footer.one("code").text == command


# What cannot be graded


class NoModule:
    """A class that stands in a file, this one."""


def test_what_is_no_class_is_said():
    with pytest.raises(ValueError, match=r"^grade takes a class; got a value of type int\. Name"):
        grade(3)


def test_class_without_source_is_said():
    made = type("Made", (), {"__module__": "__main__"})
    with pytest.raises(ValueError, match=r"^The source of Made was found neither in the cells"):
        grade(made, lang="en")


def test_unknown_exercise_and_language_are_said():
    with pytest.raises(ValueError, match=r"^There is no exercise none\. There is: causal-self"):
        grade(NoModule, exercise="none", lang="en")
    with pytest.raises(ValueError, match=r"^There is no language tlh\."):
        grade(NoModule, lang="tlh")


def test_options_of_the_magic():
    asked = read_options("--exercise self-attention --seed 4 --hints 2 --answers --class A")
    assert vars(asked) == {
        "exercise": "self-attention",
        "class_name": "A",
        "seed": 4,
        "hints": 2,
        "answers": True,
    }
    for line in ("--sed 4", "--hints 9", "what", "'"):
        with pytest.raises(UsageError) as caught:
            read_options(line)
        assert ENGLISH.say(caught.value.message) == (
            "%%mha_grade takes these options: [--exercise ID] [--class NAME] [--seed N] "
            "[--hints {0,1,2,3}] [--answers]"
        )


def test_package_is_imported_for_next_to_nothing():
    code = "import sys, grader; print(sorted(m for m in sys.modules if m.startswith('grader')))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout == "['grader']\n"
    assert grader.grade is grade
    assert not hasattr(grader, "grades")


# The whole way

RIGHT = (ROOT / "reference" / "self_attention.py").read_text(encoding="utf-8")
WRONG = RIGHT.replace(" / math.sqrt(self.head_dim)", "")
NOTEBOOK = [
    "%load_ext grader",
    "from grader import grade\nimport math\nimport torch\nfrom torch import nn",
    # What follows would not run over there.
    "data = open('/dev/null')",
    "# mha-grade: self-attention\n" + WRONG[WRONG.index("class ") :],
    "shown = grade(MultiHeadAttention, seed=5, lang='en')\nshown",
    "%%mha_grade --exercise self-attention --seed 5\n" + RIGHT[RIGHT.index("class ") :],
    "print(shown.report.score, MultiHeadAttention(6, 2))",
    "%%mha_grade --sed 5\nclass Broken: pass",
    "%%mha_grade\n1 / 0",
]
RUN = """
import sys, nbclient, nbformat
book = nbformat.read(sys.argv[1], 4)
nbclient.NotebookClient(book, timeout=120, kernel_name="python3", allow_errors=True).execute()
nbformat.write(book, sys.argv[1])
"""


def run_notebook(folder, cells):
    """Each cell's outputs, from a real kernel."""
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    path = folder / "book.ipynb"
    nbformat.write(made, path)
    environment = {
        "PATH": "/usr/bin:/bin",
        "PYTHONPATH": str(ROOT),
        "LANG": "en",
        "HOME": str(folder),
    }
    subprocess.run([sys.executable, "-c", RUN, path], cwd=folder, env=environment, check=True)
    book = json.loads(path.read_text(encoding="utf-8"))
    return [cell["outputs"] for cell in book["cells"]]


def page_of(output):
    frame = read_page("".join(output["data"]["text/html"])).one("iframe")
    return read_page(frame.attrs["srcdoc"])


@pytest.mark.slow
@pytest.mark.every
def test_class_of_cells_is_graded_in_a_real_kernel(tmp_path):
    outputs = run_notebook(tmp_path, NOTEBOOK)
    (wrong,) = outputs[4]
    text = "".join(wrong["data"]["text/plain"])
    assert text.startswith("self-attention: <notebook>\n")
    assert "* missing-scale (line " in text
    page = page_of(wrong)
    assert [code.text for code in page.one("footer").all("code")] == [
        "grade(MultiHeadAttention, exercise='self-attention', seed=5)"
    ]
    assert "softmax" in page.one("mark").text
    assert len(page.all("svg", "heat")) == 10
    (right,) = outputs[5]
    assert "Every case passed." in page_of(right).text
    (printed,) = outputs[6]
    # The cell was run as any other.
    assert "".join(printed["text"]).startswith("88.5 MultiHeadAttention(")
    (refused,) = outputs[7]
    assert "".join(refused["text"]).startswith("%%mha_grade takes these options: ")
    assert [output["output_type"] for output in outputs[8]] == ["error"]
