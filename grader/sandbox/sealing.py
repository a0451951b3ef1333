"""Has a worker shut itself in, and judges from here how far it is."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from grader.model import Helper, Isolation, Limits
from grader.sandbox import level
from grader.sandbox.forge import Worker
from grader.worker.protocol import Blob

# For imports and layers: nothing of the candidate's runs meanwhile.
SEAL_SECONDS = 60.0


@dataclass(frozen=True)
class Book:
    """What a worker has once it is closed: the open `packages`, modules `wanted` before, `helpers`.

    `without` are layers that are left out, to see what the others are worth. One that is
    `rehearsed` makes itself quick afterwards, before it is asked anything.
    """

    packages: Sequence[str]
    wanted: Collection[str] = ()
    helpers: Sequence[Helper] = ()
    without: Sequence[str] = ()
    rehearsed: bool = False


def seal(worker: Worker, source: Blob, limits: Limits, book: Book) -> Isolation:
    """The isolation in force, once what the source names and what is `wanted` are imported."""
    request = {
        "op": "seal",
        "limits": dataclasses.asdict(limits),
        "packages": list(book.packages),
        "wanted": sorted(book.wanted),
        "helpers": [helper.name for helper in book.helpers],
        "without": list(book.without),
        "rehearsed": book.rehearsed,
    }
    blobs = [source, *(text_blob(helper.source) for helper in book.helpers)]
    reply, _ = worker.line.ask(request, blobs, SEAL_SECONDS)
    return level.judge(reply["layers"], reply["refused"], level.read_kernel(worker.pid))


def text_blob(text: str) -> Blob:
    """Source text as a frame carries it."""
    raw = text.encode()
    return Blob("uint8", (len(raw),), raw)
