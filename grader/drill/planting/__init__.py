"""Find the bugs: right answers with known mistakes planted in them, and what became of those."""

from grader.drill.planting.plant import plant
from grader.drill.planting.planted import Broken, Planted, Repair, Spot
from grader.drill.planting.repair import compare

__all__ = ["Broken", "Planted", "Repair", "Spot", "compare", "plant"]
