"""Rounding is torch's bit for bit; tolerances admit right answers and no more."""

import math

import numpy as np
import pytest
import torch

from grader import precision
from grader.bank.draw import draw, generator
from grader.bank.masks import Sizes
from grader.model import Contract
from grader.precision import PRECISIONS, to_bfloat16, to_float16, to_float32

CONTRACT = Contract(("query", "key", "value"), "attention", False)
MASK = {"kind": "random", "form": "b 1 q k"}
BIASES = frozenset(("bq", "bk", "bv", "bo"))
ROUNDINGS = {
    torch.bfloat16: to_bfloat16,
    torch.float16: to_float16,
    torch.float32: to_float32,
}


def torch_rounded(x, dtype):
    return torch.from_numpy(x).to(dtype).to(torch.float64).numpy()


def same_bits(got, expected):
    return np.array_equal(got.view(np.uint64), expected.view(np.uint64))


def random_floats(seed, count=200_000):
    """Every float32 bit pattern is as likely as any other, NaN left out."""
    bits = np.random.default_rng(seed).integers(0, 2**32, size=count, dtype=np.uint32)
    values = bits.view(np.float32)
    return values[~np.isnan(values)].astype(np.float64)


@pytest.mark.parametrize("dtype", ROUNDINGS, ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_rounding_equals_torch(dtype, seed):
    x = random_floats(seed)
    assert same_bits(ROUNDINGS[dtype](x), torch_rounded(x, dtype))


@pytest.mark.parametrize("dtype", ROUNDINGS, ids=str)
def test_rounding_of_ordinary_values(dtype):
    x = np.random.default_rng(4).normal(size=200_000).astype(np.float32).astype(np.float64)
    assert same_bits(ROUNDINGS[dtype](x), torch_rounded(x, dtype))


@pytest.mark.parametrize(("dtype", "digits"), [(torch.bfloat16, 8), (torch.float16, 11)], ids=str)
def test_ties_go_to_even(dtype, digits):
    steps = 1.0 + np.arange(64) * 2.0**-digits  # every second one is half way
    x = np.concatenate([steps, -steps, steps * 2.0**-10, steps * 2.0**10])
    assert same_bits(ROUNDINGS[dtype](x), torch_rounded(x, dtype))
    assert ROUNDINGS[dtype](1.0 + np.array([1.0, 3.0]) * 2.0**-digits).tolist() == [
        1.0,
        1.0 + 4.0 * 2.0**-digits,
    ]


EXTREMES = [0.0, -0.0, math.inf, -math.inf, 1e-45, 1.4e-38, 6e-8, 2.9e-8, 6.1e-5]
EXTREMES += [65504.0, 65519.9, 65520.0, 1e5, 3.3895e38, 3.3961e38, 3.4028e38, -3.4028e38]


@pytest.mark.parametrize("dtype", ROUNDINGS, ids=str)
def test_extremes_equal_torch(dtype):
    x = np.array(EXTREMES)
    assert same_bits(ROUNDINGS[dtype](x), torch_rounded(x, dtype))


@pytest.mark.parametrize(
    "dtype",
    [
        torch.float16,
        torch.bfloat16,
        torch.float32,
    ],
    ids=str,
)
def test_beyond_float32_is_infinite(dtype):
    x = np.array([1e39, -1e300])
    assert ROUNDINGS[dtype](x).tolist() == [math.inf, -math.inf]


def test_float16_rounds_like_torch_from_float64():
    x = np.array([1.0 + 2.0**-11 + 2.0**-40])
    assert same_bits(to_float16(x), torch_rounded(x, torch.float16))


@pytest.mark.parametrize(("dtype", "rounding"), [(str(d)[6:], r) for d, r in ROUNDINGS.items()])
def test_precision_stores_by_dtype(dtype, rounding):
    assert PRECISIONS[dtype].store is rounding


def pose(dtype, seed, mask=None, gain=1.5):
    return draw(
        generator(seed, "tolerance"), CONTRACT, Sizes(), BIASES, mask=mask, dtype=dtype, gain=gain
    )


def answer(problem, dtype, soft=None, root=math.sqrt, linear=torch.nn.functional.linear):
    """Attention in torch in one dtype; `soft` is the dtype in which softmax is done."""
    kind = getattr(torch, dtype)
    weights = {
        name: torch.tensor(getattr(problem.weights, name), dtype=kind)
        for name in ("Wq", "bq", "Wk", "bk", "Wv", "bv", "Wo", "bo")
    }
    q, k, v = (
        linear(torch.tensor(x, dtype=kind), weights[f"W{role}"], weights[f"b{role}"])
        .unflatten(-1, (3, 6))
        .transpose(1, 2)
        for x, role in zip(problem.attended, "qkv")
    )
    scores = q @ k.mT / root(6)
    if problem.visible is not None:
        scores = scores.masked_fill(~torch.tensor(problem.visible), -torch.inf)
    shares = torch.softmax(scores.to(soft or kind), dim=-1).to(kind)
    output = (shares @ v).transpose(1, 2).flatten(2) @ weights["Wo"].T + weights["bo"]
    return output.double().numpy(), shares.double().numpy()


def is_allowed(problem, output, shares):
    expected = problem.truth
    allowed = problem.tolerance.whole()
    return bool(
        (np.abs(output - expected.output) <= allowed.output).all()
        and (np.abs(shares - expected.weights) <= allowed.weights).all()
    )


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("mask", [None, MASK], ids=["open", "mask"])
@pytest.mark.parametrize("dtype", PRECISIONS)
def test_right_answer_is_allowed(dtype, mask, seed):
    problem = pose(dtype, seed, mask)
    assert is_allowed(problem, *answer(problem, dtype))


def test_biases_added_apart_are_allowed(monkeypatch):
    """As x @ W + b rounds twice; between scores that are nearly even that decides who wins."""

    def apart(x, weight, bias):
        return x @ weight.T + bias

    def refused(seed):
        problem = pose("bfloat16", seed, gain=16.0)
        return not is_allowed(problem, *answer(problem, "bfloat16", linear=apart))

    assert list(filter(refused, range(60, 80))) == []
    monkeypatch.setattr(precision, "biased_apart", lambda *_: [])
    assert list(filter(refused, range(60, 80))) == [72]


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("seed", range(6))
def test_wider_softmax_is_allowed(dtype, seed):
    problem = pose(dtype, seed)
    assert is_allowed(problem, *answer(problem, dtype, torch.float32))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(
    ("dtype", "soft"),
    [
        ("float64", torch.float16),
        ("float64", torch.bfloat16),
        ("float32", torch.float16),
        ("float32", torch.bfloat16),
    ],
    ids=str,
)
def test_narrower_softmax_is_refused(dtype, soft, seed):
    problem = pose(dtype, seed)
    assert not is_allowed(problem, *answer(problem, dtype, soft))


@pytest.mark.parametrize("seed", range(6))
def test_float64_admits_float32_constant(seed):
    problem = pose("float64", seed)
    output, shares = answer(problem, "float64", root=lambda size: float(np.sqrt(np.float32(size))))
    assert is_allowed(problem, output, shares)
    assert np.abs(output - problem.truth.output).max() > 1e-9


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("dtype", PRECISIONS)
def test_missing_scale_is_refused(dtype, seed):
    problem = pose(dtype, seed)
    assert not is_allowed(problem, *answer(problem, dtype, root=lambda size: 1.0))


FLOORS = {"float64": 1e-6, "float32": 2.0**-16, "float16": 2.0**-11, "bfloat16": 2.0**-8}


@pytest.mark.parametrize("dtype", FLOORS)
def test_floor_bounds_allowance(dtype):
    problem = pose(dtype, 0)
    expected = problem.truth
    allowed = problem.tolerance.whole()
    assert PRECISIONS[dtype].floor == FLOORS[dtype]
    assert allowed.output >= FLOORS[dtype] * np.abs(expected.output).max()
    assert allowed.weights >= FLOORS[dtype] * np.abs(expected.weights).max()


def test_float64_allowance_is_floor():
    problem = pose("float64", 0)
    expected = problem.truth
    allowed = problem.tolerance.whole()
    assert allowed.output == 1e-6 * np.abs(expected.output).max()
    assert allowed.weights == 1e-6 * expected.weights.max()


def test_allowance_of_no_keys_is_defined():
    problem = draw(generator(0, "empty"), CONTRACT, Sizes(kv_len=0), BIASES, dtype="float32")
    assert problem.tolerance.whole().weights == 0.0


def test_further_ways_wait_for_an_answer_that_needs_them():
    problem = draw(generator(0, "lazy"), CONTRACT, Sizes(), BIASES, dtype="bfloat16")
    first = next(iter(problem.tolerance))
    assert len(problem.tolerance.grown) == 1
    whole = problem.tolerance.whole()
    assert len(problem.tolerance.grown) == 6
    assert (first.output, first.weights) <= (whole.output, whole.weights)
    assert whole.output == max(one.output for one in problem.tolerance)
