"""Real workers under hostile code: each trick costs its own probe and nothing else."""

import os
import signal
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest

from grader.errors import LateError
from grader.intake import MAX_BYTES
from grader.model import Input, Limits, Probe, Status
from grader.sandbox import launch
from grader.sandbox.forge import open_forge
from grader.sandbox.level import WALLS
from grader.sandbox.line import Output
from grader.sandbox.session import Session
from grader.worker.protocol import Blob

pytestmark = pytest.mark.skipif(not launch.can_fork(), reason="needs fork and /proc")

X = np.arange(6.0).reshape(2, 3)
SOURCE = """
import json, os, signal, struct, sys, threading, time
import torch
from torch import nn

def send(data):
    for descriptor in range(3, 64):
        try:
            os.write(descriptor, data)
        except OSError:
            pass

def frame(header, request=None):
    caller = sys._getframe()
    while request is None:
        caller = caller.f_back
        request = getattr(caller.f_locals.get("prefix"), "request", None)
    return struct.pack(">4sBIIQ", b"MHAG", 1, request, len(header), 0) + header

class Good(nn.Module):
    def forward(self, x):
        return x

class Bad(nn.Module):
    def forward(self, x):
{}
        return x

class BadConstructor(nn.Module):
    def __init__(self):
{}
"""


def hostile(body):
    inner = textwrap.indent(textwrap.dedent(body).strip(), " " * 8)
    return SOURCE.format(inner, inner)


def call(name, **options):
    return Probe(name, (), calls=((Input(X, "float64"),),), **options)


def run_bad(session, name="Bad"):
    """What became of the bad probe, once the next one is known to be fine."""
    seen = session.run(call(name))
    after = session.run(call("Good"))
    assert after.status is Status.OK
    assert np.array_equal(after.returned[0].tensors[0], X)
    session.close()
    return seen


def run_timed(session, probe):
    """What became of a probe, and after how long; a worker is there before the clock starts."""
    assert session.run(call("Good")).status is Status.OK
    began = time.monotonic()
    seen = session.run(probe)
    return seen, time.monotonic() - began


@pytest.mark.parametrize("name", ["Bad", "BadConstructor"])
@pytest.mark.parametrize(
    "body",
    ["while True: pass", "time.sleep(99)", "os.kill(os.getpid(), signal.SIGSTOP)", "10**10**8"],
)
def test_hang_costs_its_probe(open_session, body, name):
    session = open_session(hostile(body), probe_seconds=0.3)
    seen, seconds = run_timed(session, call(name))
    assert seen.status is Status.TIMED_OUT
    assert 0.3 <= seconds < 2.0
    assert session.run(call("Good")).status is Status.OK


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("os._exit(0)", 0),
        ("os._exit(7)", 7),
        ("os.kill(os.getpid(), 11)", -11),
        ("os.abort()", -6),
    ],
)
def test_sudden_end_costs_its_probe(open_session, body, code):
    seen = run_bad(open_session(hostile(body)))
    assert (seen.status, seen.exit_code) == (Status.DIED, code)
    assert seen.returned == ()


def test_closed_line_costs_its_probe(open_session):
    # Whether the worker ends first or is ended first, and so its exit code, is a matter of luck.
    assert run_bad(open_session(hostile("os.closerange(0, 256)"))).status is Status.DIED


@pytest.mark.parametrize(
    "body",
    [
        "send(b'garbage' * 99)",
        "send(bytes(99))",
        "send(frame(b'{}', request=12345))",
        "send(frame(b'{}'))",
        "send(frame(b'[' * 100_000))",
        "send(struct.pack('>4sBIIQ', b'MHAG', 1, 3, 1 << 31, 1 << 40))",
        """send(frame(b'{"status": "ok", "parameters": 5, "tensors": []}'))""",
        """send(frame(b'{"status": "fine", "tensors": []}'))""",
    ],
)
def test_forged_reply_is_unreadable(open_session, body):
    assert run_bad(open_session(hostile(body))).status is Status.UNREADABLE


