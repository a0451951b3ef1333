"""Text as words that can be compared: one form for each, and the place that it came from."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from grader.drill.marking.stem import stem

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


def cut_words(text: str) -> Iterator[Word]:
    """The words of a text in order, each as it is written."""
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
