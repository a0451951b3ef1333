"""The readings and forms of masks, and the kinds of them that a file tells apart."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from grader.calling import MaskStyle, Slot
from grader.calling.told_apart import tell_apart
from grader.convention.asking import FEW, Asker
from grader.convention.refusing import names_outright, refuses

READINGS = (
    MaskStyle("visible", "bool"),
    MaskStyle("hidden", "bool"),
    MaskStyle("visible", "int64"),
    MaskStyle("hidden", "int64"),
    MaskStyle("additive", "float"),
    MaskStyle("visible", "float"),
    MaskStyle("hidden", "float"),
)
BETWEEN = ("b 1 q k", "q k", "1 1 q k", "b q k", "1 q k", "b h q k")
PADDING = ("b k", "b 1 1 k", "b 1 k")
FORMS = {"mask": (*BETWEEN, *PADDING), "padding": (*PADDING, *BETWEEN)}
# Where the sequence comes first, the batch may come last in the mask as well.
SEQUENCE_FIRST = "l b m"
BATCH_LAST = ("q k b", "q k 1", "1 k b")
# Scores folded for torch.bmm take masks folded the same way, by sample or by head; and a mask may
# be one for each head, whatever the sample.
RARER = ("bh q k", "bh 1 k", "hb q k", "hb 1 k", "h q k")

SINGLE = re.compile(r"\.dtype\s*(==|is|in)\s*[(\[{]?\s*torch\.float(32)?\b")


class KindReader(Asker):
    """Tries the kinds of masks that a file asks for by itself: those it has to get right."""

    def forms_of(self, slot: Slot, reading: MaskStyle) -> tuple[str, ...]:
        """The forms to try, the likeliest first."""
        last = BATCH_LAST if self.plan.axes == SEQUENCE_FIRST else ()
        return reading.forms or (*FORMS[slot.role], *last)

    def tell_apart(self, slot: Slot, style: MaskStyle) -> Iterator[MaskStyle]:
        """The kinds that the source asks for: a right form of each, else one that it fails."""
        if style.meaning == "lengths":
            return
        masks = [s for s in self.plan.forward if s.role in FORMS]
        asked = tell_apart(self.source, slot.name, len(masks) == 1)
        for rank in asked.ranks:
            yield from self._of_rank(slot, style, rank, bool(asked.dtypes))
        if asked.dtypes:
            kinds = [_as_asked(one, self.source) for one in _of_others(style, "bool")]
            yield from self._of_dtype(slot, style, kinds, asked.dtypes)
        if style.dtype == "int64" and names_outright(self.source, "bool", asked.dtypes):
            booleans = [one for one in READINGS if one.dtype == "bool"]
            yield from self._of_dtype(slot, style, booleans, asked.dtypes)

    def _of_rank(
        self, slot: Slot, style: MaskStyle, rank: int, by_dtype: bool
    ) -> Iterator[MaskStyle]:
        every = (*self.forms_of(slot, replace(style, forms=())), *RARER)
        forms = [form for form in every if len(form.split()) == rank]
        # What is right for a mask that all samples share says nothing of masks of their own.
        own = [form for form in forms if "b" in form]
        shared = [form for form in forms if form not in own]
        judged = [self.judge(slot, style, group) for group in (own, shared)]
        found = [one for one in judged if one]
        wrong = [form for form, right in found if not right]
        if (wrong or not found) and not by_dtype:
            # A rank may have a dtype of its own: such a file need not ask for it.
            right = self._first_right(slot, _of_others(style, "bool", "int64"), forms)
            if right is not None:
                yield right
                return
        broken = [] if found else [f for f in (*own, *shared) if not self._refuses(slot, style, f)]
        chosen = wrong or [form for form, _ in found] or broken
        yield from (replace(style, forms=(form,)) for form in chosen[:1])

    def _of_dtype(
        self, slot: Slot, style: MaskStyle, kinds: Sequence[MaskStyle], names: Collection[str]
    ) -> Iterator[MaskStyle]:
        form = style.forms[0]
        meant = [kind for kind in kinds if self.is_taken(slot, kind, form)]
        fits = [kind for kind in meant if self.is_right(slot, kind, form, FEW)]
        if not meant and not self._refuses(slot, kinds[0], form, names):
            others = self.forms_of(slot, replace(style, forms=()))
            right = self._first_right(slot, kinds, [*style.forms, *others, *RARER])
            if right is not None or not self._is_for_integers(slot, kinds[0], form, names):
                yield right or replace(kinds[0], forms=(form,))
        yield from (replace(kind, forms=(form,)) for kind in (fits or meant)[:1])

    def _first_right(
        self, slot: Slot, kinds: Iterable[MaskStyle], forms: Sequence[str]
    ) -> MaskStyle | None:
        tried = (replace(kind, forms=(form,)) for form in forms for kind in kinds)
        return next((one for one in tried if self.is_right(slot, one, one.forms[0], FEW)), None)

    def _refuses(self, slot: Slot, kind: MaskStyle, form: str, names: Collection[str] = ()) -> bool:
        fault = self.try_mask(slot, kind, form, FEW).fault
        return refuses(self.source, fault, kind.dtype, names)

    def _is_for_integers(
        self, slot: Slot, kind: MaskStyle, form: str, names: Collection[str]
    ) -> bool:
        """True where what is done to all dtypes but one is meant, and right, for integers."""
        if names_outright(self.source, kind.dtype, names):
            return False
        integers = [reading for reading in READINGS if reading.dtype == "int64"]
        return self._first_right(slot, integers, [form]) is not None


def _of_others(style: MaskStyle, *instead: str) -> list[MaskStyle]:
    """Readings of floats for booleans and integers, and of these dtypes instead of floats.

    Of each dtype what is meant first where a file tells them apart: of floats, what is added.
    """
    wanted = instead if style.dtype == "float" else ("float",)
    return [one for one in READINGS if one.dtype in wanted]


def _as_asked(reading: MaskStyle, source: str) -> MaskStyle:
    """In float32 where that is what the source asks for: in another, its branch is not taken."""
    single = reading.dtype == "float" and SINGLE.search(source)
    return replace(reading, dtype="float32") if single else reading
