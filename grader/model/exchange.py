"""What goes to a worker and what comes back."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType
from typing import Any, NamedTuple

from grader.model.arrays import Array
from grader.model.candidate import Parameter

# Named tuples: dozens of each are made for a file, and a frozen dataclass takes ten times as long.
EMPTY: Mapping[str, Any] = MappingProxyType({})


class Status(str, Enum):
    """What became of one probe, as seen from outside the worker."""

    OK = "ok"
    RAISED = "raised"
    EXITED = "exited"
    TIMED_OUT = "timed-out"
    DIED = "died"
    UNREADABLE = "unreadable"


class Input(NamedTuple):
    """A tensor for the candidate: its values, the dtype it must have, and how it is stored.

    `storage` is "contiguous", "transposed" (the first two axes are swapped in memory),
    "strided" (every second element of a wider tensor), "expanded" (batch axis of stride 0), "same"
    (the very tensor that the first input is), "complex" (of pairs along the last axis) or "tuple"
    (one tensor for each index of the first axis). One with a `name` is passed by keyword.
    """

    value: Array
    dtype: str
    storage: str = "contiguous"
    name: str | None = None


class Option(NamedTuple):
    """A plain value for an argument of forward, by keyword where it has a `name`."""

    value: bool | int | float | str | None
    name: str | None = None


class Earlier(NamedTuple):
    """Item `item` of what the call before returned, as it was, by keyword."""

    item: int
    name: str | None = None


class Settings(NamedTuple):
    """Stands for a configuration object: a value for each name that a pattern matches.

    The worker makes an object whose attributes, items and `get` look names up, the first pattern
    that matches winning; or, if `class_name` names a class of the file, one of those.
    """

    values: tuple[tuple[str, Any], ...]
    class_name: str | None = None


Call = tuple[Input | Option | Earlier | None, ...]


class Probe(NamedTuple):
    """One request: build the module, load weights, call it once or more.

    `globals` are numbers of the file itself to set beforehand. `calls` holds the inputs of each
    call; `cotangent`, shaped like the output, asks for the gradients of sum(output * cotangent)
    with respect to parameters and, unless `plain_inputs`, float inputs; the output is item
    `output` of what is returned. With `directions`, one for each float input, the gradients are
    those of the first gradients' sum along them. After the first call the module is cast to
    `recast`, and what `between` names is done: "training" (to training mode, a call, and back),
    or "deepcopy", "pickle" or "state-dict", a copy that makes all further calls, or
    "functional-call" or "vmap", an answer by the weights that were sent times `factor`. `describe`
    asks for the parameters, `watch` for what the module uses and turns beyond its own, `trace` for
    the tensors made on the way; `output_only` leaves the values of all else that is returned over
    there. With `without_norms` its LayerNorms let everything through, and parameters in `zeroed`
    are 0. `moved` asks which plain tensors stay where they were when the module goes to another
    device; with `left`, names of such, calls are made as if all else were there. Unless `fresh`,
    the module may be one that an earlier probe built in the same way.
    """

    class_name: str
    construct: tuple[Any, ...]
    construct_named: Mapping[str, Any] = EMPTY
    weights: Mapping[str, Array] = EMPTY
    globals: Mapping[str, Any] = EMPTY
    calls: tuple[Call, ...] = ()
    output: int = 0
    without_norms: bool = False
    zeroed: tuple[str, ...] = ()
    dtype: str = "float64"
    autocast: str | None = None
    train: bool = False
    cotangent: Array | None = None
    directions: tuple[Array, ...] = ()
    moved: bool = False
    left: tuple[str, ...] | None = None
    watch: bool = False
    return_inputs: bool = False
    plain_inputs: bool = False
    output_only: bool = False
    describe: bool = False
    recast: str | None = None
    trace: bool = False
    between: str | None = None
    factor: float = 1.0
    seed: int = 0
    fresh: bool = True

    @property
    def built(self) -> str:
        """How the module is built: the same for probes that can share one."""
        numbers = (self.globals, self.without_norms, self.zeroed, self.dtype)
        return repr((self.class_name, self.construct, self.construct_named, *numbers))


class Fault(NamedTuple):
    """An exception as the worker told it: a claim. `line` is in the candidate's own file."""

    phase: str
    type: str
    bases: tuple[str, ...]
    text: str
    line: int | None


class Returned(NamedTuple):
    """What one call gave back.

    `kinds` describes each returned item ("tensor", "none", "float", …) in order, and `tensors`
    holds those that are tensors under their position; a lone tensor is position 0. `after` are the
    inputs after the call.
    """

    structure: str
    kinds: tuple[str, ...]
    tensors: Mapping[int, Array]
    dtypes: Mapping[int, str]
    after: tuple[Array | None, ...]


class Step(NamedTuple):
    """One tensor that a line of the candidate's made, as a trace tells it: a claim.

    `sources` name the tensors it was made of: "3" is the fourth step, "input 0" the first input,
    "parameter q.weight" a parameter. `name` is the variable assigned to. `value` is None where it
    was too large.
    """

    operation: str
    line: int
    name: str
    sources: tuple[str, ...]
    shape: tuple[int, ...]
    value: Array | None


class Observation(NamedTuple):
    """What came back for one probe. Everything in it is a claim but `shared`.

    `ready_made` names ready-made attention that was seen in use, `stray` the tensors that did not
    move with the module, `turned` the global switches that are not as they were, `asked` the
    names that were looked up in `Settings`, `trace` the steps of the last call, the first
    ones if it was `cut`. `shared` is true where the module had been used by an earlier probe.
    """

    status: Status
    fault: Fault | None = None
    returned: tuple[Returned, ...] = ()
    parameters: tuple[Parameter, ...] = ()
    input_gradients: tuple[Array | None, ...] = ()
    parameter_gradients: Mapping[str, Array | None] = EMPTY
    ready_made: tuple[tuple[str, int], ...] = ()
    stray: tuple[str, ...] = ()
    turned: tuple[str, ...] = ()
    asked: tuple[str, ...] = ()
    trace: tuple[Step, ...] = ()
    cut: bool = False
    exit_code: int | None = None
    allowed_seconds: float = 0.0
    shared: bool = False
