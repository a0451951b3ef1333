"""The script itself: torch and the standard library, numbers seeded, expected rows as literals."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from grader.errors import UsageError
from grader.model import Array, Call, Input, Option, Submission
from grader.repro.behaviours import BEHAVIOURS
from grader.repro.pose import Posed
from grader.texts import Texts

STORAGES = {
    "contiguous": "{x}",
    "transposed": "{x}.transpose(0, 1).contiguous().transpose(0, 1)",
    "strided": "torch.stack(({x}, {x}), dim=-1).flatten(-2)[..., ::2]",
    "expanded": "{x}[:1].expand({x}.shape)",
}
WIDTH = 100
CALLED = "returned = module(*plain, **named)"


def write_script(posed: Posed, submission: Submission, seed: int, axes: str, texts: Texts) -> str:
    """The whole file; it ends with exit code 1 where the module is wrong, and 0 where not."""
    title = texts("repro.title", case=posed.case.id, path=submission.path)
    lines = [f'"""{_quoted(title)}"""', "", "import importlib.util", "import math", "import random"]
    lines += ["import sys", "", "import torch", ""]
    lines += [f"FILE = sys.argv[1] if len(sys.argv) > 1 else {submission.path!r}"]
    lines += ['spec = importlib.util.spec_from_file_location("candidate", FILE)']
    lines += ["candidate = importlib.util.module_from_spec(spec)"]
    lines += ['sys.modules["candidate"] = candidate', "spec.loader.exec_module(candidate)"]
    lines += [f"candidate.{name} = {value!r}" for name, value in posed.probe.globals.items()]
    if not posed.lengths:
        lines += _construction(posed, texts)
    else:
        lines += [*_numbers(posed, seed), *_calls(posed, axes), *_judge(posed, texts)]
    return "\n".join(lines) + "\n"


def _construction(posed: Posed, texts: Texts) -> Iterator[str]:
    yield from ("try:", f"    {_build(posed)}", "except ValueError:")
    yield f"    print({texts('repro.raises')!r})"
    yield "    sys.exit(0)"
    yield f"print({texts('repro.no-error')!r})"
    yield "sys.exit(1)"


def _build(posed: Posed) -> str:
    probe = posed.probe
    named = [f"{name}={value!r}" for name, value in probe.construct_named.items()]
    return f"candidate.{probe.class_name}({', '.join([*map(repr, probe.construct), *named])})"


def _numbers(posed: Posed, seed: int) -> Iterator[str]:
    mode = "train" if posed.probe.train else "eval"
    yield f"module = {_build(posed)}.to(torch.{posed.probe.dtype}).{mode}()"
    yield f"numbers = random.Random({seed})"
    yield from ("", "", "def normal(shape, spread):")
    yield "    flat = [numbers.gauss(0.0, spread) for _ in range(math.prod(shape))]"
    narrow = f"torch.tensor(flat, dtype=torch.float64).to(torch.{posed.narrow})"
    yield f"    return {narrow}.to(torch.{posed.probe.dtype}).reshape(shape)"
    yield from ("", "", "parameters = dict(module.named_parameters())", "SPREADS = {")
    yield from (f"    {name!r}: {spread!r}," for name, spread in posed.spreads)
    yield "}"
    yield "for name, spread in SPREADS.items():"
    numbered = "parameters[name].data.copy_(normal(parameters[name].shape, spread))"
    if posed.case.check in BEHAVIOURS:
        # Who mends the file may have taken one away.
        yield from ("    if name in parameters:", f"        {numbered}")
    else:
        yield f"    {numbered}"


def _calls(posed: Posed, axes: str) -> Iterator[str]:
    """The arguments of each call, and `attend`, which makes one and gives the output [b, l, m]."""
    arguments: list[str] = []
    for at, call in enumerate(posed.probe.calls):
        yield from _arguments(posed, call, at, axes)
        names = [f"argument_{at}_{number}" for number in range(len(call))]
        arguments.append(f"({''.join(name + ', ' for name in names)})")
    yield from ("calls = [", *(f"    {one}," for one in arguments), "]", "first = calls[0]", "", "")
    yield "def attend(module, call):"
    yield from _called(posed.probe.calls)
    if posed.probe.autocast:
        yield f'    with torch.autocast("cpu", dtype=torch.{posed.probe.autocast}):'
        yield f"        {CALLED}"
    else:
        yield f"    {CALLED}"
    yield "    items = list(returned.values()) if isinstance(returned, dict) else returned"
    yield f"    output = items if torch.is_tensor(items) else items[{posed.probe.output}]"
    yield f"    return output{_turn(axes, 'b l m')}"
    yield from ("", "")


def _called(calls: Sequence[Call]) -> Iterator[str]:
    """Arguments by position and by keyword; a call without a mask has fewer than the others."""
    longest = max(calls, key=len)
    names = [item.name if item is not None else None for item in longest]
    yield f"    names = {names!r}"
    yield "    plain = [x for name, x in zip(names, call) if name is None]"
    yield "    named = {name: x for name, x in zip(names, call) if name is not None}"


def _arguments(posed: Posed, call: Call, at: int, axes: str) -> Iterator[str]:
    """The inputs as [b, l, m], then in the file's own order; masks as zeros and ones."""
    sequences = 0
    for number, item in enumerate(call):
        name = f"argument_{at}_{number}"
        if isinstance(item, Input) and sequences < len(posed.lengths):
            turned = axes.split()
            lengths = dict(zip(turned, item.value.shape))
            shape = tuple(lengths[axis] for axis in "blm")
            yield f"{name} = normal({shape}, 1.0){_turn('b l m', axes)}"
            yield f"{name} = {STORAGES[item.storage].format(x=name)}"
            sequences += 1
        elif isinstance(item, Input):
            yield from _mask(name, item)
        else:
            yield f"{name} = {item.value if isinstance(item, Option) else None!r}"


