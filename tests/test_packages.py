"""Attention from PyPI that nobody here wrote gets the verdict worked out by hand for it.

Not part of the suite: `pytest -m packages`, with tests/packages/requirements.txt installed. A file
there takes one class from one package; its first line is that of a corpus file, except that the
areas are all that lose a case, and below it stands why, and which packages are opened without their
`__init__`, that wants more than is installed.
"""

import importlib.metadata
import re
from pathlib import Path

import pytest
from test_corpus import read_header
from zygotes import open_packages

from grader.grading import Request, grade
from grader.intake import read_submission
from grader.model import Outcome, Terms
from grader.texts import load_texts

FOLDER = Path(__file__).parent / "packages"
FILES = sorted(FOLDER.glob("*.py"))
PINS = dict(re.findall(r"^([\w-]+)==(\S+)", (FOLDER / "requirements.txt").read_text(), re.M))
OPENED = re.compile(r"^# Opened without __init__: (.+)$", re.MULTILINE)
LOST = (Outcome.FAILED, Outcome.SKIPPED)


def package_of(path):
    """The pinned package whose name a file's name begins with."""
    return next(name for name in PINS if path.stem.startswith(name.replace("-", "_")))


def missing(package):
    """Why a file cannot be graded here, if so."""
    try:
        installed = importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return f"{package} is not installed: tests/packages/requirements.txt"
    if installed != PINS[package]:
        return f"{package} {installed} is installed, the verdict is on {PINS[package]}"
    return None


@pytest.fixture(scope="module")
def forge():
    """One in whose zygote the packages that a file wants without their __init__ are so."""
    found = (OPENED.search(path.read_text()) for path in FILES if not missing(package_of(path)))
    opened = open_packages([name for line in found if line for name in line[1].split(", ")])
    yield opened
    opened.close()


@pytest.mark.packages
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_package_gets_its_verdict(path, forge):
    why = missing(package_of(path))
    if why:
        pytest.skip(why)
    expected = read_header(path)
    installed = tuple(importlib.metadata.packages_distributions())
    report = grade(read_submission(path), forge, Request(seed=7, terms=Terms(packages=installed)))
    assert report.refusal is None, load_texts("en").say(report.refusal)
    assert not report.has_errors
    assert report.is_free
    lost = {v.area: v.case for v in reversed(report.verdicts) if v.outcome in LOST}
    assert set(lost) == set(expected.areas), f"the first case lost in each area: {lost}"
    assert report.all_passed == (expected.expect == "passed")


def test_every_file_has_a_verdict_and_a_pin():
    assert len({package_of(path) for path in FILES}) >= 6
    for path in FILES:
        expected = read_header(path)
        assert expected.exercise == "free"
        assert (expected.expect == "passed") != bool(expected.areas)
