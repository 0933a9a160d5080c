"""What the tree of a profiler's events has beyond the trace.

A trace names the line where each Python function begins. In the tree, each call also has the line
that made it. A trace leaves out long lists of shapes, which optimizers use. And the tree knows the
objects that are the modules.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from itertools import count
from typing import Any, NamedTuple, TypeAlias

from tfprof.sources.kineto.compiled import COMPILED
from tfprof.sources.kineto.python_calls import is_of_program
from tfprof.sources.torch_modules_file import StatedFacts

Identity: TypeAlias = tuple[int, int]  # the addresses of a module and of its class

_MODULE = "nn.Module: "
# The starts of the names of ops whose float operations depend on lists of tensors.
_OF_LISTS = ("aten::_foreach_", "aten::_fused_", "aten::_amp_foreach_")
_SHOWN = 30  # a trace has the shapes of lists of at most this length


class PythonEvents(NamedTuple):
    """The names of modules in the order of first calls, facts about events, and what ran.

    Modules of two classes of the same name have the same name in the trace: one of them gets a free
    one, and `names` has its calls.
    """

    modules: dict[Identity, str]
    names: StatedFacts
    lines: StatedFacts
    inputs: StatedFacts
    has_ops: bool
    is_compiled: bool  # some ops are compiled regions, which call no modules


def python_events(roots: Sequence[Any], types: Any) -> PythonEvents:
    """Search the trees below `roots`; `types` has the tags of events."""
    modules, lines, inputs = _Modules(), _Lines(), _Inputs()
    has_ops = is_compiled = False
    pending = [(root, -1) for root in roots]
    while pending:
        event, around = pending.pop()
        # The names of other events may not be valid texts.
        if event.tag == types.PyCall:
            modules.add(event)
        if event.tag in {types.PyCall, types.PyCCall}:
            around = lines.add(event, around)
        elif event.tag == types.TorchOp:
            has_ops = True
            is_compiled = is_compiled or event.name.startswith(COMPILED)
            lines.keep(around)
            inputs.add(event)
        pending += [(child, around) for child in event.children]
    return PythonEvents(*modules.named(), lines.stated(), inputs.stated(), has_ops, is_compiled)


def _stated(facts: Iterable[tuple[int, Any]]) -> StatedFacts:
    """What is stated about each event, from its start and the fact."""
    found = sorted(facts)
    values: dict[Any, int] = {}
    place = [values.setdefault(value, len(values)) for _, value in found]
    return StatedFacts(list(values), [start for start, _ in found], place)


class _Modules:
    def __init__(self) -> None:
        self._starts: dict[tuple[str, Identity], list[int]] = {}

    def add(self, event: Any) -> None:
        if (module := event.extra_fields.module) is None:
            return
        name, identity = event.name.removeprefix(_MODULE), (module.self_ptr, module.cls_ptr)
        self._starts.setdefault((name, identity), []).append(event.start_time_ns)

    def named(self) -> tuple[dict[Identity, str], StatedFacts]:
        """The name of each module, and the calls of those that are not named as in the trace."""
        names: dict[Identity, str] = {}
        taken = {name for name, _ in self._starts}
        used: set[str] = set()
        calls: list[tuple[int, str]] = []
        for (name, identity), starts in sorted(self._starts.items(), key=lambda one: min(one[1])):
            own = _free(name, taken) if name in used else name
            used |= {name, own}
            taken.add(own)
            names[identity] = own
            calls += [(start, own) for start in starts if own != name]
        return names, _stated(calls)


def _free(name: str, taken: Collection[str]) -> str:
    """The name with the next number that is free: `Linear_0` becomes `Linear_1`."""
    kind, _, number = name.rpartition("_")
    places = count(int(number) + 1 if number.isdecimal() else 0)
    return next(free for place in places if (free := f"{kind}_{place}") not in taken)


def _frame(caller: Any) -> tuple[str, int, str] | None:
    """File, line and function; None if they are not valid, as for code that was deleted."""
    try:
        return caller.file_name, caller.line_number, caller.function_name
    except UnicodeDecodeError:
        return None


class _Lines:
    """The calls from lines of the program; those without ops inside are left out."""

    def __init__(self) -> None:
        self._calls: list[tuple[int, tuple[str, int, str]]] = []
        self._around: list[int] = []
        self._is_kept: list[bool] = []

    def add(self, event: Any, around: int) -> int:
        """Add a call that is inside the call `around`; returns the call that its ops are in."""
        frame = _frame(event.extra_fields.caller)
        is_outermost = event.parent is None  # its own line is stated as that of its caller
        if frame is None or is_outermost or not is_of_program(frame[0], frame[2]):
            return around
        self._calls.append((event.start_time_ns, frame))
        self._around.append(around)
        self._is_kept.append(False)
        return len(self._calls) - 1

    def keep(self, call: int) -> None:
        """Keep a call and those around it, because it has an op."""
        while call >= 0 and not self._is_kept[call]:
            self._is_kept[call] = True
            call = self._around[call]

    def stated(self) -> StatedFacts:
        pairs = zip(self._calls, self._is_kept, strict=True)
        return _stated(call for call, is_kept in pairs if is_kept)


class _Inputs:
    """The shapes of ops with long lists of tensors, in the form of a trace."""

    def __init__(self) -> None:
        self._found: list[tuple[int, tuple[str, str]]] = []

    def add(self, event: Any) -> None:
        if not event.name.startswith(_OF_LISTS):
            return
        inputs = event.extra_fields.inputs
        if max((len(one) for one in inputs if isinstance(one, list)), default=0) > _SHOWN:
            shapes = json.dumps([_dims(one) for one in inputs])
            numbers = json.dumps([_number(one) for one in inputs])
            self._found.append((event.start_time_ns, (shapes, numbers)))

    def stated(self) -> StatedFacts:
        return _stated(self._found)


def _dims(value: Any) -> list[Any]:
    """The shape of a tensor, those of a list of tensors, and nothing for other inputs."""
    if isinstance(value, list):
        return [list(getattr(one, "sizes", ())) for one in value]
    return list(getattr(value, "sizes", ()))


def _number(value: Any) -> str:
    """The text of a number; a long list of numbers is not recorded, and is empty here."""
    if value is None:
        return "[]"
    return str(value) if isinstance(value, int | float) else ""
