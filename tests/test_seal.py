"""The seal: what a worker can no longer do, with all layers and with each wall alone."""

import errno
import os
import re
import textwrap
from pathlib import Path

import pytest
from sharing import as_share

from grader.model import Probe, Status
from grader.sandbox import launch, level
from grader.sandbox.level import FORBIDDEN, LAYERS, WALLS, judge, lower
from grader.texts import load_texts
from grader.worker.seal import LAYERS as APPLIED
from grader.worker.seal import filter as book
from grader.worker.seal import numbers, policy, trial

pytestmark = pytest.mark.skipif(not launch.can_fork(), reason="Linux")

FILTER = ("system-call-filter",)
KERNEL = {"Seccomp": "2", "NoNewPrivs": "1"}
HEADER = Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h")
SOURCE = """
import ctypes, errno, fcntl, importlib, os, resource, signal, socket, subprocess, sys, threading
import torch
from torch import nn

class Try(nn.Module):
    def forward(self):
{}
"""


def attempt(session, body):
    """Run `body` as a forward; returns what became of it."""
    source = SOURCE.format(textwrap.indent(textwrap.dedent(body).strip(), " " * 8))
    return session(source).run(Probe("Try", (), calls=((),)))


def but(*kept):
    """Every wall except these."""
    return tuple(layer for layer in WALLS if layer not in kept)


NEEDS_PRIVILEGES = ("no-privileges",)
CLOSED = {
    "all": (),
    "filter alone": but("system-call-filter", *NEEDS_PRIVILEGES),
}


@pytest.mark.parametrize("without", CLOSED.values(), ids=CLOSED)
@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("open('/etc/passwd')", "FileNotFoundError"),
        ("open('/proc/self/maps')", "FileNotFoundError"),
        ("open(f'/proc/{os.getppid()}/mem', 'rb')", "FileNotFoundError"),
        ("open('left', 'w')", "PermissionError"),
        ("os.listdir('/')", "FileNotFoundError"),
        ("os.stat('/etc/passwd')", "FileNotFoundError"),
        ("os.mkdir('/tmp/left')", "PermissionError"),
        ("os.symlink('/etc', '/tmp/left')", "PermissionError"),
        ("os.chmod('/tmp', 0o777)", "PermissionError"),
        ("os.utime('/tmp')", "PermissionError"),
        ("os.memfd_create('left')", "PermissionError"),
        ("socket.socket()", "PermissionError"),
        ("socket.socket(socket.AF_UNIX)", "PermissionError"),
        ("socket.socketpair()", "PermissionError"),
        ("os.fork()", "PermissionError"),
        ("threading.Thread(target=print).start()", "RuntimeError"),
        ("subprocess.run(['true'])", "PermissionError"),
        ("os.posix_spawn('/bin/true', ['true'], {})", "PermissionError"),
        ("os.execv('/bin/true', ['true'])", "PermissionError"),
        ("os.kill(os.getppid(), 0)", "PermissionError"),
        ("os.kill(-1, 0)", "PermissionError"),
        ("os.kill(0, 15)", "PermissionError"),
        ("os.killpg(os.getpgrp(), 15)", "PermissionError"),
        ("os.pidfd_open(os.getppid())", "PermissionError"),
        ("os.setpriority(os.PRIO_PROCESS, os.getppid(), 19)", "PermissionError"),
        ("os.sched_setaffinity(os.getppid(), {0})", "PermissionError"),
        ("resource.prlimit(os.getppid(), resource.RLIMIT_CPU, (1, 1))", "PermissionError"),
        ("fcntl.fcntl(1, fcntl.F_SETOWN, os.getppid())", "PermissionError"),
        ("fcntl.fcntl(1, fcntl.F_SETSIG, 9)", "PermissionError"),
        ("fcntl.ioctl(1, 0x5412, b'x')", "OSError"),
        ("os.setsid()", "PermissionError"),
        ("os.setuid(0)", "PermissionError"),
        ("os.pipe()", "PermissionError"),
        ("os.chroot('/')", "PermissionError"),
    ],
)
def test_forbidden_thing_is_refused(open_session, body, kind, without):
    seen = attempt(lambda source: open_session(source, without=without), body)
    assert seen.status is Status.RAISED
    assert seen.fault.type == kind


CALL = """
libc = ctypes.CDLL(None, use_errno=True)
result = libc.syscall({number}, *[ctypes.c_long(0)] * 6)
raise ValueError(f"{{result}} {{ctypes.get_errno()}}")
"""
# ptrace, process_vm_readv, unshare, setns, bpf, io_uring_setup, keyctl, perf_event_open,
# userfaultfd, personality, clone3 and one that does not exist.
RAW = (101, 310, 272, 308, 321, 425, 250, 298, 323, 135, 435, 5000)


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="numbers of x86_64")
@pytest.mark.parametrize("number", RAW)
def test_raw_call_is_refused(open_session, number):
    seen = attempt(open_session, CALL.format(number=number))
    assert seen.fault.text in ("-1 1", "-1 13", "-1 38")


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="numbers of x86_64")
def test_second_set_of_numbers_ends_the_process(open_session):
    seen = attempt(open_session, CALL.format(number=0x40000000 + 39))
    assert (seen.status, seen.exit_code) == (Status.DIED, -31)


