"""The bank tests itself: what it must accept, what it must catch, and which case catches what."""

from grader.audit.claims import Audit, audit_exercise
from grader.audit.specimens import load_file, make_specimen
from grader.audit.table import render_audits

__all__ = ["Audit", "audit_exercise", "load_file", "make_specimen", "render_audits"]
