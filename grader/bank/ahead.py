"""Cases that are asked together: what one request costs is mostly the asking.

The first of them that is run takes those with it that use the same module with the same weights.
Where that does not come back as it should, each is asked alone, as if nothing had been.
"""

from __future__ import annotations

import functools
import inspect
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from grader.bank.findings import Finding
from grader.bank.problem import Problem
from grader.model import Case, Observation, Probe, Status

# A call that takes longer is made alone: many together would be late.
QUICK_SECONDS = 0.05


class Posed(NamedTuple):
    """A case's problem and the one call that is made on it."""

    problem: Problem
    probe: Probe


NOTHING: Mapping[str, Posed] = MappingProxyType({})
Pose = Callable[..., Posed]
# What a check asks for, by its name, for those that ask for one call: many are asked together.
POSES: dict[str, Pose] = {}


def judges(pose: Pose) -> Callable[[Callable[..., Finding]], Callable[..., Finding]]:
    """Make a check of a function of (bench, case, problem, observation, args of the case).

    It judges what the one call came to that `pose` asks for, whose arguments are the check's.
    """

    def make(judge: Callable[..., Finding]) -> Callable[..., Finding]:
        @functools.wraps(judge)
        def check(bench: Any, case: Case, **args: Any) -> Finding:
            problem, probe = bench.ahead.find(case.id) or pose(bench, case, **args)
            return judge(bench, case, problem, bench.run(probe), args)

        vars(check)["__signature__"] = inspect.signature(pose)
        POSES[judge.__name__] = pose
        return check

    return make


class Ahead:
    """What cases are going to ask, by their ids, and the answers that came with another's."""

    def __init__(self, posed: Mapping[str, Posed] = NOTHING) -> None:
        self._posed = posed
        self._groups: dict[tuple[object, ...], list[Probe]] = defaultdict(list)
        for one in posed.values():
            self._groups[_key(one.probe)].append(one.probe)
        self._keys = {id(one.probe): _key(one.probe) for one in posed.values()}
        self._answers: dict[int, Observation] = {}

    def find(self, case: str) -> Posed | None:
        """What this case asks, if it was posed."""
        return self._posed.get(case)

    def answer(
        self, probe: Probe, run: Callable[[Probe], Observation], seconds: float
    ) -> Observation | None:
        """The answer to a posed probe, from a request of all of its kind; None where there is none.

        `seconds` is what a call has taken so far at the most.
        """
        group = self._groups.pop(self._keys.get(id(probe), ()), [])
        if len(group) > 1 and seconds < QUICK_SECONDS:
            self._ask(group, run)
        return self._answers.pop(id(probe), None)

    def _ask(self, probes: Sequence[Probe], run: Callable[[Probe], Observation]) -> None:
        calls = tuple(probe.calls[0] for probe in probes)
        seen = run(probes[0]._replace(calls=calls, fresh=False))
        if seen.status is Status.OK:
            # Each may have left its traces in what another returned.
            for probe, returned in zip(probes, seen.returned):
                self._answers[id(probe)] = seen._replace(returned=(returned,), shared=True)


def _key(probe: Probe) -> tuple[object, ...]:
    """The same for probes of one module with the same weights that are called in the same way."""
    return probe.built, id(probe.weights), probe.train, probe.autocast
