"""A notebook as source text: its code cells, one after another, without what is no Python.

Read as JSON and as nothing else; outputs, attachments and pictures are not looked at.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

SUFFIX = ".ipynb"
# Pictures in outputs make notebooks large; what is taken from them is held to the limit of a file.
MAX_BYTES = 8 << 20
# A line for the shell or the notebook itself: %matplotlib inline, !pip install, files = !ls, ?help.
MAGIC = re.compile(r"^([ \t]*)(?:%{1,2}[A-Za-z]|!|\?|[\w., \t]+=[ \t]*(?:!|%[A-Za-z])|[\w.]+\?+$)")
FUTURE = re.compile(r"from __future__ import [\w, ]+(?:#.*)?$")
# What cannot stand behind another statement in its line.
COMPOUND = re.compile(r"(?:async|class|def|for|if|match|try|while|with)\b|@")
# Of a cell that is Python all the same, whatever stands in its first line.
PYTHON = ("%%time", "%%timeit", "%%capture", "%%prun", "%%mha_grade")


def read_cells(raw: bytes) -> str:
    """The code of a notebook; raises ValueError where it is none.

    Lines that are dropped leave a line in their place, so that lines count through the code cells.
    """
    try:
        notebook = json.loads(raw.decode("utf-8-sig"))
        cells = [read_cell(cell) for cell in _find_code(notebook)]
        return _raise_futures("\n".join(cells) + "\n")
    except (RecursionError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"no notebook: {type(error).__name__}") from None


def read_cell(source: str) -> str:
    """One cell as Python: a line for each of its lines, those for the notebook as comments."""
    return "\n".join(_read_lines(source))


def _find_code(notebook: Any) -> Iterator[str]:
    # Before version 4 cells stood on sheets and held their code under another name.
    sheets = notebook.get("worksheets", [notebook])
    for cell in (cell for sheet in sheets for cell in sheet["cells"]):
        if cell["cell_type"] == "code":
            source = cell["source"] if "source" in cell else cell["input"]
            yield source if isinstance(source, str) else "".join(source)


def _read_lines(source: str) -> Iterator[str]:
    lines = source.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    first = next((line for line in lines if line.strip()), "")
    is_other = first.startswith("%%") and not first.startswith(PYTHON)
    for line in lines:
        magic = MAGIC.match(line)
        if is_other:
            yield "# " + line
        else:
            # Within a block not a comment: it may be all that the block has.
            kept = f"{magic[1]}pass  # " if magic and magic[1] else "# "
            yield kept + line.strip() if magic else line


def _raise_futures(source: str) -> str:
    """The same lines, with what cells import from the future in the first one.

    In a notebook each cell is compiled by itself, and may begin with such an import.
    """
    lines = source.split("\n")
    futures = [at for at, line in enumerate(lines) if FUTURE.match(line)]
    if futures in ([], [0]) or COMPOUND.match(lines[0]):
        return source
    moved = "; ".join(lines[at].partition("#")[0].strip() for at in futures)
    for at in futures:
        lines[at] = "# " + lines[at]
    plain = not lines[0].strip() or lines[0].startswith("#")
    lines[0] = f"{moved}  {lines[0]}" if plain else f"{moved}; {lines[0]}"
    return "\n".join(lines)
