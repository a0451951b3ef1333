"""The stem of an English word, lightly: what rules need, and no more."""

from __future__ import annotations


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
