"""One zygote for the whole session, and ways to put a submission through it."""

import hashlib
import os

# Before numpy is imported: its OpenBLAS starts threads of its own, and so does torch.
os.environ["OPENBLAS_NUM_THREADS"] = "1"
os.environ["OMP_NUM_THREADS"] = "1"

import hypothesis
import pytest
import torch

from grader.bank import use_banks
from grader.grading import Request, grade
from grader.model import Limits, Submission
from grader.sandbox.forge import open_forge
from grader.sandbox.session import Session

torch.set_num_threads(1)
# The same examples in every run: a suite that fails now and then is not read for long.
hypothesis.settings.register_profile("suite", deadline=None, database=None, derandomize=True)
hypothesis.settings.load_profile("suite")


@pytest.fixture(scope="session")
def forge():
    """One zygote, launched from an environment that holds a secret."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MHA_GRADE_TEST_TOKEN", "a-token-of-ours")
        opened = open_forge(fork=True)
        yield opened
        opened.close()


@pytest.fixture(scope="session")
def submit():
    """Source text -> Submission."""

    def make(source, path="submission.py"):
        return Submission(path, source, hashlib.sha256(source.encode()).hexdigest())

    return make


@pytest.fixture
def open_session(forge, submit):
    """Source text and limits -> Session on the shared zygote, closed after the test."""
    opened = []

    def open_one(source, path="submission.py", without=(), **limits):
        opened.append(Session(forge, submit(source, path), Limits(**limits), without=without))
        return opened[-1]

    yield open_one
    for session in opened:
        session.close()


@pytest.fixture
def grade_source(forge, submit):
    """Source text -> Report."""

    def grade_one(source, exercise=None, seed=1):
        return grade(submit(source), forge, Request(seed, exercise))

    return grade_one


@pytest.fixture
def bank(tmp_path):
    """Relative path -> text, written into a bank; gives the bank."""

    def write(files, name="course"):
        for path, text in files.items():
            target = tmp_path / name / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
        return tmp_path / name

    yield write
    use_banks(())


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """The page of drills of its own; nothing is made ready for grades, for there are none."""
    from served import serving

    from grader.drill.desk import Desk

    with pytest.MonkeyPatch.context() as patch, serving(tmp_path_factory.mktemp("web")) as one:
        patch.setattr(Desk, "warm_up", lambda desk: None)
        yield one


@pytest.fixture
def graded(monkeypatch):
    """Saves are graded by nobody and are worth 42.5; the texts that came are listed."""
    from grader.drill.desk import Desk
    from grader.drill.model import Look
    from grader.drill.web.draft import name_version

    texts = []

    def grade(self, source):
        self._check_open()
        texts.append(source)
        look = Look(name_version(source), 42.5, False, {"scaling": 3.0}, change=-2.0)
        self._keep(look)
        return look

    monkeypatch.setattr(Desk, "grade", grade)
    return texts
