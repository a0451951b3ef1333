"""The level of isolation, judged on the trusted side from what was seen to be in force.

A worker says which layers it put on and what it then tried in vain, before it reads a line of the
candidate's. The kernel is asked as well, from here. What neither shows does not count.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from grader.model import Isolation

# What every submission may import beside torch and the standard library, where it is installed.
PACKAGES = (
    *("numpy", "einops", "jaxtyping", "typing_extensions", "tqdm"),
    "matplotlib",
    "mpl_toolkits",
)
# What of the standard library no file may: its import does something, or it starts programs.
CLOSED = ("antigravity", "ensurepip", "idlelib", "lib2to3", "this", "turtledemo", "venv")
# In force wherever the grader runs: they are of this side.
ALWAYS = ("own-process", "scrubbed-environment", "time-limit")
# Every layer that there is, as a worker names them.
LAYERS = (
    "memory-limit",
    "processor-limit",
    "file-size-limit",
    "process-limit",
    "namespaces",
    "own-user",
    "no-privileges",
    "not-readable",
    "ends-with-parent",
    "landlock",
    "system-call-filter",
)
# What the limits alone are without: the worker of an unsealed run.
WALLS = LAYERS[3:]
FORBIDDEN = frozenset({"files", "network", "processes", "programs", "signals", "limits"})
FULL, REDUCED, NONE = "full", "reduced", "none"
ORDER = (NONE, REDUCED, FULL)
FILTERED = {"Seccomp": "2", "NoNewPrivs": "1"}


def judge(
    layers: Collection[str], refused: Collection[str], kernel: dict[str, str] | None
) -> Isolation:
    """The level that these layers make, with the layers in force and those that are missing."""
    present = [layer for layer in LAYERS if layer in layers]
    if kernel is None or FILTERED.items() - kernel.items():
        present = [layer for layer in present if layer != "system-call-filter"]
    missing = tuple(layer for layer in LAYERS if layer not in present)
    return Isolation(_level(present, refused), (*ALWAYS, *present), missing)


def _level(present: Collection[str], refused: Collection[str]) -> str:
    if "system-call-filter" in present and FORBIDDEN.issubset(refused):
        return FULL
    if "landlock" in present and "files" in refused:
        return REDUCED
    if {"own-user", "namespaces"}.issubset(present):
        return REDUCED
    return NONE


def lower(one: Isolation | None, other: Isolation) -> Isolation:
    """Of what two workers had, the lower: a level drops, and never rises again."""
    if one is None or ORDER.index(other.level) < ORDER.index(one.level):
        return other
    return one


def read_kernel(process: int) -> dict[str, str] | None:
    """What the kernel says of a process, or None where it says nothing."""
    try:
        text = Path(f"/proc/{process}/status").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    lines = [line.partition(":") for line in text.splitlines()]
    return {name: value.strip() for name, _, value in lines}
