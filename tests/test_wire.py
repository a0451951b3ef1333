"""Probes and observations on the wire: values survive, malformed replies are refused."""

import sys

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.errors import ProtocolError
from grader.model import Argument, Fault, Input, Observation, Parameter, Probe, Returned, Status
from grader.precision import PRECISIONS
from grader.sandbox import claims, wire
from grader.sandbox.session import HeldWeights
from grader.worker import execute, protocol, values
from grader.worker.built import WeightSets
from grader.worker.protocol import MAX_SETS, Blob

ECHO = """
import torch
from torch import nn

class Echo(nn.Module):
    def __init__(self, size=2, *, fill=0.5):
        super().__init__()
        self.weight = nn.Parameter(torch.full((size, 3), fill))

    def forward(self, x, mask=None):
        return x, mask, torch.tensor(x.stride()), self.weight

class Square(nn.Module):
    def __init__(self):
        super().__init__()
        self.factor = nn.Parameter(torch.ones(3))
        self.idle = nn.Parameter(torch.ones(1))

    def forward(self, x):
        return self.factor * x ** 2

class Graph(Square):
    def forward(self, x):
        return self.factor * (1 + torch.is_grad_enabled())
"""
X = np.random.default_rng(0).normal(size=(2, 4, 3))
STRIDES = {
    "contiguous": [12, 3, 1],
    "transposed": [3, 6, 1],
    "strided": [24, 6, 2],
    "expanded": [0, 3, 1],
}


@pytest.fixture
def run(monkeypatch):
    """A probe through both ends of the wire, with the worker's half in this process."""
    monkeypatch.setitem(sys.modules, execute.MODULE_NAME, None)
    state = execute.Submission()
    assert state.load(ECHO, "echo.py")["status"] == "ok"

    def travel(header, blobs):
        frame = protocol.pack(1, header, blobs)
        prefix = protocol.read_prefix(frame[: protocol.PREFIX_SIZE])
        body = frame[protocol.PREFIX_SIZE :]
        return protocol.unpack(body[: prefix.header_size], body[prefix.header_size :])

    def run_one(probe):
        return claims.read_observation(*travel(*state.probe(*travel(*wire.write_probe(probe)))))

    return run_one


def echo(*inputs, **options):
    return Probe("Echo", (), calls=(inputs,), **options)


@pytest.mark.parametrize("storage", STRIDES)
@pytest.mark.parametrize("dtype", PRECISIONS)
def test_float_input_survives(run, dtype, storage):
    given_value = X[:1].repeat(2, axis=0) if storage == "expanded" else X
    (back,) = run(echo(Input(given_value, dtype, storage))).returned
    assert np.array_equal(back.tensors[0], PRECISIONS[dtype].store(given_value))
    assert back.tensors[0].dtype == np.float64
    assert back.dtypes[0] == dtype
    assert back.tensors[2].tolist() == STRIDES[storage]


@pytest.mark.parametrize("storage", STRIDES)
@pytest.mark.parametrize("dtype", ["int64", "int32", "int16", "int8", "uint8", "bool"])
def test_whole_input_survives(run, dtype, storage):
    numbers = np.arange(24).reshape(2, 4, 3) % (2 if dtype == "bool" else 100)
    given_value = numbers[:1].repeat(2, axis=0) if storage == "expanded" else numbers
    (back,) = run(echo(Input(given_value, dtype, storage))).returned
    assert np.array_equal(back.tensors[0], given_value)
    assert back.tensors[0].dtype == np.dtype(dtype)
    assert back.dtypes[0] == dtype


def test_every_tensor_dtype_is_covered():
    assert set(protocol.ITEM_SIZES) == set(wire.NUMPY) | {"bfloat16"} == set(values.DTYPES)


def test_weights_are_sent_once_and_loaded_again():
    worker, grader = WeightSets(), HeldWeights()
    sets = [{"weight": np.full(3, float(number))} for number in range(MAX_SETS + 1)]

    def send(weights):
        number, held = grader.look_up(weights)
        header, blobs = wire.write_probe(Probe("Echo", (), weights=weights), number, held)
        entry = (protocol.PROBE | header)["weights"]
        _, found = worker.look_up(entry, [values.to_tensor(blob) for blob in blobs])
        assert found["weight"].tolist() == weights["weight"].tolist()
        return held

    assert [send(one) for one in sets] == [False] * len(sets)
    # The oldest has made room for the newest.
    assert [send(sets[at]) for at in (MAX_SETS, 1, 0, 1)] == [True, True, False, False]


