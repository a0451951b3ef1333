"""Writes a style out as a file, line by line, knowing of each line what piece it comes from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from grader.drill.styles.pieces import INNER, NAME
from grader.drill.styles.style import Style

WIDTH = 100
INDENT = "    "
TENSOR = "torch.Tensor"


@dataclass(frozen=True)
class Line:
    """One line of a file; `origin` is its slot, part and place there, `axes` of what it makes."""

    text: str
    origin: tuple[str, str, int] | None = None
    axes: str = ""

    def indented(self, by: str = INDENT) -> Line:
        """The same further to the right, unless it is empty."""
        return replace(self, text=by + self.text) if self.text else self


Lines = list[Line]


def write(style: Style) -> tuple[Line, ...]:
    """The whole file, names filled in."""
    body = _class(style)
    if _is_free(style):
        body = [*_normaliser(style), *_plain("", ""), *body]
    code = "\n".join(line.text for line in body)
    lines = [*_plain(*_head(style, code)), *body]
    return tuple(replace(line, text=fill(style, line.text)) for line in lines)


def as_text(lines: Iterable[Line]) -> str:
    """The file as one text."""
    return "".join(f"{line.text}\n" for line in lines)


def fill(style: Style, text: str) -> str:
    """The text with every name in place; names may stand for other names."""
    while "$" in text:
        text = NAME.sub(lambda found: style.meaning(found[1]), text)
    return text


def _plain(*texts: str) -> Lines:
    return [Line(text) for text in texts]


def _head(style: Style, code: str) -> Iterator[str]:
    yield f"# mha-grade: {style.exercise}"
    yield from ("from __future__ import annotations", "") if style.manner.typed else ()
    # As in the stubs, needed or not: an import without a use must not tell what is missing.
    yield from ("import math", "", "import torch")
    yield from ("import torch.nn.functional as F",) if "F." in code else ()
    yield from ("from torch import nn", "", "")


def _part(style: Style, slot: str, part: str = "code") -> Lines:
    """The lines of one text of a piece."""
    piece = style.pieces[slot]
    text = piece.parts.get(part, "")
    lines = text.rstrip("\n").split("\n") if text else []
    shapes = piece.shapes
    return [Line(one, (slot, part, at), shapes.get((part, at), "")) for at, one in enumerate(lines)]


def _slot(style: Style, slot: str) -> Lines:
    """The code of a piece, with what is wrapped around it."""
    code = _part(style, slot)
    if "wrap" not in style.pieces[slot].parts:
        return code
    found: Lines = []
    for line in _part(style, slot, "wrap"):
        by = line.text.removesuffix(INNER)
        found += [inner.indented(by) for inner in code] if INNER in line.text else [line]
    return found


def _class(style: Style) -> Lines:
    doc = _part(style, "doc")
    inside = [*doc, *_plain("")] if doc else []
    first, then = _helpers(style), [_forward(style)]
    methods = [*first, *then] if style.manner.helpers_first else [*then, *first]
    for method in [_constructor(style), *methods]:
        inside += [*method, *_plain("")]
    head = _plain("class $Class(nn.Module):")
    return [*head, *(line.indented() for line in inside[:-1])]


def _constructor(style: Style) -> Lines:
    head = ["$d_model", "$num_heads", "$rate=0.0"]
    if style.manner.typed:
        head = ["$d_model: int", "$num_heads: int", "$rate: float = 0.0"]
    body = [*_plain("super().__init__()"), *_part(style, "validate"), *_part(style, "keep")]
    for slot in ("project", "output", "context", "scores"):
        body += _part(style, slot, "init")
    return _function(style, "__init__", ["self", *head], body)


def _forward(style: Style) -> Lines:
    mask = ["visibility"] if style.builds_mask else []
    front = [*mask, "project"] if style.manner.mask_first else ["project", *mask]
    blocks = [_block(style, slot) for slot in front]
    weights = [*_block(style, "scores"), *_block(style, "normalise")]
    blocks.append(_call(style, "scores") if "scores" in style.manner.apart else weights)
    last = [line for slot in ("context", "merge", "output") for line in _block(style, slot)]
    body = _joined(style, [*blocks, [*last, *_plain("return $output, $weights")]])
    inputs = ["$x"] if len(style.contract.inputs) == 1 else ["$query", "$key", "$value"]
    typed = f": {TENSOR}" if style.manner.typed else ""
    option = f"$mask: {TENSOR} | None = None" if style.manner.typed else "$mask=None"
    arguments = ["self", *(name + typed for name in inputs), option]
    returned = f"tuple[{TENSOR}, {TENSOR}]"
    return _function(style, "forward", arguments, [*_sizes(style, body), *body], returned)


def _block(style: Style, slot: str) -> Lines:
    """A slot in its place: its code, or the call of the function that it has become."""
    note = style.manner.comments.get(slot)
    above = _plain(f"# {note}") if note else []
    apart = slot in style.manner.apart - {"scores"}
    return [*above, *(_call(style, slot) if apart else _slot(style, slot))]


CALLS = {
    "visibility": ("m_mask", ("$x", "$mask"), "$visible", ""),
    "scores": ("m_weights", ("$q", "$k", "$visible"), "$weights", "B H Lq Lk"),
    "normalise": ("m_normalise", ("$scores", "$visible"), "$weights", "B H Lq Lk"),
}


def _call(style: Style, slot: str) -> Lines:
    method, arguments, result, axes = CALLS[slot]
    owner = "" if slot == "normalise" and _is_free(style) else "self."
    text = f"{result} = {owner}${method}({', '.join(arguments)})"
    return [Line(text, (slot, "call", 0), axes)]


def _is_free(style: Style) -> bool:
    return "normalise" in style.manner.apart and style.manner.freely


def _helpers(style: Style) -> list[Lines]:
    """The methods that `forward` calls, in the order of its calls."""
    found = []
    for slot, method in (("split", "m_split"), ("fold", "m_split"), ("merge_helper", "m_merge")):
        if slot in style.pieces:
            found.append(_method(style, method, ("$t",), _part(style, slot)))
    apart = style.manner.apart
    if "visibility" in apart:
        body = [*_slot(style, "visibility"), *_plain("return $visible")]
        found.append(_method(style, "m_mask", CALLS["visibility"][1], _sized(style, body)))
    if "scores" in apart:
        body = [*_block(style, "scores"), *_block(style, "normalise"), *_plain("return $weights")]
        found.append(_method(style, "m_weights", CALLS["scores"][1], body))
    if "normalise" in apart and not _is_free(style):
        found.append(_normaliser(style, "self"))
    return found


def _normaliser(style: Style, *owner: str) -> Lines:
    body = [*_slot(style, "normalise"), *_plain("return $weights")]
    return _method(style, "m_normalise", CALLS["normalise"][1], body, *(owner or ("",)))


def _method(
    style: Style, name: str, arguments: Sequence[str], body: Lines, owner: str = "self"
) -> Lines:
    typed = {"$mask": f": {TENSOR} | None"} if style.manner.typed else {}
    if style.manner.typed and not style.builds_mask:
        typed["$visible"] = typed["$mask"]
    plain = f": {TENSOR}" if style.manner.typed else ""
    written = [one + typed.get(one, plain) for one in arguments]
    return _function(style, f"${name}", [*filter(None, [owner]), *written], body, TENSOR)


def _function(
    style: Style, name: str, arguments: Sequence[str], body: Lines, returned: str = ""
) -> Lines:
    """A function whose head is broken into lines where it would be too long."""
    end = f" -> {returned}:" if returned and style.manner.typed else ":"
    head = f"def {name}({', '.join(arguments)}){end}"
    heads = _plain(head)
    if len(INDENT + fill(style, head)) > WIDTH:
        inner = [f"{INDENT}{one}," for one in arguments]
        heads = _plain(f"def {name}(", *inner, f"){end}")
    return [*heads, *(line.indented() for line in body)]


def _joined(style: Style, blocks: Iterable[Lines]) -> Lines:
    """The blocks one after the other, an empty line between them where there is room."""
    found: Lines = []
    for block in blocks:
        if found and style.manner.spaced:
            found += _plain("")
        found += block
    return found


def _sizes(style: Style, body: Lines) -> Lines:
    """The line that names the sizes that are used below, where any are."""
    wanted = _wanted(style, body)
    if not wanted:
        return []
    fitting = (piece for piece in style.sizes if wanted <= _resolved(style, piece.names()))
    chosen = next(fitting)
    lines = chosen.parts["code"].split("\n")
    gap = _plain("") if style.manner.spaced else []
    # The second line names a length that not everyone needs.
    kept = [one for one in lines if wanted & _resolved(style, set(NAME.findall(one)))]
    return [*_plain(*kept), *gap]


def _sized(style: Style, body: Lines) -> Lines:
    return [*_sizes(style, body), *body]


SIZES = {"$B", "$L", "$Lq", "$Lk", "$D"}


def _wanted(style: Style, body: Lines) -> set[str]:
    used = {name for line in body for name in NAME.findall(line.text)}
    return _resolved(style, used)


def _resolved(style: Style, names: set[str]) -> set[str]:
    """The sizes among these names, each by the name that is written in the end."""
    found: set[str] = set()
    for name in names:
        inner = set(NAME.findall(style.meaning(name)))
        if inner:
            found |= _resolved(style, inner)
        elif f"${name}" in SIZES:
            found.add(name)
    return found
