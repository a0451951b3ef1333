"""The command line of mha-drill, on the same console as mha-grade's."""

from grader.drill.cli.command import run

__all__ = ["run"]
