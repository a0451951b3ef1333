"""Layouts: every way of keeping the projections is read right, written right and proposed."""

import itertools
from dataclasses import fields, replace
from types import MappingProxyType

import numpy as np
import pytest

from grader.definition import Weights
from grader.layout import TORCH_LINEARS, Layout, Place, named_layout, propose
from grader.layout.elements import groups_of, shape_of
from grader.layout.patterns import GROUPED, ORDERED
from grader.layout.roles import MISNAMED, UNNAMED, cost_of, role_of
from grader.model import Parameter
from grader.variations import share_heads

M, H, D = 18, 3, 6
LINEARS = ("q_proj", "k_proj", "v_proj", "out_proj")


def draw_weights(without=()):
    rng = np.random.default_rng(0)
    found = {name: rng.normal(size=(M, M)) for name in ("Wq", "Wk", "Wv", "Wo")}
    found |= {name: rng.normal(size=M) for name in ("bq", "bk", "bv", "bo")}
    return Weights(**(found | dict.fromkeys(without)))


WEIGHTS = draw_weights()
QKV = (WEIGHTS.Wq, WEIGHTS.Wk, WEIGHTS.Wv)
BIASES = (WEIGHTS.bq, WEIGHTS.bk, WEIGHTS.bv)
NO_INNER_BIAS = ("bq", "bk", "bv")
NO_BIAS = (*NO_INNER_BIAS, "bo")
OUT = {"out_proj.weight": WEIGHTS.Wo, "out_proj.bias": WEIGHTS.bo}
OUT_PLACE = Place("out_proj.weight", "m (h d)", "out_proj.bias", "m")
# How the axes of W [h*d, m] and of Wo [m, h*d] are taken apart.
IN, BACK = (H, D, M), (M, H, D)


def parts(array, *axes):
    """W [h*d, m] -> h d m, then the axes in another order."""
    return array.reshape(IN).transpose(axes)


def three(weight, pattern, bias=None, bias_pattern=""):
    """The places of q, k and v in one fused parameter."""
    return {
        name: Place(weight, pattern, bias, bias_pattern, 3, slot)
        for slot, name in enumerate(("Wq", "Wk", "Wv"))
    }


def each(names, pattern, out_pattern, bias_pattern="", biases=MappingProxyType({})):
    """The places of four parameters, weights `names`; those in `biases` have one beside."""
    return {
        role: Place(
            name,
            out_pattern if role == "Wo" else pattern,
            biases.get(role),
            ("m" if role == "Wo" else bias_pattern) if role in biases else "",
        )
        for role, name in zip(("Wq", "Wk", "Wv", "Wo"), names)
    }


def linears(biased="qkvo"):
    names = [f"{name}.weight" for name in LINEARS]
    biases = {f"W{r}": f"{n}.bias" for r, n in zip("qkvo", LINEARS) if r in biased}
    return each(names, "(h d) m", "m (h d)", "(h d)", biases)


def linear_values(biased="qkvo"):
    found = {f"{n}.weight": getattr(WEIGHTS, f"W{r}") for r, n in zip("qkvo", LINEARS)}
    return found | {
        f"{n}.bias": getattr(WEIGHTS, f"b{r}") for r, n in zip("qkvo", LINEARS) if r in biased
    }


def stacked(arrays, *axes):
    """Three W [h*d, m] -> f h d m, then the axes in another order."""
    return np.stack([a.reshape(IN) for a in arrays]).transpose(axes)


def stacked_bias(*axes):
    return np.stack([b.reshape(H, D) for b in BIASES]).transpose(axes).reshape(-1)


def fused(pattern, *axes):
    bias_pattern = pattern.removesuffix(" m")
    inner = stacked(QKV, *axes).reshape(-1, M)
    values = {"qkv.weight": inner, "qkv.bias": stacked_bias(*axes[:-1]), **OUT}
    places = three("qkv.weight", pattern, "qkv.bias", bias_pattern) | {"Wo": OUT_PLACE}
    if "d h" in pattern:
        values["out_proj.weight"] = WEIGHTS.Wo.reshape(BACK).transpose(0, 2, 1).reshape(M, M)
        places["Wo"] = OUT_PLACE._replace(pattern="m (d h)")
    return values, places, ()


