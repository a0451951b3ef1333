"""Zygotes unlike the usual one: of another user, in a container, or with packages cut open.

Run as a program: `python -I zygotes.py KIND... FD`. Rights are given up only after torch has
been imported, and what hostile files import too: the interpreter may lie where nobody else can
read. A package that is cut open can be imported without its `__init__`.
"""

import ctypes
import gc
import importlib
import importlib.util
import os
import runpy
import struct
import sys
from pathlib import Path
from types import ModuleType

NOBODY = 65534
# What docker leaves to the superuser of a container unless told otherwise.
CONTAINER = (0, 1, 3, 4, 5, 6, 7, 8, 10, 13, 18, 27, 29, 31)
WHO = ("nobody", "container")
OPENED = "opened"
WORKER = Path(__file__).resolve().parent.parent / "grader" / "worker" / "__main__.py"
HOSTILE = Path(__file__).parent / "submissions" / "hostile"


def launch_other(kind, *names):
    """Start it; returns its process and our end of the socket."""
    from grader.sandbox import launch

    return launch.launch_zygote(other(kind, *names))


def other(kind, *names):
    """Its command line, but for the socket."""
    return [sys.executable, "-I", __file__, kind, *names]


def open_lesser(who):
    """A forge on such a zygote; one that is lost gives way to another with no more rights."""
    from grader.sandbox.zygote import Zygote

    return Zygote(launch_other(who), other(who))


def open_packages(names):
    """A forge in whose zygote these packages are cut open."""
    from grader.sandbox.zygote import Zygote

    return Zygote(launch_other(OPENED, *names))


def main():
    gc.disable()
    kind, *names, control = sys.argv[1:]
    runpy.run_path(str(WORKER))["make_package"]()
    zygote = importlib.import_module("mha_worker.zygote")
    imports = importlib.import_module("mha_worker.imports")
    warm = zygote.warm

    def warm_and_change():
        warm()
        if kind == OPENED:
            cut_open(names)
            return
        for path in sorted(HOSTILE.glob("*.py")):
            imports.preload(imports.named_in(path.read_text(encoding="utf-8")), ["numpy"])
        imports.preload(["torch._inductor.config", "multiprocessing.resource_tracker"], [])
        {"nobody": become_nobody, "container": enter_container}[kind]()

    zygote.warm = warm_and_change
    sys.argv[:] = ["submission"]
    zygote.serve("fork", [control])


def cut_open(packages):
    for name in packages:
        module = ModuleType(name)
        module.__path__ = importlib.util.find_spec(name).submodule_search_locations
        sys.modules[name] = module


def become_nobody():
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)


def enter_container():
    """The superuser, with the rights of a container's."""
    libc = ctypes.CDLL(None, use_errno=True)
    for capability in range(64):
        if capability not in CONTAINER:
            libc.prctl(24, capability, 0, 0, 0)
    low = sum(1 << capability for capability in CONTAINER)
    header = ctypes.create_string_buffer(struct.pack("<Ii", 0x20080522, 0), 8)
    rights = ctypes.create_string_buffer(struct.pack("<6I", low, low, 0, 0, 0, 0), 24)
    capset = {"x86_64": 126, "aarch64": 91}[os.uname().machine]
    assert libc.syscall(capset, header, rights) == 0


if __name__ == "__main__":
    main()
