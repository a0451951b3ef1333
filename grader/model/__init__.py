"""The words of the project as types: frozen, without work of their own.

Sizes are written `batch, q_len, kv_len, d_model, num_heads, head_dim`; arrays are numpy arrays.
"""

from grader.model.arrays import Array
from grader.model.candidate import Argument, CandidateClass, Parameter, Submission
from grader.model.exchange import (
    Call,
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
from grader.model.exercise import Case, Contract, Exercise, Limits
from grader.model.report import FREE, Isolation, Message, Outcome, Printed, Report, Verdict

__all__ = [
    "FREE",
    "Argument",
    "Array",
    "Call",
    "CandidateClass",
    "Case",
    "Contract",
    "Exercise",
    "Fault",
    "Input",
    "Isolation",
    "Limits",
    "Message",
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
    "Submission",
    "Verdict",
]