def apart(pattern, axes, out_pattern, out_axes):
    """Four parameters of one's own, biases none."""
    names = ("wq", "wk", "wv", "wo")
    values = {
        name: array.reshape(IN).transpose(axes).reshape(shape_of(pattern, SIZES))
        for name, array in zip(names, QKV)
    }
    back = WEIGHTS.Wo.reshape(BACK).transpose(out_axes)
    values["wo"] = back.reshape(shape_of(out_pattern, SIZES))
    return values, each(names, pattern, out_pattern), NO_BIAS


SIZES = {"h": H, "d": D, "m": M, "1": 1}


def per_head():
    values = {
        f"heads.{h}.{name}.weight": array.reshape(IN)[h]
        for name, array in zip(("query", "key", "value"), QKV)
        for h in range(H)
    }
    values |= {
        f"heads.{h}.{name}.bias": array.reshape(H, D)[h]
        for name, array in zip(("query", "key", "value"), BIASES)
        for h in range(H)
    }
    places = {
        f"W{name[0]}": Place(f"heads.*.{name}.weight", "h d m", f"heads.*.{name}.bias", "h d")
        for name in ("query", "key", "value")
    }
    return {**values, **OUT}, places | {"Wo": OUT_PLACE}, ()


def key_value(pattern, *axes):
    values = {"to_q.weight": WEIGHTS.Wq, "to_q.bias": WEIGHTS.bq, **OUT}
    values["to_kv.weight"] = stacked(QKV[1:], *axes).reshape(-1, M)
    two = np.stack([b.reshape(H, D) for b in BIASES[1:]])
    values["to_kv.bias"] = two.transpose(axes[:-1]).reshape(-1)
    bias_pattern = pattern.removesuffix(" m")
    pair = {
        name: Place("to_kv.weight", pattern, "to_kv.bias", bias_pattern, 2, slot)
        for slot, name in enumerate(("Wk", "Wv"))
    }
    query = Place("to_q.weight", "(h d) m", "to_q.bias", "(h d)")
    return values, {"Wq": query, **pair, "Wo": OUT_PLACE}, ()


def einsum_with_biases(pattern, shape):
    values, places, _ = apart("h m d", (0, 2, 1), "h d m", (1, 2, 0))
    for name, bias in zip(("bq", "bk", "bv"), BIASES):
        values[name] = bias.reshape(shape)
    values["bo"] = WEIGHTS.bo
    biased = {
        role: place._replace(bias="b" + role[1], bias_pattern="m" if role == "Wo" else pattern)
        for role, place in places.items()
    }
    return values, biased, ()


def interleaved():
    values = {
        f"{name}.weight": array.reshape(IN).transpose(1, 0, 2).reshape(M, M)
        for name, array in zip(LINEARS, QKV)
    }
    values |= {
        f"{name}.bias": array.reshape(H, D).T.reshape(-1) for name, array in zip(LINEARS, BIASES)
    }
    values["out_proj.weight"] = WEIGHTS.Wo.reshape(BACK).transpose(0, 2, 1).reshape(M, M)
    values["out_proj.bias"] = WEIGHTS.bo
    names = [f"{name}.weight" for name in LINEARS]
    biases = {f"W{r}": f"{n}.bias" for r, n in zip("qkvo", LINEARS)}
    return values, each(names, "(d h) m", "m (d h)", "(d h)", biases), ()


def fused_parameter(pattern, *axes):
    """One fused nn.Parameter: the axes f h d m in another order, some of them joined."""
    values = {"qkv": stacked(QKV, *axes).reshape(shape_of(pattern, SIZES | {"f": 3})), **OUT}
    return values, three("qkv", pattern) | {"Wo": OUT_PLACE}, NO_INNER_BIAS


