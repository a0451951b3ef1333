"""A style: which pieces a right answer is made of, what things are called, how it is set out."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, replace

from grader.bank import exercise_ids, load_exercise
from grader.drill.styles.names import draw_names
from grader.drill.styles.pieces import NAME, Edits, Piece, read_pieces, read_table
from grader.errors import UsageError
from grader.model import Contract

# Where the heads lie once the context is there.
UNFOLDED = {"folded": "bhld"}


@dataclass(frozen=True)
class Manner:
    """How a file is set out: annotations, comments by job, empty lines, what has its own function.

    `apart` are the jobs written as functions of their own, `freely` whether the one for weights
    stands outside of the class; helpers may stand above `forward`, and the mask may come first.
    """

    typed: bool
    comments: Mapping[str, str]
    spaced: bool
    apart: frozenset[str]
    freely: bool
    helpers_first: bool
    mask_first: bool


@dataclass(frozen=True)
class Style:
    """All that a right answer is written from; `derived` are names that stand for others."""

    exercise: str
    contract: Contract
    pieces: Mapping[str, Piece]
    sizes: tuple[Piece, ...]
    names: Mapping[str, str]
    derived: Mapping[str, str]
    manner: Manner

    def meaning(self, name: str) -> str:
        """What stands for a name; there may be names in it again."""
        return self.derived[name] if name in self.derived else self.names[name]

    def fill(self, text: str) -> str:
        """The text with every name in place."""
        while "$" in text:
            text = NAME.sub(lambda found: self.meaning(found[1]), text)
        return text

    @property
    def builds_mask(self) -> bool:
        """True where the module makes the mask out of what it knows and what it is given."""
        return "visibility" in self.pieces

    def renamed(self, order: random.Random) -> Style:
        """The same with other names."""
        return replace(self, names=draw_names(order, self.contract))

    def edited(self, job: str, edits: Edits) -> Style:
        """The same with texts of one piece replaced."""
        return replace(self, pieces={**self.pieces, job: self.pieces[job].edited(edits)})


def is_covered(contract: Contract) -> bool:
    """True for contracts that there are pieces for."""
    kinds = {("attention", False), ("padding", True)}
    return len(contract.inputs) in (1, 3) and (contract.mask, contract.causal) in kinds


def offered() -> tuple[str, ...]:
    """The exercises of the bank whose answers can be written here."""
    return tuple(one for one in exercise_ids() if is_covered(load_exercise(one).contract))


def draw_style(order: random.Random, exercise: str | None = None) -> Style:
    """A style for this exercise or any; raises UsageError where there is none."""
    chosen = exercise or order.choice(offered())
    contract = load_exercise(chosen).contract
    if chosen not in offered():
        raise UsageError("exercise.no-drill", wanted=chosen, known=", ".join(offered()))
    pieces = _draw_pieces(order, contract)
    sizes = [piece for piece in read_pieces()["sizes"] if piece.suits(contract)]
    order.shuffle(sizes)
    names = draw_names(order, contract)
    manner = _draw_manner(order, pieces)
    return Style(chosen, contract, pieces, tuple(sizes), names, _derived(order, contract), manner)


def _draw_pieces(order: random.Random, contract: Contract) -> dict[str, Piece]:
    """One piece for each job, and for the helpers that they call."""
    drawn: dict[str, Piece] = {}
    layout: str | None = None

    def draw(job: str) -> Piece:
        fitting = [piece for piece in read_pieces()[job] if piece.suits(contract, layout)]
        drawn[job] = order.choice(fitting)
        return drawn[job]

    for job in ("doc", "validate", "keep", "project"):
        draw(job)
    layout = drawn["project"].layout
    for job in ("scores", "normalise", "context"):
        draw(job)
    if contract.causal:
        draw("visibility")
    else:
        drawn["normalise"] = drawn["normalise"].wrapped(order.choice(read_pieces()["wrap"]))
    layout = UNFOLDED.get(layout or "", layout)
    for job in ("merge", "output"):
        draw(job)
    for helper in [piece.helper for piece in drawn.values() if piece.helper]:
        draw(helper)
    return drawn


def _derived(order: random.Random, contract: Contract) -> dict[str, str]:
    """What some names stand for, and the way in which heads get their share."""
    names: dict[str, str] = {"H": "self.$heads", "Dh": "self.$dim"}
    names["bias"] = order.choice(["", "", ", bias=False"])
    if len(contract.inputs) == 1:
        names |= {"query": "$x", "key": "$x", "value": "$x", "Lq": "$L", "Lk": "$L"}
    if not contract.causal:
        names["visible"] = "$mask"
    return names | order.choice(read_table("ways"))


def _draw_manner(order: random.Random, pieces: Mapping[str, Piece]) -> Manner:
    comments = read_table("comments") if order.random() < 0.4 else {}
    chosen = {job: order.choice(texts) for job, texts in comments.items()}
    parts = {"visibility", "normalise"} & set(pieces)
    if pieces["project"].layout != "folded":
        parts.add("scores")
    return Manner(
        typed=order.random() < 0.4,
        comments={job: text for job, text in chosen.items() if order.random() < 0.7},
        spaced=order.random() < 0.6,
        apart=frozenset(part for part in sorted(parts) if order.random() < 0.35),
        freely=order.random() < 0.5,
        helpers_first=order.random() < 0.5,
        mask_first=order.random() < 0.3,
    )
