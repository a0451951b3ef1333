"""Hostile files: none passes with wrong numbers, hangs or crashes the grader, reads what is not its
own, or leaves anything behind.

The first line of each says what becomes of it where it runs fully sealed, and what the report says.
What holds at every level is tried at every level: `pytest -m hostile` runs them all once more with
single walls, and as users that may do less.
"""

import dataclasses
import functools
import os
import re
import socket
from dataclasses import dataclass
from pathlib import Path

import pytest
from parsing import check_escapers, check_outputs
from sharing import as_parameter
from zygotes import WHO, open_lesser

import grader.grading
from grader.bank import load_exercise
from grader.errors import ZygoteError
from grader.grading import Request, grade
from grader.intake import submit_text
from grader.model import Limits
from grader.reports import FORMATS
from grader.sandbox import launch
from grader.sandbox.forge import open_forge
from grader.sandbox.launch import START_SECONDS
from grader.sandbox.level import WALLS
from grader.sandbox.session import Session
from grader.texts import load_texts

pytestmark = pytest.mark.skipif(not launch.can_fork(), reason="Linux")

FILES = sorted((Path(__file__).parent / "submissions" / "hostile").glob("*.py"))
GROUPS = {
    *("cheat", "lie", "read", "write", "process", "network", "kernel", "denial", "state", "report"),
    "delegate",
}
# Harmless where nothing holds them. The others would be let loose on the computer of whoever runs
# the tests, so they run only once a worker has shown that it is fully sealed.
HARMLESS = {"cheat", "lie", "read", "state", "report", "delegate", "denial"}
HEADER = re.compile(
    r"# hostile: (?P<group>\w+); expect: (?P<expect>passed|failed|refused); says: ?(?P<says>.*)"
)
LATE = "was used up before this case"
SECRET = "a-secret-that-was-planted"
# What makes the values right; files without it are wrong whatever else they do.
RIGHT = "/ q.shape[-1] ** 0.5"
# A few cases that see every stage: building, shapes, values, a mask, the rule.
CASES = {
    *("constructs", "indivisible-10-by-4", "shapes", "values", "causal-values"),
    "no-ready-made-attention",
}
SHORT = Limits(load_seconds=0.5, probe_seconds=0.3, total_seconds=0.6, memory_mib=256)
PLAIN = Limits(load_seconds=5.0, probe_seconds=5.0, total_seconds=10.0, memory_mib=256)


@dataclass(frozen=True)
class Plants:
    """A folder with a secret in it, and a server, for a file to find."""

    root: Path
    server: socket.socket
    datagrams: socket.socket

    def adapt(self, source):
        port = str(self.server.getsockname()[1])
        return source.replace("/planted", str(self.root)).replace("32123", port)

    def are_untouched(self):
        """No connection was made, and no file changed, came or went."""
        for listening in (self.server.accept, lambda: self.datagrams.recv(9)):
            try:
                listening()
            except BlockingIOError:
                continue
            return False
        secret = self.root / "secret"
        names = sorted(path.name for path in self.root.rglob("*"))
        is_same = secret.read_text() == SECRET and secret.stat().st_mode & 0o777 == 0o666
        return is_same and names == ["folder", "planted_module.py", "secret"]


@pytest.fixture
def plants(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "secret").write_text(SECRET)
    (tmp_path / "folder" / "planted_module.py").write_text(f"print({SECRET!r})")
    tmp_path.chmod(0o777)
    (tmp_path / "folder").chmod(0o777)
    (tmp_path / "secret").chmod(0o666)
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams,
    ):
        datagrams.bind(server.getsockname())
        server.setblocking(False)
        datagrams.setblocking(False)
        yield Plants(tmp_path, server, datagrams)


@pytest.fixture
def grade_hostile(forge, monkeypatch, plants):
    """Path and the layers left out -> Report, over a few cases and under short limits."""

    def grade_one(path, without=(), forge=forge, let_loose=False):
        header = read_header(path)
        is_held = header["group"] in HARMLESS or let_loose or is_sealed(forge, without)
        if not is_held:
            pytest.skip("not let loose where it is not fully sealed")
        whole = load_exercise("self-attention")
        cases = tuple(case for case in whole.cases if case.id in CASES)
        hangs = header["group"] == "denial" and "memory" not in path.stem
        limits = SHORT if hangs else PLAIN
        small = dataclasses.replace(whole, cases=cases, limits=limits)
        monkeypatch.setattr(grader.grading, "load_exercise", lambda name: small)
        monkeypatch.setattr(grader.grading, "Session", functools.partial(Session, without=without))
        source = plants.adapt(path.read_text(encoding="utf-8"))
        launched = forge.launched
        report = grade(submit_text(path.name, source), forge, Request(seed=7, walked=False))
        # Where the zygote was brought down, there is the start of another.
        is_same = forge.launched is launched
        assert report.seconds < limits.total_seconds + (10 if is_same else START_SECONDS)
        return report

    return grade_one


def read_header(path):
    return HEADER.match(path.read_text(encoding="utf-8").split("\n")[0])