HARMLESS = (
    "os.chdir('/tmp')",
    "torch.set_num_threads(8); torch.set_num_interop_threads(2)",
    "print(torch.ones(3), torch.get_num_threads())",
    "os.kill(os.getpid(), 0)",
    "signal.signal(signal.SIGTERM, signal.SIG_IGN)",
    "resource.getrusage(resource.RUSAGE_SELF); os.getcwd(); os.urandom(3)",
    "x = torch.ones(3, requires_grad=True); (2 * x).backward(torch.ones(3))",
    "torch.func.vmap(torch.sum)(torch.ones(2, 3))",
    "torch.func.grad(torch.sum)(torch.ones(3))",
    "torch.linalg.svd(torch.ones(3, 3)); torch.fft.fft(torch.ones(3)); torch.randn(3)",
    "importlib.import_module('statistics').mean([1, 2])",
    "'ä'.encode('cp1140'); 'x'.encode('idna')",
    "torch.ones(3).numpy().sum()",
    "__import__('einops').rearrange(torch.ones(2, 3), 'a b -> b a')",
    "importlib.import_module('decimal').Decimal('0.1')",
    "torch.utils.checkpoint.checkpoint(torch.sum, torch.ones(3), use_reentrant=False)",
    "torch.compile(torch.sum)(torch.ones(3))",
    "torch.optim.AdamW([nn.Parameter(torch.ones(1))], fused=False).step()",
    "torch.optim.lr_scheduler.StepLR(torch.optim.SGD([nn.Parameter(torch.ones(1))]), 1)",
    "os.path.exists('data.txt')",
    "__import__('pathlib').Path('data.txt').exists()",
    "print(repr(nn.MultiheadAttention(4, 2)))",
)


@pytest.mark.parametrize("body", [as_share(body, body) for body in HARMLESS])
def test_harmless_thing_works(open_session, body):
    seen = attempt(open_session, body)
    assert seen.status is Status.OK, seen.fault


@pytest.mark.parametrize("without", [(), WALLS], ids=["sealed", "unsealed"])
@pytest.mark.parametrize("name", ["pip", "pytest", "antigravity", "test.support", "grader.grading"])
def test_what_is_not_offered_is_not_imported(open_session, name, without):
    loaded = open_session(f"import {name}", without=without).load()
    assert loaded.fault.type == "ModuleNotFoundError"


def test_package_of_the_exercise_is_imported(forge, submit):
    from grader.model import Limits
    from grader.sandbox.session import Session

    def load(packages):
        session = Session(forge, submit("import pluggy"), Limits(), packages=packages)
        try:
            return session.load().status
        finally:
            session.close()

    assert load(()) is Status.RAISED
    assert load(("pluggy",)) is Status.OK


def test_late_import_begins_again_and_prints_once(open_session):
    session = open_session("print('here')\nname = 'wave'\n__import__(name)\nprint('there')")
    assert session.load().status is Status.OK
    session.close()
    assert session.printed.text == "here\nthere\n"


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        (
            "x = 1\nopen('data.txt')",
            "The import of the file asks for something that is closed while it is graded (line 2): "
            "a file, the network, another program or a thread (FileNotFoundError: [Errno 2] "
            "No such file or directory: 'data.txt')",
        ),
        (
            "import flash_attn",
            "The file imports flash_attn (line 1), which is not open to it. If it is installed, "
            "--package flash_attn opens it.",
        ),
        ("from torch import no", "The file cannot be imported (line 1): cannot import name 'no' "),
    ],
)
def test_closed_thing_is_said(grade_source, source, sentence):
    report = grade_source(source)
    assert load_texts("en").say(report.refusal).startswith(sentence)


def test_endless_wants_come_to_an_end(open_session):
    claim = "import sys; sys.meta_path[-1].take_wanted = lambda: [str(id(object())) + 'x']"
    assert open_session(claim).load().status is Status.OK


def test_level_is_full_here_or_says_why(open_session):
    session = open_session("x = 1")
    session.load()
    found = session.isolation
    assert found.level == "full" or found.missing
    assert {*found.layers, *found.missing} >= {*LAYERS}


def test_level_drops_with_the_walls(open_session):
    def level_without(*without):
        session = open_session("x = 1", without=without)
        session.load()
        return session.isolation.level

    assert level_without("system-call-filter") == "reduced"
    assert level_without("system-call-filter", "landlock", "own-user") == "none"
    assert level_without(*WALLS) == "none"
    assert level_without("trial") != "full"


