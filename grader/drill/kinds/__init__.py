"""The kinds of drills; a new one is a line here and a file beside it."""

from grader.drill.kinds.bugs import Bugs
from grader.drill.kinds.explain import Explain
from grader.drill.kinds.implement import Implement
from grader.drill.kinds.shapes import Shapes
from grader.drill.model import Kind

__all__ = ["KINDS"]

KINDS: dict[str, Kind] = {
    "implement": Implement(),
    "bugs": Bugs(),
    "shapes": Shapes(),
    "explain": Explain(),
}