# name -> (parameters by name, places, canonical weights that are not there)
FAMILIES = {
    "separate": (linear_values(), linears(), ()),
    "separate-no-bias": (linear_values(""), linears(""), NO_BIAS),
    "separate-no-key-bias": (linear_values("qvo"), linears("qvo"), ("bk",)),
    "separate-only-out-bias": (linear_values("o"), linears("o"), NO_INNER_BIAS),
    "heads-fastest": interleaved(),
    "fused-three-first": fused("(f h d) m", 0, 1, 2, 3),
    "fused-heads-first": fused("(h f d) m", 1, 0, 2, 3),
    "fused-three-last": fused("(h d f) m", 1, 2, 0, 3),
    "fused-three-first-heads-fastest": fused("(f d h) m", 0, 2, 1, 3),
    "fused-three-between-heads-fastest": fused("(d f h) m", 2, 0, 1, 3),
    "key-value-two-first": key_value("(f h d) m", 0, 1, 2, 3),
    "key-value-heads-first": key_value("(h f d) m", 1, 0, 2, 3),
    "key-value-two-last": key_value("(h d f) m", 1, 2, 0, 3),
    "right-multiplied": apart("m (h d)", (2, 0, 1), "(h d) m", (1, 2, 0)),
    "right-multiplied-heads-fastest": apart("m (d h)", (2, 1, 0), "(d h) m", (2, 1, 0)),
    "left-multiplied": apart("(h d) m", (0, 1, 2), "m (h d)", (0, 1, 2)),
    "einsum-h-m-d": apart("h m d", (0, 2, 1), "h d m", (1, 2, 0)),
    "einsum-h-d-m": apart("h d m", (0, 1, 2), "h d m", (1, 2, 0)),
    "einsum-m-h-d": apart("m h d", (2, 0, 1), "h d m", (1, 2, 0)),
    "einsum-m-d-h": apart("m d h", (2, 1, 0), "d h m", (2, 1, 0)),
    "einsum-d-h-m": apart("d h m", (1, 0, 2), "m h d", (0, 1, 2)),
    "einsum-out-h-m-d": apart("h m d", (0, 2, 1), "h m d", (1, 0, 2)),
    "einsum-flat-out": apart("h m d", (0, 2, 1), "(h d) m", (1, 2, 0)),
    "einsum-linear-out": apart("h m d", (0, 2, 1), "m (h d)", (0, 1, 2)),
    "einsum-biases": einsum_with_biases("h d", (H, D)),
    "einsum-wide-biases": einsum_with_biases("h 1 d", (H, 1, D)),
    "fused-parameter-f-hd-m": fused_parameter("f (h d) m", 0, 1, 2, 3),
    "fused-parameter-f-m-hd": fused_parameter("f m (h d)", 0, 3, 1, 2),
    "fused-parameter-m-fhd": fused_parameter("m (f h d)", 3, 0, 1, 2),
    "fused-parameter-m-hfd": fused_parameter("m (h f d)", 3, 1, 0, 2),
    "fused-parameter-h-m-fd": fused_parameter("h m (f d)", 1, 3, 0, 2),
    "fused-parameter-f-h-m-d": fused_parameter("f h m d", 0, 1, 3, 2),
    "fused-parameter-m-f-h-d": fused_parameter("m f h d", 3, 0, 1, 2),
    "one-module-per-head": per_head(),
    "no-output": (
        {n: a for n, a in linear_values("").items() if n != "out_proj.weight"},
        {role: place for role, place in linears("").items() if role != "Wo"},
        ("Wo", *NO_BIAS),
    ),
}


def parameters_of(values):
    """The parameters as a worker would describe them: a dotted name belongs to a Linear."""
    return [
        Parameter(name, array.shape, TORCH_LINEARS[0] if "." in name else "file.Mha", True)
        for name, array in values.items()
    ]


def same(one, other):
    names = [f.name for f in fields(Weights)]
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in names)


@pytest.mark.parametrize("family", FAMILIES)
def test_layout_reads_canonical_weights(family):
    values, places, absent = FAMILIES[family]
    assert same(Layout(places, 0).read(values, H), replace(WEIGHTS, **dict.fromkeys(absent)))


@pytest.mark.parametrize("family", FAMILIES)
def test_layout_writes_what_it_read(family):
    values, places, _ = FAMILIES[family]
    layout = Layout(places, 0)
    written = layout.write(layout.read(values, H), H)
    assert written.keys() == values.keys()
    for name, array in values.items():
        assert np.array_equal(written[name], array), name


@pytest.mark.parametrize("family", FAMILIES)
def test_layout_is_proposed(family):
    values, places, _ = FAMILIES[family]
    assert places in [layout.places for layout in propose(parameters_of(values), M, H)]


