"""The bank: exercises, their cases, and the checks behind the cases."""

from grader.bank.loader import exercise_ids, load_exercise

__all__ = ["exercise_ids", "load_exercise"]
