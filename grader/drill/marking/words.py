"""Text as words that can be compared: one form for each, and the place that it came from."""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).resolve().parent
WORD = re.compile(
    r"[a-z]+(?:'[a-z]+)?(?:_\{?[a-z0-9]+\}?)*|\d+(?:,\d{3})+(?!\d)|\d+(?:\.\d+)?(?:e[+-]?\d+)?"
    r"|\*\*|\S|\n"
)
# Speech that was transcribed has no full stops: after so many words a new sentence begins.
LONGEST_SENTENCE = 80
# What ends a sentence; a full stop does so only at the end of a word.
STOPS = frozenset("!?;。\n")
# What says nothing by itself: punctuation, articles, and Chinese particles.
EMPTY = frozenset("\"'“”‘’`,:()[]{}《》、_*×·\\$.…") | {"the", "a", "an", "的", "了", "个"}
SUPERSCRIPTS = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-"))
QUOTES = dict.fromkeys("’‘＇", "'")


@dataclass(frozen=True)
class Word:
    """One word: as written in small letters, its stem, and where it stands in the text."""

    raw: str
    stem: str
    start: int
    end: int
    sentence: int = 0
    clause: int = 0


def read_yaml(path: Path) -> Any:
    """The contents of a data file."""
    return yaml.load(path.read_bytes(), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))


def split_words(text: str) -> list[Word]:
    """The words of a text in order, the ways of writing one thing made one."""
    return _respell(list(_words(text)))


def stem(word: str) -> str:
    """The word without its ending: scales, scaled and scaling are one."""
    if len(word) <= 3 or not word.isascii() or not word.isalpha():
        return word
    found = word.replace("iz", "is") if len(word) > 5 else word
    found = _without_ending(found)
    if found.endswith("e") and len(found) > 3:
        found = found[:-1]
    if len(found) > 3 and found[-1] == found[-2]:
        found = found[:-1]
    return found


def _without_ending(word: str) -> str:
    for ending, least in (("ies", 5), ("ied", 5)):
        if word.endswith(ending) and len(word) >= least:
            return word[:-3] + "y"
    for ending, least in (("ing", 6), ("ed", 5), ("ly", 6)):
        if word.endswith(ending) and len(word) >= least:
            return word[: -len(ending)]
    if word.endswith(("ses", "xes", "zes", "ches", "shes")) and len(word) > 4:
        return word[:-2]
    return word[:-1] if word.endswith("s") and word[-2] not in "suia" else word


def _words(text: str) -> Iterator[Word]:
    plain, places = _plain(text)
    sentence = clause = length = 0
    before = ""
    for found in WORD.finditer(plain):
        token = found.group()
        start, end = places[found.start()], places[found.end() - 1] + 1
        is_stop = token in STOPS or (token == "." and _ends_sentence(plain, found.end()))
        if is_stop or length >= LONGEST_SENTENCE:
            sentence, clause, length = sentence + 1, clause + 1, 0
        elif token in ",:、":
            clause += 1
        if not (is_stop or token in EMPTY or (token == "-" and _joins(plain, found.start()))):
            for part in _parts(token):
                if not (part == "x" and _is_axis(before) and _axis_follows(plain, found.end())):
                    yield Word(part, stem(part), start, end, sentence, clause)
                before, length = part, length + 1


def _plain(text: str) -> tuple[str, list[int]]:
    """Small letters of normal width, and for each the place in the text that it came from."""
    letters, places = [], []
    for place, character in enumerate(text):
        if character in SUPERSCRIPTS:
            # A power, unless it goes on: 10⁻⁵ has one sign of it.
            sign = "" if place and text[place - 1] in SUPERSCRIPTS else "^"
            shown = sign + SUPERSCRIPTS[character]
        elif unicodedata.category(character) in ("Cf", "Mn", "Cs"):
            continue
        else:
            # A few single characters stand for whole sentences: no more than a ligature's share.
            shown = unicodedata.normalize("NFKC", QUOTES.get(character, character)).lower()[:4]
        letters.append(shown)
        places.extend([place] * len(shown))
    return "".join(letters), places


def _ends_sentence(plain: str, end: int) -> bool:
    return end == len(plain) or plain[end].isspace() or not plain[end].isascii()


def _joins(plain: str, start: int) -> bool:
    """True of the hyphen in non-linear, not of a minus sign."""
    around = plain[max(start - 1, 0) : start] + plain[start + 1 : start + 2]
    return len(around) == 2 and around.isalpha()


def _parts(token: str) -> list[str]:
    """masked_fill is two words, d_k one; a number has no commas."""
    if token == "**":
        return ["^"]
    if token[0].isdigit():
        return [token.replace(",", "")]
    first, *rest = (
        token.removesuffix("'s").replace("'", "").replace("{", "").replace("}", "").split("_")
    )
    return [first + rest[0], *rest[1:]] if rest and len(first) == 1 else [first, *rest]


def _is_axis(word: str) -> bool:
    return len(word) == 1 or word in ("dk", "dh", "lq", "lk", "hd")


def _axis_follows(plain: str, end: int) -> bool:
    """True before a letter that stands alone, as in b x h."""
    found = re.compile(r"\s*(?:\d|[a-z](?![a-z])|d_?[hk]|l_?[qk])").match(plain, end)
    return found is not None


@functools.cache
def _spellings() -> Mapping[str, tuple[tuple[tuple[str, ...], str], ...]]:
    """By first word: sequences of words, the longest first, and the word each is read as."""
    found: dict[str, list[tuple[tuple[str, ...], str]]] = {}
    for wanted, ways in read_yaml(FOLDER / "spellings.yaml").items():
        for way in ways:
            sequence = tuple(word.raw for word in _words(way))
            found.setdefault(sequence[0], []).append((sequence, str(wanted)))
    return {
        first: tuple(sorted(ways, key=lambda way: -len(way[0]))) for first, ways in found.items()
    }


def _respell(words: list[Word]) -> list[Word]:
    found, at = [], 0
    while at < len(words):
        sequence, wanted = _spelling_at(words, at)
        first, last = words[at], words[at + len(sequence) - 1]
        found.append(
            Word(wanted, stem(wanted), first.start, last.end, first.sentence, first.clause)
            if wanted != first.raw
            else first
        )
        at += len(sequence)
    return found


def _spelling_at(words: list[Word], at: int) -> tuple[tuple[str, ...], str]:
    for sequence, wanted in _spellings().get(words[at].raw, ()):
        there = words[at : at + len(sequence)]
        if tuple(word.raw for word in there) == sequence:
            return sequence, wanted
    return (words[at].raw,), words[at].raw
