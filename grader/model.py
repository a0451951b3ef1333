"""The words of the project as types: frozen, without work of their own.

Sizes are written `batch, q_len, kv_len, d_model, num_heads, head_dim`; arrays are numpy arrays.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from numpy.typing import NDArray

Array = NDArray[Any]


class Outcome(str, Enum):
    """The decision on a case. `failed` costs points; `error` is ours and never does."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"
    ERROR = "error"
    NOT_APPLICABLE = "not-applicable"


class Status(str, Enum):
    """What became of one probe, as seen from outside the worker."""

    OK = "ok"
    RAISED = "raised"
    EXITED = "exited"
    TIMED_OUT = "timed-out"
    DIED = "died"
    UNREADABLE = "unreadable"


@dataclass(frozen=True)
class Message:
    """A fact on its way to a reader: the key of a sentence in texts/, and its values."""

    key: str
    fields: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Limits:
    """What one submission may use. Seconds are wall time, measured by the grader."""

    load_seconds: float = 10.0
    probe_seconds: float = 4.0
    total_seconds: float = 60.0
    memory_mib: int = 2048
    output_kib: int = 64


@dataclass(frozen=True)
class Contract:
    """What an exercise promises its candidates about the call.

    `inputs` are the tensor arguments in order; `mask` is the meaning of the optional last
    argument: "attention" (broadcastable to [B, H, q_len, kv_len]) or "padding" ([B, L]), both
    bool with True = visible. `causal` says that the module hides the future by itself.
    """

    inputs: tuple[str, ...]
    mask: str
    causal: bool


@dataclass(frozen=True)
class Case:
    """One graded row of the bank. `after` names the cases that must pass first."""

    id: str
    area: str
    check: str
    points: float
    catches: str
    args: Mapping[str, Any] = field(default_factory=dict)
    after: tuple[str, ...] = ()


@dataclass(frozen=True)
class Exercise:
    """A task: what candidates are asked for, and the cases that judge it."""

    id: str
    contract: Contract
    areas: Mapping[str, float]
    cases: tuple[Case, ...]
    limits: Limits
    version: str


@dataclass(frozen=True)
class Submission:
    """One candidate's file, read once and never opened again."""

    path: str
    source: str
    sha256: str


@dataclass(frozen=True)
class Parameter:
    """A tensor of the candidate's module. `owner` is the class that holds it."""

    name: str
    shape: tuple[int, ...]
    owner: str
    registered: bool


@dataclass(frozen=True)
class Argument:
    """One argument of a candidate's function, as its signature shows it."""

    name: str
    kind: str
    required: bool


@dataclass(frozen=True)
class CandidateClass:
    """A class found in a submission. `used_by` names other classes of the file that use it."""

    name: str
    line: int
    is_module: bool
    has_forward: bool
    constructor: tuple[Argument, ...]
    forward: tuple[Argument, ...]
    used_by: tuple[str, ...]


@dataclass(frozen=True)
class Input:
    """A tensor for the candidate: its values, the dtype it must have, and how it is stored.

    `storage` is "contiguous", "transposed" (the first two axes are swapped in memory),
    "strided" (every second element of a wider tensor) or "expanded" (batch axis of stride 0).
    """

    value: Array
    dtype: str
    storage: str = "contiguous"


@dataclass(frozen=True)
class Probe:
    """One request: build the module, load weights, call it once or more.

    `calls` holds one tuple of positional inputs per call; `cotangent` [B, q_len, d_model] asks for
    the gradients of sum(output * cotangent) with respect to float inputs and parameters.
    """

    class_name: str
    construct: tuple[Any, ...]
    construct_named: Mapping[str, Any] = field(default_factory=dict)
    weights: Mapping[str, Array] = field(default_factory=dict)
    calls: tuple[tuple[Input | None, ...], ...] = ()
    dtype: str = "float64"
    autocast: str | None = None
    train: bool = False
    cotangent: Array | None = None
    device: str = "cpu"
    watch: bool = False
    return_inputs: bool = False
    seed: int = 0


