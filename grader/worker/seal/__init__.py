"""Where a worker shuts itself in: after fork, and before the candidate's first line.

Layers are applied in an order in which none takes away what a later one needs. A layer that the
system lacks is left out and not mentioned; what the rest is worth is for the grader to say. The
last step tries what is forbidden now, and says what was refused.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from . import filter, landlock, limits, namespaces, privileges, trial

Layer = Callable[[dict[str, Any]], None]

LAYERS: dict[str, Layer] = {
    "memory-limit": limits.limit_memory,
    "processor-limit": limits.limit_processor,
    "file-size-limit": limits.limit_files,
    "process-limit": limits.limit_processes,
    "namespaces": lambda _: namespaces.leave(),
    "own-user": lambda _: privileges.change_user(),
    "no-privileges": lambda _: privileges.drop(),
    "not-readable": lambda _: privileges.hide_memory(),
    "ends-with-parent": lambda request: privileges.end_with(request["parent"]),
    "landlock": lambda _: landlock.close(),
    "system-call-filter": lambda _: filter.close(os.getpid()),
}


def close(request: dict[str, Any]) -> dict[str, Any]:
    """Apply every layer this system has but those in `without`.

    Returns the names of the layers in force, and what a try of forbidden things found refused:
    the "trial", which can be left out like a layer.
    """
    layers = []
    for name, apply in LAYERS.items():
        if name in request["without"]:
            continue
        try:
            apply(request)
        except Exception:  # whatever the system says: the layer is missing, and the level drops
            continue
        layers.append(name)
    refused = [] if "trial" in request["without"] else trial.try_all()
    return {"layers": layers, "refused": refused}
