"""What every pack is made of: scripts from `files/`, a course's files, and a zip around them."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from grader import __version__
from grader.errors import UsageError

FILES = Path(__file__).resolve().parent / "files"
# Hosts start these; the others are read.
SCRIPTS = ("setup.sh", "run_autograder", "grade.sh")
# The same bytes whenever it is packed; a zip knows no earlier day.
WHEN = (1980, 1, 1, 0, 0, 0)
# What means the same in YAML, in a shell and in a path.
NAME = re.compile(r"(?!/)[\w.][\w./-]*", re.ASCII)


@dataclass(frozen=True)
class Pack:
    """What a course adds: the name of the file that students hand in, and further files by path.

    `course.yaml` is read as the course file; with wheels in `wheels/`, of this grader and of torch,
    nothing is downloaded.
    """

    file: str = "submission.py"
    extra: Mapping[str, bytes] = field(default_factory=dict)


def read_script(name: str, pack: Pack) -> bytes:
    """A file of `files/` for this version and this course; raises UsageError for an odd name."""
    if not NAME.fullmatch(pack.file):
        raise UsageError("pack.file", name=pack.file)
    text = (FILES / name).read_text(encoding="utf-8")
    return text.replace("@version@", __version__).replace("@file@", pack.file).encode()


def write_zip(files: Mapping[str, bytes]) -> bytes:
    """An archive of these files, scripts executable."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in files.items():
            info = zipfile.ZipInfo(path, WHEN)
            info.compress_type = zipfile.ZIP_DEFLATED
            is_script = path.rpartition("/")[2] in SCRIPTS
            info.external_attr = (0o100755 if is_script else 0o100644) << 16
            archive.writestr(info, content)
    return out.getvalue()