@pytest.mark.parametrize(
    ("layers", "refused", "kernel", "wanted"),
    [
        (LAYERS, FORBIDDEN, KERNEL, "full"),
        (LAYERS, FORBIDDEN - {"signals"}, KERNEL, "reduced"),
        (LAYERS, FORBIDDEN, None, "reduced"),
        (LAYERS, FORBIDDEN, {"Seccomp": "0", "NoNewPrivs": "1"}, "reduced"),
        (LAYERS, (), KERNEL, "reduced"),
        (("landlock",), {"files"}, None, "reduced"),
        (("landlock",), (), None, "none"),
        (("own-user", "namespaces"), (), None, "reduced"),
        (("own-user",), (), None, "none"),
        ((), FORBIDDEN, KERNEL, "none"),
        (("made-up",), FORBIDDEN, KERNEL, "none"),
    ],
)
def test_level_follows_from_what_is_in_force(layers, refused, kernel, wanted):
    found = judge(layers, refused, kernel)
    assert found.level == wanted
    assert "made-up" not in found.layers


def test_filter_that_the_kernel_denies_is_missing():
    assert "system-call-filter" in judge(LAYERS, FORBIDDEN, None).missing


def test_level_never_rises():
    full, none = judge(LAYERS, FORBIDDEN, KERNEL), judge((), (), None)
    assert lower(full, none) == lower(none, full) == none
    assert lower(None, full) == full


def test_both_sides_name_the_same_layers():
    assert tuple(APPLIED) == LAYERS
    assert set(trial.ATTEMPTS) == FORBIDDEN


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_every_call_is_named_once_and_has_a_number(machine):
    known = numbers.read_numbers(machine)
    words = " ".join((policy.ALLOWED, policy.IGNORED, *policy.REFUSED.values())).split()
    words += [*policy.CHECKED, *policy.OPENING]
    assert len(words) == len(set(words))
    assert set(known) <= policy.named()
    assert len(set(known.values())) == len(known)
    assert set(policy.CHECKED) <= set(known)


@pytest.mark.skipif(not HEADER.exists(), reason="needs the kernel's headers")
def test_numbers_are_those_of_the_header():
    defined = dict(re.findall(r"^#define __NR_(\w+)\s+(\d+)", HEADER.read_text(), re.M))
    assert {n: int(defined[n]) for n in numbers.read_numbers("x86_64")} == numbers.read_numbers(
        "x86_64"
    )


def run_filter(code, machine, number, *arguments):
    """What the kernel would answer: the program is interpreted here."""
    data = {book.NUMBER: number, book.ARCHITECTURE: book.ARCHITECTURES[machine]}
    data |= {book.ARGUMENTS + 8 * at: value for at, value in enumerate(arguments)}
    at, loaded = 0, 0
    while True:
        operation, yes, no, value = code[at]
        if operation == book.RETURN:
            return value
        if operation == book.LOAD:
            loaded = data[value]
        else:
            met = {book.EQUAL: loaded == value, book.AT_LEAST: loaded >= value}
            at += yes if met.get(operation, loaded & value) else no
        at += 1


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_program_does_what_the_policy_says(machine):
    known, code = numbers.read_numbers(machine), book.assemble(machine, 77)

    def answer(name, *arguments):
        return run_filter(code, machine, known[name], *arguments)

    for name in policy.ALLOWED.split():
        assert name not in known or answer(name) == book.ALLOW
    for error, names in policy.REFUSED.items():
        for name in names.split():
            assert name not in known or answer(name) == book.ERROR | error
    assert answer("chdir") == book.ERROR
    assert answer("openat", -100, 0, os.O_RDONLY | os.O_CLOEXEC) == book.ERROR | errno.ENOENT
    for mode in (os.O_WRONLY, os.O_RDWR, os.O_CREAT, os.O_WRONLY | os.O_TRUNC | os.O_CREAT):
        assert answer("openat", -100, 0, mode) == book.ERROR | errno.EACCES
    assert answer("kill", 77) == book.ALLOW
    assert answer("kill", 78) == answer("kill", 0) == book.ERROR | 1
    assert answer("prlimit64", 0) == answer("prlimit64", 77) == book.ALLOW
    assert answer("prlimit64", 1) == book.ERROR | 1
    assert answer("fcntl", 1, 3) == book.ALLOW
    assert answer("fcntl", 1, 8) == book.ERROR | 1
    assert answer("ioctl", 1, 0x5412) == book.ERROR | 25
    assert run_filter(code, machine, 4999) == book.ERROR | 38


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_other_machine_ends_the_process(machine):
    code = book.assemble(machine, 77)
    assert run_filter([(*one[:3], one[3]) for one in code], machine, 4999) != book.KILL
    code[1] = (*code[1][:3], 1)
    assert run_filter(code, machine, 0) == book.KILL


def test_kernel_is_asked():
    assert level.read_kernel(os.getpid())["Seccomp"] in "012"
    assert level.read_kernel(1 << 30) is None
