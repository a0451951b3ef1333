"""Bank files: each fault is refused by name, and the files we ship follow the rules."""

import itertools
import re
import textwrap
from pathlib import Path

import numpy as np
import pytest

from grader.bank import exercise_ids, load_exercise, use_banks
from grader.bank.checks import CHECKS
from grader.bank.draw import generator
from grader.bank.layers import WHOLE_KEYS
from grader.bank.loader import AREAS, CASE_KEYS
from grader.bank.masks import Sizes, draw_mask
from grader.bank.offers import OFFERS
from grader.errors import UsageError
from grader.model import FREE, Case, Contract, Limits

GOOD = """
contract: {inputs: [x], mask: attention, causal: false}
areas: {shapes: 40, scaling: 60}
limits: {probe_seconds: 2.5}
cases:
  - {id: constructs, area: shapes, check: constructs, args: {d_model: 6, num_heads: 2},
     points: 10, catches: a}
  - {id: shapes, area: shapes, check: has_output_shape, points: 30, after: [constructs],
     catches: b}
  - {id: values, area: scaling, check: matches_reference, points: 60, after: [shapes],
     catches: c}
"""


@pytest.fixture
def load(tmp_path):
    """YAML text -> the exercise "my-own" read from it."""

    def load_one(text):
        (tmp_path / "my_own.yaml").write_text(textwrap.dedent(text), encoding="utf-8")
        use_banks([tmp_path])
        return load_exercise("my-own")

    yield load_one
    use_banks(())


def refusal(load, *change, text=GOOD):
    """Key and fields of the error for GOOD with one piece of it changed."""
    if change:
        assert text.count(change[0]) == 1
        text = text.replace(*change)
    with pytest.raises(UsageError) as caught:
        load(text)
    fields = dict(caught.value.message.fields)
    assert Path(fields.pop("file")).name == "my_own.yaml"
    return caught.value.message.key, fields


def test_good_file_is_read(load):
    found = load(GOOD)
    assert found.id == "my-own"
    assert found.contract == Contract(("x",), "attention", False)
    assert found.areas == {"shapes": 40.0, "scaling": 60.0}
    assert found.limits == Limits(probe_seconds=2.5)
    assert found.cases[0] == Case(
        "constructs", "shapes", "constructs", 10.0, "a", {"d_model": 6, "num_heads": 2}
    )
    assert found.cases[1].after == ("constructs",)
    assert len(found.version) == 12


def test_packages_are_read(load):
    assert load("packages: [pandas]" + GOOD).packages == ("pandas",)


def test_version_follows_content(load):
    first = load(GOOD).version
    assert load(GOOD).version == first
    assert load(GOOD + "# more\n").version != first


@pytest.mark.parametrize(
    ("change", "where", "name", "allowed"),
    [
        (("limits:", "limit:"), "file", "limit", WHOLE_KEYS),
        (("causal: false", "casual: false"), "contract", "casual", ("inputs", "mask", "causal")),
        (("catches: b", "catchs: b"), "shapes", "catchs", CASE_KEYS),
        (("d_model: 6", "width: 6"), "constructs", "width", ("d_model", "num_heads")),
        (("check: has_output_shape", "check: returns_weights, args: {a: 1}"), "shapes", "a", ()),
        (
            ("probe_seconds", "seconds"),
            "limits",
            "seconds",
            ("load_seconds", "probe_seconds", "total_seconds", "memory_mib", "output_kib"),
        ),
    ],
)
def test_unknown_key_is_refused(load, change, where, name, allowed):
    fields = {"where": where, "name": name, "allowed": ", ".join(allowed)}
    assert refusal(load, *change) == ("bank.unknown-key", fields)


@pytest.mark.parametrize(
    ("change", "where", "name"),
    [
        (("id: shapes, ", ""), "?", "id"),
        (("id: shapes, area: shapes, ", "id: shapes, "), "shapes", "area"),
        (("check: has_output_shape, ", ""), "shapes", "check"),
        (("points: 30, ", ""), "shapes", "points"),
        (("     catches: b}", "}"), "shapes", "catches"),
    ],
)
def test_missing_key_is_refused(load, change, where, name):
    fields = {"where": where, "name": name, "allowed": ", ".join(CASE_KEYS)}
    assert refusal(load, *change) == ("bank.missing-key", fields)


def test_unknown_check_is_refused(load):
    key, fields = refusal(load, "check: has_output_shape", "check: has_shape")
    assert key == "bank.unknown-check"
    assert fields == {"where": "shapes", "name": "has_shape", "allowed": ", ".join(CHECKS)}


def test_needs_are_read(load):
    found = load(GOOD.replace("after: [shapes]", "after: [shapes], needs: [causal, dropout]"))
    assert found.cases[2].needs == ("causal", "dropout")
    assert found.cases[1].needs == ()


