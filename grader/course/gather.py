"""Finds the submissions in folders, downloads and lists, and whose they are."""

from __future__ import annotations

import csv
import fnmatch
import functools
import io
import lzma
import os
import struct
import time
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from grader.course.naming import Owner, read_owners, recognise
from grader.errors import UnusableSubmission, UsageError
from grader.intake import limit_of, read_submission, submit_bytes
from grader.model import Submission

MAX_MEMBERS = 100_000
MAX_LIST = 16 << 20
SUFFIXES = (".py", ".ipynb")
# What systems and editors leave beside the files that were handed in.
IGNORED = ("__MACOSX", "__pycache__", "node_modules", "venv")
METADATA = "submission_metadata.yml"
# What reading an archive that is damaged, or made up, can raise.
DAMAGED = (
    *(OSError, EOFError, KeyError, ValueError, RuntimeError, OverflowError),
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error),
)
PATH_COLUMNS = ("path", "file", "submission")


@dataclass(frozen=True)
class Entry:
    """A file that was handed in, not read yet.

    `key` names it within the batch; `path` is the file itself, or the archive that has it as
    `member`. `when` is in seconds since 1970, as the file system or the archive says.
    """

    key: str
    owner: Owner
    path: Path
    member: str | None = None
    when: float = 0.0
    attempt: int = 1

    def read(self) -> Submission:
        """The source text; raises UnusableSubmission."""
        if self.member is None:
            if self.path.is_symlink():
                # Somebody else's link may lead anywhere.
                raise UnusableSubmission("file.not-plain", path=self.key)
            try:
                return replace(read_submission(self.path), path=self.key)
            except UnusableSubmission as error:
                # Whose folder it was in is nobody's business but the teacher's.
                fields = {**error.message.fields, "path": self.key}
                raise UnusableSubmission(error.message.key, **fields) from None
        return submit_bytes(self.key, _read_member(self.path, self.member))


def gather(paths: Iterable[Path], pattern: str = "*") -> list[Entry]:
    """All submissions below these paths, in order of their keys, attempts of a student numbered.

    Folders are walked without following links, archives are read where they are, a CSV file is a
    list of paths. `pattern` is matched against the name of each file. Raises UsageError for a path
    that is none of these.
    """
    found = [entry for path in paths for entry in _open(path)]
    wanted = [e for e in found if fnmatch.fnmatch(_name(e), pattern)]
    entries = sorted({entry.key: entry for entry in wanted}.values(), key=lambda e: e.key)
    return list(_number(entries))


def _name(entry: Entry) -> str:
    return PurePosixPath(entry.member or entry.path.as_posix()).name


def _open(path: Path) -> Iterator[Entry]:
    if path.is_dir():
        return _walk(path)
    if path.suffix.lower() == ".zip":
        return _list_archive(path)
    if path.suffix.lower() == ".csv":
        return _follow_list(path)
    if not path.exists():
        raise UsageError("file.missing", path=str(path))
    owner = recognise(_spell(path.name))
    return iter([Entry(_spell(path.as_posix()), owner, path, when=_changed(path))])


def _walk(root: Path) -> Iterator[Entry]:
    owners = read_owners(_read_metadata(root / METADATA))
    for folder, below, files in os.walk(root, followlinks=False):
        below[:] = sorted(name for name in below if not _is_ignored(name))
        for name in sorted(files):
            path = Path(folder) / name
            if path.suffix.lower() in SUFFIXES and not _is_ignored(name):
                inside = _spell(path.relative_to(root).as_posix())
                yield Entry(inside, recognise(inside, owners), path, when=_changed(path))


def _read_metadata(path: Path) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(MAX_LIST)
    except OSError:
        return b""


def _list_archive(path: Path) -> Iterator[Entry]:
    try:
        archive = _archive(path)
        members = archive.infolist()
        names = sorted((m.filename for m in members), key=len)
        listed = next((name for name in names if name.endswith(METADATA)), None)
        owners = read_owners(_take(archive, listed, MAX_LIST)) if listed else {}
    except DAMAGED as error:
        raise UsageError("course.archive-unreadable", path=str(path), detail=str(error)) from None
    if len(members) > MAX_MEMBERS:
        raise UsageError("course.archive-too-big", path=str(path), limit=MAX_MEMBERS)
    for member in members:
        inside = PurePosixPath(member.filename)
        ignored = any(_is_ignored(part) for part in inside.parts)
        # By its suffix first: zipfile cannot say of one without a name whether it is a folder.
        if inside.suffix.lower() not in SUFFIXES or ignored or member.is_dir():
            continue
        owner = recognise(member.filename, owners)
        key = f"{path.name}:{member.filename}"
        yield Entry(key, owner, path, member.filename, _made(member))


def _read_member(path: Path, member: str) -> bytes:
    try:
        return _take(_archive(path), member, limit_of(Path(member)))
    except DAMAGED as error:
        raise UnusableSubmission("file.unreadable", path=member, detail=str(error)) from None


@functools.lru_cache(maxsize=4)
def _archive(path: Path) -> zipfile.ZipFile:
    # Opened once: the list of what is in it is read anew each time.
    return zipfile.ZipFile(path)


def _take(archive: zipfile.ZipFile, member: str, limit: int) -> bytes:
    """One byte more than the limit at most, whatever the archive says its size is."""
    with archive.open(member) as file:
        return file.read(limit + 1)


def _follow_list(path: Path) -> Iterator[Entry]:
    """A CSV with a column of paths, relative to it, and perhaps one of students."""
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(io.StringIO(file.read(MAX_LIST))))
    except (OSError, UnicodeError, csv.Error) as error:
        raise UsageError("course.list-unreadable", path=str(path), detail=str(error)) from None
    columns = {str(name).strip().lower(): name for name in (rows[0] if rows else {})}
    column = next((columns[name] for name in PATH_COLUMNS if name in columns), None)
    if column is None:
        raise UsageError("course.list-columns", path=str(path), known=", ".join(PATH_COLUMNS))
    for row in rows:
        target = path.parent / str(row[column] or "").strip()
        owner = recognise(str(row[column]))
        student = str(row.get(columns.get("student", ""), "") or "").strip()
        name = str(row.get(columns.get("name", ""), "") or "").strip()
        owner = Owner(student or owner.student, name or owner.name)
        yield Entry(str(row[column]), owner, target, when=_changed(target))


def _spell(name: str) -> str:
    """A name as text: bytes that are none in it by their codes."""
    return name.encode("utf-8", "backslashreplace").decode("utf-8")


def _is_ignored(name: str) -> bool:
    return (name.startswith(".") and name != "..") or name in IGNORED


def _changed(path: Path) -> float:
    try:
        return path.lstat().st_mtime
    except (OSError, ValueError):
        return 0.0


def _made(member: zipfile.ZipInfo) -> float:
    try:
        return time.mktime((*member.date_time, 0, 0, -1))
    except (OverflowError, ValueError):
        # No such day.
        return 0.0


def _number(entries: list[Entry]) -> Iterator[Entry]:
    """Each with the how-manieth of its student's files it is, by time and then by key."""
    counts: dict[str, int] = {}
    by_time = sorted(entries, key=lambda entry: (entry.when, entry.key))
    attempts: dict[str, int] = {}
    for entry in by_time:
        counts[entry.owner.student] = counts.get(entry.owner.student, 0) + 1
        attempts[entry.key] = counts[entry.owner.student]
    for entry in entries:
        yield replace(entry, attempt=attempts[entry.key])
