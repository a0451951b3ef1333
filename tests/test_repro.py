"""A case as a script of plain torch: it fails for a wrong file, and passes for a right one."""

import contextlib
import json
import subprocess
import sys

import pytest
from sources import HEADS, PLAIN
from test_grading import UNKNOWN_LAYOUT

from grader.audit import load_file
from grader.bank import load_exercise
from grader.bank.bench import Bench
from grader.errors import UsageError
from grader.grading import Request, reproduce
from grader.repro import pose_case, write_script
from grader.texts import languages, load_texts

SCALE = " / math.sqrt(q.shape[-1])"
# The case, what makes the plain file wrong in it, and what it says of the wrong file.
CASES = {
    "values": ((SCALE, ""), "Wrong at [sample, position], largest error: "),
    "values-batch-of-one": ((SCALE, ""), "Wrong: see the rows above."),
    "causal-values": (("~mask", "mask"), "Wrong at [sample, position]"),
    "padding-values": (("~mask", "mask"), "Wrong at [sample, position]"),
    "strided-slice": ((SCALE, ""), "Wrong at [sample, position]"),
    "mask-forms": (("~mask", "mask"), "Wrong at [sample, position]"),
    "dead-rows-float64": ((".nan_to_num(0.0)", ""), "nan"),
    "float32-values": ((SCALE, ""), "Wrong at [sample, position]"),
    "dropout-in-eval": ((SCALE, ""), "Wrong at [sample, position]"),
    "indivisible-10-by-4": (("if d % h:", "if False:"), "Wrong: no ValueError."),
}

# A right file with dropout, and dead rows whose gradients are finite.
RIGHT = PLAIN.replace("d, h)", "d, h, dropout=0.0)").replace(
    "self.h = h", "self.h, self.drop, self.t = h, nn.Dropout(dropout), 1.0"
)
RIGHT = RIGHT.replace("(weights @ v)", "(self.drop(weights) @ v)")
RIGHT = RIGHT.replace('float("-inf")', "torch.finfo(scores.dtype).min")
LINEARS = "self.q, self.k, self.v, self.o = (nn.Linear(d, d) for _ in range(4))"
NOT_SCALED = "(weights * (torch.rand_like(weights) >= self.drop.p) if self.training else weights)"
COUNTED = "self.t += {}; scores = self.t * q @ k.mT"
CACHED = """    def joined(self):
        if self.t == 1.0:
            self.t = self.o.weight.detach().clone(), self.o.bias.detach().clone()
        return lambda x: nn.functional.linear(x, *self.t)

"""
RESTORED = """    def __setstate__(self, state):
        super().__setstate__(state)
        self.t = 2.0

"""
# The case, what makes that file wrong in it, and what the script says of it then.
BEHAVIOURS = {
    "gradients-of-inputs": (("value = x", "value = x.detach()"), "Wrong gradient; of"),
    "gradients-of-parameters": (("(weights) @", "(weights.detach()) @"), "Wrong gradient; of"),
    "gradients-masked": (("/ math.sqrt", "/ 2 / math.sqrt"), "Wrong gradient; of"),
    "dead-rows-gradients": (
        ("scores.masked_fill(~mask, ", 'scores + torch.where(mask, 0.0, float("-inf")); ('),
        "Wrong: a gradient is NaN or infinite, or does not reach an input.",
    ),
    "dropout-in-training": (
        ("self.drop(weights)", "weights"),
        "Wrong: two calls in training mode give the same output.",
    ),
    "dropout-scale": (
        ("self.drop(weights)", NOT_SCALED),
        "Wrong: the mean of many outputs in training mode is not the output of eval mode.",
    ),
    "dropout-after-training": (
        ("scores = q @ k.mT", COUNTED.format("float(self.training)")),
        "Wrong: after calls in training mode, eval mode gives another output than before.",
    ),
    "no-state": (
        ("scores = q @ k.mT", COUNTED.format("1")),
        "Wrong: after other calls, the first call gives another output than before.",
    ),
    "no-state-after-mask": (
        ("scores = q @ k.mT", COUNTED.format("mask is not None")),
        "Wrong: after other calls, the first call gives another output than before.",
    ),
    "inputs-unchanged": (
        ("value = x", "value = x.mul_(1.5)"),
        "Wrong: the call changed an argument.",
    ),
    "mask-unchanged": (("~mask", "mask.logical_not_()"), "Wrong: the call changed an argument."),
    "registered": (
        (LINEARS, LINEARS.replace("self.q,", "q,") + "\n        self.lost = [q]"),
        ("self.q(query)", "self.lost[0](query)"),
        "lost\nWrong: the attributes named above hold parameters that are not registered, or there"
        " are none at all.",
    ),
    "every-parameter-used": (
        (LINEARS, LINEARS + "\n        self.spare = nn.Linear(d, d)"),
        "spare.weight spare.bias\nWrong: no gradient reaches the parameters named above.",
    ),
    "switches-untouched": (
        ("scores = q @", "torch.manual_seed(0); scores = q @"),
        "Wrong: a call in eval mode draws random numbers or changes a global setting of torch.",
    ),
    "deep-copy": (
        (LINEARS, LINEARS + "\n        self.join = lambda t: self.o(t)"),
        ("self.o((", "self.join(("),
        "Wrong: the copy does not give what the original gave, once the original has other"
        " weights.",
    ),
    "pickling": (
        ("    def forward", RESTORED + "    def forward"),
        ("scores = q @ k.mT", "scores = self.t * q @ k.mT"),
        "Wrong: the module that was pickled and unpickled does not give what the original gave.",
    ),
    "state-dict": (
        ("self.o((", "self.joined()(("),
        ("    def forward", CACHED + "    def forward"),
        "Wrong: a second module that loaded the state_dict does not give what the first gave.",
    ),
}


