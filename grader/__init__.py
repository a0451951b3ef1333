"""mha-grade: grades multi-head attention written from memory.

In a notebook: `from grader import grade`, then `grade(MultiHeadAttention)`; or `%load_ext grader`,
then `%%mha_grade` in the first line of a cell.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from grader.jupyter import grade

__all__ = ["grade"]
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    # Only where it is asked for: to import a part of the package must not cost the whole.
    if name == "grade":
        from grader.jupyter import grade

        return grade
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def load_ipython_extension(shell: Any) -> None:
    """What `%load_ext grader` calls."""
    from grader.jupyter.magic import register

    register(shell)