@pytest.mark.parametrize("family", FAMILIES)
def test_each_proposal_is_a_permutation(family):
    values, _, _ = FAMILIES[family]
    numbers, start = {}, 1
    for name, array in values.items():
        numbers[name] = np.arange(start, start + array.size).reshape(array.shape)
        start += array.size
    for layout in propose(parameters_of(values), M, H):
        weights = layout.read(numbers, H)
        # What one projection makes is there twice, and the same.
        twice = [kind + layout.tied[1] for kind in "Wb" if layout.tied]
        kept = [getattr(weights, f.name) for f in fields(Weights) if f.name not in twice]
        seen = np.concatenate([array.reshape(-1) for array in kept if array is not None])
        assert len(np.unique(seen)) == len(seen)
        written = layout.write(weights, H)
        assert all(np.array_equal(array, numbers[name]) for name, array in written.items())


def test_proposals_come_likeliest_first():
    costs = [layout.cost for layout in propose(parameters_of(linear_values()), M, H)]
    assert costs == sorted(costs)
    assert len(costs) > 1


def test_first_proposal_follows_names():
    shuffled = sorted(parameters_of(linear_values()), key=lambda p: p.name[::-1])
    assert propose(shuffled, M, H)[0].places == linears()


@pytest.mark.parametrize("owner", TORCH_LINEARS)
def test_linear_is_never_transposed(owner):
    families = [values for values, _, _ in FAMILIES.values() if all("." in n for n in values)]
    for values in families:
        parameters = [replace(p, owner=owner) for p in parameters_of(values)]
        for layout in propose(parameters, M, H):
            for role, place in layout.places.items():
                rows_first = place.pattern.startswith("m ") == (role == "Wo")
                assert rows_first or "*" in place.weight, layout


def test_parameter_of_ones_own_may_be_transposed():
    values, _, _ = FAMILIES["right-multiplied"]
    found = {layout.places["Wq"].pattern for layout in propose(parameters_of(values), M, H)}
    assert {"(h d) m", "m (h d)"} <= found


def test_class_of_ones_own_may_be_called_linear():
    values, _, _ = FAMILIES["right-multiplied"]
    called = [replace(p, owner="file.Linear") for p in parameters_of(values)]
    found = {layout.places["Wq"].pattern for layout in propose(called, M, H)}
    assert {"(h d) m", "m (h d)"} <= found


def own(*shapes):
    """Parameters of one's own by name and shape."""
    return [Parameter(name, shape, "", True) for name, shape in shapes]


def test_who_writes_one_matrix_turned_writes_all_so():
    """What q, k and v are is seen by the shape; a square output goes with them."""
    found = propose(own(("mix", (M, 3 * M)), ("last", (M, M))), M, H)[0].places
    assert [found[name].pattern for name in ("Wq", "Wk", "Wv")] == ["m (f h d)"] * 3
    assert found["Wo"].pattern == "(h d) m"
    rest = propose(own(("mix", (3 * M, M)), ("last", (M, M))), M, H)[0].places
    assert (rest["Wq"].pattern, rest["Wo"].pattern) == ("(f h d) m", "m (h d)")


@pytest.mark.parametrize(
    ("name", "slots"), [("kqv", (1, 0, 2)), ("W_vqk.weight", (1, 2, 0)), ("mix", (0, 1, 2))]
)
def test_order_of_q_k_and_v_may_be_in_the_name(name, slots):
    found = propose(own((name, (3 * M, M)), ("last", (M, M))), M, H)[0].places
    assert tuple(found[role].slot for role in ("Wq", "Wk", "Wv")) == slots


def test_biases_names_those_there():
    assert Layout(linears("qv"), 0).biases() == frozenset(("bq", "bv"))


def test_names_settle_layout():
    assert named_layout(propose(parameters_of(linear_values()), M, H)).places == linears()


def test_bare_names_settle_nothing():
    values = dict(zip(("a.weight", "b.weight", "c.weight", "d.weight"), linear_values("").values()))
    assert named_layout(propose(parameters_of(values), M, H)) is None


@pytest.mark.parametrize("several", [2, 3])
@pytest.mark.parametrize("pattern", [*GROUPED, *ORDERED])
def test_several_in_one_parameter_may_stand_in_any_order(pattern, several):
    shapes = {"w": shape_of(pattern, SIZES | {"f": several}), "w_out": (H, D, M)}
    shapes |= {"w_q": (M, H, D)} if several == 2 else {}
    parameters = [Parameter(name, shape, "Own", True) for name, shape in shapes.items()]
    found = {layout.places["Wk"] for layout in propose(parameters, M, H)}
    slots = {place.slot for place in found if (place.weight, place.pattern) == ("w", pattern)}
    assert slots == set(range(several))


