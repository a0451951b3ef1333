"""torch without a part that nobody here asks for: what is left is all of it."""

import functools
import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch

ROOT = Path(__file__).parent.parent
RIGHT = (ROOT / "reference" / "self_attention.py").read_text()
BUILT = "self.out_proj = nn.Linear(d_model, d_model)"

OURS = """
import runpy, sys
runpy.run_path(sys.argv[1])["make_package"]()
import mha_worker.torch_import as torch_import
torch = torch_import.import_torch()
"""
SEEN = """
import json, sys, torch
parts = ["torch._meta_registrations", "torch._decomp", "torch._prims"]
found = {"names": dir(torch), "parts": [part for part in parts if part in sys.modules]}
"""
LATER = """
try:
    torch.zeros(2, 3, device="meta").flip(0)
except NotImplementedError:
    found["flipped"] = "not yet"
import %s
found["together"] = "torch._meta_registrations" in sys.modules
found["later"] = list(torch.zeros(2, 3, device="meta").flip(0).shape)
import torch._prims.rng_prims
found["drawn"] = torch.rand(2, generator=torch.Generator().manual_seed(3)).tolist()
"""
READ = """
from mha_worker.torch_import import _left_out
with _left_out("tabnanny"):
    import tabnanny
    found["empty"] = not hasattr(tabnanny, "__file__")
    found["read"] = callable(tabnanny.check)
import tabnanny
found["whole"] = hasattr(tabnanny, "__file__")
"""
ONCE = """
import torch._decomp, torch._decomp.decompositions as written
found["table"] = len(torch._decomp.decomposition_table)
found["once"] = written.register_decomposition.__globals__ is vars(torch._decomp)
found["loader"] = type(sys.modules[%r].__spec__.loader).__name__
"""
TELL = "\nprint(json.dumps(found))\n"


@functools.cache
def run(program):
    command = [sys.executable, "-c", program, str(ROOT / "grader" / "worker" / "__main__.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


# What is imported first brings the rest along, in the one order in which that goes well.
@pytest.mark.parametrize(
    "first",
    ["torch._decomp", "torch._meta_registrations", "torch._dynamo"],
)
@pytest.mark.every
def test_torch_lacks_nothing_but_kernels_without_values(first):
    ours, plain = run(OURS + SEEN + LATER % first + READ + TELL), run(SEEN + TELL)
    assert plain["parts"] == ["torch._meta_registrations", "torch._decomp", "torch._prims"]
    assert ours["parts"] == []
    lacking = set(plain["names"]) - set(ours["names"])
    assert lacking <= {"_meta_registrations", "_decomp", "_prims", "_refs"}
    # Who needs them has them, once they are imported.
    assert ours["flipped"] == "not yet"
    assert ours["together"]
    assert ours["later"] == [2, 3]
    assert ours["drawn"] == torch.rand(2, generator=torch.Generator().manual_seed(3)).tolist()
    # What is left out is loaded after all if something of it is read at once.
    assert (ours["empty"], ours["read"], ours["whole"]) == (True, True, True)


@pytest.mark.every
@pytest.mark.parametrize("first", ["torch._decomp", "torch._refs", "torch.fx"])
def test_nothing_is_run_twice(first):
    ours = run(f"{OURS}{SEEN}import {first}\n{ONCE % first}{TELL}")
    plain = run(SEEN + ONCE % first + TELL)
    assert ours["table"] == plain["table"] > 500
    assert ours["once"]
    assert ours["loader"] == plain["loader"] == "SourceFileLoader"


@pytest.mark.parametrize(
    "built",
    [
        "self.out_proj = nn.utils.skip_init(nn.Linear, d_model, d_model)",
        "self.out_proj = nn.Linear(d_model, d_model, device='meta').to_empty(device='cpu')",
        "shape = torch.empty(3, 4, device='meta').flip(0).shape; " + BUILT,
        BUILT + "; nn.init.normal_(self.out_proj.weight, generator=torch.Generator())",
        "from torch._subclasses import FakeTensorMode; " + BUILT,
    ],
)
def test_file_that_needs_them_has_them(built, grade_source):
    source = RIGHT.replace(BUILT, built)
    assert source != RIGHT
    report = grade_source(source)
    assert [v.case for v in report.verdicts if v.points < v.max_points] == []
    assert report.refusal is None