def _mask(name: str, item: Input) -> Iterator[str]:
    """A tensor of at most two values, written row by row; of more, number by number."""
    value = item.value
    kinds = np.unique(value)
    if len(kinds) > 2 or value.size > 50 * WIDTH:
        if value.size > WIDTH:
            raise UsageError("repro.large")
        yield f"{name} = torch.tensor({value.tolist()!r}, dtype=torch.{item.dtype})"
        return
    rows = value.reshape(-1, value.shape[-1]) == (True if item.dtype == "bool" else kinds[-1])
    yield f"{name}_rows = ("
    yield from (f'    "{"".join("1" if bit else "0" for bit in row)} "' for row in rows)
    yield ")"
    bits = f"[[bit == '1' for bit in row] for row in {name}_rows.split()]"
    yield f"{name} = torch.tensor({bits}).reshape({tuple(value.shape)})"
    if item.dtype != "bool":
        high, low = (_number(kinds[-1]), _number(kinds[0]))
        yield f"{name} = torch.where({name}, {high}, {low}).to(torch.{item.dtype})"


def _judge(posed: Posed, texts: Texts) -> Iterator[str]:
    if posed.expected is not None:
        yield from _judge_values(posed, posed.expected, texts)
    elif posed.slopes:
        yield from _judge_slopes(posed, texts)
    else:
        yield from _judge_behaviour(posed, texts)
    yield "sys.exit(bool(wrong))"


def _judge_values(posed: Posed, expected: Array, texts: Texts) -> Iterator[str]:
    shape = tuple(expected.shape)
    yield "output = attend(module, first).detach().double()"
    yield from ("# [sample, position], and what the output should be there", "EXPECTED = {")
    for place in posed.rows:
        yield f"    {place}: ["
        yield from _literals(expected[place])
        yield "    ],"
    yield "}"
    yield f"if output.shape != {shape}:"
    yield f"    print({texts('repro.shape')!r}, tuple(output.shape), {shape})"
    yield "    sys.exit(1)"
    yield from ("wrong = False", "for place, row in EXPECTED.items():")
    yield "    error = (output[place] - torch.tensor(row, dtype=torch.float64)).abs().max().item()"
    yield f"    if not error <= {posed.allowed + 1e-8:.3g}:"
    yield "        wrong = True"
    yield f"        print({texts('repro.differs')!r}, place, error)"
    yield f"print({texts('repro.wrong')!r} if wrong else {texts('repro.right')!r})"


def _judge_slopes(posed: Posed, texts: Texts) -> Iterator[str]:
    if not posed.case.args.get("plain_inputs"):
        yield f"sequences = [x.requires_grad_() for x in first[:{len(posed.lengths)}]]"
    yield "output = attend(module, first)"
    yield f"cotangent = normal({tuple(posed.lengths[0])}, 1.0)"
    yield "(output * cotangent).sum().backward()"
    yield "# The tensor, a place in its gradient, and what the gradient should be there."
    yield "EXPECTED = ["
    for of, place, value in posed.slopes:
        tensor = f"first[{of}]" if isinstance(of, int) else f"parameters[{of!r}]"
        yield f"    ({of!r}, {tensor}, {place}, {value:.9g}),"
    yield "]"
    yield from ("wrong = False", "for name, tensor, place, expected in EXPECTED:")
    yield "    got = None if tensor.grad is None else tensor.grad[place].item()"
    yield f"    if got is None or not abs(got - expected) <= {posed.allowed:.3g}:"
    yield "        wrong = True"
    yield f"        print({texts('repro.slope')!r}, name, place, got, expected)"
    yield f"print({texts('repro.wrong')!r} if wrong else {texts('repro.right-slopes')!r})"


def _judge_behaviour(posed: Posed, texts: Texts) -> Iterator[str]:
    fields = {
        "{build}": f"{_build(posed)}.to(torch.{posed.probe.dtype}).eval()",
        "{shape}": str(tuple(posed.lengths[0])),
        "{sequences}": str(len(posed.lengths)),
    }
    for line in BEHAVIOURS[posed.case.check]:
        for name, value in fields.items():
            line = line.replace(name, value)
        yield line
    said = texts(f"repro.shown.{posed.case.check.replace('_', '-')}")
    yield f"print({said!r} if wrong else {texts('repro.not-shown')!r})"


def _literals(row: Array) -> Iterator[str]:
    line = "       "
    for value in row:
        piece = f" {value:.9g},"
        if len(line) + len(piece) > WIDTH:
            yield line
            line = "       "
        line += piece
    yield line


def _turn(before: str, after: str) -> str:
    """The permute from one order of axes to another, nothing where they are the same."""
    if before == after:
        return ""
    order = [before.split().index(axis) for axis in after.split()]
    return f".permute({', '.join(map(str, order))})"


def _number(value: Any) -> str:
    return f"float('{value}')" if not math.isfinite(value) else repr(float(value))


def _quoted(text: str) -> str:
    """Safe inside a docstring, whatever the path holds."""
    return text.replace("\\", "\\\\").replace('"', "'").replace("\n", " ")