@dataclass(frozen=True)
class Fault:
    """An exception as the worker told it: a claim. `line` is in the candidate's own file."""

    phase: str
    type: str
    bases: tuple[str, ...]
    text: str
    line: int | None


@dataclass(frozen=True)
class Returned:
    """What one call gave back.

    `kinds` describes each returned item ("tensor", "none", "float", …) in order, and `tensors`
    holds those that are tensors under their position; a lone tensor is position 0. `shapes` is
    known for tensors without data (device "meta"). `after` are the inputs after the call.
    """

    structure: str
    kinds: tuple[str, ...]
    tensors: Mapping[int, Array]
    dtypes: Mapping[int, str]
    shapes: tuple[tuple[int, ...], ...]
    after: tuple[Array | None, ...]


@dataclass(frozen=True)
class Observation:
    """What came back for one probe. Everything in it is a claim except `seconds`.

    `ready_made` names ready-made attention that was seen in use, `stray` the tensors that did not
    move with the module.
    """

    status: Status
    fault: Fault | None = None
    returned: tuple[Returned, ...] = ()
    parameters: tuple[Parameter, ...] = ()
    input_gradients: tuple[Array | None, ...] = ()
    parameter_gradients: Mapping[str, Array | None] = field(default_factory=dict)
    ready_made: tuple[str, ...] = ()
    stray: tuple[str, ...] = ()
    exit_code: int | None = None
    seconds: float = 0.0
    allowed_seconds: float = 0.0


@dataclass(frozen=True)
class Verdict:
    """The decision on one case; `mistake` is the id of the known fault that explains it."""

    case: str
    area: str
    outcome: Outcome
    points: float
    max_points: float
    message: Message | None = None
    mistake: str | None = None


@dataclass(frozen=True)
class Isolation:
    """How far the submission was shut in: a level, and the layers that were in force."""

    level: str
    layers: tuple[str, ...]


@dataclass(frozen=True)
class Printed:
    """What the candidate's code wrote: the first part kept, the whole counted in bytes."""

    text: str
    size: int


@dataclass(frozen=True)
class Report:
    """All that is known about one graded submission; every format is made from this."""

    submission: Submission
    exercise: str
    seed: int
    verdicts: tuple[Verdict, ...]
    areas: Mapping[str, float]
    convention: tuple[Message, ...]
    isolation: Isolation
    environment: Mapping[str, str]
    printed: Printed
    seconds: float
    bank: str = ""
    refusal: Message | None = None

    def earned(self, area: str) -> float:
        """Points earned in one area."""
        return round(sum(v.points for v in self.verdicts if v.area == area), 4)

    def available(self, area: str) -> float:
        """The area's points, without those of cases that could not be judged."""
        lost = sum(v.max_points for v in self.verdicts if v.area == area and v.outcome in UNCHARGED)
        return round(self.areas[area] - lost, 4)

    @property
    def max_score(self) -> float:
        """The points an exercise has, whatever could be judged."""
        return 100.0

    @property
    def score(self) -> float:
        """Points earned, out of 100, over the cases that could be judged.

        Cases lost to the grader's own fault or not offered by the file leave the sum on both
        sides; with nothing left to judge the score is 0.
        """
        counted = [v for v in self.verdicts if v.outcome not in UNCHARGED]
        possible = sum(v.max_points for v in counted)
        earned = sum(v.points for v in counted)
        return round(self.max_score * earned / possible, 2) if possible else 0.0

    @property
    def all_passed(self) -> bool:
        """True when every case that applies passed, and none only by following a mistake."""
        judged = [v for v in self.verdicts if v.outcome is not Outcome.NOT_APPLICABLE]
        return bool(judged) and all(v.outcome is Outcome.PASSED and not v.message for v in judged)

    @property
    def has_errors(self) -> bool:
        """True when the grader failed on a case."""
        return any(v.outcome is Outcome.ERROR for v in self.verdicts)


UNCHARGED = (Outcome.ERROR, Outcome.NOT_APPLICABLE)
