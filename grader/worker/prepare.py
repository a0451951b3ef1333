"""What packages have to do before nothing can be opened any more, and would do later by themselves.

Called where they have been imported, before a worker is sealed.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

# Files that stay open with the fonts: a worker may have few.
MAX_FONTS = 48
# What code asks of who runs it: nobody, who has nothing.
USER = {"HOME": "/", "USER": "nobody"}


def prepare() -> None:
    """Prepare each package that is there; one that is made otherwise is left as it is."""
    os.environ.update(USER)
    for name, act in ACTS.items():
        if name in sys.modules:
            try:
                act(sys.modules[name])
            except Exception:
                # Said to the candidate, when their own line asks for it.
                continue


def _without_monitor(tqdm: Any) -> None:
    # A thread, which could not be started.
    tqdm.tqdm.monitor_interval = 0


def _open_fonts(fonts: Any) -> None:
    """Let matplotlib draw with its own fonts, all of them open by now."""
    matplotlib = sys.modules["matplotlib"]
    # Each is read from a file when it is first asked for.
    own = os.path.join(matplotlib.get_data_path(), "")
    getattr(matplotlib, "__version__", None)
    manager = fonts.fontManager
    manager.ttflist = [entry for entry in manager.ttflist if entry.fname.startswith(own)]
    known = {entry.fname for entry in manager.ttflist[:MAX_FONTS]}
    for path in known:
        fonts.get_font(path)
    # It looks whether a font is still there, and sealed it would see none.
    asked = dict.fromkeys(("isfile", "exists"), lambda name: str(name) in known)
    path = SimpleNamespace(**{**vars(os.path), **asked})
    for name in ("font_manager", "_mathtext"):
        module = sys.modules.get(f"matplotlib.{name}")
        if hasattr(module, "os"):
            module.os = SimpleNamespace(**{**vars(os), "path": path})  # type: ignore[union-attr]


ACTS: dict[str, Callable[[Any], None]] = {
    "tqdm": _without_monitor,
    "matplotlib.font_manager": _open_fonts,
}
