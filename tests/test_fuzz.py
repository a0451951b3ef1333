"""Arbitrary bytes and replies are read or refused, never anything else.

Short here. The long form: `pytest -n 0 --hypothesis-profile=long tests/test_fuzz.py`
"""

import contextlib
import json
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from grader.errors import ProtocolError, UnusableSubmission
from grader.intake import decode
from grader.notebook import read_cells
from grader.sandbox import wire
from grader.worker import protocol

NAMES = [
    *("status", "fault", "phase", "type", "bases"),
    *("text", "line", "returned", "structure", "kinds"),
    *("tensors", "after", "parameters", "input_gradients"),
    *("parameter_gradients", "seen", "turned", "asked", "trace"),
    *("stray", "exit", "wanted", "classes", "name"),
    *("is_module", "has_forward", "constructor", "forward", "used_by"),
    *("reads"),
]
KEYS = st.sampled_from(NAMES)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=9)
)
WORDS = st.sampled_from(["ok", "raised", "exited", "tensor", "float64", "bool", "single"])
VALUES = st.recursive(
    SCALARS | WORDS,
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(KEYS, inner, max_size=8),
    max_leaves=30,
)
HEADERS = st.dictionaries(KEYS, VALUES, max_size=10)
BLOBS = st.lists(
    st.sampled_from(
        [
            protocol.Blob("float64", (1,), bytes(8)),
            protocol.Blob("bool", (2, 1), b"\1\0"),
            protocol.Blob("bfloat16", (0, 3), b""),
        ]
    ),
    max_size=3,
)


def read_frame(data):
    """As the line does: the fixed part, then what it announces."""
    prefix = protocol.read_prefix(data[: protocol.PREFIX_SIZE])
    rest = data[protocol.PREFIX_SIZE :]
    header, payload = rest[: prefix.header_size], rest[prefix.header_size :]
    return protocol.unpack(header, payload[: prefix.payload_size])


@given(data=st.binary(max_size=300))
def test_any_bytes_are_a_frame_or_refused(data):
    with contextlib.suppress(protocol.FrameError):
        read_frame(data)


@given(header=HEADERS, blobs=BLOBS)
def test_frame_comes_back_as_it_was(header, blobs):
    header.pop("tensors", None)
    assert read_frame(protocol.pack(7, header, blobs)) == (header, blobs)


@given(
    header=HEADERS,
    blobs=BLOBS,
    changes=st.lists(st.tuples(st.integers(0, 10**4), st.integers(0, 255)), max_size=6),
    cut=st.integers(0, 40),
)
def test_damaged_frame_is_read_or_refused(header, blobs, changes, cut):
    header.pop("tensors", None)
    data = bytearray(protocol.pack(7, header, blobs))
    for at, byte in changes:
        data[at % len(data)] = byte
    with contextlib.suppress(protocol.FrameError):
        read_frame(bytes(data[: len(data) - cut]))


@given(header=HEADERS, blobs=BLOBS)
def test_any_reply_is_read_or_refused(header, blobs):
    for read in (lambda: wire.read_observation(header, blobs), lambda: wire.read_classes(header)):
        with contextlib.suppress(ProtocolError):
            read()
    assert all(isinstance(name, str) for name in wire.read_wanted(header))


@given(raw=st.binary(max_size=400) | st.text(max_size=200).map(str.encode))
def test_any_file_is_read_or_refused(raw):
    with contextlib.suppress(UnusableSubmission):
        decode(raw, Path("mine.py")).encode()
    with contextlib.suppress(ValueError):
        read_cells(raw)


CELL_KEYS = st.sampled_from(["cells", "cell_type", "source", "input", "worksheets", "outputs"])


@given(
    st.recursive(
        SCALARS | st.sampled_from(["code", "markdown", "%%bash", "!ls"]),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(CELL_KEYS, inner, max_size=4),
        max_leaves=20,
    )
)
def test_any_json_is_a_notebook_or_refused(data):
    with contextlib.suppress(ValueError):
        assert isinstance(read_cells(json.dumps(data).encode()), str)
