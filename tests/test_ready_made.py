"""Ready-made attention is seen by whatever way it is called, and named with its line."""

import textwrap

import pytest

from grader.model import Outcome, Probe, Status
from grader.sandbox import launch
from grader.texts import load_texts
from grader.worker import scan

pytestmark = pytest.mark.skipif(not launch.can_fork(), reason="Linux")

SOURCE = """import functools, gc, importlib, sys, threading
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.functional import scaled_dot_product_attention as attend

before = F.scaled_dot_product_attention
q = torch.ones(1, 2, 3, 4)
{setup}
class Use(nn.Module):
    def forward(self):


        return {call}
"""
SDPA, MHA = "scaled_dot_product_attention", "multi_head_attention_forward"
FLASH, MATH = "_scaled_dot_product_flash_attention_for_cpu", "_scaled_dot_product_attention_math"
NATIVE, LAYER = "_native_multi_head_attention", "_transformer_encoder_layer_fwd"
TRACED = "traced = torch.jit.trace(lambda a: F.scaled_dot_product_attention(a, a, a), q)"
MODULE = "m = nn.MultiheadAttention(4, 2, batch_first=True); x = torch.ones(1, 3, 4)"
ENCODER = "m = nn.TransformerEncoderLayer(4, 2, 8, batch_first=True); x = torch.ones(1, 3, 4)"
OVER = """
lib = torch.library.Library("aten", "IMPL")
old = torch.library.get_kernel("aten::scaled_dot_product_attention", "CPU")
"""
ONNX = "import torch.onnx.ops"
OF_CLASS = "class T(torch.Tensor): pass\n\nt = q.as_subclass(T)"
SEARCH = """
gc.unfreeze()
functions = [f for f in gc.get_objects() if type(f) is type(functools.wraps)]
found = [f for f in functions if f.__name__ == "multi_head_attention_forward"]
m = nn.MultiheadAttention(4, 2)
x = torch.ones(3, 1, 4)
args = (4, 2, m.in_proj_weight, m.in_proj_bias, None, None, False, 0.0)
args += (m.out_proj.weight, m.out_proj.bias)
"""
TRICKS = {
    "by its name": ("", "F.scaled_dot_product_attention(q, q, q)", SDPA),
    "imported": ("", "attend(q, q, q)", SDPA),
    "kept": ("", "before(q, q, q)", SDPA),
    "getattr": ("", "getattr(F, 'scaled_dot' + '_product_attention')(q, q, q)", SDPA),
    "importlib": (
        "",
        "importlib.import_module('torch.nn.functional').scaled_dot_product_attention(q, q, q)",
        SDPA,
    ),
    "partial": ("", "functools.partial(attend, q)(q, q)", SDPA),
    "torch._C": ("", "torch._C._nn.scaled_dot_product_attention(q, q, q)", SDPA),
    "aten": ("", "torch.ops.aten.scaled_dot_product_attention(q, q, q)", SDPA),
    "overload": ("", "torch.ops.aten.scaled_dot_product_attention.default(q, q, q)", SDPA),
    "decomposed": (
        "",
        "torch.ops.aten.scaled_dot_product_attention.default.decompose(q, q, q)",
        FLASH,
    ),
    "math": ("", "torch.ops.aten._scaled_dot_product_attention_math(q, q, q)", MATH),
    "flash": ("", "torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(q, q, q)", FLASH),
    "by key": (
        "",
        "torch.ops.aten.scaled_dot_product_attention.default.redispatch("
        "torch._C.DispatchKeySet(torch._C.DispatchKey.CPU), q, q, q)",
        SDPA,
    ),
    "vmap": ("", "torch.func.vmap(lambda a: attend(a, a, a))(q)", SDPA),
    "grad": ("", "torch.func.grad(lambda a: attend(a, a, a).sum())(q)", SDPA),
    "traced": (TRACED, "traced(q)", SDPA),
    "no modes": (
        "def off():\n    with torch._C.DisableTorchFunction(): return attend(q, q, q)",
        "off()",
        SDPA,
    ),
    "inference": (
        "def off():\n    with torch.inference_mode(): return attend(q, q, q)",
        "off()",
        SDPA,
    ),
    "autocast": (
        "def off():\n    with torch.autocast('cpu', torch.bfloat16): return attend(q, q, q)",
        "off()",
        SDPA,
    ),
    "kernel asked for": (OVER, "old.call_boxed(torch._C._dispatch_keys(q), q, q, q)", SDPA),
    "subclass": (OF_CLASS, "attend(t, t, t)", SDPA),
    "module": (MODULE, "m(x, x, x)[0]", MHA),
    "module without weights": (MODULE, "m(x, x, x, need_weights=False)[0]", MHA),
    "fast path": (MODULE + "; m.eval().requires_grad_(False)", "m(x, x, x)[0]", NATIVE),
    "function": (SEARCH, "F.multi_head_attention_forward(x, x, x, *args)[0]", MHA),
    "function found": (SEARCH, "found[0](x, x, x, *args)[0]", MHA),
    # Were there two, the last would be the one that counts nothing.
    "last function found": (SEARCH, "found[-1](x, x, x, *args)[0]", MHA),
    "decoder layer": (ENCODER.replace("Encoder", "Decoder"), "m(x, x)", MHA),
    "mask object": (
        "from torch.nn.attention.bias import causal_lower_right",
        "attend(q, q, q, attn_mask=causal_lower_right(3, 3))",
        SDPA,
    ),
    "nested": ("t = torch.nested.nested_tensor([q[0], q[0]])", "attend(t, t, t)[0]", SDPA),
    "decomposition": (
        "from torch._decomp import get_decompositions\n"
        "op = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu.default\n"
        "written = get_decompositions([op])[op]",
        "written(q, q, q)[0]",
        MATH,
    ),
    "way back": (
        "",
        "torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward("
        "q, q, q, q, q, q[..., 0], 0.0, False)[0]",
        FLASH + "_backward",
    ),
    "onnx": (ONNX, "torch.onnx.ops.attention(q, q, q)[0]", "attention_23"),
    "onnx by hand": (ONNX, "torch.onnx.ops.attention(q, q, q, q[0, 0, :, :3])[0]", "attention_23"),
    "onnx operator": (
        ONNX,
        "torch.ops.onnx.Attention.opset23(q, q, q, softmax_precision=1)[0]",
        "attention_23",
    ),
    "encoder layer": (ENCODER, "m(x)", MHA),
    "encoder fast path": (ENCODER + "; m.eval().requires_grad_(False)", "m(x)", LAYER),
    "quantizable": (
        "import torch.ao.nn.quantizable as z\nm, x = z.MultiheadAttention(4, 2), q[0]",
        "m(x, x, x)[0]",
        "_forward_impl",
    ),
}