@pytest.mark.parametrize(
    ("needs", "where", "name", "allowed"),
    [
        ("[mask]", "values: needs", "mask", ", ".join(OFFERS)),
        ("causal", "values: needs", "causal", "a list"),
    ],
)
def test_unknown_need_is_refused(load, needs, where, name, allowed):
    key, fields = refusal(load, "after: [shapes]", f"after: [shapes], needs: {needs}")
    assert key == "bank.wrong-value"
    assert fields == {"where": where, "name": name, "allowed": allowed}


def test_duplicate_id_is_refused(load):
    key, fields = refusal(load, "id: values", "id: shapes")
    assert key == "bank.duplicate-case"
    assert fields == {"where": "shapes", "name": "shapes", "allowed": ""}


def test_unlisted_area_is_refused(load):
    key, fields = refusal(load, "area: scaling", "area: dropout")
    assert key == "bank.unknown-area"
    assert fields == {"where": "values", "name": "dropout", "allowed": "shapes, scaling"}


def test_invented_area_is_refused(load):
    text = GOOD.replace("scaling: 60", "speed: 60").replace("area: scaling", "area: speed")
    fields = {"where": "areas", "name": "speed", "allowed": ", ".join(AREAS)}
    assert refusal(load, text=text) == ("bank.unknown-key", fields)


@pytest.mark.parametrize("later", ["values", "shapes", "nothing"])
def test_later_prerequisite_is_refused(load, later):
    key, fields = refusal(load, "after: [constructs]", f"after: [{later}]")
    assert key == "bank.unknown-prerequisite"
    assert fields == {"where": "shapes", "name": later, "allowed": "constructs"}


def test_points_of_area_must_add_up(load):
    key, fields = refusal(load, "points: 30", "points: 30.5")
    assert key == "bank.points"
    assert fields == {"where": "shapes", "name": "40.5 != 40", "allowed": ""}


def test_areas_must_add_up(load):
    text = GOOD.replace("scaling: 60", "scaling: 59").replace("points: 60", "points: 59")
    key, fields = refusal(load, text=text)
    assert key == "bank.points"
    assert fields == {"where": "areas", "name": "99 != 100", "allowed": ""}


def test_area_without_cases_is_refused(load):
    key, fields = refusal(load, "scaling: 60}", "scaling: 60, dropout: 1}")
    assert (key, fields["where"], fields["name"]) == ("bank.points", "dropout", "0 != 1")


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        ("areas: {shapes: 40", "expected ',' or '}'"),
        ("cases: [\n", "did not find expected node content"),
        ("a: b: c", "mapping values are not allowed"),
        ("a: !!python/object:os.system {}", "could not determine a constructor"),
    ],
)
def test_what_is_not_yaml_is_refused(load, text, detail):
    key, fields = refusal(load, text=text)
    assert key == "bank.not-yaml"
    assert list(fields) == ["detail"]
    assert "\n" not in fields["detail"]
    assert detail in fields["detail"]


def test_unknown_exercise_names_known_ones():
    with pytest.raises(UsageError) as caught:
        load_exercise("four")
    assert caught.value.message.key == "exercise.unknown"
    known = "causal-self-attention, cross-attention, self-attention"
    assert caught.value.message.fields == {"wanted": "four", "known": known}


SILENT = [
    ("top-key-missing", ("limits: {probe_seconds: 2.5}\ncases:", "limits:")),
    ("contract-key-missing", (", causal: false", "")),
    ("contract-missing", ("contract: {inputs: [x], mask: attention, causal: false}\n", "")),
    ("mask-unknown", ("mask: attention", "mask: atention")),
    ("argument-missing", ("args: {d_model: 6, num_heads: 2}", "args: {d_model: 6}")),
    ("points-not-a-number", ("points: 30", "points: thirty")),
    ("points-nan", ("points: 30", "points: .nan")),
    ("points-negative", ("points: 10,", "points: -10,")),
    ("size-unknown", ("catches: c", "args: {sizes: {l: 3}}, catches: c")),
    ("mask-kind-unknown", ("catches: c", "args: {mask: {kind: odd, form: q k}}, catches: c")),
    ("key-twice", ("points: 30", "points: 7, points: 30")),
    ("limit-not-a-number", ("probe_seconds: 2.5", "probe_seconds: soon")),
]


@pytest.mark.parametrize("change", [c for _, c in SILENT], ids=[name for name, _ in SILENT])
def test_fault_is_refused_at_load(load, change):
    text = GOOD.replace("points: 30", "points: 50") if "-10" in change[1] else GOOD
    assert refusal(load, *change, text=text)[0].startswith("bank.")


@pytest.mark.parametrize("text", ["", "3", "cases: 3", "cases: [3]\ncontract: {}\nareas: {}"])
def test_other_yaml_is_refused(load, text):
    assert refusal(load, text=text)[0].startswith("bank.")


