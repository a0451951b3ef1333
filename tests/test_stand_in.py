"""What stands in for a candidate's own configuration, as the worker makes it."""

import copy
import pickle
import sys
import textwrap
from types import ModuleType

import pytest
import torch
from torch import nn

from grader.worker import stand_in

VALUES = [["n_?heads?|num_heads", 3], ["d_model|width|dim", 18], [".*drop.*", 0.5], ["bias", None]]


@pytest.fixture(autouse=True)
def nothing_asked():
    stand_in.ASKED.clear()
    yield
    stand_in.ASKED.clear()


@pytest.fixture
def made(monkeypatch):
    """Source of a file -> the object for its class Settings."""

    def make(source):
        module = ModuleType("submission")
        monkeypatch.setitem(sys.modules, "submission", module)
        exec(textwrap.dedent(source), module.__dict__)
        return stand_in.value_of({"class": "Settings", "settings": VALUES}, module)

    return make


def test_plain_value_is_itself():
    assert stand_in.value_of(7, ModuleType("submission")) == 7
    assert stand_in.value_of(None, ModuleType("submission")) is None


def test_settings_answer_in_every_way():
    found = stand_in.value_of({"class": None, "settings": VALUES}, ModuleType("submission"))
    assert (found.numHeads, found["d_model"], found.get("width")) == (3, 18, 18)
    assert found.get("vocab_size", 5) == 5
    assert "attn_drop" in found
    assert "vocab_size" not in found
    assert getattr(found, "vocab_size", 6) == 6
    assert not hasattr(found, "vocab_size")
    assert {"numHeads", "d_model", "width", "vocab_size"} == stand_in.ASKED


def test_missing_setting_is_named():
    found = stand_in.Settings(VALUES)
    with pytest.raises(KeyError, match="vocab_size"):
        found["vocab_size"]
    with pytest.raises(AttributeError, match="the settings have no vocab_size"):
        _ = found.vocab_size


@pytest.mark.parametrize(
    ("name", "plain"),
    [("numHeads", "num_heads"), ("N_HEAD", "n_head"), ("_dim", "dim"), ("dModel", "d_model")],
)
def test_name_is_made_plain(name, plain):
    assert stand_in.normal(name) == plain


CLASSES = {
    "dataclass": """
        from dataclasses import dataclass
        @dataclass
        class Settings:
            dim: int
            n_heads: int = 8
            dropout: float = 0.1
            bias: bool = True
    """,
    "frozen": """
        from dataclasses import dataclass
        @dataclass(frozen=True, slots=True)
        class Settings:
            dim: int
            n_heads: int = 8
            dropout: float = 0.1
            bias: bool = True
    """,
    "constructor": """
        class Settings:
            def __init__(self, dim, n_heads=8, dropout=0.1, bias=True):
                self.dim, self.n_heads, self.dropout, self.bias = dim, n_heads, dropout, bias
    """,
    "attributes": """
        class Settings:
            dim = 512
            n_heads = 8
            dropout = 0.1
    """,
}


@pytest.mark.parametrize("kind", CLASSES)
@pytest.mark.parametrize("copied", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_copy_of_filled_settings_is_of_the_class_of_the_file(made, kind, copied):
    found = made(CLASSES[kind])
    twin = copied(found)
    assert type(twin) is sys.modules["submission"].Settings
    assert (twin.dim, twin.n_heads, twin.dropout) == (18, 3, 0.5)
    stand_in.ASKED.clear()
    assert found.dim == 18
    assert {"dim"} == stand_in.ASKED


@pytest.mark.parametrize("kind", CLASSES)
def test_settings_class_of_the_file_is_filled(made, kind):
    found = made(CLASSES[kind])
    assert (found.dim, found.n_heads) == (18, 3)
    # Only what was read counts as asked for.
    assert {"dim", "n_heads"} == stand_in.ASKED
    assert found.dropout == 0.5
    assert type(found).__name__ == "Settings"


def test_none_leaves_the_default(made):
    assert made(CLASSES["dataclass"]).bias is True


def test_tuple_of_settings_is_unpacked(made):
    source = """
        from typing import NamedTuple
        class Settings(NamedTuple):
            dim: int
            n_heads: int
    """
    assert tuple(made(source)) == (18, 3)


@pytest.mark.parametrize("annotations", ["", "from __future__ import annotations\n"])
def test_what_attention_has_no_use_for_gets_something(made, annotations):
    source = """
        from dataclasses import dataclass
        @dataclass
        class Settings:
            dim: int
            n_heads: int
            vocab_size: int
            name: str
            tied: bool
            smoothing: float
    """
    found = made(annotations + textwrap.dedent(source))
    assert (found.vocab_size, found.name, found.tied, found.smoothing) == (64, "", False, 0.0)


class ScaleNorm(nn.Module):
    def forward(self, x):
        return 2 * x


def test_layer_norms_are_quiet_and_nothing_else_is():
    module = nn.Sequential(nn.LayerNorm(4), nn.Sequential(nn.RMSNorm(4)))
    x = torch.arange(8.0).reshape(2, 4)
    assert not torch.equal(module(x), x)
    stand_in.quiet_norms(module)
    assert torch.equal(module(x), x)
    other = nn.Sequential(ScaleNorm())
    stand_in.quiet_norms(other)
    assert torch.equal(other(x), 2 * x)


def test_has_what_the_asking_function_reads():
    module = ModuleType("submission")
    module.found = stand_in.value_of({"class": None, "settings": VALUES}, module)
    source = """
    def asked():
        return hasattr(found, "width")
    def read():
        return hasattr(found, "width") and found.width
    def other():
        return hasattr(found, "vocab_size"), hasattr([], "append"), hasattr([], "width")
    """
    exec(textwrap.dedent(source), module.__dict__)
    assert (module.asked(), module.read()) == (False, 18)
    assert module.other() == (False, True, False)


def test_typed_dictionary_notes_what_is_read(made):
    found = made(
        """
        from typing import TypedDict
        class Settings(TypedDict):
            width: int
            n_heads: int
            attn_drop: float
            vocab_size: int
        """
    )
    assert isinstance(found, dict)
    assert dict(found) == {"width": 18, "n_heads": 3, "attn_drop": 0.5, "vocab_size": 64}
    assert (found["width"], found.get("n_heads"), found.get("more", 5)) == (18, 3, 5)
    assert {"width", "n_heads", "more"} == stand_in.ASKED


def test_parameters_are_cleared_by_name():
    module = nn.ModuleDict({"rel": nn.Linear(2, 2), "other": nn.Linear(2, 2)})
    held = [(name, tensor, "Linear", True) for name, tensor in module.named_parameters()]
    stand_in.clear(held, ["rel.weight"])
    assert not module["rel"].weight.any()
    assert module["rel"].bias.any()
    assert module["other"].weight.any()
