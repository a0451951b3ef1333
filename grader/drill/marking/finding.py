"""Where an answer has what a rule asks for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from grader.drill.marking.answer import Answer
from grader.drill.marking.denial import is_denied
from grader.drill.marking.rules import Rule, Term
from grader.drill.marking.words import Word

# Most words that a gap may hold.
GAP = 5

# A term found: where its words stand; what fills a gap is none of them.
Hit = tuple[int, ...]


def find_point(answer: Answer, rules: Sequence[Rule]) -> tuple[str, ...]:
    """The words of the answer that make the point by the first rule that fits, or none."""
    for rule in rules:
        for hits in _meetings(answer, rule, 1):
            return _quotes(answer, hits)
    return ()


def find_claim(answer: Answer, rules: Sequence[Rule]) -> tuple[str, ...]:
    """The words that state something in one sentence, where it is not denied; or none."""
    for rule in rules:
        for hits in _meetings(answer, rule, 0):
            places = {place for hit in hits for place in hit}
            if not is_denied(answer.words, places):
                return _quotes(answer, hits)
    return ()


def _meetings(answer: Answer, rule: Rule, reach: int) -> Iterator[tuple[Hit, ...]]:
    """One hit of each part wherever all meet within a sentence and `reach` more."""
    found = [_by_sentence(answer, part) for part in rule.parts]
    absent = _by_sentence(answer, rule.absent)
    for sentence in sorted({place for there in found for place in there}):
        near = range(sentence, sentence + reach + 1)
        hits = [next((there[one] for one in near if one in there), None) for there in found]
        if all(hits) and not any(one in absent for one in near):
            yield tuple(hit for hit in hits if hit)


def _by_sentence(answer: Answer, terms: Sequence[Term]) -> dict[int, Hit]:
    """For each sentence the first hit of any of the terms."""
    found: dict[int, Hit] = {}
    for term in terms:
        for hit in _hits(answer, term):
            found.setdefault(answer.words[hit[0]].sentence, hit)
    return found


def _hits(answer: Answer, term: Term) -> Iterator[Hit]:
    first, *rest = term.forms
    for place in _starts(answer, first or ""):
        places = _follow(answer.words, place, rest)
        if places:
            yield places


def _starts(answer: Answer, form: str) -> list[int]:
    if not form.endswith("*"):
        return list(answer.places.get(form, ()))
    beginning = form[:-1]
    return sorted(
        place
        for known, places in answer.places.items()
        if known.startswith(beginning)
        for place in places
    )


def _follow(words: Sequence[Word], place: int, forms: Sequence[str | None]) -> Hit | None:
    """The places of all words if the forms follow within the sentence."""
    sentence, room, places = words[place].sentence, 0, [place]
    for form in forms:
        if form is None:
            room = GAP
            continue
        ahead = range(places[-1] + 1, min(places[-1] + 2 + room, len(words)))
        there = (at for at in ahead if words[at].sentence == sentence and _is(words[at], form))
        found = next(there, None)
        if found is None:
            return None
        places.append(found)
        room = 0
    return tuple(places)


def _is(word: Word, form: str) -> bool:
    if form.endswith("*"):
        return word.raw.startswith(form[:-1])
    return form in (word.stem, word.raw)


def _quotes(answer: Answer, hits: Sequence[Hit]) -> tuple[str, ...]:
    """What was found, in the order of the answer and each stretch once."""
    ordered = sorted({(hit[0], hit[-1]) for hit in hits})
    return tuple(dict.fromkeys(answer.quote(first, last) for first, last in ordered))
