"""What is kept of all drills: an SQLite file in the folder that the system has for such data.

A drill is a row that never changes, unless its folder is moved, and the events that follow it. Each
is written for good as it happens, so that a program killed at any moment has lost nothing; marks,
cards and history are all worked out from them. Only the last look at a file is replaced by the
next.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import threading
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, fields, replace
from pathlib import Path
from typing import Any

from grader.disk import reaching
from grader.drill.looks import dump_look, load_look
from grader.drill.model import FINISHED, Drill, Event, Look
from grader.errors import UsageError

FORMAT = "1"
FILE = "drills.db"
# Names another folder than the system's.
VARIABLE = "MHA_GRADE_DATA"
SCHEMA = """
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS drills (
    id TEXT PRIMARY KEY, kind TEXT NOT NULL, exercise TEXT NOT NULL, folder TEXT NOT NULL,
    file TEXT NOT NULL, seed INTEGER NOT NULL, minutes REAL NOT NULL, level TEXT NOT NULL,
    language TEXT NOT NULL, started REAL NOT NULL, plan TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS events (
    number INTEGER PRIMARY KEY, drill TEXT NOT NULL, at REAL NOT NULL, what TEXT NOT NULL,
    data TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS events_by_drill ON events (drill, number);
CREATE TABLE IF NOT EXISTS latest (drill TEXT PRIMARY KEY, look BLOB NOT NULL);
"""
OPEN = """SELECT * FROM drills WHERE id NOT IN (SELECT drill FROM events WHERE what = ?)
          ORDER BY started, id"""
ENDED = "SELECT 1 FROM events WHERE drill = ? AND what = ?"
# What reading a row can raise that another program has written.
SPOILT = (zlib.error, ValueError, TypeError, KeyError)
Step = tuple[str, tuple[Any, ...]]


def data_folder() -> Path:
    """Where this user's drills are kept."""
    named = os.environ.get(VARIABLE)
    if named:
        return Path(named)
    from platformdirs import user_data_path

    return user_data_path("mha-grade", appauthor=False)


class Store:
    """All drills of one user; of several programs at once each may write."""

    def __init__(self, folder: Path | None = None) -> None:
        folder = folder or data_folder()
        with reaching(folder, "file.not-created"):
            # What one practises is nobody else's business.
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.path = folder / FILE
        # Of several threads on one connection, one would write in the other's transaction.
        self._writing = threading.Lock()
        with self._guard():
            self._connection = sqlite3.connect(
                self.path, timeout=30.0, isolation_level=None, check_same_thread=False
            )
            with contextlib.suppress(sqlite3.OperationalError):
                # Readers go on while another program writes; not every file system can.
                self._connection.execute("PRAGMA journal_mode=WAL")
                # A program that is killed loses nothing by it; only a computer that fails might.
                self._connection.execute("PRAGMA synchronous=NORMAL")
            self._connection.executescript(SCHEMA)
            put = "INSERT OR IGNORE INTO facts VALUES ('format', ?)"
            self._connection.execute(put, (FORMAT,))
        (known,) = self._rows("SELECT value FROM facts WHERE name = 'format'")
        if known[0] != FORMAT:
            raise UsageError("drill.store-format", path=str(self.path))

    def add(self, drill: Drill) -> None:
        """A new drill; its clock runs from now on."""
        values = (*astuple(drill)[:-1], json.dumps(drill.plan))
        self._write([("INSERT INTO drills VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", values)])

    def move(self, drill: Drill, folder: Path) -> Drill:
        """The drill, whose folder is this one from now on."""
        moved = replace(drill, folder=str(folder))
        self._write([("UPDATE drills SET folder = ? WHERE id = ?", (moved.folder, moved.id))])
        return moved

    def note(
        self, events: Iterable[Event], look: Look | None = None, while_open: bool = False
    ) -> bool:
        """Keep these events of one drill, and its latest look: all or, if that fails, none.

        False, and nothing is kept, `while_open` of a drill that somebody has finished.
        """
        put = "INSERT INTO events (drill, at, what, data) VALUES (?, ?, ?, ?)"
        rows = [(e.drill, e.at, e.what, json.dumps(e.data)) for e in events]
        steps: list[Step] = [(put, row) for row in rows]
        if look is not None:
            kept = zlib.compress(json.dumps(dump_look(look)).encode(), 1)
            steps.append(("INSERT OR REPLACE INTO latest VALUES (?, ?)", (rows[0][0], kept)))
        return self._write(steps, (ENDED, (rows[0][0], FINISHED)) if while_open else None)

    def drill(self, name: str) -> Drill | None:
        """The drill of this id."""
        return next(iter(self._drills("SELECT * FROM drills WHERE id = ?", name)), None)

    def drills(self) -> Sequence[Drill]:
        """Every drill, the oldest first."""
        return self._drills("SELECT * FROM drills ORDER BY started, id")

    def open_drills(self) -> Sequence[Drill]:
        """Those that nobody has finished."""
        return self._drills(OPEN, FINISHED)

    def events(self, drill: str | None = None) -> Sequence[Event]:
        """What happened in one drill, or in all, in the order it did."""
        wanted, values = ("WHERE drill = ?", (drill,)) if drill else ("", ())
        rows = self._rows(
            f"SELECT drill, at, what, data FROM events {wanted} ORDER BY number", values
        )
        with self._guard():
            return [Event(name, at, what, json.loads(data)) for name, at, what, data in rows]

    def look(self, drill: str) -> Look | None:
        """The last look at a drill's file; the source text is in that file only."""
        rows = self._rows("SELECT look FROM latest WHERE drill = ?", (drill,))
        with self._guard():
            return load_look(json.loads(zlib.decompress(rows[0][0]))) if rows else None

    def erase(self) -> None:
        """Forget everything, on the disk too."""
        tables = ("drills", "events", "latest")
        self._write([(f"DELETE FROM {table}", ()) for table in tables])
        with self._guard():
            self._connection.execute("VACUUM")
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        """Let the file go."""
        self._connection.close()

    def _drills(self, query: str, *values: Any) -> Sequence[Drill]:
        rows = self._rows(query, values)
        with self._guard():
            return [_read_drill(row) for row in rows]

    def _rows(self, query: str, values: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        with self._guard():
            return self._connection.execute(query, values).fetchall()

    def _write(self, steps: Iterable[Step], unless: Step | None = None) -> bool:
        """Do all of it at once, unless that query finds something: then False."""
        with self._writing, self._guard():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                is_free = unless is None or not self._connection.execute(*unless).fetchone()
                for query, values in steps if is_free else ():
                    self._connection.execute(query, values)
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")
            return is_free

    @contextlib.contextmanager
    def _guard(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, *SPOILT) as error:
            fields = {"path": os.fspath(self.path), "detail": str(error)}
            raise UsageError("drill.store-unusable", **fields) from None


def _read_drill(row: Sequence[Any]) -> Drill:
    plain = dict(zip((field.name for field in fields(Drill)), row))
    return Drill(**plain | {"plan": json.loads(plain["plan"])})
