"""Which element of which parameter is which element of Wq bq Wk bk Wv bv Wo bo.

A layout only ever moves numbers: it is made of index arrays into the candidate's parameters, so
no freedom in it can hide a wrong scale or a wrong mask. Layouts are proposed from shapes and
names, and a proposal counts only if the definition, given the weights it reads, returns what the
candidate's own code returned.
"""

from grader.layout.elements import Place
from grader.layout.places import Layout
from grader.layout.proposals import TORCH_LINEARS, named_layout, propose

__all__ = ["TORCH_LINEARS", "Layout", "Place", "named_layout", "propose"]
