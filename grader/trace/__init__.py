"""Where a file departs from attention: its own tensors, recognised by their values, line by line.

A trace is a claim of the worker's. It explains a verdict; it never makes one.
"""

from grader.trace.departure import find_departure, find_not_finite
from grader.trace.recognise import Recognised, recognise
from grader.trace.walk import walk

__all__ = ["Recognised", "find_departure", "find_not_finite", "recognise", "walk"]
