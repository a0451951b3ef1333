"""`--doctor`: what a submission can do on this computer, tried."""

from __future__ import annotations

from grader.cli.codes import NOT_PASSED, PASSED
from grader.cli.console import show
from grader.doctor import examine, render_examination
from grader.texts import Texts


def tell_level(texts: Texts) -> int:
    """Run the attacks and print what held; 0 when the level keeps its promise."""
    found = examine()
    show(render_examination(found, texts))
    return PASSED if found.is_sound else NOT_PASSED
