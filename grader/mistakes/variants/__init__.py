"""Wrong versions of single steps. Shapes as in definition.py: b batch, h heads, q, k, d, m.

One module for each part of the pass; each function takes what the right step in `Steps` takes.
"""

from grader.mistakes.variants import masking, normalising, projections, regrouping, scales

__all__ = ["masking", "normalising", "projections", "regrouping", "scales"]
