"""Parameters that are there once for each head, as one stacked parameter."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from grader.layout.places import EACH_HEAD
from grader.model import Parameter


def stack_heads(parameters: Sequence[Parameter], num_heads: int) -> list[Parameter]:
    """One stacked parameter for each family whose names count the heads from 0."""
    families: dict[str, dict[int, Parameter]] = {}
    for parameter in parameters:
        for digits in re.finditer(r"\d+", parameter.name):
            before, after = parameter.name[: digits.start()], parameter.name[digits.end() :]
            family = families.setdefault(before + EACH_HEAD + after, {})
            family[int(digits.group())] = parameter
    return [
        replace(family[0], name=name, shape=(num_heads, *family[0].shape))
        for name, family in families.items()
        if set(family) == set(range(num_heads))
        and len({member.shape for member in family.values()}) == 1
    ]
