"""Frames: what is packed comes back, and whatever breaks a rule is refused."""

import json
import struct

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from grader.worker.protocol import (
    ITEM_SIZES,
    MAX_DIMENSION,
    MAX_DIMENSIONS,
    MAX_HEADER,
    MAX_PAYLOAD,
    MAX_TENSORS,
    PREFIX_SIZE,
    Blob,
    FrameError,
    Prefix,
    pack,
    read_prefix,
    unpack,
)


def cut(frame):
    """A frame as its three parts."""
    prefix = read_prefix(frame[:PREFIX_SIZE])
    end = PREFIX_SIZE + prefix.header_size
    return prefix, frame[PREFIX_SIZE:end], frame[end:]


def refusal(header, payload=b""):
    """The text of the FrameError for this header, given as bytes or to be made JSON."""
    raw = header if isinstance(header, bytes) else json.dumps(header).encode()
    with pytest.raises(FrameError) as caught:
        unpack(raw, payload)
    return str(caught.value)


def described(*tensors):
    return {"tensors": [list(tensor) for tensor in tensors]}


def test_frame_survives_round_trip():
    header = {"op": "probe", "text": "多头 \ud800 \0", "sizes": [1, 2.5, None, True]}
    blobs = [Blob("float32", (2, 1), b"\1" * 8), Blob("bool", (0, 3), b""), Blob("int8", (), b"x")]
    prefix, head, payload = cut(pack(7, header, blobs))
    assert prefix == Prefix(7, len(head), 9)
    assert unpack(head, payload) == (header, blobs)


@pytest.mark.parametrize("dtype", ITEM_SIZES)
def test_each_dtype_survives(dtype):
    blob = Blob(dtype, (3, 2), bytes(range(6 * ITEM_SIZES[dtype])))
    assert unpack(*cut(pack(0, {}, [blob]))[1:]) == ({}, [blob])


def test_frame_layout_is_fixed():
    frame = pack(258, {"a": 1}, [Blob("uint8", (2,), b"xy")])
    head = b'{"a": 1, "tensors": [["uint8", [2]]]}'
    sizes = bytes([0, 0, 0, len(head)]) + bytes(7) + b"\2"
    assert frame == b"MHAG\1\0\0\1\2" + sizes + head + b"xy"


def test_pack_refuses_nan():
    with pytest.raises(ValueError, match="not JSON compliant"):
        pack(0, {"a": float("nan")})


def prefix_bytes(magic=b"MHAG", version=1, header=0, payload=0):
    return struct.pack(">4sBIIQ", magic, version, 0, header, payload)


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (prefix_bytes(magic=b"MHAg"), "wrong magic"),
        (prefix_bytes(magic=bytes(4)), "wrong magic"),
        (prefix_bytes(version=0), "version 0"),
        (prefix_bytes(version=2), "version 2"),
        (prefix_bytes(header=MAX_HEADER + 1), "announces 1048577 + 0 bytes"),
        (prefix_bytes(payload=MAX_PAYLOAD + 1), "announces 0 + 67108865 bytes"),
        (prefix_bytes(payload=2**64 - 1), "announces 0 + 18446744073709551615 bytes"),
    ],
)
def test_prefix_out_of_rules_is_refused(data, text):
    with pytest.raises(FrameError, match=f"^{text.replace('+', '[+]')}$"):
        read_prefix(data)


def test_largest_prefix_is_read():
    data = prefix_bytes(header=MAX_HEADER, payload=MAX_PAYLOAD)
    assert read_prefix(data) == Prefix(0, MAX_HEADER, MAX_PAYLOAD)


def test_short_prefix_is_refused():
    with pytest.raises(FrameError):
        read_prefix(b"MHAG")


@pytest.mark.parametrize(
    "size", [-1, True, False, 1.0, "1", None, [1], MAX_DIMENSION + 1, 10**30], ids=str
)
def test_odd_dimension_is_refused(size):
    assert refusal(described(["uint8", [size]]), b"x") == "a tensor is described wrongly"


@pytest.mark.parametrize(
    "entry",
    [
        None,
        "uint8",
        [],
        ["uint8"],
        ["uint8", 1],
        ["uint8", [1], 1],
        ["float128", [1]],
        [None, [1]],
        {"uint8": [1]},
        ["uint8", [1] * (MAX_DIMENSIONS + 1)],
    ],
    ids=str,
)
def test_odd_description_is_refused(entry):
    assert refusal({"tensors": [entry]}, b"x") == "a tensor is described wrongly"


