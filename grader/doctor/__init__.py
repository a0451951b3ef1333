"""`mha-grade --doctor`: attacks are run on this computer, and it is said which were held."""

from grader.doctor.examination import Examination, examine
from grader.doctor.page import render_examination

__all__ = ["Examination", "examine", "render_examination"]
