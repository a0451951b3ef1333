"""One worker's life: shut itself in, then answer requests until the line closes."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import Any

from . import execute, imports, protocol, ready_made, scan, seal
from .helpers import Helpers
from .prepare import prepare
from .rehearsal import rehearse


def live(reader: int, writer: int, parent: int | None = None) -> None:
    """Serve requests read from `reader`, replies to `writer`; the process ends here.

    `parent` is the zygote that forked it.
    """
    _detach(reader, writer)
    # Installed beside torch, the grader's own package would be importable here.
    sys.modules["grader"] = None  # type: ignore[assignment]
    state = execute.Submission()
    shelf = imports.Shelf()
    while True:
        prefix = protocol.read_prefix(_read(reader, protocol.PREFIX_SIZE))
        header = _read(reader, prefix.header_size)
        request, blobs = protocol.unpack(header, _read(reader, prefix.payload_size))
        answer: list[protocol.Blob] = []
        if request["op"] == "seal":
            reply = shut_in({**request, "parent": parent}, blobs, shelf)
        else:
            reply, answer = answer_request(state, request, blobs)
        reply["wanted"] = shelf.take_wanted()
        _flush()
        _write(writer, protocol.pack(prefix.request, reply, answer))
        if request.get("rehearsed"):
            # Nobody is waiting for it yet; what fails here will fail again where it is asked.
            with contextlib.suppress(Exception):
                rehearse()


def shut_in(
    request: dict[str, Any], blobs: list[protocol.Blob], shelf: imports.Shelf
) -> dict[str, Any]:
    """Import what the source and the helpers name, and whatever was wanting before; then seal.

    The source is not parsed before that.
    """
    source, *helpers = (blob.data.decode() for blob in blobs)
    names = [*request["wanted"], *imports.named_in(source)]
    names += [name for helper in helpers for name in imports.named_in(helper)]
    tried = imports.preload(names, request["packages"])
    ready_made.install_late()
    prepare()
    reply = seal.close(request)
    # Whether or not files can still be opened: a file has the same at every level.
    served = Helpers(dict(zip(request["helpers"], helpers)))
    shelf.close(tried, request["packages"], served)
    return reply


def answer_request(
    state: execute.Submission, request: dict[str, Any], blobs: list[protocol.Blob]
) -> tuple[dict[str, Any], list[protocol.Blob]]:
    """The reply to one request: scan the source for what a person may look at, load, or probe."""
    if request["op"] == "scan":
        return {"flags": scan.find_flags(blobs[0].data.decode())}, []
    if request["op"] == "load":
        return state.load(blobs[0].data.decode(), request["name"]), []
    return state.probe(request, blobs)


def _detach(reader: int, writer: int) -> None:
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    top = max(reader, writer, null) + 1
    for descriptor in range(3, top):
        if descriptor not in (reader, writer):
            _close(descriptor)
    os.closerange(top, top + 64)
    # A pipe is block-buffered, and a killed worker would lose what it had printed.
    for name, descriptor in (("stdout", 1), ("stderr", 2)):
        stream = os.fdopen(descriptor, "w", 1, encoding="utf-8", errors="backslashreplace")
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


def _close(descriptor: int) -> None:
    try:
        os.close(descriptor)
    except OSError:
        pass


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:  # the candidate may have replaced or closed it
            pass


def _read(descriptor: int, size: int) -> bytes:
    parts = []
    while size:
        part = os.read(descriptor, min(size, 1 << 20))
        if not part:
            os._exit(0)
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _write(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
