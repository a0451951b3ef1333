"""Reads YAML strictly: keys once and known, values of the kind they should be."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

import yaml

from grader.errors import BankError
from grader.files import LOADER


class StrictLoader(LOADER):  # type: ignore[misc]
    """A YAML loader that refuses a key written twice, which YAML itself lets pass."""

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        """The mapping of a node, its keys all different."""
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        for key in keys:
            if keys.count(key) > 1:
                raise yaml.MarkedYAMLError(problem=f"the key {key} stands there twice")
        found: dict[Any, Any] = super().construct_mapping(node, deep)
        return found


def read_yaml(name: str, raw: bytes) -> Any:
    """The data in the file of this name; raises BankError where it is not YAML."""
    try:
        return yaml.load(raw, Loader=StrictLoader)
    except (yaml.YAMLError, ValueError) as error:
        detail = " ".join(str(error).split())
        raise BankError("bank.not-yaml", file=name, detail=detail) from None


class Reader:
    """Checks one file's values and names the file, the place and the key in what it raises."""

    def __init__(self, name: str) -> None:
        self.name = name

    def refuse(self, key: str, where: str, name: object, allowed: Iterable[str] = ()) -> NoReturn:
        """Raise BankError `key` for something called `name` at `where`."""
        choices = ", ".join(allowed)
        raise BankError(key, file=self.name, where=where, name=str(name), allowed=choices)

    def mapping(
        self, data: Any, where: str, allowed: Iterable[str], required: Iterable[str] = ()
    ) -> Mapping[str, Any]:
        """A mapping with none but the allowed keys and all of the required ones."""
        known = list(allowed)
        if not isinstance(data, dict):
            self.refuse("bank.wrong-value", where, data, ["a mapping"])
        for key in data:
            if key not in known:
                self.refuse("bank.unknown-key", where, key, known)
        for key in required:
            if key not in data:
                self.refuse("bank.missing-key", where, key, known)
        return data

    def items(self, data: Any, where: str) -> list[Any]:
        """A list."""
        if not isinstance(data, list):
            self.refuse("bank.wrong-value", where, data, ["a list"])
        return data

    def number(self, value: Any, where: str) -> float:
        """A positive, finite number."""
        if type(value) not in (int, float) or not math.isfinite(value) or value <= 0:
            self.refuse("bank.wrong-value", where, value, ["a number above 0"])
        return float(value)

    def choice(self, value: Any, where: str, allowed: Iterable[str]) -> str:
        """One of the allowed words."""
        known = list(allowed)
        if value not in known:
            self.refuse("bank.wrong-value", where, value, known)
        return str(value)
