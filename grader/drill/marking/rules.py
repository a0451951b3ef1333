"""Rules: what has to stand close together in an answer for a point to be made.

A rule is one line: `variance|方差 + $hd` asks for one word of each part, in any order, within two
sentences that follow each other. A part that begins with `!` must not stand there. A word stands
for its endings too, `saturat*` for whatever begins so, `a .. b` for both in this order with at most
five words between; `$name` is a line of lexicon.yaml.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from grader.drill.marking.answer import Answer
from grader.drill.marking.words import FOLDER, Word, read_yaml, split_words

GAP = 5
ANY = ".."


@dataclass(frozen=True)
class Term:
    """Words in a row; None stands for a gap, a word with a `*` for its beginning."""

    forms: tuple[str | None, ...]


@dataclass(frozen=True)
class Rule:
    """Parts that must all stand there, each as one of its terms; and terms that must not."""

    parts: tuple[tuple[Term, ...], ...]
    absent: tuple[Term, ...] = ()


@dataclass(frozen=True)
class Hit:
    """A term found: where its words stand; what fills a gap is none of them."""

    places: tuple[int, ...]


def parse_rule(line: str) -> Rule:
    """A rule from its line; raises KeyError for a $name that the lexicon lacks.

    Raises ValueError for a term without words.
    """
    parts = [part.strip() for part in line.split(" + ")]
    absent = [term for part in parts if part.startswith("!") for term in _terms(part[1:])]
    wanted = [tuple(_terms(part)) for part in parts if not part.startswith("!")]
    return Rule(tuple(wanted), tuple(absent))


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
            if not _is_denied(answer, hits):
                return _quotes(answer, hits)
    return ()


def _terms(part: str) -> Iterator[Term]:
    for way in part.split("|"):
        way = way.strip()
        if way.startswith("$"):
            yield from _terms(_lexicon()[way[1:]])
        else:
            forms = tuple(_forms(way))
            if not forms or forms[0] is None:
                raise ValueError(f"a term without words in {part!r}")
            yield Term(forms)


def _forms(way: str) -> Iterator[str | None]:
    for at, stretch in enumerate(way.split(ANY)):
        if at:
            yield None
        for piece in re.split(r"(\S+\*)", stretch):
            if piece.endswith("*") and piece != "*":
                yield piece.lower()
            else:
                yield from (word.stem for word in split_words(piece))


@functools.cache
def _lexicon() -> dict[str, str]:
    found: dict[str, str] = read_yaml(FOLDER / "lexicon.yaml")
    return found


def _meetings(answer: Answer, rule: Rule, reach: int) -> Iterator[tuple[Hit, ...]]:
    """One hit of each part wherever all meet within a sentence and `reach` more."""
    found = [_by_sentence(answer, part) for part in rule.parts]
    absent = _by_sentence(answer, rule.absent)
    for sentence in sorted({place for there in found for place in there}):
        near = range(sentence, sentence + reach + 1)
        hits = [next((there[one] for one in near if one in there), None) for there in found]
        if all(hits) and not any(one in absent for one in near):
            yield tuple(hit for hit in hits if hit is not None)


def _by_sentence(answer: Answer, terms: Sequence[Term]) -> dict[int, Hit]:
    """For each sentence the first hit of any of the terms."""
    found: dict[int, Hit] = {}
    for term in terms:
        for hit in _hits(answer, term):
            found.setdefault(answer.words[hit.places[0]].sentence, hit)
    return found


def _hits(answer: Answer, term: Term) -> Iterator[Hit]:
    first, *rest = term.forms
    for place in _starts(answer, first or ""):
        places = _follow(answer.words, place, rest)
        if places:
            yield Hit(places)


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


def _follow(
    words: Sequence[Word], place: int, forms: Sequence[str | None]
) -> tuple[int, ...] | None:
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
    ordered = sorted({(hit.places[0], hit.places[-1]) for hit in hits})
    return tuple(dict.fromkeys(answer.quote(first, last) for first, last in ordered))


def _is_denied(answer: Answer, hits: Sequence[Hit]) -> bool:
    own = {place for hit in hits for place in hit.places}
    words = answer.words
    sentence = words[min(own)].sentence
    clauses = {words[place].clause for place in own}
    before = range(max(min(own) - 40, 0), max(own))
    negated = (
        place
        for place in before
        if words[place].clause in clauses
        and place not in own
        and _begins(words, place, "negations")
    )
    return next(negated, None) is not None or _is_refuted(words, sentence, own)


def _is_refuted(words: Sequence[Word], sentence: int, own: set[int]) -> bool:
    """True where the sentence, or the next if it speaks of this one, calls it wrong."""
    first, last = min(own), max(own)
    while first and words[first - 1].sentence == sentence:
        first -= 1
    while last + 1 < len(words) and words[last + 1].sentence == sentence:
        last += 1
    following = last + 1
    if following < len(words) and _begins(words, following, "pointers"):
        last = min(following + 8, len(words) - 1)
    places = (place for place in range(first, last + 1) if place not in own)
    return any(_begins(words, place, "refutations") for place in places)


def _begins(words: Sequence[Word], place: int, kind: str) -> bool:
    return any(
        tuple(word.raw for word in words[place : place + len(way)]) == way for way in _doubts(kind)
    )


@functools.cache
def _doubts(kind: str) -> tuple[tuple[str, ...], ...]:
    ways = read_yaml(FOLDER / "doubts.yaml")[kind]
    return tuple(tuple(word.raw for word in split_words(way)) for way in ways)