def test_nothing_to_propose_is_no_layout():
    assert propose([], M, H) == []
    assert named_layout([]) is None
    assert propose([Parameter("w", (5, 4), TORCH_LINEARS[0], True)], M, H) == []


def test_proposals_are_bounded():
    many = [Parameter(f"layers.{i}.weight", (M, M), TORCH_LINEARS[0], True) for i in range(12)]
    assert len(propose(many, M, H)) < 10_000


@pytest.mark.parametrize(
    ("pattern", "shape"),
    [("(h d) m", (18, 18)), ("f (h d) m", (3, 18, 18)), ("h 1 d", (3, 1, 6)), ("m", (18,))],
)
def test_pattern_means_shape(pattern, shape):
    assert shape_of(pattern, SIZES | {"f": 3}) == shape


def test_pattern_is_read_in_groups():
    assert groups_of("(f h d) m") == [["f", "h", "d"], ["m"]]
    assert groups_of("h 1 d") == [["h"], ["1"], ["d"]]


SINGLE = ["{}_proj", "W_{}", "w_{}", "w_{}s", "w{}", "fc_{}", "linear_{}", "{}_linear", "proj_{}"]
SINGLE += ["to_{}", "W{}", "attn.W_{}", "{}"]
WORDS = {"q": ("query", "queries"), "k": ("key", "keys"), "v": ("value", "values")}
WHOLE = ["{}", "W_{}", "to_{}", "{}_projection", "heads.0.{}", "{}Layer"]


@pytest.mark.parametrize("ending", ["", ".weight", ".bias"])
@pytest.mark.parametrize("form", SINGLE)
@pytest.mark.parametrize("role", "qkv")
def test_letter_names_role(role, form, ending):
    assert role_of(form.format(role) + ending) == role
    assert role_of(form.format(role.upper()) + ending) == role


@pytest.mark.parametrize("form", WHOLE)
@pytest.mark.parametrize(("role", "word"), [(r, w) for r, ws in WORDS.items() for w in ws])
def test_word_names_role(role, word, form):
    assert role_of(form.format(word) + ".weight") == role
    assert role_of(form.format(word.capitalize()) + ".weight") == role


@pytest.mark.parametrize(
    ("name", "role"), [("toqueries", "q"), ("tokeys", "k"), ("tovalues", "v"), ("w_vs", "v")]
)
def test_joined_word_names_role(name, role):
    assert role_of(name + ".weight") == role


@pytest.mark.parametrize(
    "name",
    ["out_proj", "W_o", "o_proj", "wo", "fc_o", "to_out.0", "unifyheads", "w_concat", "final"],
)
def test_output_names_role(name):
    assert role_of(name + ".weight") == "o"


@pytest.mark.parametrize("name", ["proj", "fc", "c_proj", "projection", "dense", "w_linear"])
def test_vague_name_says_nothing(name):
    assert role_of(name + ".weight") == ""


@pytest.mark.parametrize(
    "name", ["qkv", "c_attn", "qkv_proj", "to_qkv", "W_qkv", "wqkv", "in_proj_weight"]
)
def test_fused_name_says_nothing(name):
    assert role_of(name) == ""


def test_cost_follows_name():
    assert cost_of("q", "q_proj.weight") == 0
    assert cost_of("q", "proj.weight") == UNNAMED
    assert cost_of("q", "k_proj.weight") == MISNAMED
    assert 0 < UNNAMED < MISNAMED


def test_all_roles_differ():
    found = [role_of(f"{name}.weight") for name in LINEARS]
    assert all(one != other for one, other in itertools.combinations(found, 2))


RNG = np.random.default_rng(1)


def shapes_of(**shapes):
    return [Parameter(name, shape, "Mine", True) for name, shape in shapes.items()]


def test_lone_vector_is_the_bias_of_the_output():
    matrices = dict.fromkeys(("p.wq", "p.wk", "p.wv", "p.wo"), (M, M))
    for name in ("p.bo", "p.bias"):
        places = propose(shapes_of(**matrices, **{name: (M,)}), M, H)[0].places
        biases = [place.bias for role, place in places.items()]
        assert (list(places), biases) == (["Wq", "Wk", "Wv", "Wo"], [None, None, None, name])


