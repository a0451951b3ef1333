"""Names a wrong output: the known mistakes that give it, and give all else that is asked.

One problem is little evidence: a mistake that fits it is named only if it also foretells what the
module returns for further problems, of other sizes and without the mask. What fits equally well
after that is named with it.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from grader.bank.bench import Bench, agrees
from grader.bank.draw import visibility
from grader.bank.masks import Sizes
from grader.bank.problem import Problem
from grader.calling import NotOfferedError
from grader.calling.masks import MASKS
from grader.layout import Layout
from grader.mistakes import (
    CATALOGUE,
    FAINT,
    Mistake,
    are_compatible,
    known_for,
    pairs_of,
    ways_of,
)
from grader.model import Array, Case, Status
from grader.rehearsal import Rehearsal

# The part of a small difference that may stay unexplained.
LEFT_OVER = 0.02
# Sizes that no problem of the bank has, all different.
OTHER = {"batch": 3, "q_len": 7, "kv_len": 8, "d_model": 22, "num_heads": 2}
USUAL: dict[str, int] = {}
# With queries and keys exchanged these are one function, until there is a mask.
EXCHANGED, TURNED = "softmax-over-queries", "weights-transposed"
# Without a mask to be given, these are mistakes in the causal one, which have names of their own.
OF_MASKS = ("mask-ignored", "mask-transposed", "mask-shifted")


def explain(bench: Bench, case: Case, problem: Problem, output: Array) -> Mistake | None:
    """The known mistake that, together with those carried, gives this output.

    Of several carried ones, the one that this case's area pays for. New ones are looked for only
    where the problem tells mistakes apart.
    """
    if bench.carried and agrees(output, problem.foretell(bench.steps(bench.carried))):
        paid = [mistake for mistake in bench.carried if case.area in mistake.areas]
        return (paid or bench.carried)[-1]
    if not problem.tells_apart():
        return None
    if _foretells(bench, problem, output, ()):
        # Wrong in something else than the output, or by very little.
        return _explain_little(bench, problem, output)
    found = _confirm(bench, problem, _fitting(bench, problem, output, _possible(bench, problem)))
    if not found:
        found = _confirm(bench, problem, _fitting(bench, problem, output, _pairs(bench, problem)))
    if not found:
        bench.remembered[_kind(bench, problem)] = "unexplained"
        return None
    first = found[0]
    if len(first) == 1:
        others = dict.fromkeys(way.id for [way] in found if way.id != first[0].id)
        bench.alternatives[first[0].id] = tuple(others)
    bench.carried.extend(first)
    return first[0]


def _explain_little(bench: Bench, problem: Problem, output: Array) -> Mistake | None:
    """A mistake that makes so little difference that it has to account for nearly all of it."""
    further = bench.remember(("little",), partial(_answer_plainly, bench, problem))
    if bench.carried or further is None:
        return None
    for way in FAINT:
        if all(_accounts(bench, way, *one) for one in ((problem, output), further)):
            bench.carried.append(way)
            return way
    return None


def _answer_plainly(bench: Bench, problem: Problem) -> tuple[Problem, Array] | None:
    answers = ((posed, _answer(bench, posed)) for posed in _plain(bench, problem))
    return next(((posed, output) for posed, output in answers if output is not None), None)


def _accounts(bench: Bench, way: Mistake, problem: Problem, output: Array) -> bool:
    right, wrong = (problem.foretell(bench.steps(made)) for made in ([], [way]))
    off = np.abs(output - right).max()
    return bool(off > 0.0 and np.abs(output - wrong).max() <= LEFT_OVER * off)


def revise(bench: Bench, problem: Problem, output: Array) -> None:
    """Carry a mistake by another of its ways, where that gives this output and the known does not.

    What a wrong softmax does to hidden scores, say, does not show before there is a mask.
    """
    if not bench.carried or agrees(output, problem.foretell(bench.steps(bench.carried))):
        return
    for at, made in enumerate(bench.carried):
        for way in ways_of(made.id, bench.contract):
            trial = [*bench.carried[:at], way, *bench.carried[at + 1 :]]
            if agrees(output, problem.foretell(bench.steps(trial))):
                bench.carried[at] = way
                return


def weigh(bench: Bench) -> None:
    """Look again at the mistake that came with the layout, which was found without any mask.

    If another explains what comes back under a mask as well, and this one does not, it is that.
    """
    if len(bench.carried) != 1 or bench.layout is None:
        return
    made = bench.carried.pop()
    if made.id == EXCHANGED:
        made = _exchange(bench, bench.layout, made)
    everything = [[made], *([way] for way in _suspects(bench))]
    fitting = _check(bench, "weigh plain", _plain(bench, None), everything)
    # Where nothing came back, nothing is known but what the layout told.
    suspects = [[made]] if not fitting or fitting is everything else fitting
    shown = _check(bench, "weigh shown", _shown(bench, None), suspects)
    # Where no mask was given, those of masks fit whatever came back.
    suspects = shown or [[way] for [way] in suspects if way is made or way.is_structural]
    names = list(dict.fromkeys(way.id for [way] in suspects))
    bench.carried.append(suspects[0][0])
    bench.alternatives[names[0]] = tuple(names[1:])


def _exchange(bench: Bench, layout: Layout, made: Mistake) -> Mistake:
    """Take queries for keys and keys for queries, if a mask is explained so and not otherwise."""
    ways = [[way] for way in CATALOGUE[EXCHANGED].ways()]
    if _check(bench, "as found", _shown(bench, None), ways):
        return made
    turned = CATALOGUE[TURNED]
    bench.layout = layout.exchanged()
    if _check(bench, "exchanged", _shown(bench, None), [[turned]]):
        return turned
    bench.layout = layout
    return made


def _suspects(bench: Bench) -> Iterator[Mistake]:
    masks = any(slot.role in MASKS for slot in bench.plan.forward)
    for mistake in known_for(bench.contract):
        if mistake.id in OF_MASKS and not masks:
            continue
        for way in mistake.ways():
            if are_compatible(bench.carried, way):
                yield way


def _possible(bench: Bench, problem: Problem) -> list[list[Mistake]]:
    """Each way to make one more mistake.

    After a problem of this kind that none explained, only those that explain what comes back for
    the further problems of that kind: no other is named in the end.
    """
    singles = [[way] for way in _suspects(bench)]
    kind = _kind(bench, problem)
    if kind not in bench.remembered:
        return singles
    return bench.remember((*kind, "possible"), partial(_foretelling, bench, problem, singles))


def _kind(bench: Bench, problem: Problem) -> tuple[Hashable, ...]:
    """The same for problems whose mistakes are confirmed by the same further ones."""
    form = None if problem.mask is None else tuple(_likeness(bench, problem).values())
    carried = tuple(mistake.id for mistake in bench.carried)
    return "kind", form, problem.sizes.q_len == problem.sizes.kv_len, carried


def _pairs(bench: Bench, problem: Problem) -> Iterator[list[Mistake]]:
    """Two mistakes of masks at once, looked for once a file.

    Others that are made at once were found with the layout.
    """
    if problem.mask is None or "pairs" in bench.remembered:
        return
    bench.remembered["pairs"] = True
    known = (mistake for mistake in known_for(bench.contract) if not mistake.is_structural)
    yield from pairs_of(known, bench.carried)


def _fitting(
    bench: Bench, problem: Problem, output: Array, suspects: Iterable[list[Mistake]]
) -> list[list[Mistake]]:
    known = problem.rehearse()
    return [made for made in suspects if _foretells(bench, problem, output, made, known)]


def _foretells(
    bench: Bench,
    problem: Problem,
    output: Array,
    made: Sequence[Mistake],
    known: Rehearsal | None = None,
) -> bool:
    return agrees(output, problem.foretell(bench.steps([*bench.carried, *made]), known))


def _confirm(bench: Bench, problem: Problem, suspects: list[list[Mistake]]) -> list[list[Mistake]]:
    """Those that also foretell what comes back for other problems."""
    suspects = _foretelling(bench, problem, suspects)
    if suspects and problem.mask is not None:
        # What is done with empty rows may be a matter apart, and then nothing fits here.
        told = _check(bench, "telling", _telling(bench, problem), suspects)
        return told or suspects
    return suspects


def _foretelling(
    bench: Bench, problem: Problem, suspects: list[list[Mistake]]
) -> list[list[Mistake]]:
    """By one without a mask, and one with a mask of the same form if there is one."""
    poses = [_plain] if problem.mask is None else [_plain, _masked]
    for pose in poses:
        suspects = _check(bench, pose.__name__, pose(bench, problem), suspects)
    return suspects


def _check(
    bench: Bench, name: str, problems: Iterable[Problem], suspects: list[list[Mistake]]
) -> list[list[Mistake]]:
    """By the first of these problems that the module can answer; all stay where it can none."""
    if not suspects:
        return suspects
    for number, posed in enumerate(problems):
        shape = None if posed.mask is None else posed.mask.shape
        output = bench.remember((name, number, shape), partial(_answer, bench, posed))
        if output is not None:
            return _fitting(bench, posed, output, suspects)
    return suspects


def _answer(bench: Bench, problem: Problem) -> Array | None:
    try:
        seen = bench.run(bench.probe(problem))
    except NotOfferedError:
        return None
    return bench.answer(seen).output if seen.status is Status.OK else None


def _plain(bench: Bench, problem: Problem | None) -> Iterator[Problem]:
    """No mask; of one length where the problem is, since an edge may stand at either end of two."""
    is_square = problem is not None and problem.sizes.q_len == problem.sizes.kv_len
    for sizes in (OTHER, USUAL):
        length = sizes.get("q_len", Sizes.q_len)
        yield bench.draw("confirm", {**sizes, "kv_len": length} if is_square else sizes)


def _shown(bench: Bench, problem: Problem | None) -> Iterator[Problem]:
    """Some mask, where nothing is known of what is taken."""
    padding = {"kind": "padding", "form": "b k"}
    between = {"kind": "random", "form": "b 1 q k"}
    mask = padding if bench.contract.mask == "padding" else between
    for sizes in (OTHER, USUAL):
        yield bench.draw("confirm shown", sizes, mask=mask)


def _masked(bench: Bench, problem: Problem) -> Iterator[Problem]:
    """A mask of the same form, with other holes."""
    for sizes in (OTHER, USUAL):
        yield bench.draw("confirm masked", sizes, mask=_likeness(bench, problem))


def _telling(bench: Bench, problem: Problem) -> Iterator[Problem]:
    """The same where the first sample sees everything, and the last key is hidden from the rest."""
    # Between queries and keys, if the file takes such a mask.
    wide = {"kind": "random", "form": "b 1 q k"}
    forms = [wide] if bench.contract.mask == "attention" else []
    for mask in [*forms, _likeness(bench, problem)]:
        posed = bench.draw("confirm telling", OTHER, mask=mask)
        assert posed.mask is not None
        mask = posed.mask.copy()
        mask[:1], mask[1:, ..., -1] = True, False
        yield replace(posed, mask=mask, visible=visibility(bench.contract, posed.sizes, mask))


def _likeness(bench: Bench, problem: Problem) -> dict[str, str]:
    assert problem.mask is not None
    if bench.contract.mask == "padding":
        return {"kind": "padding", "form": "b k"}
    axes = "bhqk"[-problem.mask.ndim :]
    form = " ".join(a if n > 1 else "1" for a, n in zip(axes, problem.mask.shape))
    padded = form.split() in (["b", "1", "1", "k"], ["b", "1", "k"], ["b", "k"])
    return {"kind": "padding" if padded else "random", "form": form}
