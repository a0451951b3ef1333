"""Runs a candidate's source and probes its module; all of it is untrusted from the first line."""

from __future__ import annotations

import contextlib
import linecache
import sys
import traceback
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import torch
from torch.nn.parameter import is_lazy

from . import apart, between, describe, protocol, ready_made, stand_in, trace, watch
from .answer import Answer
from .built import Built, Kept, WeightSets
from .passes import autocast, call_module, cast, go_back, gradient_mode, make_inputs, materialise
from .protocol import Blob
from .values import DTYPES, to_tensor

MODULE_NAME = "submission"
MAX_TEXT = 2000
Reply = tuple[dict[str, Any], list[Blob]]


class Stopped(Exception):
    """Candidate code did not come back normally; holds the reply that says how."""

    def __init__(self, reply: dict[str, Any]) -> None:
        super().__init__()
        self.reply = reply


class Submission:
    """The candidate's module, once loaded, and the probes made on it."""

    def __init__(self) -> None:
        self.module = ModuleType(MODULE_NAME)
        self.name = "submission.py"
        self.kept = Kept()
        self.weights = WeightSets()

    def load(self, source: str, name: str) -> dict[str, Any]:
        """Run the file, never its `__main__` block; returns its classes, or what stopped it."""
        self.name = name
        # inspect and dataclasses ask for the source; there is no file to read it from.
        linecache.cache[name] = (len(source), None, source.splitlines(True), name)
        self.module.__file__ = name
        ready_made.read(name)
        sys.modules[MODULE_NAME] = self.module
        try:
            with self._guard("load"):
                exec(compile(source, name, "exec", dont_inherit=True), self.module.__dict__)
            with self._guard("describe"):
                return {"status": "ok", "classes": describe.classes(self.module)}
        except Stopped as stopped:
            return stopped.reply

    def probe(self, request: dict[str, Any], blobs: list[Blob]) -> Reply:
        """Build the module, load weights, run the calls, go back for gradients."""
        answer = Answer()
        try:
            asked = protocol.PROBE | request
            self._probe(asked, [to_tensor(blob) for blob in blobs], answer)
        except Stopped as stopped:
            answer.header.update(stopped.reply)
        return answer.header, answer.blobs

    def _probe(self, request: dict[str, Any], tensors: list[torch.Tensor], answer: Answer) -> None:
        # First of all: the grader counts them as received, whatever is raised below.
        weights = self.weights.look_up(request["weights"], tensors)
        watch.reset()
        before = watch.switches() if request["watch"] else {}
        self._set_globals(request["globals"])
        if request["keep"] is None:
            self.kept.clear()
        built = self.kept.take(request["keep"]) or self._build(request, tensors)
        module = built.module
        if request["describe"]:
            answer.describe_parameters(built.found)
        with self._guard("cast"):
            built.load(*weights)
            if request["moved"]:
                module.to("meta")
            module.train(request["train"])
        # What forward draws must not depend on whether a constructor has drawn before it; and the
        # state must be none that a file may set by itself.
        _seed(request["seed"] ^ 0x5EED)
        mode = self._follow(request, built)
        if request["watch"]:
            # A constructor draws its weights; forward in eval has nothing to draw.
            before["random state"] = watch.switches()["random state"]
        graph = gradient_mode(request)
        made: list[tuple[Any, list[Any]]] = []
        called: Any = module
        for call in request["calls"]:
            if made and request["recast"]:
                cast(module, DTYPES[request["recast"]])
            if len(made) == 1 and request["between"]:
                with self._guard(request["between"]):
                    called = self._between(request, built, call, tensors)
            with self._guard("forward"):
                earlier = made[-1][0] if made else None
                inputs = make_inputs(call, tensors, request, earlier)
            if request["trace"] or request["left"] is not None:
                mode.begin(inputs)
            with self._guard("forward"), mode, graph, autocast(request["autocast"]):
                made.append((call_module(called, call, inputs), inputs))
            if request["cotangent"] is not None:
                with self._guard("backward"):
                    go_back(made[-1], request, tensors)
                    answer.add_gradients(built.found, inputs)
        if request["watch"]:
            after = watch.switches()
            answer.header["turned"] = [name for name in before if before[name] != after[name]]
        # Only now: what one call returned must outlive the next.
        with self._guard("returned"):
            wanted = request["output"] if request["output_only"] else None
            for returned, inputs in made:
                answer.add_returned(returned, inputs if request["return_inputs"] else [], wanted)
        if request["trace"]:
            answer.add_trace(mode.steps)
        answer.header["asked"] = sorted(stand_in.ASKED)
        answer.header["seen"] = ready_made.take(module)
        if request["moved"]:
            registered = (tensor for _, tensor, _, is_registered in built.found if is_registered)
            answer.header["stray"] = describe.stray(module, registered)
        self.kept.put(request["keep"], built)

    def _follow(self, request: dict[str, Any], built: Built) -> Any:
        """What looks on while calls are made: a trace, a second device, or nothing."""
        if request["left"] is not None:
            moved, left = describe.part(built.module, request["left"])
            return apart.Apart(moved, left, made=not request["left"])
        if request["trace"]:
            known = {f"parameter {name}": tensor for name, tensor, _, _ in built.found}
            return trace.Recorder(self.name, known)
        return contextlib.nullcontext()

    def _build(self, request: dict[str, Any], tensors: list[torch.Tensor]) -> Built:
        _seed(request["seed"])
        with self._guard("construct"):
            module = self._construct(request)
        if isinstance(module, torch.nn.Module) and any(map(is_lazy, module.parameters())):
            with self._guard("forward"), torch.no_grad():
                materialise(module, request, tensors)
        with self._guard("construct"):
            if not isinstance(module, torch.nn.Module):
                raise TypeError(f"{type(module).__name__} is not an nn.Module")
            found = list(describe.tensors(module))
            stand_in.clear(found, request["zeroed"])
        with self._guard("cast"):
            dtype = DTYPES[request["dtype"]]
            if dtype is not torch.float32:
                cast(module, dtype)
            return Built(module, found, [parameter.data for _, parameter, _, _ in found])

    def _set_globals(self, numbers: dict[str, Any]) -> None:
        for name, value in numbers.items():
            setattr(self.module, name, value)

    def _construct(self, request: dict[str, Any]) -> Any:
        stand_in.ASKED.clear()
        positional = [stand_in.value_of(v, self.module) for v in request["construct"]]
        by_name = request["construct_named"].items()
        named = {name: stand_in.value_of(v, self.module) for name, v in by_name}
        module = getattr(self.module, request["class"])(*positional, **named)
        if request["without_norms"]:
            stand_in.quiet_norms(module)
        return module

    def _between(
        self, request: dict[str, Any], built: Built, call: list[Any], tensors: list[torch.Tensor]
    ) -> Any:
        def build() -> torch.nn.Module:
            part: torch.nn.Module = self._construct(request)
            cast(part, DTYPES[request["dtype"]])
            return part.train(request["train"])

        def run(part: Callable[..., Any]) -> Any:
            return call_module(part, call, make_inputs(call, tensors, request))

        use = between.Use(build, run, built.sent, request["factor"])
        return between.go_on(request["between"], built.module, use)

    @contextlib.contextmanager
    def _guard(self, phase: str) -> Iterator[None]:
        try:
            yield
        except SystemExit as exit_:
            raise Stopped({"status": "exited", "phase": phase, "exit": _code(exit_)}) from None
        except BaseException as error:
            fault = {
                "phase": phase,
                "type": _name(type(error)),
                "bases": [_name(base) for base in type(error).__mro__],
                "text": _text(error),
                "line": self._line(error),
            }
            raise Stopped({"status": "raised", "fault": fault}) from None

    def _line(self, error: BaseException) -> int | None:
        if isinstance(error, SyntaxError) and error.filename == self.name:
            return error.lineno
        frames = traceback.walk_tb(error.__traceback__)
        lines = [line for frame, line in frames if frame.f_code.co_filename == self.name]
        return lines[-1] if lines else None


def _seed(seed: int) -> None:
    # Not torch.manual_seed: it formats a stack trace for devices that are not here.
    torch.default_generator.manual_seed(seed)


def _guarded(make: Callable[[], str], otherwise: str) -> str:
    try:
        return str(make())[:MAX_TEXT]
    except BaseException:
        return otherwise


def _text(error: BaseException) -> str:
    return _guarded(lambda: str(error), "(its text could not be made)")


def _name(kind: type) -> str:
    return _guarded(lambda: type.__dict__["__name__"].__get__(kind), "(nameless)")


def _code(error: SystemExit) -> int | None:
    try:
        return error.code if type(error.code) is int else None
    except BaseException:
        return None
