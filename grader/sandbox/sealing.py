"""Has a worker shut itself in, and judges from here how far it is."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Sequence

from grader.model import Isolation, Limits
from grader.sandbox import level
from grader.sandbox.forge import Worker
from grader.worker.protocol import Blob

# For imports and layers: nothing of the candidate's runs meanwhile.
SEAL_SECONDS = 60.0


def seal(
    worker: Worker,
    source: Blob,
    limits: Limits,
    packages: Sequence[str],
    wanted: Collection[str] = (),
    without: Sequence[str] = (),
) -> Isolation:
    """The isolation in force, once what the source names and what is `wanted` are imported."""
    request = {
        "op": "seal",
        "limits": dataclasses.asdict(limits),
        "packages": list(packages),
        "wanted": sorted(wanted),
        "without": list(without),
    }
    reply, _ = worker.line.ask(request, [source], SEAL_SECONDS)
    return level.judge(reply["layers"], reply["refused"], level.read_kernel(worker.pid))
