"""The command line of mha-grade: the only part that prints or exits."""

from grader.cli.command import run

__all__ = ["run"]