def test_eight_dimensions_are_read():
    assert unpack(json.dumps(described(["uint8", [1] * 8])).encode(), b"x")[1][0].data == b"x"


@pytest.mark.parametrize("position", range(4))
def test_zero_hides_no_absurd_size(position):
    shape = [MAX_DIMENSION] * 3
    shape.insert(position, 0)
    assert refusal(described(["uint8", shape])) == "a tensor is too large"


def test_too_large_tensor_is_refused():
    assert refusal(described(["bool", [MAX_PAYLOAD + 1]])) == "a tensor is too large"


@pytest.mark.parametrize("tensors", [None, {}, "", 0, [["bool", [0]]] * (MAX_TENSORS + 1)])
def test_odd_tensor_list_is_refused(tensors):
    assert refusal({"tensors": tensors}) == "tensors are not described"


def test_missing_tensor_list_is_refused():
    assert refusal({}) == "tensors are not described"


def test_most_tensors_are_read():
    head = json.dumps({"tensors": [["bool", [0]]] * MAX_TENSORS}).encode()
    assert len(unpack(head, b"")[1]) == MAX_TENSORS


@pytest.mark.parametrize("size", [0, 3, 7])
def test_short_payload_is_refused(size):
    header = described(["float16", [2, 2]])
    assert refusal(header, bytes(size)) == "more tensor bytes described than sent"


def test_long_payload_is_refused():
    assert refusal(described(["float16", [2]]), bytes(5)) == "more bytes sent than described"
    assert refusal({"tensors": []}, b"x") == "more bytes sent than described"


@pytest.mark.parametrize(
    ("header", "cause"),
    [
        (b"", "JSONDecodeError"),
        (b"{", "JSONDecodeError"),
        (b"\xff\xff", "UnicodeDecodeError"),
        (b'{"a": NaN, "tensors": []}', "ValueError"),
        (b'{"a": -Infinity, "tensors": []}', "ValueError"),
        (b'{"a": 1, "a": 2, "tensors": []}', "ValueError"),
        (b'{"a": {"b": 1, "b": 1}, "tensors": []}', "ValueError"),
        (b'{"tensors": [], "tensors": []}', "ValueError"),
        (b'{"a": ' + b"9" * 5000 + b', "tensors": []}', "ValueError"),
        (b"[" * 100_000, "RecursionError"),
        (b'{"a":' * 100_000, "RecursionError"),
        (b"[" * 100_000 + b"]" * 100_000, "RecursionError"),
    ],
    ids=lambda value: str(value[:12]),
)
def test_unreadable_header_is_refused(header, cause):
    assert refusal(header) == f"unreadable header: {cause}"


@pytest.mark.parametrize("header", [b"[]", b"1", b"null", b'"tensors"'])
def test_header_must_be_object(header):
    assert refusal(header) == "the header is not an object"


def test_infinity_in_digits_is_refused():
    refusal(b'{"a": 1e999, "tensors": []}')


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=12,
)
SIZES = st.lists(st.integers(-1, 4) | st.sampled_from([2**31, 2**40]) | JSON, max_size=9)
ENTRIES = st.tuples(st.sampled_from([*ITEM_SIZES, "float8"]), SIZES).map(list) | JSON
HEADERS = st.fixed_dictionaries({}, optional={"tensors": st.lists(ENTRIES) | JSON, "op": JSON})
ENCODED = HEADERS.map(lambda header: json.dumps(header).encode())
PREFIXES = st.builds(
    struct.Struct(">4sBIIQ").pack,
    st.sampled_from([b"MHAG", b"MHAH"]),
    st.integers(0, 2),
    st.integers(0, 2**32 - 1),
    st.integers(0, 2**32 - 1),
    st.integers(0, 2**64 - 1),
)


@settings(max_examples=300)
@given(header=st.binary() | ENCODED, payload=st.binary(max_size=40))
@example(header=b'{"tensors": [["uint8", [3]]]}', payload=b"abc")
def test_unpack_returns_or_refuses(header, payload):
    try:
        head, blobs = unpack(header, payload)
    except FrameError:
        return
    assert isinstance(head, dict)
    assert b"".join(blob.data for blob in blobs) == payload


@settings(max_examples=300)
@given(data=PREFIXES | st.binary(min_size=PREFIX_SIZE, max_size=PREFIX_SIZE))
def test_read_prefix_returns_or_refuses(data):
    try:
        prefix = read_prefix(data)
    except FrameError:
        return
    assert prefix.header_size <= MAX_HEADER
    assert prefix.payload_size <= MAX_PAYLOAD