def test_no_weights_take_no_set():
    assert HeldWeights().look_up({}) == (protocol.NO_WEIGHTS, True)
    assert WeightSets().look_up(protocol.PROBE["weights"], []) == (protocol.NO_WEIGHTS, {})


def test_a_request_says_no_more_than_it_must():
    header, _ = wire.write_probe(Probe("Echo", (2,)))
    assert sorted(header) == ["class", "construct", "dtype", "op", "weights"]
    assert set(protocol.PROBE) > {"train", "keep", "trace"}


@pytest.mark.parametrize(
    ("options", "graph"),
    [
        ({}, True),
        ({"fresh": False}, False),
        ({"train": True}, True),
        ({"cotangent": np.ones(3)}, True),
        ({"trace": True}, True),
        ({"watch": True}, True),
    ],
    ids=str,
)
def test_there_is_a_graph_where_one_is_looked_at(run, options, graph):
    seen = run(Probe("Graph", (), calls=((Input(np.ones(3), "float64"),),), **options))
    assert seen.returned[0].kinds == ("tensor",)
    assert seen.returned[0].tensors[0].tolist() == [1.0 + graph] * 3


@pytest.mark.parametrize("shape", [(), (0,), (2, 0, 3), (1, 1, 1)], ids=str)
@pytest.mark.parametrize("dtype", values.DTYPES)
def test_odd_shapes_survive(dtype, shape):
    blob = values.to_blob(torch.ones(shape, dtype=values.DTYPES[dtype]))
    assert values.to_tensor(blob).shape == shape
    assert np.array_equal(wire.to_array(blob), np.ones(shape))


def test_special_floats_survive():
    x = torch.tensor([float("inf"), -float("inf"), float("nan"), -0.0, 1e-40])
    for dtype in (torch.float64, torch.float32, torch.float16, torch.bfloat16):
        back = wire.to_array(values.to_blob(x.to(dtype)))
        np.testing.assert_array_equal(back, x.to(dtype).double().numpy())
        assert np.signbit(back[3])


@pytest.mark.parametrize(
    "view",
    [
        lambda x: x.T,
        lambda x: x[:, ::2],
        lambda x: x[:1].expand(5, 6),
        lambda x: torch.complex(x, x).conj().imag,
    ],
    ids=["transposed", "strided", "expanded", "negative-bit"],
)
def test_view_travels_as_seen(view):
    seen = view(torch.arange(24.0).reshape(4, 6))
    assert wire.to_array(values.to_blob(seen)).tolist() == seen.tolist()


def test_none_and_mask_travel(run):
    mask = np.array([True, False])
    seen = run(Probe("Echo", (), calls=((Input(X, "float32"), None), echo_mask(mask))))
    assert [r.kinds for r in seen.returned] == [
        ("tensor", "none", "tensor", "tensor"),
        ("tensor", "tensor", "tensor", "tensor"),
    ]
    assert seen.returned[1].tensors[1].tolist() == [True, False]


def echo_mask(mask):
    return Input(X, "float32"), Input(mask, "bool")


def test_construct_and_weights_travel(run):
    seen = run(echo(Input(X, "float64"), dtype="float64"))
    assert seen.returned[0].tensors[3].tolist() == [[0.5] * 3] * 2
    named = {"construct_named": {"fill": 2.0}}
    seen = run(Probe("Echo", (1,), calls=((Input(X, "float32"),),), dtype="float64", **named))
    assert seen.returned[0].tensors[3].tolist() == [[2.0] * 3]
    weights = {"weight": np.arange(6.0).reshape(2, 3) / 7}
    seen = run(echo(Input(X, "float64"), weights=weights, dtype="float64"))
    assert np.array_equal(seen.returned[0].tensors[3], weights["weight"])


def test_parameters_travel_when_asked_for(run):
    seen = run(Probe("Echo", (4,), describe=True))
    assert seen.parameters == (Parameter("weight", (4, 3), "submission.Echo", True),)


def test_gradients_travel(run):
    probe = Probe("Square", (), calls=((Input(X, "float64"),),), dtype="float64", cotangent=X)
    seen = run(probe)
    np.testing.assert_allclose(seen.input_gradients[0], 2 * X * X, rtol=1e-14)
    factor = seen.parameter_gradients["factor"]
    np.testing.assert_allclose(factor, (X**3).sum(axis=(0, 1)), rtol=1e-14)
    assert seen.parameter_gradients["idle"] is None