@pytest.mark.parametrize(("setup", "call", "name"), TRICKS.values(), ids=TRICKS)
def test_trick_is_seen(open_session, setup, call, name):
    source = SOURCE.format(setup=setup.strip(), call=call)
    lines = source.splitlines()
    # The line in which the call is written, not that in which the function around it is called.
    inner = ("return attend(q", "lambda a: F.")
    at = next((line for line in lines if any(part in line for part in inner)), lines[-1])
    seen = open_session(source).run(Probe("Use", (), calls=((),)))
    assert seen.status is Status.OK, seen.fault
    assert (name, lines.index(at) + 1) in seen.ready_made


def test_torchs_functions_cannot_be_made_anew(open_session):
    loaded = open_session("import importlib, torch\nimportlib.reload(torch.nn.functional)").load()
    assert (loaded.status, loaded.fault.type) == (Status.RAISED, "ModuleNotFoundError")


def test_torchs_own_source_cannot_be_read(open_session):
    source = "import inspect\nimport torch.nn.functional as F\ninspect.getsource(F.{})"
    loaded = open_session(source.format(MHA)).load()
    assert (loaded.status, loaded.fault.type) == (Status.RAISED, "OSError")


OWN = """
import torch
from torch import nn

class Own(nn.Module):
    def forward(self):
        q = torch.ones(1, 2, 3, 4)
        return (q @ q.mT / 2).softmax(-1) @ q
"""


def test_own_attention_is_no_ready_made_one(open_session):
    assert open_session(OWN).run(Probe("Own", (), calls=((),))).ready_made == ()


def test_rule_is_of_the_exercise(grade_source):
    body = """
    import torch.nn.functional as F
    from torch import nn
    class SelfAttention(nn.Module):
        def __init__(self, d_model, num_heads):
            super().__init__()
            self.h = num_heads
            self.qkv, self.out = nn.Linear(d_model, 3 * d_model), nn.Linear(d_model, d_model)
        def forward(self, x, mask=None):
            q, k, v = self.qkv(x).unflatten(-1, (3, self.h, -1)).permute(2, 0, 3, 1, 4)
            heads = F.scaled_dot_product_attention(q, k, v, mask)
            return self.out(heads.transpose(1, 2).flatten(2))
    """
    report = grade_source(textwrap.dedent(body), "self-attention")
    verdict = next(v for v in report.verdicts if v.case == "no-ready-made-attention")
    assert verdict.outcome is Outcome.FAILED
    assert load_texts("en").say(verdict.message) == (
        "Ready-made attention was seen in use (line 11): scaled_dot_product_attention. "
        "The exercise asks you to write it yourself."
    )
    assert "state.ready-made" not in {
        v.message.key for v in grade_source(textwrap.dedent(body)).verdicts if v.message
    }


def test_words_to_look_at_are_flagged(grade_source):
    report = grade_source(
        "import gc\nimport torch\nx = torch._C\ny = x.__class__.__code__\neval('1')"
    )
    assert report.flags == (("gc", 1), ("torch._C", 3), ("__code__", 4), ("eval", 5))
    assert grade_source("import torch\nx = torch.nn.Linear(1, 1).eval()\n").flags == ()
    report = grade_source(
        "import sys\nsys.settrace(None)\n"
        "def look(frame): return frame.f_back.f_globals\n"
        "try: import mha_worker.ready_made\n"
        "except Exception as e: e.__traceback__.tb_frame"
    )
    words = [("sys.settrace", 2), ("f_back", 3), ("f_globals", 3), ("mha_worker", 4)]
    assert sorted(report.flags) == sorted([*words, ("tb_frame", 5)])
    assert grade_source(OWN).flags == ()


@pytest.mark.parametrize("letters", ["ｅval", "𝐞𝐯𝐚𝐥", "ᵉval"])
def test_words_in_other_letters_are_flagged(grade_source, letters):
    assert grade_source(f"x = 1\n{letters}('2')\n").flags == (("eval", 2),)


@pytest.mark.parametrize("word", sorted(scan.WORDS | scan.ATTRIBUTES))
def test_each_word_is_found_where_it_stands(word):
    text = f"x = 1\nimport {word}\n" if "__" not in word else f"x = 1\n{word}\n"
    assert (word, 2) in scan.find_flags(text)
