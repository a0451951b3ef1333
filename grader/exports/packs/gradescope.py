"""The Gradescope autograder: a zip to upload as it is."""

from __future__ import annotations

from grader.exports import as_gradescope
from grader.exports.packs.archive import Pack, read_script, write_zip
from grader.model import Message
from grader.texts import Texts

# What is answered where no report comes about, by file name.
ANSWERS = {
    "crashed.json": "pack.crashed",
    "no-file.json": "pack.no-file",
    "unreadable.json": "pack.unreadable",
}


def pack_gradescope(pack: Pack, texts: Texts) -> bytes:
    """setup.sh, run_autograder, the answers for when there is no report, the course's files."""
    scripts = {name: read_script(name, pack) for name in ("setup.sh", "run_autograder")}
    answers = {name: _answer(key, texts).encode() for name, key in ANSWERS.items()}
    return write_zip({**scripts, **answers, **pack.extra})


def _answer(key: str, texts: Texts) -> str:
    test = as_gradescope.refused(Message(key), texts)
    return as_gradescope.write(0.0, texts(key), [test], {})
