"""Writes a style out as a file, line by line, knowing of each line what piece it comes from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from grader.drill.styles.lines import Line, Lines, function, join, plain
from grader.drill.styles.pieces import INNER
from grader.drill.styles.sizes import name_sizes
from grader.drill.styles.style import Style

TENSOR = "torch.Tensor"
# Of what may be a function of its own: its name, what goes in, what comes out and its shape.
CALLS = {
    "visibility": ("m_mask", ("$x", "$mask"), "$visible", ""),
    "scores": ("m_weights", ("$q", "$k", "$visible"), "$weights", "B H Lq Lk"),
    "normalise": ("m_normalise", ("$scores", "$visible"), "$weights", "B H Lq Lk"),
}


def write(style: Style) -> tuple[Line, ...]:
    """The whole file, names filled in."""
    body = _class(style)
    if _is_free(style):
        body = [*_normaliser(style), *plain("", ""), *body]
    code = "\n".join(line.text for line in body)
    lines = [*plain(*_head(style, code)), *body]
    return tuple(replace(line, text=style.fill(line.text)) for line in lines)


def _head(style: Style, code: str) -> Iterator[str]:
    yield f"# mha-grade: {style.exercise}"
    yield from ("from __future__ import annotations", "") if style.manner.typed else ()
    # As in the stubs, needed or not: an import without a use must not tell what is missing.
    yield from ("import math", "", "import torch")
    yield from ("import torch.nn.functional as F",) if "F." in code else ()
    yield from ("from torch import nn", "", "")


def _part(style: Style, job: str, part: str = "code") -> Lines:
    """The lines of one text of a piece."""
    piece = style.pieces[job]
    text = piece.parts.get(part, "")
    lines = text.rstrip("\n").split("\n") if text else []
    shapes = piece.shapes
    return [Line(one, (job, part, at), shapes.get((part, at), "")) for at, one in enumerate(lines)]


def _whole(style: Style, job: str) -> Lines:
    """The code of a piece, with what is wrapped around it."""
    code = _part(style, job)
    if "wrap" not in style.pieces[job].parts:
        return code
    found: Lines = []
    for line in _part(style, job, "wrap"):
        by = line.text.removesuffix(INNER)
        found += [inner.indented(by) for inner in code] if INNER in line.text else [line]
    return found


def _class(style: Style) -> Lines:
    doc = _part(style, "doc")
    inside = [*doc, *plain("")] if doc else []
    first, then = _helpers(style), [_forward(style)]
    methods = [*first, *then] if style.manner.helpers_first else [*then, *first]
    for method in [_constructor(style), *methods]:
        inside += [*method, *plain("")]
    head = plain("class $Class(nn.Module):")
    return [*head, *(line.indented() for line in inside[:-1])]


def _constructor(style: Style) -> Lines:
    head = ["$d_model", "$num_heads", "$rate=0.0"]
    if style.manner.typed:
        head = ["$d_model: int", "$num_heads: int", "$rate: float = 0.0"]
    body = [*plain("super().__init__()"), *_part(style, "validate"), *_part(style, "keep")]
    for job in ("project", "output", "context", "scores"):
        body += _part(style, job, "init")
    return function(style, "__init__", ["self", *head], body)


def _forward(style: Style) -> Lines:
    mask = ["visibility"] if style.builds_mask else []
    front = [*mask, "project"] if style.manner.mask_first else ["project", *mask]
    blocks = [_block(style, job) for job in front]
    weights = [*_block(style, "scores"), *_block(style, "normalise")]
    blocks.append(_call(style, "scores") if "scores" in style.manner.apart else weights)
    last = [line for job in ("context", "merge", "output") for line in _block(style, job)]
    body = join(style, [*blocks, [*last, *plain("return $output, $weights")]])
    inputs = ["$x"] if len(style.contract.inputs) == 1 else ["$query", "$key", "$value"]
    typed = f": {TENSOR}" if style.manner.typed else ""
    option = f"$mask: {TENSOR} | None = None" if style.manner.typed else "$mask=None"
    arguments = ["self", *(name + typed for name in inputs), option]
    returned = f"tuple[{TENSOR}, {TENSOR}]"
    return function(style, "forward", arguments, [*name_sizes(style, body), *body], returned)


def _block(style: Style, job: str) -> Lines:
    """A job in its place: its code, or the call of the function that it has become."""
    note = style.manner.comments.get(job)
    above = plain(f"# {note}") if note else []
    apart = job in style.manner.apart - {"scores"}
    return [*above, *(_call(style, job) if apart else _whole(style, job))]


def _call(style: Style, job: str) -> Lines:
    method, arguments, result, axes = CALLS[job]
    owner = "" if job == "normalise" and _is_free(style) else "self."
    text = f"{result} = {owner}${method}({', '.join(arguments)})"
    return [Line(text, (job, "call", 0), axes)]


def _is_free(style: Style) -> bool:
    return "normalise" in style.manner.apart and style.manner.freely


def _helpers(style: Style) -> list[Lines]:
    """The methods that `forward` calls, in the order of its calls."""
    found = []
    for job, method in (("split", "m_split"), ("fold", "m_split"), ("merge_helper", "m_merge")):
        if job in style.pieces:
            found.append(_method(style, method, ("$t",), _part(style, job)))
    apart = style.manner.apart
    if "visibility" in apart:
        body = [*_whole(style, "visibility"), *plain("return $visible")]
        found.append(
            _method(style, "m_mask", CALLS["visibility"][1], [*name_sizes(style, body), *body])
        )
    if "scores" in apart:
        body = [*_block(style, "scores"), *_block(style, "normalise"), *plain("return $weights")]
        found.append(_method(style, "m_weights", CALLS["scores"][1], body))
    if "normalise" in apart and not _is_free(style):
        found.append(_normaliser(style, "self"))
    return found


def _normaliser(style: Style, *owner: str) -> Lines:
    body = [*_whole(style, "normalise"), *plain("return $weights")]
    return _method(style, "m_normalise", CALLS["normalise"][1], body, *(owner or ("",)))


def _method(
    style: Style, name: str, arguments: Sequence[str], body: Lines, owner: str = "self"
) -> Lines:
    typed = {"$mask": f": {TENSOR} | None"} if style.manner.typed else {}
    if style.manner.typed and not style.builds_mask:
        typed["$visible"] = typed["$mask"]
    usual = f": {TENSOR}" if style.manner.typed else ""
    written = [one + typed.get(one, usual) for one in arguments]
    return function(style, f"${name}", [*filter(None, [owner]), *written], body, TENSOR)
