"""A submission of a course: whose it is, which try, and its report."""

from __future__ import annotations

from dataclasses import dataclass

from grader.model.report import Report


@dataclass(frozen=True)
class Graded:
    """One graded file of one student.

    `student` is the id that the download's file name or the list gave: what a gradebook matches
    by, and the file's own name where nothing else is known. `name` is the full name if the
    download has it. `attempt` counts a student's files from 1, the latest last; `at` is when it
    was graded, ISO 8601 in UTC.
    """

    student: str
    report: Report
    at: str
    name: str = ""
    attempt: int = 1
