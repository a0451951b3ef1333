"""A failing case as a script of plain torch, to be run and debugged without this project."""

from grader.repro.pose import Posed, pose_case
from grader.repro.script import write_script

__all__ = ["Posed", "pose_case", "write_script"]
