"""The numpy definition against three things it was not derived from.

torch's scaled_dot_product_attention with its autograd, nn.MultiheadAttention, and plain loops.
"""

import math
from dataclasses import fields, replace

import numpy as np
import pytest
import torch
from torch.nn import functional as F
from torch.nn.attention.bias import causal_lower_right

from grader import definition
from grader.bank.masks import Sizes, causal
from grader.definition import CORRECT, Steps, Weights, attend
from grader.derivatives import differentiate

SIZES = Sizes(batch=2, q_len=5, kv_len=7, d_model=18, num_heads=3)
BIASES = ("bq", "bk", "bv", "bo")
CLOSE = {"rtol": 0, "atol": 1e-12}

EDGES = {
    "usual": SIZES,
    "batch-1": replace(SIZES, batch=1),
    "query-1": replace(SIZES, q_len=1),
    "key-1": replace(SIZES, kv_len=1),
    "head-1": replace(SIZES, num_heads=1),
    "head-dim-1": replace(SIZES, num_heads=18),
    "all-1": Sizes(1, 1, 1, 1, 1),
    "more-queries": replace(SIZES, q_len=8, kv_len=4),
    "no-keys": replace(SIZES, kv_len=0),
}


def draw_weights(sizes, without=(), seed=0):
    rng = np.random.default_rng(seed)
    width = sizes.d_model
    found = {name: rng.normal(size=(width, width)) for name in ("Wq", "Wk", "Wv", "Wo")}
    found |= {name: rng.normal(size=width) for name in BIASES}
    return Weights(**(found | dict.fromkeys(without)))


def draw_inputs(sizes, seed=1):
    rng = np.random.default_rng(seed)
    lengths = (sizes.q_len, sizes.kv_len, sizes.kv_len)
    return tuple(rng.normal(size=(sizes.batch, length, sizes.d_model)) for length in lengths)


def draw_visible(sizes, dead=False, seed=2):
    shape = (sizes.batch, sizes.num_heads, sizes.q_len, sizes.kv_len)
    visible = np.random.default_rng(seed).random(shape) < 0.6
    visible[..., 0] = True
    if dead:
        visible[0, :, 1] = False
        visible[-1, 0] = False
    return visible


MASKS = {
    "none": None,
    "random": draw_visible(SIZES),
    "dead-rows": draw_visible(SIZES, dead=True),
    "all-dead": np.zeros((2, 3, 5, 7), dtype=bool),
    "broadcast": draw_visible(SIZES)[:, :1, :1],
    "causal": causal(SIZES),
}


def torch_attention(weights, inputs, num_heads, visible):
    """The same function from torch's parts: (output, leaves to take gradients of)."""
    given = {f.name: getattr(weights, f.name) for f in fields(Weights)}
    given = {name: array for name, array in given.items() if array is not None}
    given |= dict(zip(("query", "key", "value"), inputs))
    leaves = {name: torch.tensor(array, requires_grad=True) for name, array in given.items()}

    def project(name, role):
        flat = F.linear(leaves[name], leaves[f"W{role}"], leaves.get(f"b{role}"))
        return flat.unflatten(-1, (num_heads, -1)).transpose(1, 2)

    context = F.scaled_dot_product_attention(
        project("query", "q"),
        project("key", "k"),
        project("value", "v"),
        attn_mask=None if visible is None else torch.tensor(visible),
    )
    merged = context.transpose(1, 2).flatten(2)
    output = F.linear(merged, leaves["Wo"], leaves.get("bo")) if "Wo" in leaves else merged
    return output, leaves


