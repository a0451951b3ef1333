"""Shapes: an implementation with a blank beside each line that makes a tensor, to be filled in."""

from grader.drill.sheets.entries import Entry, State, check
from grader.drill.sheets.sheet import Blank, Sheet, make_sheet

__all__ = ["Blank", "Entry", "Sheet", "State", "check", "make_sheet"]