def test_reply_without_calls_is_unreadable(open_session):
    body = """send(frame(b'{"status": "ok", "tensors": []}')); os._exit(0)"""
    assert open_session(hostile(body)).run(call("Bad")).status is Status.UNREADABLE


def test_reply_with_infinite_size_is_unreadable(open_session):
    header = '{"status": "ok", "parameters": [["w", [1e999], "L", true]], "tensors": []}'
    session = open_session(hostile(f"send(frame(b'{header}'))"))
    assert session.run(call("Bad")).status is Status.UNREADABLE


FORGER = """
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()

    def forward(self, x, mask=None):
        send(frame(b'{"status": "ok", "tensors": []}'))
        os._exit(0)
"""


def test_forged_replies_are_charged(grade_source):
    report = grade_source(hostile("pass") + FORGER, "self-attention")
    assert not report.has_errors
    assert report.score < 20


def test_byte_at_a_time_is_too_late(open_session):
    body = """
    for byte in frame(b'{"status": "ok", "tensors": []}'):
        send(bytes([byte]))
        time.sleep(0.05)
    """
    seen, seconds = run_timed(open_session(hostile(body), probe_seconds=0.5), call("Bad"))
    assert seen.status is Status.TIMED_OUT
    assert seconds < 1.0


def test_lost_zygote_costs_no_output_and_no_descriptor(own_forge, submit):
    source = hostile("print('last words', flush=True); os.kill(os.getppid(), 9); time.sleep(0.2)")
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        session = Session(own_forge, submit(source), Limits(probe_seconds=1.0), without=WALLS)
        session.run(call("Bad"))
        session.close()
        assert session.printed.text == "last words\n"
    assert len(os.listdir("/proc/self/fd")) <= before + 1


def test_long_output_is_counted(open_session):
    session = open_session(hostile("for _ in range(100): print('x' * 1_000_000)"))
    assert run_bad(session).status is Status.OK
    assert session.printed.text == "x" * 65536
    assert session.printed.size == 100 * 1_000_001


@pytest.mark.parametrize("size", [2, 65536])
def test_endless_output_is_too_late(open_session, size):
    session = open_session(hostile(f"while True: os.write(1, b'x' * {size})"), probe_seconds=0.3)
    seen, seconds = run_timed(session, call("Bad"))
    assert seen.status is Status.TIMED_OUT
    assert seconds < 2.0
    assert len(session.printed.text) == 65536 < session.printed.size


def test_output_before_death_is_kept(open_session):
    session = open_session(hostile("print('last words'); os._exit(1)"))
    run_bad(session)
    assert session.printed.text == "last words\n"


@pytest.mark.parametrize(
    ("body", "types"),
    [
        ("bytearray(1 << 34)", {"MemoryError"}),
        ("[0] * (1 << 32)", {"MemoryError"}),
        ("torch.zeros(1 << 34)", {"RuntimeError"}),
        ("hoard = []\nwhile True: hoard.append(bytearray(1 << 24))", {"MemoryError"}),
        ("hoard = []\nwhile True: hoard.append(torch.ones(1 << 22))", {"RuntimeError"}),
    ],
)
def test_memory_bomb_raises(open_session, body, types):
    seen = run_bad(open_session(hostile(body), memory_mib=256))
    assert seen.status is Status.RAISED
    assert seen.fault.type in types
    assert seen.fault.phase == "forward"


UNSPEAKABLE = "class E(Exception):\n    def __str__(self): raise {}\nraise E"