def compare_with_torch(sizes, visible, without=()):
    dead = visible is not None and not np.asarray(visible).any(axis=-1).all()
    if dead and tuple(int(part) for part in torch.__version__.split(".")[:2]) < (2, 5):
        pytest.skip("before 2.5 torch's own attention gives NaN where a row sees nothing")
    weights, inputs = draw_weights(sizes, without), draw_inputs(sizes)
    cotangent = np.random.default_rng(3).normal(size=inputs[0].shape)
    acts = attend(weights, *inputs, sizes.num_heads, visible)
    ours = differentiate(weights, *inputs, acts, cotangent)
    output, leaves = torch_attention(weights, inputs, sizes.num_heads, visible)
    (output * torch.tensor(cotangent)).sum().backward()

    np.testing.assert_allclose(acts.output, output.detach().numpy(), **CLOSE)
    mine = {"query": ours.query, "key": ours.key, "value": ours.value, **ours.weights}
    assert mine.keys() == leaves.keys()
    for name, leaf in leaves.items():
        scale = max(1.0, float(leaf.grad.abs().max())) if leaf.numel() else 1.0
        np.testing.assert_allclose(mine[name] / scale, leaf.grad / scale, err_msg=name, **CLOSE)


@pytest.mark.parametrize("mask", MASKS)
def test_equals_torch_under_mask(mask):
    compare_with_torch(SIZES, MASKS[mask])


@pytest.mark.parametrize("name", EDGES)
def test_equals_torch_at_edges(name):
    compare_with_torch(EDGES[name], None)


@pytest.mark.parametrize("without", [BIASES, ("bk",), ("bq", "bk", "bv"), ("Wo", "bo")])
def test_equals_torch_without_parts(without):
    compare_with_torch(SIZES, MASKS["dead-rows"], without)


def test_causal_is_torch_causal():
    square = replace(SIZES, kv_len=5)
    q, k, v = (torch.randn(2, 3, 5, 6, dtype=torch.float64) for _ in range(3))
    ours = F.scaled_dot_product_attention(q, k, v, attn_mask=torch.tensor(causal(square)))
    assert torch.equal(ours, F.scaled_dot_product_attention(q, k, v, is_causal=True))


def test_causal_is_bottom_right():
    q = torch.randn(2, 3, 5, 6, dtype=torch.float64)
    k = torch.randn(2, 3, 7, 6, dtype=torch.float64)
    ours = F.scaled_dot_product_attention(q, k, k, attn_mask=torch.tensor(causal(SIZES)))
    theirs = F.scaled_dot_product_attention(q, k, k, attn_mask=causal_lower_right(5, 7))
    torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-14)


@pytest.mark.parametrize("biased", [True, False])
@pytest.mark.parametrize("mask", ["none", "random", "broadcast", "causal"])
def test_equals_multihead_attention(mask, biased):
    weights, inputs = draw_weights(SIZES, () if biased else BIASES), draw_inputs(SIZES)
    theirs = torch.nn.MultiheadAttention(18, 3, bias=biased, batch_first=True).double()
    state = {"in_proj_weight": np.concatenate([weights.Wq, weights.Wk, weights.Wv])}
    state["out_proj.weight"] = weights.Wo
    if biased:
        state["in_proj_bias"] = np.concatenate([weights.bq, weights.bk, weights.bv])
        state["out_proj.bias"] = weights.bo
    theirs.load_state_dict({name: torch.tensor(array) for name, array in state.items()})
    hidden = None
    if MASKS[mask] is not None:
        hidden = ~torch.tensor(np.broadcast_to(MASKS[mask], (2, 3, 5, 7)).copy()).flatten(0, 1)
    output, shares = theirs(
        *(torch.tensor(x) for x in inputs), attn_mask=hidden, average_attn_weights=False
    )

    acts = attend(weights, *inputs, 3, MASKS[mask])
    np.testing.assert_allclose(acts.output, output.detach(), **CLOSE)
    np.testing.assert_allclose(acts.weights, shares.detach(), **CLOSE)


