"""pytest with each case of a file as an item: `pytest --mha my_solution.py`.

Every run of pytest imports this where the package is installed, so nothing of the grader and no
numpy is imported before --mha is given, and without it no hook but these two is there.
"""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options, all of them `--mha…`."""
    group = parser.getgroup("mha", "mha-grade")
    group.addoption(
        "--mha",
        action="append",
        default=[],
        metavar="FILE",
        help="Grade multi-head attention in FILE, each case an item; repeatable.",
    )
    group.addoption("--mha-exercise", metavar="ID", help="The exercise that the files answer.")
    group.addoption("--mha-seed", type=int, metavar="N", help="Repeat the run with this seed.")
    group.addoption(
        "--mha-bank",
        action="append",
        default=[],
        metavar="DIR",
        help="A bank of your own; repeatable.",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Bring in the rest if there is something to grade."""
    if config.option.mha:
        from grader.pytest_plugin.hooks import Hooks

        config.pluginmanager.register(Hooks(config), "mha-grade-hooks")