def test_inputs_after_the_call_travel(run):
    (back,) = run(echo(Input(X, "float64"), None, return_inputs=True)).returned
    assert np.array_equal(back.after[0], X)
    assert back.after[1] is None


def test_fault_travels(run):
    seen = run(echo(Input(X, "float64"), Input(X, "float64"), Input(X, "float64")))
    assert seen.status is Status.RAISED
    assert seen.fault.phase == "forward"
    assert seen.fault.type == "TypeError"
    assert seen.fault.bases[:2] == ("TypeError", "Exception")


def blob_of(*floats):
    return Blob("float64", (len(floats),), np.array(floats).tobytes())


RETURNED = {"structure": "single", "kinds": ["tensor"], "tensors": [0], "after": []}
FAULT = {"phase": "forward", "type": "E", "bases": ["E"], "text": "no", "line": 3}


def test_least_reply_is_read():
    assert claims.read_observation({"status": "ok"}, []) == Observation(Status.OK)


def test_full_reply_is_read():
    header = {
        "status": "raised",
        "fault": FAULT,
        "returned": [RETURNED],
        "parameters": [["w", [2, 3], "Linear", True]],
        "seen": [["flex_attention", 7]],
        "stray": ["mask"],
        "exit": 3,
    }
    seen = claims.read_observation(header, [blob_of(1.0, 2.0)])
    assert seen.fault == Fault("forward", "E", ("E",), "no", 3)
    assert seen.parameters == (Parameter("w", (2, 3), "Linear", True),)
    assert (seen.ready_made, seen.stray, seen.exit_code) == ((("flex_attention", 7),), ("mask",), 3)
    (back,) = seen.returned
    assert back.tensors[0].tolist() == [1.0, 2.0]
    assert back == Returned("single", ("tensor",), back.tensors, {0: "float64"}, ())


@pytest.mark.parametrize(
    ("header", "detail"),
    [
        ({}, "KeyError"),
        ({"status": "fine"}, "ValueError"),
        ({"status": ["ok"]}, "ValueError"),
        ({"status": "ok", "returned": 1}, "TypeError"),
        ({"status": "ok", "returned": ["x"]}, "TypeError"),
        ({"status": "ok", "returned": [{}]}, "KeyError"),
        ({"status": "ok", "returned": [RETURNED | {"tensors": [1]}]}, "IndexError"),
        ({"status": "ok", "returned": [RETURNED | {"tensors": [-1]}]}, "ValueError"),
        ({"status": "ok", "returned": [RETURNED | {"tensors": [True]}]}, "ValueError"),
        ({"status": "ok", "returned": [RETURNED | {"tensors": [0.0]}]}, "ValueError"),
        ({"status": "ok", "returned": [RETURNED | {"after": [7]}]}, "IndexError"),
        ({"status": "ok", "parameters": [["w", [1], "Linear"]]}, "ValueError"),
        ({"status": "ok", "parameters": [["w", None, "Linear", True]]}, "TypeError"),
        ({"status": "ok", "parameter_gradients": []}, "AttributeError"),
        ({"status": "ok", "parameter_gradients": {"w": 5}}, "IndexError"),
        ({"status": "ok", "input_gradients": {"x": 0}}, "ValueError"),
        ({"status": "raised", "fault": None}, "TypeError"),
        ({"status": "raised", "fault": {"phase": "x"}}, "KeyError"),
    ],
    ids=str,
)
def test_malformed_reply_is_refused(header, detail):
    with pytest.raises(ProtocolError) as caught:
        claims.read_observation(header, [blob_of(0.0)])
    assert caught.value.message.key == "worker.unreadable"
    assert caught.value.message.fields == {"detail": detail}


def test_infinite_size_is_refused():
    header = {"status": "ok", "parameters": [["w", [float("inf")], "L", True]]}
    with pytest.raises(ProtocolError):
        claims.read_observation(header, [])


def test_infinite_line_is_refused():
    with pytest.raises(ProtocolError):
        claims.read_classes({"classes": [CLASS | {"line": float("inf")}]})


@pytest.mark.parametrize(("opening", "closing"), [(b"[", b"]"), (b'{"a":[', b"]}")])
def test_deep_name_is_read_or_refused(opening, closing):
    refused = 0
    for depth in range(1, 1200, 7):
        name = opening * depth + closing * depth
        try:
            head, _ = protocol.unpack(b'{"status": "ok", "stray": [%s], "tensors": []}' % name, b"")
            claims.read_observation(head, [])
        except (protocol.FrameError, ProtocolError):
            refused += 1
    assert 0 < refused < 171