def looped_attention(weights, query, key, value, num_heads, visible):
    """Attention in loops over Python floats: output [b][q][m], weights [b][h][q][k]."""
    width = len(query[0][0])
    size = width // num_heads

    def project(row, weight, bias):
        return [sum(row[i] * weight[o][i] for i in range(width)) + bias[o] for o in range(width)]

    outputs, shares = [], []
    for b in range(len(query)):
        merged = [[0.0] * width for _ in query[b]]
        shares.append([])
        for h in range(num_heads):
            shares[b].append([])
            for i, token in enumerate(query[b]):
                q = project(token, weights.Wq, weights.bq)[h * size : (h + 1) * size]
                scores = []
                for other in key[b]:
                    k = project(other, weights.Wk, weights.bk)[h * size : (h + 1) * size]
                    scores.append(sum(x * y for x, y in zip(q, k)) / math.sqrt(size))
                exps = [math.exp(s) if visible[b][h][i][j] else 0.0 for j, s in enumerate(scores)]
                total = sum(exps)
                row = [e / total if total else 0.0 for e in exps]
                shares[b][h].append(row)
                for j, other in enumerate(value[b]):
                    v = project(other, weights.Wv, weights.bv)
                    for d in range(size):
                        merged[i][h * size + d] += row[j] * v[h * size + d]
        outputs.append([project(row, weights.Wo, weights.bo) for row in merged])
    return outputs, shares


def test_equals_plain_loops():
    sizes = Sizes(batch=2, q_len=3, kv_len=4, d_model=6, num_heads=3)
    weights, inputs = draw_weights(sizes), draw_inputs(sizes)
    visible = draw_visible(sizes, dead=True)
    plain = Weights(**{f.name: getattr(weights, f.name).tolist() for f in fields(Weights)})
    output, shares = looped_attention(plain, *(x.tolist() for x in inputs), 3, visible.tolist())
    acts = attend(weights, *inputs, 3, visible)
    np.testing.assert_allclose(acts.output, output, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(acts.weights, shares, rtol=1e-12, atol=1e-12)
    assert (acts.weights[~visible] == 0.0).all()


def test_dead_row_gives_bias():
    weights, inputs = draw_weights(SIZES), draw_inputs(SIZES)
    acts = attend(weights, *inputs, 3, MASKS["all-dead"])
    assert (acts.weights == 0.0).all()
    assert (acts.output == weights.bo).all()


def test_no_keys_give_bias():
    sizes = EDGES["no-keys"]
    weights, inputs = draw_weights(sizes), draw_inputs(sizes)
    visible = np.ones((2, 3, 5, 0), dtype=bool)
    acts = attend(weights, *inputs, 3, visible)
    assert acts.weights.shape == (2, 3, 5, 0)
    assert (acts.output == weights.bo).all()


def test_large_scores_stay_finite():
    weights, inputs = draw_weights(SIZES), draw_inputs(SIZES)
    acts = attend(weights, *(1e4 * x for x in inputs), 3, MASKS["dead-rows"])
    assert np.isfinite(acts.output).all()
    np.testing.assert_allclose(acts.weights[0, 0, 0].sum(), 1.0, rtol=1e-14)


DEFAULTS = {
    "inputs": definition.keep_inputs,
    "weights": definition.keep_weights,
    "visible": definition.keep_visible,
    "split": definition.split_heads,
    "heads": definition.keep_heads,
    "turn": definition.keep_direction,
    "score": definition.score,
    "scale": definition.scale,
    "lean": definition.keep_scores,
    "hide": definition.hide,
    "softmax": definition.softmax,
    "after_softmax": definition.after_softmax,
    "mix": definition.mix,
    "merge": definition.merge_heads,
    "project": definition.project,
    "finish": definition.finish,
    "blank": definition.keep_output,
}


def test_steps_default_to_definition():
    assert {f.name: getattr(CORRECT, f.name) for f in fields(Steps)} == DEFAULTS


@pytest.mark.parametrize("name", DEFAULTS)
def test_each_step_is_used(name):
    used = []

    def noted(*arguments):
        used.append(name)
        return DEFAULTS[name](*arguments)

    weights, inputs = draw_weights(SIZES), draw_inputs(SIZES)
    acts = attend(weights, *inputs, 3, MASKS["random"], replace(CORRECT, **{name: noted}))
    assert used == [name] * {"split": 3, "turn": 2}.get(name, 1)
    assert (acts.output == attend(weights, *inputs, 3, MASKS["random"]).output).all()
