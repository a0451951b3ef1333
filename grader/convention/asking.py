"""Gives one file masks and looks at what comes back, asked once however often it is looked at."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from grader.bank.bench import Bench, Run, agrees
from grader.bank.draw import draw, generator, right_steps, visibility
from grader.bank.problem import Problem
from grader.calling import CallPlan, MaskStyle, Slot
from grader.calling.masks import MASKS
from grader.calling.plan import put
from grader.convention.found import Convention
from grader.convention.trials import lengths
from grader.definition import Steps
from grader.mistakes import Mistake, combine
from grader.model import Array, Contract, Fault, Status
from grader.rehearsal import Rehearsal

# Samples in a draw: fewer than tokens, and more.
FEW, MANY = 2, 8


class Tried(NamedTuple):
    """What one mask gave: the output, else what was raised, if that is why there is none."""

    problem: Problem
    output: Array | None
    fault: Fault | None


class Asker:
    """Puts masks to one file whose layout is known, as its convention is known so far."""

    def __init__(self, convention: Convention, run: Run, seed: int, source: str) -> None:
        assert convention.match.layout is not None
        self.layout = convention.match.layout
        self.plan = convention.plan
        self.contract = convention.contract
        self.carried = list(convention.carried)
        self.run = run
        self.seed = seed
        self.source = source
        self.tried: dict[Hashable, Tried] = {}
        self.posed: dict[Hashable, Problem] = {}
        self.rehearsals: dict[int, Rehearsal] = {}
        self.fitted: dict[Hashable, bool] = {}

    def judge(self, slot: Slot, style: MaskStyle, forms: Sequence[str]) -> tuple[str, bool] | None:
        """A form of these that is right, else one that is taken, and whether it is right."""
        right = (form for form in forms if self.is_right(slot, style, form, FEW))
        taken = (form for form in forms if self.is_taken(slot, style, form))
        found = next(right, None)
        if found is not None:
            return found, True
        found = next(taken, None)
        return None if found is None else (found, False)

    def is_taken(self, slot: Slot, reading: MaskStyle, form: str) -> bool:
        """True where something of the output's shape comes back."""
        problem, output, _ = self.try_mask(slot, reading, form, FEW)
        return output is not None and output.shape == problem.truth.output.shape

    def is_right(
        self,
        slot: Slot,
        reading: MaskStyle,
        form: str,
        batch: int,
        mistakes: Sequence[Mistake] | None = None,
    ) -> bool:
        """True where this is what comes back, with the mistakes found so far or with these."""
        problem, output, _ = self.try_mask(slot, reading, form, batch)
        made = self.carried if mistakes is None else mistakes
        return output is not None and self.fits(output, problem, self.contract, made)

    def try_mask(self, slot: Slot, reading: MaskStyle, form: str, batch: int) -> Tried:
        """What a random mask of this form gives, asked once however often it is looked at."""
        key = (slot, reading, form, batch)
        if key not in self.tried:
            kind = "padding" if reading.meaning == "lengths" else "random"
            axes = " ".join(axis if axis in form else "1" for axis in "bhqk")
            problem = self.pose(self.contract, (kind, axes), batch)
            tried = replace(slot, style=replace(reading, forms=(form,)))
            # Alone, so that it is this argument that gets the mask.
            alone = [s for s in self.plan.forward if s.role not in MASKS or s == slot or s.required]
            plan = replace(self.plan, forward=put(alone, slot, tried))
            self.tried[key] = Tried(problem, *self.see(plan, problem))
        return self.tried[key]

    def pose(self, contract: Contract, mask: tuple[str, str] | None, batch: int = FEW) -> Problem:
        """A problem of the default sizes under a mask (kind, form), or under none; once."""
        key = contract, mask, batch
        if key not in self.posed:
            self.posed[key] = self._draw(contract, mask, batch)
        return self.posed[key]

    def _draw(self, contract: Contract, mask: tuple[str, str] | None, batch: int) -> Problem:
        rng = generator(self.seed, f"masks {mask}")
        has_output = "Wo" in self.layout.places
        shown = {"kind": mask[0], "form": mask[1]} if mask else None
        biases = self.layout.biases()
        sizes = replace(lengths(contract), batch=batch, kv_heads=self.layout.kv_heads)
        return draw(rng, contract, sizes, biases, has_output, mask=shown)

    def observe(self, plan: CallPlan, problem: Problem) -> Array | None:
        """The output under this plan; None where the file raised."""
        return self.see(plan, problem)[0]

    def see(self, plan: CallPlan, problem: Problem) -> tuple[Array | None, Fault | None]:
        """The output under this plan, else what was raised, if that is why there is none."""
        bench = Bench(self.contract, plan, self.run, self.layout, self.seed)
        seen = bench.run(bench.probe(problem))
        return bench.answer(seen).output if seen.status is Status.OK else None, seen.fault

    def fits(
        self, output: Array, problem: Problem, contract: Contract, mistakes: Sequence[Mistake]
    ) -> bool:
        """Right in every row that sees something; the others are a question of their own."""
        steps = combine(mistakes, right_steps(contract))
        # Booleans and numbers that mean the same give the same.
        key = id(problem), output.shape, output.tobytes(), contract, steps
        if key not in self.fitted:
            self.fitted[key] = self._fits(output, problem, contract, steps)
        return self.fitted[key]

    def _fits(self, output: Array, problem: Problem, contract: Contract, steps: Steps) -> bool:
        seen = visibility(contract, problem.sizes, problem.mask)
        expected = self._rehearsed(problem).play(steps, seen)
        if output.shape != expected.shape:
            return False
        alive = slice(None) if seen is None else np.all(seen.any(axis=-1), axis=1)
        return agrees(output[alive], expected[alive])

    def _rehearsed(self, problem: Problem) -> Rehearsal:
        """What is known of it by now: every reading of a mask is held against the same problem."""
        if id(problem) not in self.rehearsals:
            self.rehearsals[id(problem)] = problem.rehearse()
        return self.rehearsals[id(problem)]