CLASS = {
    "name": "Mha",
    "line": 4,
    "is_module": True,
    "has_forward": True,
    "constructor": [["d_model", "positional_or_keyword", True, "", "int"]],
    "forward": [
        ["x", "positional_or_keyword", True, "", ""],
        ["mask", "keyword_only", False, "None", ""],
    ],
    "used_by": [],
    "reads": ["n_head"],
}


def test_class_is_read():
    (cls,) = claims.read_classes({"classes": [CLASS]})
    assert (cls.name, cls.line, cls.is_module, cls.has_forward) == ("Mha", 4, True, True)
    assert cls.constructor == (Argument("d_model", "positional_or_keyword", True, "", "int"),)
    assert cls.forward[1] == Argument("mask", "keyword_only", False, "None")
    assert cls.reads == ("n_head",)


@pytest.mark.parametrize(
    "header",
    [
        {},
        {"classes": None},
        {"classes": [None]},
        {"classes": [{}]},
        {"classes": ["abc"]},
        {"classes": [CLASS | {"line": "x"}]},
        {"classes": [CLASS | {"constructor": [["x"]]}]},
        {"classes": [CLASS | {"used_by": 1}]},
    ],
    ids=str,
)
def test_malformed_class_is_refused(header):
    with pytest.raises(ProtocolError, match=r"^worker\.unreadable"):
        claims.read_classes(header)


HOSTILE = "\x1b[31m\x07\r\u202e\ud800\0"


def test_hostile_text_is_made_plain():
    fault = {**FAULT, "phase": HOSTILE, "type": HOSTILE, "bases": [HOSTILE], "text": HOSTILE}
    seen = claims.read_observation({"status": "raised", "fault": fault, "seen": [[HOSTILE, 1]]}, [])
    plain = "\\x1b[31m\\x07 \\u202e\\ud800\\x00"
    assert (seen.fault.type, seen.fault.bases, seen.fault.text) == (plain, (plain,), plain)
    assert seen.fault.phase.isprintable()
    assert seen.ready_made == ((plain, 1),)


def test_hostile_parameter_name_is_made_plain():
    header = {"status": "ok", "parameters": [[HOSTILE, [1], "Linear", True]]}
    assert claims.read_observation(header, []).parameters[0].name.isprintable()


def test_long_text_is_cut():
    fault = {**FAULT, "text": "x" * 10**6, "type": "T" * 10**6, "bases": ["B"] * 10**5}
    seen = claims.read_observation({"status": "raised", "fault": fault}, [])
    assert seen.fault.text == "x" * 2000 + "…"
    assert seen.fault.type == "T" * 80 + "…"
    assert len(seen.fault.bases) == 16


LEAVES = st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.floats(-9, 9)
JSON = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=8,
)


def shaped(example, *more):
    """Values of the shape of `example`, any part of which may be something else."""
    if isinstance(example, dict):
        parts = {name: shaped(part) for name, part in example.items()}
        return st.fixed_dictionaries({}, optional=parts) | JSON
    if isinstance(example, list):
        parts = st.tuples(*(shaped(part) for part in example)).map(list)
        return parts | st.lists(parts, max_size=2) | JSON
    return st.just(example) | JSON


REPLY = {
    "fault": FAULT,
    "phase": "load",
    "returned": [RETURNED],
    "parameters": [["w", [2], "Linear", True]],
    "input_gradients": [0],
    "parameter_gradients": {"w": 0},
    "seen": ["x"],
    "stray": ["x"],
    "exit": 0,
}
REPLIES = st.fixed_dictionaries(
    {"status": st.just("ok") | JSON}, optional={n: shaped(v) for n, v in REPLY.items()}
)


@settings(max_examples=400)
@given(header=REPLIES)
def test_any_reply_is_read_or_refused(header):
    try:
        seen = claims.read_observation(header, [blob_of(1.0)])
    except ProtocolError:
        return
    assert isinstance(seen, Observation)


@settings(max_examples=300)
@given(header=st.fixed_dictionaries({"classes": shaped([CLASS])}))
def test_any_classes_are_read_or_refused(header):
    try:
        found = claims.read_classes(header)
    except ProtocolError:
        return
    assert isinstance(found, tuple)
