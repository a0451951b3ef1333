"""Packs: a grader made ready for a host, one zip archive of scripts and a course's own files."""

from collections.abc import Callable

from grader.exports.packs.archive import Pack
from grader.exports.packs.github import pack_github
from grader.exports.packs.gradescope import pack_gradescope
from grader.texts import Texts

__all__ = ["PACKS", "Pack"]

PACKS: dict[str, Callable[[Pack, Texts], bytes]] = {
    "gradescope": pack_gradescope,
    "github": pack_github,
}
