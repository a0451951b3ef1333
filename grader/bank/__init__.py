"""The bank: exercises, their cases, and the checks behind the cases."""

from grader.bank.loader import exercise_ids, load_exercise
from grader.bank.private import use_banks

__all__ = ["exercise_ids", "load_exercise", "use_banks"]