def is_sealed(forge, without):
    session = Session(forge, submit_text("blank.py", "x = 1"), PLAIN, without=without)
    session.load()
    session.close()
    return session.isolation.level == "full"


def children(process):
    path = Path(f"/proc/{process}/task/{process}/children")
    return path.read_text(encoding="ascii").split()


def check_at_every_level(path, report, forge):
    """What holds whatever walls there are."""
    if RIGHT not in path.read_text(encoding="utf-8"):
        assert not report.all_passed
    assert not report.has_errors
    assert children(forge.launched.process.pid) == []
    printed = FORMATS["terminal"](report, load_texts("en"))
    assert all(character.isprintable() or character == "\n" for character in printed)
    check_escapers(printed)
    check_outputs(report)
    return " ".join(printed.split())


def check_at_level_full(path, report, plants, said):
    """What only the closed book holds."""
    header = read_header(path)
    assert plants.are_untouched()
    assert SECRET not in FORMATS["json"](report, load_texts("en"))
    assert (report.refusal is not None) == (header["expect"] == "refused"), said
    assert report.all_passed == (header["expect"] == "passed"), said


@pytest.mark.parametrize("path", [as_parameter(path) for path in FILES])
def test_hostile_file_gets_what_its_header_says(path, grade_hostile, forge, plants):
    report = grade_hostile(path)
    said = check_at_every_level(path, report, forge)
    if report.isolation.level != "full":
        pytest.skip("the rest is promised at level full")
    check_at_level_full(path, report, plants, said)
    # On a busy machine the time of the whole file may be up before that of a probe.
    is_late = read_header(path)["group"] == "denial" and LATE in said
    assert is_late or " ".join(read_header(path)["says"].split()) in said


def test_there_is_a_file_for_everything():
    groups = [read_header(path)["group"] for path in FILES]
    assert len(FILES) >= 120
    assert set(groups) == GROUPS
    assert min(groups.count(group) for group in GROUPS) >= 8
    assert all(path.stem.startswith(group) for path, group in zip(FILES, groups))


@pytest.fixture(scope="module")
def own_forge():
    """A zygote that may come to harm."""
    opened = open_forge(fork=True)
    yield opened
    opened.close()


def only(*kept):
    return tuple(layer for layer in WALLS if layer not in kept)


# Signals to every process, or processes without end: only the system call filter stops these.
UNCONTAINED = (
    "process_fork_bomb",
    "process_kill_all",
    "process_kill_group",
    "process_kill_parent",
    "process_stop_parent",
)
LEVELS = {
    "filter-alone": ("full", only("system-call-filter", "no-privileges")),
    "landlock-alone": ("reduced", only("landlock", "no-privileges")),
    "none": ("none", WALLS),
}


@pytest.mark.hostile
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_hostile_file_at_a_lower_level(path, level, grade_hostile, own_forge, plants):
    wanted, without = LEVELS[level]
    if wanted != "full" and path.stem in UNCONTAINED:
        pytest.skip("with nothing to hold it, this file would harm the machine that tests it")
    report = grade_hostile(path, without, own_forge)
    said = check_at_every_level(path, report, own_forge)
    assert report.isolation.level == wanted
    if wanted != "none":
        assert SECRET not in FORMATS["json"](report, load_texts("en"))
    if wanted == "full":
        check_at_level_full(path, report, plants, said)


@pytest.fixture(scope="module", params=WHO)
def lesser_forge(request):
    """A zygote with fewer rights than ours."""
    if os.geteuid() != 0:
        pytest.skip("needs rights to give up")
    opened = open_lesser(request.param)
    opened.who = request.param
    # It imports more than others do: no file's time may begin before that.
    assert opened.environment
    yield opened
    opened.close()
    for folder in ("/tmp", "/dev/shm"):
        # Where nothing holds it, a plain user's file writes where anyone may.
        Path(folder, "mha-grade-left").unlink(missing_ok=True)


@pytest.mark.hostile
@pytest.mark.parametrize("level", ["all", *LEVELS])
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_hostile_file_under_fewer_rights(path, level, grade_hostile, lesser_forge, plants):
    """A user who owns nothing and may begin no process can be let loose, all but the worst."""
    wanted, without = LEVELS.get(level, ("full", ()))
    is_plain = lesser_forge.who == "nobody"
    if is_plain and wanted != "full":
        if path.stem in UNCONTAINED:
            pytest.skip("it would end whatever else this user runs")
        without = tuple(layer for layer in without if layer != "process-limit")
    try:
        is_sealed(lesser_forge, ())
    except ZygoteError:
        # The file before was held by nothing, and has brought it down.
        lesser_forge.restart()
    assert lesser_forge.environment
    launched = lesser_forge.launched
    report = grade_hostile(path, without, lesser_forge, let_loose=is_plain)
    said = check_at_every_level(path, report, lesser_forge)
    assert report.isolation.level == wanted
    if wanted == "full":
        assert lesser_forge.launched is launched
        check_at_level_full(path, report, plants, said)
