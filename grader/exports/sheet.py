"""A CSV file in which single cells can be changed and every other byte stays what it is.

Python's csv module forgets how a cell was quoted and how a line ended, so a file written back by it
is another file. Here each cell keeps its raw text.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass

from grader.errors import UsageError

DELIMITERS = ",;\t"
MAX_HEADER = 100_000
BOMS = {
    codecs.BOM_UTF8: ("utf-8", "surrogateescape"),
    codecs.BOM_UTF16_LE: ("utf-16-le", "surrogatepass"),
    codecs.BOM_UTF16_BE: ("utf-16-be", "surrogatepass"),
}
# Other encodings than UTF-8 keep their bytes as half characters; only ASCII in them is read.
PLAIN = ("utf-8", "surrogateescape")


@dataclass
class Cell:
    """The raw text of a cell, quotes and all."""

    raw: str

    @property
    def is_quoted(self) -> bool:
        """True where quotes stand around it."""
        return self.raw.startswith('"')

    @property
    def value(self) -> str:
        """What it says, without the blanks around."""
        if not self.is_quoted:
            return self.raw.strip()
        end = self.raw.rfind('"')
        inside = self.raw[1:end] if end else self.raw[1:]
        return inside.replace('""', '"').strip()


@dataclass
class Line:
    """A record and the line end behind it; quoted cells may hold line ends of their own."""

    cells: list[Cell]
    end: str

    def value(self, column: int) -> str:
        """What stands in a column; "" where the record is too short."""
        return self.cells[column].value if column < len(self.cells) else ""

    @property
    def is_blank(self) -> bool:
        """True where no cell says anything."""
        return not any(cell.value for cell in self.cells)


@dataclass
class Sheet:
    """A whole file; the first record is the header."""

    bom: bytes
    codec: tuple[str, str]
    delimiter: str
    lines: list[Line]

    @property
    def header(self) -> list[str]:
        """Names of the columns."""
        return [cell.value for cell in self.lines[0].cells]

    @property
    def rows(self) -> list[Line]:
        """The records below the header, blank ones left out."""
        return [line for line in self.lines[1:] if not line.is_blank]

    def put(self, line: Line, column: int, text: str) -> None:
        """Put `text` into a cell, quoted if the old one was or if it has to be."""
        while len(line.cells) <= column:
            line.cells.append(Cell(""))
        old = line.cells[column]
        is_quoted = old.is_quoted or self.delimiter in text
        old.raw = f'"{text}"' if is_quoted else text

    def write(self) -> bytes:
        """The file."""
        text = "".join(
            self.delimiter.join(cell.raw for cell in line.cells) + line.end for line in self.lines
        )
        return self.bom + text.encode(*self.codec)


def read_sheet(raw: bytes) -> Sheet:
    """A downloaded file, in commas, semicolons or tabs.

    Raises UsageError for one that is no text, has no header or ends within quotes.
    """
    bom = next((mark for mark in BOMS if raw.startswith(mark)), b"")
    codec = BOMS.get(bom, PLAIN)
    try:
        text = raw[len(bom) :].decode(*codec)
    except UnicodeError:
        raise UsageError("gradebook.not-text") from None
    if "\0" in text:
        raise UsageError("gradebook.not-text")
    # The header decides: no other mark stands in it more often, quoted names apart.
    header = re.sub(r'"[^"]*"', "", text[:MAX_HEADER]).lstrip("\r\n").splitlines()[:1]
    delimiter = max(DELIMITERS, key="".join(header).count)
    lines = list(_records(text, delimiter))
    if not lines or len(lines[0].cells) < 2:
        raise UsageError("gradebook.no-header")
    return Sheet(bom, codec, delimiter, lines)


def _records(text: str, delimiter: str) -> Iterator[Line]:
    rest = f"[^{delimiter}\r\n]*"
    cell = re.compile(rf'"[^"]*(?:""[^"]*)*"{rest}|(?!"){rest}')
    at, cells = 0, []
    while at < len(text):
        found = cell.match(text, at)
        if found is None:
            raise UsageError("gradebook.open-quote")
        cells.append(Cell(found[0]))
        at = found.end()
        end = _line_end(text, at)
        if end or at == len(text):
            yield Line(cells, end)
            cells = []
        at += len(end) or 1
    if cells:
        # The file ends behind a delimiter: one more cell, and empty.
        yield Line([*cells, Cell("")], "")


def _line_end(text: str, at: int) -> str:
    if text.startswith("\r\n", at):
        return "\r\n"
    return text[at] if text[at : at + 1] in ("\r", "\n") else ""
