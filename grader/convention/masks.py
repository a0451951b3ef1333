"""Finds what a file's masks mean, which shapes it takes, and what a row that sees nothing gives."""

from __future__ import annotations

from dataclasses import replace

from grader.bank.bench import Run, agrees
from grader.bank.draw import right_steps
from grader.calling import NotOfferedError, Slot
from grader.calling.masks import MASKS
from grader.calling.plan import PERHAPS, SPARE, put
from grader.calling.told_apart import is_written_as_mask
from grader.convention.found import Convention
from grader.convention.kinds import FORMS
from grader.convention.reading import Reader
from grader.mistakes import CATALOGUE, combine
from grader.variations import UNKNOWN

DEAD = (("dead", "b 1 q k"), ("dead-padding", "b 1 1 k"), ("dead", "q k"))


def find_masks(
    convention: Convention, run: Run, seed: int, source: str, promised: bool = False
) -> Convention:
    """The convention with each mask argument's style, a causal flag, and what dead rows give.

    `promised` says that by its name the class is causal.
    """
    if convention.match.layout is None or convention.contract.positions == UNKNOWN:
        return _unmasked(convention)
    finder = Finder(convention, run, seed, source)
    for slot in convention.plan.forward:
        if slot.role in FORMS:
            finder.find_style(finder.exchange(slot))
    finder.add_spare()
    for slot in convention.plan.forward:
        if slot.role == PERHAPS:
            finder.try_as_mask(slot)
    for slot in convention.plan.forward:
        if slot.role == "flag":
            finder.try_flag(slot)
    if promised:
        finder.keep_promise()
    finder.find_dead_rows()
    match = replace(convention.match, contract=finder.contract)
    return Convention(finder.plan, match, tuple(finder.carried))


# What only masks are taken for: a factor or a bias, or what is never read, is told by others.
MISREAD = (
    *("mask-transposed", "mask-shifted", "mask-of-first-sample", "mask-of-first-head"),
    *("mask-in-order-of-heads", "mask-in-order-of-samples", "padding-on-query-axis"),
    *("masks-joined-by-or", "causal-overwritten"),
)


class Finder(Reader):
    """Tries masks on one file whose layout is known."""

    def find_style(self, slot: Slot) -> None:
        """Settle what one mask argument means and which forms it takes."""
        style = self.read_rightly(slot) or self.read_wrongly(slot) or self.read_at_all(slot)
        # What nothing explains is given as an exercise would, and judged by what comes back.
        self.settle(slot, style or replace(slot.style, forms=FORMS[slot.role][:1]))

    def exchange(self, slot: Slot) -> Slot:
        """The mask of this role to judge: one that is read rightly, where there are several.

        Beside a context, what is called mask may be about the queries alone, or never be read.
        """
        if slot.required or not self._spare() or self._is_read(slot):
            return slot
        before = self.plan
        for other in self._spare():
            taken = replace(other, role=slot.role)
            forward = put(before.forward, slot, replace(slot, role=SPARE + slot.role))
            self.plan = replace(before, forward=put(forward, other, taken))
            if self._is_read(taken):
                return taken
        self.plan = before
        return slot

    def add_spare(self) -> None:
        """Use a second mask where one of the two is about keys and the other about pairs."""
        masks = [slot for slot in self.plan.forward if slot.role in FORMS]
        if len(masks) != 1 or not masks[0].style.forms:
            return
        before, first = self.plan, masks[0]
        mine, its = MASKS if before.masks_between else reversed(MASKS)
        for other in self._spare():
            added = replace(other, role=its)
            forward = put(before.forward, first, replace(first, role=mine))
            self.plan = replace(before, forward=put(forward, other, added))
            style = self.read_rightly(added) if self._is_read(added) else None
            if style and any("q" in form for form in style.forms) == (its == "mask"):
                self.settle(added, style)
                return
        self.plan = before

    def _is_read(self, slot: Slot) -> bool:
        """True where the argument is read rightly; nothing that was found meanwhile is kept."""
        contract, carried = self.contract, list(self.carried)
        style = self.read_rightly(slot)
        self.contract, self.carried = contract, carried
        return style is not None

    def _spare(self) -> list[Slot]:
        return [slot for slot in self.plan.forward if slot.role.startswith(SPARE)]

    def try_as_mask(self, slot: Slot) -> None:
        """One whose name says nothing is a mask if it is read, misread or written as one."""
        if any(other.role in FORMS for other in self.plan.forward):
            return
        before = self.plan
        mask = replace(slot, role="mask")
        self.plan = replace(before, forward=put(before.forward, slot, mask))
        style = self.read_rightly(mask) or self.read_wrongly(mask, MISREAD)
        if style is not None:
            self.settle(mask, style)
        elif slot.name is not None and is_written_as_mask(self.source, slot.name):
            self.find_style(mask)
        else:
            self.plan = before

    def try_flag(self, slot: Slot) -> None:
        """Turn a switch for causality on, where no mask could say the same."""
        if self.contract.causal or self.plan.masks_between or not slot.value:
            return
        contract = replace(self.contract, causal=True)
        option = replace(slot, role="option")
        plan = replace(self.plan, forward=put(self.plan.forward, slot, option))
        problem = self.pose(contract, None)
        output = self.observe(plan, problem)
        right = output is not None and self.fits(output, problem, contract, self.carried)
        # Between two lengths the edge is a matter of taste; with one it is right or wrong.
        if right or len(self.contract.inputs) == 1:
            self.plan, self.contract = plan, contract

    def keep_promise(self) -> None:
        """A class that calls itself causal has to be, unless a mask or a switch can make it so."""
        between = self.plan.masks_between
        if len(self.contract.inputs) == 1 and not self.contract.causal and not between:
            self.contract = replace(self.contract, causal=True)
            self.carried.append(CATALOGUE["causal-mask-missing"])

    def find_dead_rows(self) -> None:
        """See whether rows that see nothing get equal weights."""
        for kind, form in DEAD:
            problem = self.pose(self.contract, (kind, form))
            try:
                output = self.observe(self.plan, problem)
            except NotOfferedError:
                continue
            uniform = replace(self.contract, uniform_dead_rows=True)
            zero, equal = (
                problem.expect(combine(self.carried, right_steps(contract))).output
                for contract in (self.contract, uniform)
            )
            if output is not None and agrees(output, equal) and not agrees(output, zero):
                self.contract = uniform
            return


def _unmasked(convention: Convention) -> Convention:
    """With masks that hide nothing: what they mean is found by values, or not at all."""
    plan = convention.plan
    forward = tuple(_opened(slot) if slot.role in FORMS else slot for slot in plan.forward)
    return replace(convention, plan=replace(plan, forward=forward))


def _opened(slot: Slot) -> Slot:
    if slot.required:
        return slot.styled(replace(slot.style, unknown=True))
    return replace(slot, role="flag")