# Those of the exercises, and that of files which answer none.
BANKS = (*exercise_ids(), FREE)
# Cases that are about two sizes being the same.
ALIKE = {
    "equal-lengths": {5},
    "equal-lengths-masked": {5},
    "as-many-heads-as-dimensions": {6},
    "hidden-however-large-float16": {18},
}


def sizes_of(exercise, case):
    """Name -> size as the case poses it, the size of a head among them where it is whole."""
    args = case.args
    given = args.get("sizes") or {k: args[k] for k in ("d_model", "num_heads") if k in args}
    sizes = dict(vars(Sizes(**given)))
    # A free file may turn out to take two sequences, and only then has cases of that area.
    if len(exercise.contract.inputs) == 1 and case.area != "cross-attention":
        del sizes["kv_len"]
    if sizes["d_model"] % sizes["num_heads"] == 0 and sizes["num_heads"] > 1:
        sizes["head_dim"] = sizes["d_model"] // sizes["num_heads"]
    return sizes


def coincidences(exercise, names):
    """Case id -> the sizes above 1 that two of `names` share."""
    found = {}
    for case in exercise.cases:
        sizes = sizes_of(exercise, case)
        large = [sizes[name] for name in names if sizes.get(name, 1) > 1]
        twice = {size for size in large if large.count(size) > 1}
        if twice != ALIKE.get(case.id, set()):
            found[case.id] = twice
    return found


def test_bank_has_three_exercises():
    assert exercise_ids() == ("causal-self-attention", "cross-attention", "self-attention")


def test_only_free_files_need_to_offer_something():
    needing = {name for name in BANKS for case in load_exercise(name).cases if case.needs}
    assert needing == {FREE}


@pytest.mark.parametrize("exercise", BANKS)
def test_sizes_tell_axes_apart(exercise):
    names = ("q_len", "kv_len", "d_model", "num_heads")
    assert coincidences(load_exercise(exercise), names) == {}


@pytest.mark.parametrize("exercise", BANKS)
def test_all_sizes_tell_axes_apart(exercise):
    names = ("batch", "q_len", "kv_len", "d_model", "num_heads", "head_dim")
    assert coincidences(load_exercise(exercise), names) == {}


@pytest.mark.parametrize("exercise", BANKS)
def test_every_case_says_what_it_catches(exercise):
    silent = [case.id for case in load_exercise(exercise).cases if not case.catches.strip()]
    assert silent == []


@pytest.mark.parametrize("exercise", BANKS)
def test_every_case_has_points(exercise):
    free = [case.id for case in load_exercise(exercise).cases if not case.points > 0]
    assert free == []


@pytest.mark.parametrize("exercise", BANKS)
def test_areas_keep_their_order(exercise):
    found = load_exercise(exercise)
    assert list(found.areas) == [area for area in AREAS if area in found.areas]
    assert {case.area for case in found.cases} == set(found.areas)


@pytest.mark.parametrize("exercise", BANKS)
def test_case_ids_are_kebab_case(exercise):
    ids = [case.id for case in load_exercise(exercise).cases]
    assert [name for name in ids if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name)] == []


@pytest.mark.parametrize("seed", range(50))
def test_of_dead_padding_the_longest_sample_is_another(seed):
    sizes = Sizes()
    mask = draw_mask(generator(seed, "dead"), sizes, "dead-padding", "b 1 1 k")
    assert mask.sum(axis=-1).ravel().tolist()[0] == sizes.kv_len - 1
    assert not mask[-1].any()


@pytest.mark.parametrize("batch", [1, 2, 20])
@pytest.mark.parametrize("seed", range(20))
def test_drawn_padding_leaves_a_future_and_neighbours_differ(batch, seed):
    sizes = Sizes(batch, 5, 5)
    padding = draw_mask(generator(seed, "padding"), sizes, "padding", "b k")
    lengths = padding.sum(axis=-1)
    assert lengths.max() == 4
    assert lengths.min() >= 1
    assert len(set(lengths.tolist())) == min(batch, 4)
    holes = draw_mask(generator(seed, "holes"), sizes, "holes", "b 1 1 k")[:, 0, 0]
    assert all((one != other).any() for one, other in itertools.pairwise(holes))
    assert holes[:, 0].all()
    assert (~holes).any(axis=-1).all()


@pytest.mark.parametrize("exercise", BANKS)
def test_mask_fits_contract(exercise):
    found = load_exercise(exercise)
    for case in found.cases:
        mask = case.args.get("mask")
        if mask is not None:
            sizes = Sizes(**case.args.get("sizes", {}))
            drawn = draw_mask(generator(0, case.id), sizes, mask["kind"], mask["form"])
            assert drawn.dtype == np.bool_
            assert (mask["form"] == "b k") == (found.contract.mask == "padding")
