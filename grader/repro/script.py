"""The script itself: torch and the standard library, numbers seeded, expected rows as literals."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from grader.errors import UsageError
from grader.model import Array, Input, Option, Submission
from grader.repro.pose import Posed
from grader.texts import Texts

STORAGES = {
    "contiguous": "{x}",
    "transposed": "{x}.transpose(0, 1).contiguous().transpose(0, 1)",
    "strided": "torch.stack(({x}, {x}), dim=-1).flatten(-2)[..., ::2]",
    "expanded": "{x}[:1].expand({x}.shape)",
}
WIDTH = 100


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
    if posed.expected is None:
        lines += _construction(posed, texts)
    else:
        lines += [*_numbers(posed, seed), *_call(posed, axes), *_judgement(posed, axes, texts)]
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
    yield "    parameters[name].data.copy_(normal(parameters[name].shape, spread))"


def _call(posed: Posed, axes: str) -> Iterator[str]:
    """The inputs as [b, l, m], then in the file's own order; masks as zeros and ones."""
    arguments, sequences = [], 0
    for number, item in enumerate(posed.probe.calls[0]):
        name = f"argument_{number}"
        if isinstance(item, Input) and sequences < len(posed.lengths):
            turned = _turn("b l m", axes)
            yield f"{name} = normal({tuple(posed.lengths[sequences])}, 1.0){turned}"
            yield f"{name} = {STORAGES[item.storage].format(x=name)}"
            sequences += 1
        elif isinstance(item, Input):
            yield from _mask(name, item)
        else:
            yield f"{name} = {item.value if isinstance(item, Option) else None!r}"
        keyword = item.name if item is not None else None
        arguments.append(f"{keyword}={name}" if keyword else name)
    call = f"module({', '.join(arguments)})"
    if posed.probe.autocast:
        yield f'with torch.autocast("cpu", dtype=torch.{posed.probe.autocast}):'
        yield f"    returned = {call}"
    else:
        yield f"returned = {call}"


def _mask(name: str, item: Input) -> Iterator[str]:
    """A tensor of at most two values, written row by row; of more, number by number."""
    value = item.value
    kinds = np.unique(value)
    if len(kinds) > 2 or value.size > 50 * WIDTH:
        if value.size > WIDTH:
            raise UsageError("repro.large")
        yield f"{name} = torch.tensor({value.tolist()!r}, dtype=torch.{item.dtype})"
        return
    rows = value.reshape(-1, value.shape[-1]) == kinds[-1]
    yield f"{name}_rows = ("
    yield from (f'    "{"".join("1" if bit else "0" for bit in row)} "' for row in rows)
    yield ")"
    bits = f"[[bit == '1' for bit in row] for row in {name}_rows.split()]"
    yield f"{name} = torch.tensor({bits}).reshape({tuple(value.shape)})"
    if item.dtype != "bool":
        high, low = (_number(kinds[-1]), _number(kinds[0]))
        yield f"{name} = torch.where({name}, {high}, {low}).to(torch.{item.dtype})"


def _judgement(posed: Posed, axes: str, texts: Texts) -> Iterator[str]:
    assert posed.expected is not None
    shape = tuple(posed.expected.shape)
    yield "items = list(returned.values()) if isinstance(returned, dict) else returned"
    at = posed.probe.output
    yield f"output = items if torch.is_tensor(items) else items[{at}]"
    yield f"output = output.detach().double(){_turn(axes, 'b l m')}"
    yield from ("# [sample, position], and what the output should be there", "EXPECTED = {")
    for place in posed.rows:
        yield f"    {place}: ["
        yield from _literals(posed.expected[place])
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
    yield "sys.exit(wrong)"


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
