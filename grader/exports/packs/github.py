"""GitHub: a workflow for a template repository, and the step that it uses."""

from __future__ import annotations

from grader.exports.packs.archive import Pack, read_script, write_zip
from grader.texts import Texts

# GitHub Classroom looks for its workflow under this name.
WORKFLOW = ".github/workflows/classroom.yml"
STEP = ".github/mha-grade"


def pack_github(pack: Pack, texts: Texts) -> bytes:
    """The workflow, the step with its scripts, and the course's files beside them.

    Students can read all of it: what they are not to see does not belong into `pack.extra`.
    """
    files = {WORKFLOW: read_script("classroom.yml", pack)}
    for name in ("action.yml", "setup.sh", "grade.sh"):
        files[f"{STEP}/{name}"] = read_script(name, pack)
    return write_zip(files | {f"{STEP}/{path}": raw for path, raw in pack.extra.items()})