@pytest.mark.parametrize(
    ("body", "kind", "text"),
    [
        ("raise ValueError('no')", "ValueError", "no"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt", ""),
        ("raise GeneratorExit", "GeneratorExit", ""),
        ("raise ValueError('x' * 10_000_000)", "ValueError", "x" * 2000),
        ("raise ValueError('\\x1b[31m\\ud800')", "ValueError", "\\x1b[31m\\ud800"),
        (UNSPEAKABLE.format("RuntimeError"), "E", "(its text could not be made)"),
        (UNSPEAKABLE.format("SystemExit"), "E", "(its text could not be made)"),
        ("raise type('\\x1b[31m\\r', (Exception,), {})('no')", "\\x1b[31m ", "no"),
        ("raise type('E' * 10_000, (Exception,), {})('no')", "E" * 80 + "…", "no"),
        (
            "M = type('M', (type,), {'__name__': property(lambda cls: 1 / 0)})\n"
            "raise M('E', (Exception,), {})('no')",
            "E",
            "no",
        ),
        ("f = lambda: f()\nf()", "RecursionError", "maximum recursion depth exceeded"),
    ],
)
def test_exception_is_told(open_session, body, kind, text):
    seen = run_bad(open_session(hostile(body)))
    assert seen.status is Status.RAISED
    assert (seen.fault.type, seen.fault.text) == (kind, text)


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("sys.exit(3)", 3),
        ("sys.exit()", None),
        ("sys.exit('bye')", None),
        ("raise SystemExit(type('C', (), {'__str__': lambda self: 1 / 0})())", None),
    ],
)
def test_exit_is_told(open_session, body, code):
    seen = run_bad(open_session(hostile(body)))
    assert (seen.status, seen.exit_code, seen.fault.phase) == (Status.EXITED, code, "forward")


@pytest.mark.parametrize(
    "body",
    [
        "sys.stdout = sys.stderr = None",
        "sys.stdout.close(); sys.__stderr__.close()",
        "os.chdir('/'); sys.path.clear()",
        "torch.set_default_dtype(torch.float64); torch.set_grad_enabled(False)",
    ],
)
def test_mess_costs_nothing(open_session, body):
    assert run_bad(open_session(hostile(body))).status is Status.OK


@pytest.mark.parametrize(
    ("source", "status", "code"),
    [
        ("import sys\nsys.exit(4)", Status.EXITED, 4),
        ("import os\nos._exit(0)", Status.DIED, 0),
        ("import os\nos.kill(os.getpid(), 11)", Status.DIED, -11),
        ("while True: pass", Status.TIMED_OUT, None),
    ],
)
def test_bad_import_ends_load(open_session, source, status, code):
    session = open_session(source, load_seconds=0.3)
    loaded = session.load()
    assert (loaded.status, loaded.exit_code, loaded.classes) == (status, code, ())
    assert session.run(call("Good")).status is status


@pytest.mark.parametrize(
    ("source", "kind", "line"),
    [
        ("x = (", "SyntaxError", 1),
        ("\n\nraise ValueError('no')", "ValueError", 3),
        ("import flash_attn", "ModuleNotFoundError", 1),
        ("x = 1\nx = input()", "EOFError", 2),
        ("(" * 10_000, "SyntaxError", 1),
    ],
)
def test_bad_source_is_told(open_session, source, kind, line):
    loaded = open_session(source).load()
    assert loaded.status is Status.RAISED
    assert (loaded.fault.phase, loaded.fault.type, loaded.fault.line) == ("load", kind, line)


def test_deep_source_costs_its_load(open_session):
    # Python 3.10 crashes on it, later ones raise.
    loaded = open_session("x = 1" + "+1" * 100_000).load()
    assert loaded.status in (Status.RAISED, Status.DIED)


def test_load_describes_classes(open_session):
    loaded = open_session(hostile("pass")).load()
    assert [cls.name for cls in loaded.classes] == ["Good", "Bad", "BadConstructor"]
    assert all(cls.is_module for cls in loaded.classes)
    assert [argument.name for argument in loaded.classes[0].forward] == ["x"]


def test_largest_plain_file_is_loaded(open_session):
    assert open_session("#" * MAX_BYTES).load().status is Status.OK


@pytest.mark.parametrize("character", ["é", "\x01"], ids=["latin-1", "control"])
def test_largest_odd_file_is_loaded(open_session, character):
    assert open_session("#" + character * (MAX_BYTES - 1)).load().status is Status.OK


def test_main_block_is_not_run(open_session):
    assert open_session("if __name__ == '__main__': 1 / 0").load().status is Status.OK


@pytest.mark.parametrize("name", ["grader", "grader.definition", "grader.bank", "conftest"])
def test_grader_cannot_be_imported(open_session, name):
    loaded = open_session(f"import {name}").load()
    assert loaded.status is Status.RAISED
    assert loaded.fault.type == "ModuleNotFoundError"


