"""Names for everything in a file, drawn so that they go together and none is given twice."""

from __future__ import annotations

import functools
import random
from collections.abc import Iterator, Mapping
from typing import Any

from grader.bank.schema import Reader, read_yaml
from grader.drill.styles.pieces import FOLDER, suits
from grader.model import Contract

SCOPES = ("class", "constructor", "attribute", "local")


@functools.cache
def _read() -> Mapping[str, Any]:
    path = FOLDER / "names.yaml"
    data = read_yaml(path.name, path.read_bytes())
    return Reader(path.name).mapping(data, "file", SCOPES, SCOPES)


def draw_names(order: random.Random, contract: Contract) -> dict[str, str]:
    """A name for every role there is under this contract."""
    named: dict[str, str] = {}
    for groups in _read().values():
        taken: set[str] = set()
        for group in groups:
            if suits(group.get("when", {}), contract):
                rows = [row for row in _rows(group) if not taken & set(row)]
                row = order.choice(rows)
                taken |= set(row)
                named |= dict(zip(group["roles"], row))
    return named


def _rows(group: Mapping[str, Any]) -> Iterator[list[str]]:
    for row in group["rows"]:
        yield row if isinstance(row, list) else [row]