@pytest.fixture
def script(forge, submit):
    """Source and case -> the text of the script."""

    def write(source, case, language="en"):
        submission = submit(source, "mine.py")
        found = reproduce(submission, forge, Request(3, "self-attention"), case)
        return write_script(found.posed, submission, 3, found.axes, load_texts(language))

    return write


# Runs each folder's script as `python shown.py` would, one after the other: torch is imported once,
# and nothing of ours is there to be found.
RUNNER = """
import contextlib, io, json, os, runpy, sys

told, folders = {}, sys.argv[1:]
sys.argv[:] = ["shown.py"]
for folder in folders:
    os.chdir(folder)
    printed, code = io.StringIO(), 0
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        try:
            runpy.run_path("shown.py", run_name="__main__")
        except SystemExit as exit_:
            code = exit_.code
    told[folder] = code, printed.getvalue()
print(json.dumps(told))
"""


def run_all(scripts, folder):
    """{name: (text of the script, source of the file)} -> {name: (exit code, what it printed)}."""
    for name, (text, source) in scripts.items():
        (folder / name).mkdir()
        (folder / name / "mine.py").write_text(source, encoding="utf-8")
        (folder / name / "shown.py").write_text(text, encoding="utf-8")
    folders = {str(folder / name): name for name in scripts}
    done = subprocess.run(
        [sys.executable, "-I", "-c", RUNNER, *folders], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return {folders[where]: tuple(told) for where, told in json.loads(done.stdout).items()}


def test_scripts_tell_a_wrong_file_from_a_right_one(script, tmp_path):
    scripts = {"heads": (script(HEADS, "mask-per-head"), HEADS)}
    for case, ((old, new), _) in CASES.items():
        wrong = PLAIN.replace(old, new)
        assert wrong != PLAIN
        text = script(wrong, case)
        scripts |= {f"{case} wrong": (text, wrong), f"{case} right": (text, PLAIN)}
    told = run_all(scripts, tmp_path)
    assert told.pop("heads") == (0, "Right in these rows.\n")
    right = {name: code for name, (code, _) in told.items() if name.endswith(" right")}
    assert right == {f"{case} right": 0 for case in CASES}
    for case, (_, said) in CASES.items():
        code, printed = told[f"{case} wrong"]
        assert (code, said in printed) == (1, True), (case, printed)


@pytest.mark.every
def test_scripts_tell_a_wrong_behaviour_from_a_right_one(script, tmp_path):
    scripts = {}
    for case, (*changes, _) in BEHAVIOURS.items():
        wrong = RIGHT
        for old, new in changes:
            assert old in wrong
            wrong = wrong.replace(old, new)
        text = script(wrong, case)
        scripts |= {f"{case} wrong": (text, wrong), f"{case} right": (text, RIGHT)}
    told = run_all(scripts, tmp_path)
    right = {name: told[name] for name in told if name.endswith(" right")}
    assert {name: code for name, (code, _) in right.items()} == {
        f"{case} right": 0 for case in BEHAVIOURS
    }
    assert {printed.split("\n")[-2] for _, printed in right.values()} == {
        "Right at these places.",
        "Right in this; whether values are right is for other cases.",
    }
    for case, (*_, said) in BEHAVIOURS.items():
        code, printed = told[f"{case} wrong"]
        assert (code, said in printed) == (1, True), (case, printed)


@pytest.mark.every
def test_no_script_finds_fault_with_a_right_file(script, tmp_path):
    right = load_file("reference", "self-attention").source
    scripts = {}
    for case in load_exercise("self-attention").cases:
        with contextlib.suppress(UsageError):
            scripts[case.id] = script(right, case.id), right
    assert len(scripts) > 80
    told = run_all(scripts, tmp_path)
    assert {case: said for case, (code, said) in told.items() if code} == {}


@pytest.mark.every
def test_script_runs_on_its_own(script, tmp_path):
    (tmp_path / "mine.py").write_text(PLAIN, encoding="utf-8")
    (tmp_path / "shown.py").write_text(script(PLAIN, "values"), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "shown.py"], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("language", languages())
def test_script_is_plain_torch(language, script):
    text = script(PLAIN, "causal-values", language)
    imported = {line.split()[1] for line in text.split("\n") if line.startswith("import ")}
    assert imported == {"importlib.util", "math", "random", "sys", "torch"}
    assert "grader" not in text
    assert len(text.split("\n")) < 120
    compile(text, "shown.py", "exec")


def test_path_of_the_file_cannot_break_the_script(forge, submit):
    submission = submit(PLAIN, 'a"""\\\nimport os#.py')
    found = reproduce(submission, forge, Request(3, "self-attention"), "values")
    text = write_script(found.posed, submission, 3, found.axes, load_texts("en"))
    assert "\nimport os" not in text
    compile(text, "shown.py", "exec")


REFUSED = {
    "no-such-case": "There is no case no-such-case in self-attention; the report of a file names"
    " its cases.",
    "dropout-on-weights": "The case dropout-on-weights has no short script: what it looks at takes"
    " more than torch and a few calls.",
}


@pytest.mark.parametrize("case", REFUSED)
def test_case_that_cannot_be_shown_is_refused(case, script):
    with pytest.raises(UsageError) as caught:
        script(PLAIN, case)
    assert load_texts("en").say(caught.value.message) == REFUSED[case]


def test_file_of_unknown_layout_is_refused(script):
    with pytest.raises(UsageError) as caught:
        script(UNKNOWN_LAYOUT, "values")
    assert load_texts("en").say(caught.value.message) == (
        "Which parameter is which is not known for this file, so values cannot be written as a"
        " script."
    )


def test_case_that_a_course_hides_is_refused():
    exercise = load_exercise("self-attention")
    bench = Bench(exercise.contract, None, None, None, 1)
    with pytest.raises(UsageError) as caught:
        pose_case(bench, exercise, "values", {"scaling": "hidden"})
    assert load_texts("en").say(caught.value.message) == (
        "The case values is not shown in this course."
    )
