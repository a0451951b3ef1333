"""Helper modules that an author names: files beside their own, which graded files may import.

Read here and sent with each file; nothing of them runs on this side.
"""

from __future__ import annotations

import sys
import sysconfig
from collections.abc import Collection
from importlib.machinery import PathFinder
from pathlib import Path, PurePosixPath
from typing import Any

from grader.bank.schema import Reader
from grader.errors import BankError, UnusableSubmission
from grader.intake import read_submission
from grader.model import Helper

KEY = "helpers"
MAX_HELPERS = 16
# What the worker's own process is made of.
OURS = {"grader", "mha_worker", "submission"}


def read_helpers(
    reader: Reader, data: Any, folder: Path, packages: Collection[str] = ()
) -> tuple[Helper, ...]:
    """The files of a list, below `folder`; raises BankError for one that cannot be served.

    A helper may not have the name of a module that files can import already, nor that of one of
    `packages`: which of the two they got would be anyone's guess.
    """
    names = [str(name) for name in reader.items(data, KEY)]
    if len(names) > MAX_HELPERS:
        reader.refuse("bank.wrong-value", KEY, len(names), [f"at most {MAX_HELPERS}"])
    helpers = tuple(_read(reader, folder, name) for name in names)
    taken = OURS | {*packages}
    for helper in helpers:
        if helper.name in taken or _is_importable(helper.name):
            reader.refuse("bank.helper-taken", KEY, helper.path)
        taken.add(helper.name)
    return helpers


def _read(reader: Reader, folder: Path, name: str) -> Helper:
    path = PurePosixPath(name)
    is_below = not path.is_absolute() and ".." not in path.parts
    if not is_below or path.suffix != ".py" or not path.stem.isidentifier():
        reader.refuse("bank.helper-name", KEY, name)
    try:
        helper = Helper(path.as_posix(), read_submission(folder / path).source)
    except UnusableSubmission as error:
        raise BankError(error.message.key, **error.message.fields) from None
    try:
        compile(helper.source, name, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        reader.refuse("bank.helper-syntax", KEY, name, [str(error)])
    return helper


def _is_importable(name: str) -> bool:
    """True for a module of Python's own or of a package that is installed; none is imported."""
    places = [sysconfig.get_path(kind) for kind in ("purelib", "platlib")]
    return name in sys.stdlib_module_names or PathFinder.find_spec(name, places) is not None
