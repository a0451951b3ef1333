"""Shapes as people write them: letters by many names, numbers, products, any kind of bracket."""

from __future__ import annotations

import math
import random
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

BOTH = {
    "B": "B b N n batch batch_size bs bsz",
    "D": "D d_model C E c e embed_dim model_dim hidden_size",
    "H": "H h heads num_heads n_heads n_head nhead",
    "Dh": "Dh dh d d_k d_v d_q dk dv d_h D_h d_head D_head head_dim dim_head head_size",
}
ONE = {"L": "L T S l t s seq seq_len length n_tokens tokens Lq Lk q_len kv_len k_len"}
TWO = {
    "Lq": "Lq lq L_q l_q L T Tq tq T_q q_len len_q query_len tgt_len target_len nq",
    "Lk": "Lk lk L_k l_k S Tk tk T_k Lkv kv_len k_len len_k key_len src_len source_len nk",
}
# Sizes at which letters are compared; Dh is always D / H.
ELSEWHERE = (
    {"B": 11, "L": 13, "Lq": 17, "Lk": 19, "H": 23, "Dh": 29},
    {"B": 31, "L": 7, "Lq": 37, "Lk": 41, "H": 5, "Dh": 43},
)
LONGEST = 200
# What may be letters run together.
RUN = re.compile(r"[A-Za-z]{2,10}")
OUTSIDE = ("torch.Size", "torch.size", "tuple", "list")
TOKEN = re.compile(r"\s*(?:(?P<number>\d{1,6})|(?P<name>[A-Za-z_]+\w*)|(?P<sign>//?|\*))")
BRACKETS = str.maketrans("[](){}【】、·×∙", "        ,***")


class Axis(NamedTuple):
    """One axis: a number, and letters with the powers in which they are multiplied."""

    number: Fraction
    letters: tuple[tuple[str, int], ...]

    def at(self, sizes: Mapping[str, int]) -> Fraction:
        """Its size where the letters have these."""
        powers = (Fraction(sizes[letter]) ** power for letter, power in self.letters)
        return self.number * math.prod(powers)

    def equals(self, other: Axis, sizes: Mapping[str, int]) -> bool:
        """True for the same at `sizes`, and, if it has letters, at all others."""
        everywhere = ELSEWHERE if self.letters else ()
        known = [sizes, *(full | {"D": full["H"] * full["Dh"]} for full in everywhere)]
        return all(self.at(one) == other.at(one) for one in known)


def draw_sizes(order: random.Random, two: bool) -> dict[str, int]:
    """Sizes no two of which are alike, nor like the 2 and 3 of what is fused."""
    batch, query, key, heads, dim = order.sample(range(4, 10), 5)
    lengths = {"Lq": query, "Lk": key} if two else {"L": query}
    return {"B": batch, **lengths, "D": heads * dim, "H": heads, "Dh": dim}


def write_axes(axes: Sequence[str]) -> str:
    """The shape as it is shown: ["B", "H*Dh"] -> "[B, H*Dh]"."""
    return f"[{', '.join(axes)}]"


def read_shape(text: str, names: Mapping[str, str], two: bool) -> tuple[Axis, ...] | None:
    """The axes of a shape; None for what is none. `names` are those of the file, and come first."""
    plain = unicodedata.normalize("NFKC", text[:LONGEST]).strip().rstrip(".;")
    for word in OUTSIDE:
        plain = plain.removeprefix(word)
    plain = re.sub(r"\s*(\*|//?)\s*", r"\1", plain.translate(BRACKETS).strip())
    if "," not in plain:
        plain = re.sub(r"\s+x\s+|(?<=\d)x(?=\d)|\s+", ",", plain)
    known = {**dict(_aliases(two)), **names}
    if RUN.fullmatch(plain) and _look_up(plain, known) is None:
        plain = ",".join(_part(plain, known)) or plain
    axes = [_read_axis(part, known) for part in plain.removesuffix(",").split(",")]
    found = tuple(axis for axis in axes if axis is not None)
    return found if len(found) == len(axes) else None


def _part(word: str, known: Mapping[str, str]) -> list[str]:
    """Letters that were run together, BHLDh as B, H, L, Dh; none where one of them is unknown."""
    letters, at = list[str](), 0
    while at < len(word):
        letter = next((one for one in (word[at : at + 2], word[at]) if one in known), None)
        if letter is None:
            return []
        letters.append(letter)
        at += len(letter)
    return letters


def _read_axis(text: str, known: Mapping[str, str]) -> Axis | None:
    """Factors side by side or with signs between them; None where one is not known."""
    number, powers, over, at = Fraction(1), dict[str, int](), False, 0
    wants_factor = True
    text = text.strip()
    while at < len(text):
        token = TOKEN.match(text, at)
        if token is None:
            return None
        at = token.end()
        if token["sign"]:
            if wants_factor:
                return None
            over, wants_factor = token["sign"] != "*", True
            continue
        if token["number"]:
            if over and not int(token["number"]):
                return None
            factor = Fraction(int(token["number"]))
            number = number / factor if over else number * factor
        else:
            letter = _look_up(token["name"], known)
            if letter is None:
                return None
            powers[letter] = powers.get(letter, 0) + (-1 if over else 1)
        over, wants_factor = False, False
    return None if wants_factor else Axis(number, tuple(sorted(powers.items())))


def _look_up(name: str, known: Mapping[str, str]) -> str | None:
    """The letter of a name; of long names the case is no matter."""
    if name in known or len(name) < 3:
        return known.get(name)
    return next((letter for one, letter in known.items() if one.lower() == name.lower()), None)


def _aliases(two: bool) -> Iterator[tuple[str, str]]:
    for letter, words in {**BOTH, **(TWO if two else ONE)}.items():
        yield from ((word, letter) for word in words.split())
