"""The hooks that are there only with --mha.

Files are collected beside pytest's own way: that would load a conftest.py that lies next to a
file, and import a file that is called like a test. Neither may happen to code that is not trusted.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from grader.bank import load_exercise, use_banks
from grader.calling import header_exercise
from grader.errors import GraderError, UsageError
from grader.grading import choose_seed
from grader.intake import read_submission
from grader.model import FREE
from grader.pytest_plugin.items import CaseItem, GradedFile, Grading, Task
from grader.texts import load_texts, system_language

SEED = "mha_seed"


class Hooks:
    """One run with --mha; raises pytest.UsageError for what cannot be graded at all."""

    def __init__(self, config: pytest.Config) -> None:
        options = config.option
        self.root = config.invocation_params.dir
        try:
            given = getattr(config, "workerinput", {}).get(SEED, options.mha_seed)
            use_banks(options.mha_bank)
            self.grading = Grading(choose_seed(given), load_texts(system_language()))
            paths = dict.fromkeys(self._resolve(name) for name in options.mha)
            self.files = {path: self._read(path, options.mha_exercise) for path in paths}
            self.chosen = self._take_over(config)
        except GraderError as error:
            said = load_texts(system_language()).say(error.message)
            raise pytest.UsageError(said) from None

    def _read(self, path: Path, named: str | None) -> Task:
        submission = read_submission(path)
        exercise = named or header_exercise(submission.source) or FREE
        return Task(submission, load_exercise(exercise))

    def _resolve(self, name: str) -> Path:
        return (self.root / name).resolve()

    def _take_over(self, config: pytest.Config) -> list[tuple[Path, str]]:
        """File and case of the arguments that name such; what is left is pytest's.

        Without an argument of its own, pytest would collect the folder it runs in.
        """
        if config.args_source is not pytest.Config.ArgsSource.ARGS:
            config.args = []
        parts = {argument: argument.partition("::") for argument in config.args}
        ours = [name for name in parts if self._resolve(parts[name][0]) in self.files]
        config.args = [argument for argument in config.args if argument not in ours]
        return [self._find(name) for name in ours if "::" in name]

    def _find(self, name: str) -> tuple[Path, str]:
        file, _, case = name.partition("::")
        path = self._resolve(file)
        if case not in {found.id for found in self.files[path].exercise.cases}:
            raise UsageError("pytest.no-case", wanted=name)
        return path, case

    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        """No other collector may open these files: it might import them."""
        return True if collection_path.resolve() in self.files else None

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(
        self, session: pytest.Session, items: list[pytest.Item]
    ) -> None:
        """Add the cases, before -k and the like choose among all items."""
        for path, task in self.files.items():
            file = GradedFile.from_parent(session, path=path, grading=self.grading, task=task)
            named = [case for file, case in self.chosen if file == path]
            items += [
                item for item in session.genitems(file) if item.name in (named or [item.name])
            ]

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Before pytest looks for marks that skip."""
        if isinstance(item, CaseItem):
            item.prepare()

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Each process of xdist grades with the seed of the first."""
        node.workerinput[SEED] = self.grading.seed

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """The seed, without which a run cannot be repeated."""
        terminalreporter.write_line(self.grading.texts("pytest.seed", seed=self.grading.seed))

    def pytest_unconfigure(self) -> None:
        """End the worker's process."""
        self.grading.close()