PEEK = """
import os, sys
for name in sorted(os.environ):
    print(name, os.environ[name])
for process in ("self", os.getppid()):
    for name in ("environ", "cmdline"):
        try:
            print(open(f"/proc/{process}/{name}", "rb").read())
        except PermissionError:
            print("refused")
print(sys.argv)
"""


def test_environment_holds_nothing_of_ours(open_session):
    secret = os.environ["MHA_GRADE_TEST_TOKEN"]
    session = open_session(PEEK, without=WALLS)
    assert session.load().status is Status.OK
    session.close()
    printed = session.printed.text
    assert secret not in printed
    assert "MHA_GRADE_TEST_TOKEN" not in printed
    names = {line.partition(" ")[0] for line in printed.splitlines() if line[0].isupper()}
    assert set(launch.ENVIRONMENT) <= names
    assert names <= {*launch.ENVIRONMENT, *launch.PASSED_ON, "LC_CTYPE", "HOME", "USER"}
    assert "\nHOME /\n" in printed
    assert "\nUSER nobody\n" in printed
    assert printed.endswith("['submission']\n")


def test_budget_is_for_the_whole_session(open_session):
    session = open_session(hostile("time.sleep(99)"), probe_seconds=5.0, total_seconds=0.6)
    assert session.run(call("Bad")).status is Status.TIMED_OUT
    late = session.run(call("Good"))
    assert (late.status, late.fault.phase) == (Status.TIMED_OUT, "budget")


def test_renewed_worker_remembers_nothing(open_session):
    session = open_session(
        hostile("torch.seen = getattr(torch, 'seen', 0) + 1\nreturn x * torch.seen")
    )

    def answer():
        return session.run(call("Bad")).returned[0].tensors[0]

    assert np.array_equal(answer(), X)
    assert np.array_equal(answer(), 2 * X)
    session.renew()
    assert np.array_equal(answer(), X)


COUNTING = """
import torch
from torch import nn

class Count(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight, self.calls = nn.Parameter(torch.ones(3)), 0

    def forward(self, x):
        self.calls += 1
        return x * self.weight, torch.tensor(self.calls)
"""


def count(session, **options):
    """Whether the module was a shared one, its output, and the calls it counted."""
    seen = session.run(call("Count", **options))
    assert seen.status is Status.OK
    return seen.shared, seen.returned[0].tensors[0], int(seen.returned[0].tensors[1])


def test_module_is_shared_until_a_fresh_one_is_asked_for(open_session):
    session = open_session(COUNTING)
    found = [count(session, fresh=fresh) for fresh in (False, False, True, False)]
    assert [(shared, calls) for shared, _, calls in found] == [
        (False, 1),
        (True, 2),
        (False, 1),
        (False, 1),
    ]


def test_shared_module_is_built_alike(open_session):
    session = open_session(COUNTING)
    count(session, fresh=False)
    assert count(session, fresh=False, dtype="float32")[::2] == (False, 1)


def test_shared_module_gets_back_what_was_drawn(open_session):
    session = open_session(COUNTING)
    _, loaded, _ = count(session, fresh=False, weights={"weight": np.full(3, 2.0)})
    shared, drawn, _ = count(session, fresh=False)
    assert shared
    assert np.array_equal(loaded, 2 * X)
    assert np.array_equal(drawn, X)


LINEAR = """
from torch import nn

class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(3, 3)

    def forward(self, x):
        print("seen")
        return self.inner(x), None
"""


def observe(forge, submit, source, probe):
    session = Session(forge, submit(source), Limits())
    try:
        return session.run(probe), session
    finally:
        session.close()


