"""In a notebook: a class that was defined in its cells is graded like a file.

The source is gathered from the cells and goes to the same worker. Notebook and grader share a
process here, so this is for one's own code.
"""

from grader.jupyter.kernel import Shown, grade

__all__ = ["Shown", "grade"]
