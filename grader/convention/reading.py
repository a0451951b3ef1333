"""Reads one mask argument: what it means, and in which shapes it is taken."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace

from grader.calling import MaskStyle, Slot
from grader.calling.masks import axes_in
from grader.calling.plan import put
from grader.convention.asking import FEW, MANY
from grader.convention.kinds import RARER, READINGS, KindReader
from grader.mistakes import CATALOGUE, Mistake, are_compatible, known_for

# What is a mistake under a contract that says how a mask is read, and a reading where none does.
CONVENTIONAL = ("mask-inverted", "mask-filled-with-plus")


class Reader(KindReader):
    """Tries the readings of masks, and the known mistakes of masks, on one file."""

    def read_rightly(self, slot: Slot) -> MaskStyle | None:
        """The first reading that is right, with the kinds of masks that the source tells apart."""
        style = self._read(slot) or self._read_padded(slot)
        if style is None:
            return None
        return replace(style, also=tuple(self.tell_apart(slot, style)))

    def _read(self, slot: Slot) -> MaskStyle | None:
        """The first reading that is right, with every form in which it is."""
        rarer = slot.style.forms or RARER
        for reading in _readings(slot):
            forms = self.forms_of(slot, reading)
            fits = self._fit(slot, reading, forms)
            if fits:
                wrong = self._read_first_sample(slot, reading, set(forms) - set(fits))
                whole = any({"b", "q"} <= axes_in(form) for form in fits)
                more = () if whole else self._fit(slot, reading, rarer)
                return replace(reading, forms=tuple(dict.fromkeys((*wrong, *fits, *more))))
        styles = (replace(r, forms=self._fit(slot, r, rarer)) for r in _readings(slot))
        return next((style for style in styles if style.forms), None)

    def _fit(self, slot: Slot, reading: MaskStyle, forms: Sequence[str]) -> tuple[str, ...]:
        """Those of these forms in which a reading is right."""
        fits = tuple(form for form in forms if self.is_right(slot, reading, form, FEW))
        # With more samples than tokens, a form that was only taken by chance is not.
        firm = tuple(form for form in fits if self.is_right(slot, reading, form, MANY))
        return firm or fits

    def _read_padded(self, slot: Slot) -> MaskStyle | None:
        """The first reading that is right if padded queries, too, are kept from seeing anything."""
        plain = self.contract
        if len(plain.inputs) > 1 or plain.padded:
            return None
        for padded, uniform in (("blank", False), ("hidden", False), ("hidden", True)):
            self.contract = replace(plain, padded=padded, uniform_dead_rows=uniform)
            style = self._read(slot)
            if style is not None and all(_is_padding(form) for form in style.forms):
                return style
        self.contract = plain
        return None

    def _read_first_sample(
        self, slot: Slot, reading: MaskStyle, others: set[str]
    ) -> tuple[str, ...]:
        """A form that says something of each sample, of which the first sample's is used for all.

        That it is right for masks that all samples share makes it no convention; where it is right
        for some that differ, the first sample's may be the same by chance.
        """
        mistake = CATALOGUE["mask-of-first-sample"]
        for form in sorted(form for form in others if "b" in form):
            if self.is_right(slot, reading, form, FEW):
                continue
            if self.is_right(slot, reading, form, FEW, [*self.carried, mistake]):
                self.carried.append(mistake)
                return (form,)
        return ()

    def read_wrongly(self, slot: Slot, among: Sequence[str] = ()) -> MaskStyle | None:
        """The first reading under which one known mistake, of those if any, explains the output."""
        known = [one for one in self._known() if not among or one.id in among]
        # What different readings give is often the same, and then nothing new.
        hopeless: set[Hashable] = set()
        for reading in _readings(slot):
            for form in self.forms_of(slot, reading):
                problem, output, _ = self.try_mask(slot, reading, form, FEW)
                told = None if output is None else (id(problem), output.tobytes())
                if told is None or told in hopeless:
                    continue
                fits = [one for one in known if self._makes(slot, reading, form, FEW, one)]
                if not fits:
                    hopeless.add(told)
                # On a second draw as well: one may fit by chance.
                firm = (one for one in fits if self._makes(slot, reading, form, MANY, one))
                mistake = next(firm, None)
                if mistake is not None:
                    self.carried.append(mistake)
                    return replace(reading, forms=(form,))
        return None

    def _makes(
        self, slot: Slot, reading: MaskStyle, form: str, batch: int, mistake: Mistake
    ) -> bool:
        return self.is_right(slot, reading, form, batch, [*self.carried, mistake])

    def read_at_all(self, slot: Slot) -> MaskStyle | None:
        """The first reading that is taken, whatever comes of it."""
        for reading in _readings(slot):
            for form in self.forms_of(slot, reading):
                if self.try_mask(slot, reading, form, FEW).output is not None:
                    return replace(reading, forms=(form,))
        return None

    def _known(self) -> Iterator[Mistake]:
        """Mistakes of masks, by each way to make them. An inverted one is a convention here."""
        for mistake in known_for(self.contract):
            if mistake.is_structural or mistake.id in CONVENTIONAL:
                continue
            if are_compatible(self.carried, mistake):
                yield from mistake.ways()

    def settle(self, slot: Slot, style: MaskStyle) -> None:
        """Have the plan give this argument masks of this style."""
        settled = replace(slot, style=style)
        self.plan = replace(self.plan, forward=put(self.plan.forward, slot, settled))


def _is_padding(form: str) -> bool:
    return "b" in form and "q" not in form


def _readings(slot: Slot) -> Sequence[MaskStyle]:
    return (slot.style,) if slot.style.meaning == "lengths" else READINGS