def test_spawned_worker_gives_the_same(forge, submit):
    weights = {"inner.weight": np.arange(9.0).reshape(3, 3) / 7, "inner.bias": np.ones(3)}
    inputs = ((Input(X, "float64"),),)
    probe = Probe("Layer", (), weights=weights, calls=inputs, cotangent=X)
    seen, session = observe(forge, submit, LINEAR, probe)
    spawner = open_forge(fork=False)
    other, spawned = observe(spawner, submit, LINEAR, probe)

    assert seen.status is other.status is Status.OK
    assert seen.parameters == other.parameters
    assert seen.returned[0].kinds == other.returned[0].kinds == ("tensor", "none")
    assert np.array_equal(seen.returned[0].tensors[0], other.returned[0].tensors[0])
    assert np.array_equal(seen.input_gradients[0], other.input_gradients[0])
    assert seen.parameter_gradients.keys() == other.parameter_gradients.keys()
    for name, gradient in seen.parameter_gradients.items():
        assert np.array_equal(gradient, other.parameter_gradients[name])
    assert session.isolation.level == spawned.isolation.level
    assert {*session.isolation.layers} - {"ends-with-parent"} == {*spawned.isolation.layers}
    assert session.printed.text == spawned.printed.text == "seen\n"
    assert dict(spawner.environment) == dict(forge.environment)


def test_spawned_worker_starts_elsewhere(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    process = launch.launch_worker()
    try:
        deadline = time.monotonic() + 5.0
        folder = Path(f"/proc/{process.pid}/cwd")
        while b"spawn" not in Path(f"/proc/{process.pid}/cmdline").read_bytes():
            assert time.monotonic() < deadline
        assert folder.readlink() == Path("/")
    finally:
        process.kill()
        process.communicate()


@pytest.fixture
def own_forge():
    """A zygote of the test's own, which may come to harm."""
    opened = open_forge(fork=True)
    yield opened
    opened.close()


def running(parents):
    """Ids of the processes below `parents` that are more than zombies."""
    found = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                state, parent = (folder / "stat").read_text().rpartition(")")[2].split()[:2]
            except OSError:
                continue
            found[int(folder.name)] = (state, int(parent))
    known = set(parents)
    while True:
        more = {p for p, (state, up) in found.items() if up in known and state != "Z"} - known
        if not more:
            return known - set(parents)
        known |= more


def is_running(process):
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def wait_for(condition, seconds=3.0):
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.01)
    return condition()


def test_close_leaves_no_process(own_forge, submit):
    before = running([os.getpid()])
    zygote = own_forge.launched.process.pid
    source = hostile("print(os.getpid(), os.fork(), flush=True); time.sleep(99)")
    session = Session(own_forge, submit(source), Limits(probe_seconds=0.3), without=WALLS)
    assert session.run(call("Bad")).status is Status.TIMED_OUT
    assert session.run(call("Good")).status is Status.OK
    assert len(running([zygote])) == 1
    session.close()
    assert running([zygote]) == set()
    printed = {int(word) for word in session.printed.text.split()} - {0}
    assert len(printed) == 2
    assert not any(is_running(process) for process in printed)
    own_forge.close()
    assert not is_running(zygote)
    assert running([os.getpid()]) <= before


def test_close_ends_busy_workers(own_forge):
    worker = own_forge.make(Output(0))
    source = Blob("uint8", (16,), b"while True: pass")
    with pytest.raises(LateError):
        worker.line.ask({"op": "load", "name": "a.py"}, [source], 0.3)
    own_forge.close()
    worker.line.close()
    try:
        assert wait_for(lambda: not is_running(worker.pid), 1.0)
    finally:
        if is_running(worker.pid):
            os.kill(worker.pid, signal.SIGKILL)


def test_runaway_grandchild_is_ended(open_session):
    body = """
    if os.fork() == 0:
        os.setsid()
        time.sleep(2)
        os._exit(0)
    """
    body = body.replace("os.setsid()", "os.setsid(); print(os.getpid())")
    session = open_session(hostile(body), without=WALLS)
    session.run(call("Bad"))
    time.sleep(0.2)
    session.close()
    assert not is_running(int(session.printed.text))


def test_candidate_cannot_end_zygote(own_forge, submit):
    body = hostile("os.kill(os.getppid(), 9)")
    session = Session(own_forge, submit(body), Limits(), without=WALLS)
    try:
        session.run(call("Bad"))
        session.renew()
        assert session.run(call("Good")).status is Status.OK
    finally:
        session.close()