def test_three_matrices_may_have_one_vector_of_biases():
    matrices = dict.fromkeys(("wq", "wk", "wv", "wo"), (M, M))
    found = propose(shapes_of(**matrices, in_bias=(3 * M,)), M, H)
    places = next(layout.places for layout in found if layout.is_fused)
    assert [places[role].bias for role in ("Wq", "Wk", "Wv")] == ["in_bias"] * 3
    layout = next(layout for layout in found if layout.is_fused)
    weights = replace(WEIGHTS, bo=None)
    theta = layout.write(weights, H)
    assert theta["in_bias"].tolist() == [*weights.bq, *weights.bk, *weights.bv]
    read = layout.read(theta, H)
    assert np.array_equal(read.bk, weights.bk)
    assert np.array_equal(read.Wv, weights.Wv)


ALONE = {
    "apart": {"q": (M, M), "k": (D, M), "v": (D, M), "o": (M, M)},
    "pair": {"q": (M, M), "kv": (2 * D, M), "o": (M, M)},
    "in-a-row": {"qkv": (M + 2 * D, M), "o": (M, M)},
}


@pytest.mark.parametrize("kind", ALONE)
def test_one_head_of_keys_is_read_and_written(kind):
    found = [one for one in propose(shapes_of(**ALONE[kind]), M, H) if one.kv_heads]
    layout = found[0]
    theta = {name: RNG.normal(size=shape) for name, shape in ALONE[kind].items()}
    weights = layout.read(theta, H)
    rows = {
        "apart": theta.get("k"),
        "pair": theta.get("kv", np.empty(0))[:D],
        "in-a-row": theta.get("qkv", np.empty(0))[M : M + D],
    }
    assert np.array_equal(weights.Wk, np.tile(rows[kind], (H, 1)))
    written = layout.write(weights, H)
    assert {n: a.tolist() for n, a in written.items()} == {n: a.tolist() for n, a in theta.items()}


def test_fewer_heads_of_keys_lie_where_all_of_them_would():
    values = {"qkv.weight": (3 * M, M), "o.weight": (M, M)}
    layout = propose([Parameter(n, s, TORCH_LINEARS[0], True) for n, s in values.items()], M, H)[0]
    assert layout.can_group()
    weights = share_heads(WEIGHTS, H, 1)
    theta = layout.write(weights, H, 1)
    assert theta["qkv.weight"].shape == (M + 2 * D, M)
    assert np.array_equal(theta["qkv.weight"][:M], weights.Wq)
    assert np.array_equal(theta["qkv.weight"][M + D :], weights.Wv[:D])


def test_fewer_heads_of_keys_may_lie_in_each_group():
    heads, groups, size = 4, 2, 3
    d_model = heads * size
    values = {"qkv.weight": (3 * d_model, d_model), "qkv.bias": (3 * d_model,)}
    shapes = {**values, "o.weight": (d_model, d_model)}
    known = [Parameter(name, shape, TORCH_LINEARS[0], True) for name, shape in shapes.items()]
    found = propose(known, d_model, heads)
    layout = next(one for one in found if one.places["Wq"].pattern == "(h f d) m")
    assert layout.can_group()
    matrices = [RNG.normal(size=(d_model, d_model)) for _ in range(4)]
    vectors = [RNG.normal(size=d_model) for _ in range(3)]
    weights = share_heads(Weights(*matrices, *vectors), heads, groups)
    theta = layout.write(weights, heads, groups)
    group = theta["qkv.weight"].reshape(groups, 4, size, d_model)
    assert np.array_equal(group[:, :2].reshape(d_model, d_model), weights.Wq)
    assert np.array_equal(group[1, 2], weights.Wk[2 * size : 3 * size])
    assert np.array_equal(group[0, 3], weights.Wv[:size])
    assert np.array_equal(theta["qkv.bias"].reshape(groups, 4, size)[1, 3], weights.bv[-size:])


def test_heads_of_any_size_are_written():
    wide, values = 8, 10
    Wq, Wv = RNG.normal(size=(H * wide, M)), RNG.normal(size=(H * values, M))
    weights = Weights(Wq, Wq, Wv, RNG.normal(size=(M, H * values)))
    layout = propose(parameters_of(linear_values()), M, H)[0]
    shapes = {name: array.shape for name, array in layout.write(weights, H).items()}
    assert set(shapes.values()) == {(H * wide, M), (H * values, M), (M, H * values)}
