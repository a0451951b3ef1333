"""Results in an SQLite file: one row a submission, written as they come, whatever happens next.

A result is kept with the fingerprint of all it depends on, so that a second run knows what is still
good. What a new result replaces goes to `earlier`, from which a regrade tells who moved.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.errors import UsageError
from grader.model import Graded, Report, stored

FORMAT = "1"
MEMORY = Path(":memory:")
SCHEMA = """
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS results (
    key TEXT PRIMARY KEY, student TEXT NOT NULL, name TEXT NOT NULL, attempt INTEGER NOT NULL,
    sha256 TEXT NOT NULL, fingerprint TEXT NOT NULL, at TEXT NOT NULL,
    score REAL NOT NULL, report BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS earlier (
    key TEXT NOT NULL, sha256 TEXT NOT NULL, fingerprint TEXT NOT NULL, at TEXT NOT NULL,
    score REAL NOT NULL, report BLOB NOT NULL);
CREATE INDEX IF NOT EXISTS earlier_by_key ON earlier (key);
"""
KEEP = """INSERT INTO earlier SELECT key, sha256, fingerprint, at, score, report FROM results
          WHERE key = ?"""
PUT = "INSERT OR REPLACE INTO results VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
LAST = "SELECT report FROM earlier WHERE key = ? AND sha256 = ? ORDER BY rowid DESC LIMIT 1"


@dataclass(frozen=True)
class Result:
    """A graded submission and what its grade depends on."""

    key: str
    graded: Graded
    sha256: str
    fingerprint: str


class Store:
    """The results of one course, in a file or, with MEMORY, for this run alone."""

    def __init__(self, path: Path = MEMORY) -> None:
        self.path = path
        try:
            self._connection = sqlite3.connect(path, timeout=30.0, isolation_level=None)
            with contextlib.suppress(sqlite3.OperationalError):
                # Readers go on while a run writes; not every file system can.
                self._connection.execute("PRAGMA journal_mode=WAL")
            self._connection.executescript(SCHEMA)
        except sqlite3.Error as error:
            raise _unusable(path, error) from None
        if self.fact("format", FORMAT) != FORMAT:
            raise UsageError("course.results-format", path=str(path))

    def fact(self, name: str, default: str) -> str:
        """What the whole course shares, such as its seed: kept from the first run on."""
        with self._guard():
            self._connection.execute("INSERT OR IGNORE INTO facts VALUES (?, ?)", (name, default))
            row = self._connection.execute("SELECT value FROM facts WHERE name = ?", (name,))
            return str(row.fetchone()[0])

    def known(self) -> dict[str, tuple[str, str]]:
        """Key -> (sha256, fingerprint) of every result."""
        with self._guard():
            rows = self._connection.execute("SELECT key, sha256, fingerprint FROM results")
            return {key: (sha256, fingerprint) for key, sha256, fingerprint in rows}

    def put(self, results: Iterable[Result]) -> None:
        """Keep these for good, in one step: all of them or, if it fails, none."""
        with self._guard(), self._transaction():
            for result in results:
                self._connection.execute(KEEP, (result.key,))
                self._connection.execute(PUT, _row(result))

    def drop(self, keys: Iterable[str]) -> None:
        """Forget the results of what is no longer handed in; they stay among the earlier ones."""
        with self._guard(), self._transaction():
            for key in keys:
                self._connection.execute(KEEP, (key,))
                self._connection.execute("DELETE FROM results WHERE key = ?", (key,))

    def results(self) -> Iterator[Result]:
        """Every result, in order of keys, one at a time."""
        with self._guard():
            for row in self._connection.execute("SELECT * FROM results ORDER BY key"):
                yield _read(row)

    def earlier(self, key: str, sha256: str) -> Report | None:
        """The last report on the same file that another one has replaced."""
        with self._guard():
            row = self._connection.execute(LAST, (key, sha256)).fetchone()
        return None if row is None else stored.load(_unpack(row[0]))

    def merge(self, path: Path) -> int:
        """Take over the results of another file, where they are newer; returns how many.

        Raises UsageError where that file is none, or was graded with another seed.
        """
        if not path.is_file():
            raise UsageError("file.missing", path=str(path))
        with Store(path) as other:
            seed = other.fact("seed", "")
            if self.fact("seed", seed) != seed:
                raise UsageError("course.merge-seed", path=str(path))
            mine = {result.key: result.graded.at for result in self.results()}
            newer = [r for r in other.results() if r.graded.at > mine.get(r.key, "")]
        self.put(newer)
        return len(newer)

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Write what is left and let the file go."""
        self._connection.close()

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")

    @contextlib.contextmanager
    def _guard(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise _unusable(self.path, error) from None


def _unusable(path: Path, error: sqlite3.Error) -> UsageError:
    return UsageError("course.results-unusable", path=os.fspath(path), detail=str(error))


def _row(result: Result) -> tuple[Any, ...]:
    graded = result.graded
    report = zlib.compress(json.dumps(stored.dump(graded.report)).encode(), 6)
    whose = (result.key, graded.student, graded.name, graded.attempt)
    return (*whose, result.sha256, result.fingerprint, graded.at, graded.report.score, report)


def _read(row: tuple[Any, ...]) -> Result:
    key, student, name, attempt, sha256, fingerprint, at, _, report = row
    graded = Graded(student, stored.load(_unpack(report)), at, name, attempt)
    return Result(key, graded, sha256, fingerprint)


def _unpack(report: bytes) -> Any:
    return json.loads(zlib.decompress(report))
