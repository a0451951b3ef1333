"""Arbitrary bytes and replies are read or refused, never anything else.

Short here. The long form, other bytes in every run: `python benchmarks/fuzz.py [MINUTES]`
"""

import contextlib
import io
import json
import tempfile
import zipfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from grader.course.gather import gather
from grader.errors import ProtocolError, UnusableSubmission, UsageError
from grader.intake import MAX_BYTES, decode
from grader.notebook import read_cells
from grader.sandbox import claims
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


CHANGES = st.lists(st.tuples(st.integers(0, 10**4), st.integers(0, 255)), max_size=6)


def damage(data, changes, cut):
    """Some bytes changed, and the end left out."""
    changed = bytearray(data)
    for at, byte in changes:
        changed[at % len(changed)] = byte
    return bytes(changed[: len(changed) - cut])


@given(header=HEADERS, blobs=BLOBS)
def test_frame_comes_back_as_it_was(header, blobs):
    header.pop("tensors", None)
    assert read_frame(protocol.pack(7, header, blobs)) == (header, blobs)


@given(header=HEADERS, blobs=BLOBS, changes=CHANGES, cut=st.integers(0, 40))
def test_damaged_frame_is_read_or_refused(header, blobs, changes, cut):
    header.pop("tensors", None)
    with contextlib.suppress(protocol.FrameError):
        read_frame(damage(protocol.pack(7, header, blobs), changes, cut))


@given(header=HEADERS, blobs=BLOBS)
def test_any_reply_is_read_or_refused(header, blobs):
    for read in (
        lambda: claims.read_observation(header, blobs),
        lambda: claims.read_classes(header),
    ):
        with contextlib.suppress(ProtocolError):
            read()
    assert all(isinstance(name, str) for name in claims.read_wanted(header))


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


def gather_bytes(raw, suffix):
    """What is found in a file of these bytes, each read or refused."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"sent{suffix}")
        path.write_bytes(raw)
        with contextlib.suppress(UsageError):
            for entry in gather([path]):
                with contextlib.suppress(UnusableSubmission):
                    assert len(entry.read().source) <= MAX_BYTES


PARTS = st.sampled_from(["ada", "..", "", "submission_1", "C:", "\\", "李", "a.py", "b.ipynb"])
MEMBERS = st.lists(
    st.tuples(
        st.lists(PARTS, min_size=1, max_size=3).map("/".join).filter(bool),
        st.binary(max_size=60) | st.just(b"x = 1\n" * 50),
        st.sampled_from([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA]),
    ),
    max_size=4,
    unique_by=lambda member: member[0],
)
METADATA = st.sampled_from([b"", b"submission_1: {x: 1}", b"a: [", b"- a", b"\x00"])


@given(members=MEMBERS, metadata=METADATA, changes=CHANGES, cut=st.integers(0, 40))
def test_damaged_archive_is_read_or_refused(members, metadata, changes, cut):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content, method in members:
            archive.writestr(name, content, method)
        if metadata:
            archive.writestr("submission_metadata.yml", metadata)
    gather_bytes(damage(out.getvalue(), changes, min(cut, 21)), ".zip")


@given(raw=st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_any_bytes_are_an_archive_or_list_or_refused(raw):
    for suffix in (".zip", ".csv"):
        gather_bytes(raw, suffix)


@given(rows=st.lists(st.lists(st.text(max_size=9), max_size=3), max_size=4))
def test_any_rows_are_a_list_or_refused(rows):
    text = "\n".join(["path,student", *(",".join(row) for row in rows)])
    gather_bytes(text.encode(), ".csv")
