"""`--web`: the drill in the browser instead of the terminal."""

from __future__ import annotations

from dataclasses import dataclass

from grader.cli import console
from grader.cli.codes import PASSED
from grader.drill.store import Store
from grader.drill.web.server import check_installed, serve
from grader.sandbox.launch import Launched
from grader.texts import Texts


@dataclass(frozen=True)
class Web:
    """How the page is asked for: whether, at which port, and whether to open it."""

    wanted: bool = False
    port: int | None = None
    shown: bool = False

    def check(self) -> None:
        """Raise UsageError, before anything is begun, if it is wanted and cannot be had."""
        if self.wanted:
            check_installed()


def show_page(
    store: Store, web: Web, launched: Launched | None, texts: Texts, drill: str | None = None
) -> int:
    """Serve the page, at a drill if there is one, until interrupted."""
    serve(store, texts, launched, console.tell, drill, web.port, web.shown)
    return PASSED
