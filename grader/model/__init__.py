"""The words of the project as types: frozen, without work of their own.

Sizes are written `batch, q_len, kv_len, d_model, num_heads, head_dim`; arrays are numpy arrays.
"""

from grader.model.arrays import Array
from grader.model.candidate import Argument, CandidateClass, Parameter, Submission
from grader.model.exchange import (
    Call,
    Earlier,
    Fault,
    Input,
    Observation,
    Option,
    Probe,
    Returned,
    Settings,
    Status,
    Step,
)
from grader.model.exercise import Case, Contract, Exercise, Helper, Limits, Terms
from grader.model.graded import Graded
from grader.model.report import (
    FREE,
    Departure,
    Diagnosis,
    Isolation,
    Message,
    NamedMistake,
    Outcome,
    Printed,
    Report,
    Stride,
    Verdict,
)

__all__ = [
    "FREE",
    "Argument",
    "Array",
    "Call",
    "CandidateClass",
    "Case",
    "Contract",
    "Departure",
    "Diagnosis",
    "Earlier",
    "Exercise",
    "Fault",
    "Graded",
    "Helper",
    "Input",
    "Isolation",
    "Limits",
    "Message",
    "NamedMistake",
    "Observation",
    "Option",
    "Outcome",
    "Parameter",
    "Printed",
    "Probe",
    "Report",
    "Returned",
    "Settings",
    "Status",
    "Step",
    "Stride",
    "Submission",
    "Terms",
    "Verdict",
]
