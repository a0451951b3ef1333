"""What a report's pictures show: attention weights, a mask, gradients, and lines of the file.

Gathered only where a picture is asked for. It explains a verdict and never makes one.
"""

from __future__ import annotations

from dataclasses import replace

from grader.bank.bench import Bench
from grader.evidence.attention import see_attention
from grader.evidence.gradients import ALLOWED, see_gradients
from grader.evidence.lines import lines_of
from grader.model import Report
from grader.model.evidence import Evidence
from grader.variations import UNKNOWN

__all__ = ["gather_evidence"]

# One problem for every file and every run: pictures of a course can be laid side by side, and say
# nothing of the seed that its hidden cases are drawn with.
SEED = 202


def gather_evidence(report: Report, bench: Bench | None) -> Evidence:
    """The lines that the report speaks of and, of a file that runs, what it makes of a problem."""
    found = Evidence(lines_of(report))
    if bench is None or bench.layout is None or bench.contract.positions == UNKNOWN:
        return found
    bench = replace(bench, seed=SEED, fresh=True)
    return found._replace(
        attention=see_attention(bench), gradients=see_gradients(bench), allowed=ALLOWED
    )
