"""The engine: one pass over all ops in topological order that applies the rules of their kinds."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from functools import cached_property
from typing import NamedTuple, TypeVar

import numpy as np

from tfprof.columns import Coded, Ints, Shape
from tfprof.formats.constants import Constant, constant
from tfprof.model.ops import MOST_OUTPUTS, OutputShapes
from tfprof.sources.tf_shapes import effort, loops
from tfprof.sources.tf_shapes.dims import MOST, OPEN, Unknown, common, is_whole, refined
from tfprof.sources.tf_shapes.frames import CONDITION, with_frames
from tfprof.sources.tf_shapes.op import MOST_NUMBERS, Held, Op, Tensor, Value
from tfprof.sources.tf_shapes.order import topological
from tfprof.sources.tf_shapes.program import Given, Loop, Program
from tfprof.sources.tf_shapes.registry import HELD, SHAPES, VALUES
from tfprof.sources.tf_shapes.values import FROM_SHAPES

Fact = TypeVar("Fact")

_MOST_REVISITS = 4  # times the number of ops
_NO_OP = (-1, 0)
# Damaged graphs contradict themselves in ways that rules do not check.
_CONTRADICTIONS = (Unknown, ArithmeticError, LookupError, TypeError, ValueError)
_INPUTS = ("Placeholder", "PlaceholderWithDefault", "_Arg")


class Stop(NamedTuple):
    """The first op with an unknown shape although those of its inputs are known."""

    row: int
    has_rule: bool


class Inferred(NamedTuple):
    """The result: the shapes of all outputs, and how often each op runs."""

    outputs: OutputShapes
    repeats: Ints  # `UNKNOWN_REPEATS` if a trip count is unknown
    shape_arithmetic: Ints  # rows of ops that only compute shapes, all of which are known
    stop: Stop | None
    unknown_loops: tuple[int, ...]  # rows of loops whose trip count is unknown
    endless_loops: tuple[int, ...]  # rows of loops that would run too often


def infer(program: Program, given: Given, unreadable: Container[int] = ()) -> Inferred:
    """Infer the shapes that the graph leaves open, and the trip counts of loops.

    `unreadable` has rows of calls whose functions are missing.
    """
    program = with_frames(program)
    engine = Engine(program, given)
    engine.run()
    count, rows = len(program), len(engine.outputs)
    repeats = effort.repeats(program, engine.trips)
    return Inferred(
        OutputShapes.of_rows(engine.final_outputs()),
        repeats,
        effort.shape_arithmetic(engine, count, rows, engine.before),
        engine.stop(unreadable),
        tuple(row for row, count in engine.trips.items() if count is None),
        effort.endless_loops(repeats, engine.trips),
    )


def leaves_only_batch_open(program: Program) -> bool:
    """Whether inputs leave dims open, and only the first dim of each."""
    rows = np.flatnonzero(np.isin(program.kind.codes, _codes(program.kind, _INPUTS)))
    used = rows[np.isin(rows, program.input_source)].tolist()
    found = [refined(program.stated.of(row, 0), program.declared[row]) for row in used]
    open_ = [shape for shape in found if not is_whole(shape)]
    return bool(open_) and all(shape and is_whole(shape[1:]) for shape in open_)


def _codes(kinds: Coded, wanted: Iterable[str]) -> list[int]:
    return [code for code, kind in enumerate(kinds.values) if kind in wanted]


class Engine:
    """The facts known about each tensor, and the order in which they are found."""

    def __init__(self, program: Program, given: Given) -> None:
        self._program = program
        self._given = given
        self._count = len(program)
        kinds = list(program.kind.values)
        self._kinds = [kinds[code] for code in program.kind.codes.tolist()]
        self._sources = program.input_source.tolist()
        self._slots = program.input_slot.tolist()
        self._offsets = program.input_offsets.tolist()
        variables = len(program.initial)
        self.outputs: list[list[Shape]] = [self._stated(row) for row in range(self._count)]
        self.outputs += [[None] for _ in range(variables)]
        self._values: dict[Tensor, Value] = {}
        self._held: dict[Tensor, Held] = {}
        self._widened: dict[int, tuple[Shape, Held | None]] = {}  # of loop variables
        self._constant_variables = self._find_constant_variables()
        self._left = _MOST_REVISITS * (self._count + 1)
        self.trips: dict[int, int | None] = {}

    def _stated(self, row: int) -> list[Shape]:
        stated = self._program.stated
        return [stated.of(row, slot) for slot in range(stated.count(row))]

    def _find_constant_variables(self) -> set[int]:
        return {
            loop.variables[place]
            for loop in self._program.loops.values()
            for place in range(len(loop.variables))
            if loops.is_constant(self, loop, place)
        }

    # What rules and loops ask for.

    def shape(self, tensor: Tensor) -> Shape:
        row, slot = tensor
        return self.outputs[row][slot] if row >= 0 and slot < len(self.outputs[row]) else None

    def value(self, tensor: Tensor) -> Value | None:
        return self._values.get(tensor)

    def held(self, tensor: Tensor) -> Held | None:
        return self._held.get(tensor)

    def kind(self, row: int) -> str:
        return self._kinds[row] if 0 <= row < self._count else ""

    def inputs(self, row: int) -> list[Tensor]:
        """The tensors that an op takes, without control dependencies."""
        if not 0 <= row < self._count:
            return []
        edges = range(self._offsets[row], self._offsets[row + 1])
        return [
            (self._sources[edge], self._slots[edge]) for edge in edges if self._slots[edge] >= 0
        ]

    def initial(self, variable: int) -> Tensor:
        return self._program.initial[variable - self._count]

    # The pass.

    def run(self) -> None:
        self._order = topological(len(self.outputs), self._before_unless_next)
        for row in self._order:
            self._visit(row)

    def _before_unless_next(self, row: int) -> Iterable[int]:
        # `NextIteration` closes a loop of TensorFlow 1.
        return () if self.kind(row) == "NextIteration" else self.before(row)

    def before(self, row: int) -> Iterable[int]:
        """The rows that must come before a row."""
        program = self._program
        if row >= self._count:
            return (self.initial(row)[0],)
        found: list[int] = self._sources[self._offsets[row] : self._offsets[row + 1]]
        for results in program.results.get(row, ()):
            found += [source for source, _ in results]
        if (loop := program.loops.get(row)) is not None:
            found += [loop.condition[0], *(source for source, _ in loop.results)]
        return found

    def _visit(self, row: int) -> None:
        if row >= self._count:
            self._start_variable(row)
        elif row in self._program.loops:
            self._end_loop(row, self._program.loops[row])
        elif row in self._program.results:
            self._end_call(row, self._program.results[row])
        else:
            self._apply(row)

    def _apply(self, row: int) -> None:
        """Apply the rules of an op's kind."""
        kind, stated = self._kinds[row], self._stated(row)
        if kind == "Const":
            self._read_constant(row, stated)
            return
        if kind in _INPUTS:
            stated = self._sized_input(row, stated)
            self.outputs[row] = stated
        is_open = not stated or not all(map(is_whole, stated))
        rule = SHAPES.get(kind) if is_open else None
        has_facts = kind in VALUES or kind in HELD
        if rule is None and not has_facts:
            return
        op = self._op(row, kind, stated)
        if rule is not None:
            self.outputs[row] = _completed(stated, _tried(rule, op))
        if kind in VALUES and (kind in FROM_SHAPES or self._has_values(op.inputs)):
            self._keep_values(row, _tried(VALUES[kind], op))
        if kind in HELD:
            self._keep_held(row, _tried(lambda op: (HELD[kind](op),), op))

    def _has_values(self, tensors: Iterable[Tensor]) -> bool:
        return any(tensor in self._values for tensor in tensors)

    def _op(self, row: int, kind: str, stated: Sequence[Shape]) -> Op:
        program = self._program
        return Op(
            kind,
            self.inputs(row),
            stated,
            program.declared[row],
            lambda: program.attributes.encoded(row),
            self,
        )

    def _keep_values(self, row: int, values: Sequence[Value | None]) -> None:
        outputs = self.outputs[row]
        for slot, value in enumerate(values):
            if value is None or value.size > MOST_NUMBERS:
                continue
            shape = outputs[slot] if slot < len(outputs) else None
            if refined(shape, value.shape) != value.shape:  # the graph contradicts itself
                continue
            self._values[row, slot] = value
            if slot < len(outputs):
                outputs[slot] = value.shape

    def _keep_held(self, row: int, held: Sequence[Held]) -> None:
        for slot in (0, 1) if self._kinds[row] == "Switch" else (0,):
            if held:
                self._held[row, slot] = held[0]

    def _read_constant(self, row: int, stated: list[Shape]) -> None:
        program = self._program
        found = constant(program.records.data, int(program.start[row]), int(program.end[row]))
        if found is None:
            return
        self.outputs[row] = _completed(stated, [_checked(found.dims)])
        self._keep_constant(row, found)

    def _keep_constant(self, row: int, found: Constant) -> None:
        if found.values is not None and self.outputs[row][0] == found.dims:
            self._values[row, 0] = found.values

    def _sized_input(self, row: int, stated: list[Shape]) -> list[Shape]:
        """The shape of an input of the program, with the given batch size."""
        given = self._given
        shape = refined(stated[0] if stated else None, self._program.declared[row])
        shape = refined(shape, given.shapes.get(row))
        if shape and shape[0] == OPEN and given.batch_size:
            shape = (given.batch_size, *shape[1:])
        return [shape]

    # Calls and loops.

    def _end_call(self, row: int, results: Sequence[Sequence[Tensor]]) -> None:
        """The outputs of a call: what all its functions return."""
        stated = self._stated(row)
        first, *others = results
        found = [self.shape(tensor) for tensor in first]
        for other in others:
            shapes = [self.shape(tensor) for tensor in other]
            found = [common(one, two) for one, two in zip(found, shapes, strict=False)]
        self.outputs[row] = _completed(stated, found)
        for slot, tensor in enumerate(first):
            alike = [other[slot] for other in others if slot < len(other)]
            self._pass_on(tensor, alike, (row, slot))

    def _pass_on(self, source: Tensor, others: Sequence[Tensor], target: Tensor) -> None:
        """Keep what is known about `source` for `target`, if it is the same for all others."""
        value, held = self._values.get(source), self._held.get(source)
        same = [self._values.get(other) for other in others]
        if value is not None and all(_is_same(value, other) for other in same):
            self._keep_values_of(target, value)
        if held is not None and all(self._held.get(other) == held for other in others):
            self._held[target] = held

    def _keep_values_of(self, target: Tensor, value: Value) -> None:
        shape = self.shape(target)
        if shape is None or refined(shape, value.shape) == value.shape:
            self._values[target] = value

    def _start_variable(self, row: int) -> None:
        """A loop variable: the shape of its initial value, unless iterations change it."""
        source = self.initial(row)
        shape, held = self.shape(source), self._held.get(source)
        if row in self._widened:
            widened, held = self._widened[row]
            shape = common(shape, widened)
        self.outputs[row] = [shape]
        if row in self._constant_variables and (value := self._values.get(source)) is not None:
            self._values[row, 0] = value
        if held is not None:
            self._held[row, 0] = held

    def _end_loop(self, row: int, loop: Loop) -> None:
        """Check that iterations keep the shapes of the variables; otherwise visit them again."""
        while changed := self._changed_variables(loop):
            self._widened |= changed
            inside = self._inside(row)
            self._left -= len(inside)
            self._forget(inside)
            if self._left < 0:
                break
            for other in inside:
                self._visit(other)
        trips = loops.trip_count(self, loop) if loop.condition != _NO_OP else None
        self.trips[row] = trips
        # A `LoopCond` has the results of its loop during inference, and then its own.
        stated = [] if self._kinds[row] == CONDITION else self._stated(row)
        found = [self.shape((variable, 0)) for variable in loop.variables]
        self.outputs[row] = _completed(stated, found)
        for place, variable in enumerate(loop.variables):
            self._end_variable((row, place), variable, loop, trips)

    def _end_variable(self, target: Tensor, variable: int, loop: Loop, trips: int | None) -> None:
        self._pass_on((variable, 0), (), target)
        counter = loops.counter(self, loop, target[1])
        shape = self.shape(target)
        if counter is not None and trips is not None and is_whole(shape):
            last = np.array(counter.start + trips * counter.step, object)
            self._values[target] = last.reshape(shape)

    def _changed_variables(self, loop: Loop) -> dict[int, tuple[Shape, Held | None]]:
        """The variables that differ after an iteration, and what stays the same."""
        found: dict[int, tuple[Shape, Held | None]] = {}
        for variable, result in zip(loop.variables, loop.results, strict=False):
            shape, after = self.shape((variable, 0)), self.shape(result)
            held, held_after = self._held.get((variable, 0)), self._held.get(result)
            kept = _kept(held, held_after)
            if common(shape, after) != shape or kept != held:
                found[variable] = (common(shape, after), kept)
        return found

    def _inside(self, loop: int) -> list[int]:
        """The rows inside a loop, and its variables, in topological order."""
        found: list[int] = []
        seen, stack = {loop}, [loop]
        while stack:
            rows = self._members.get(stack.pop(), [])
            found += rows
            calls = [row for row in rows if row in self._members and row not in seen]
            seen.update(calls)
            stack += calls
        return sorted(found, key=self._places.__getitem__)

    @cached_property
    def _members(self) -> dict[int, list[int]]:
        """The rows that each call runs itself, with the variables of a loop."""
        program = self._program
        calls = [] if program.call is None else program.call.tolist()
        found = {row: list(loop.variables) for row, loop in program.loops.items()}
        for row, call in enumerate(calls):
            if call >= 0:
                found.setdefault(call, []).append(row)
        return found

    @cached_property
    def _places(self) -> dict[int, int]:
        """The place of each row in the topological order."""
        return {row: place for place, row in enumerate(self._order)}

    def _forget(self, rows: Iterable[int]) -> None:
        """Only keep what the graph states about these rows."""
        for row in rows:
            before = len(self.outputs[row])
            self.outputs[row] = self._stated(row) if row < self._count else [None]
            for slot in range(max(before, 1)):
                self._values.pop((row, slot), None)
                self._held.pop((row, slot), None)

    # Results.

    def final_outputs(self) -> list[list[Shape]]:
        """The shapes of all outputs of all ops."""
        found = self.outputs[: self._count]
        for row in self._program.loops:
            if self._kinds[row] == CONDITION:
                found[row] = [()]
        return found

    def stop(self, unreadable: Container[int]) -> Stop | None:
        """The first op with an open shape that others use, although its inputs are known.

        None if the graph states no shapes at all, because then nothing can be expected.
        """
        if not self._given.batch_size and not len(self._program.stated.shape):
            return None
        used = set(zip(self._sources, self._slots, strict=True))
        is_open = {row for row, slot in used if slot >= 0 and not is_whole(self.shape((row, slot)))}
        for row in self._order:
            if row not in is_open or row >= self._count or row in unreadable:
                continue
            if self._kinds[row] in _INPUTS:
                continue
            if all(is_whole(self.shape(tensor)) for tensor in self.inputs(row)):
                return Stop(row, self._kinds[row] in SHAPES)
        return None


def _tried(rule: Callable[[Op], Sequence[Fact]], op: Op) -> Sequence[Fact]:
    """The result of a rule; nothing if it lacks a shape or value, or the graph is damaged."""
    try:
        return rule(op)
    except _CONTRADICTIONS:
        return ()


def _completed(stated: Sequence[Shape], found: Sequence[Shape]) -> list[Shape]:
    """The shapes of all outputs: as stated, with open parts as found."""
    if not stated:
        return [_checked(shape) for shape in found[:MOST_OUTPUTS]]
    more = len(stated) - len(found)
    pairs = zip(stated, [*found, *[None] * more], strict=False)
    return [refined(one, _checked(two)) for one, two in pairs]


def _checked(shape: Shape) -> Shape:
    """The shape without dims that no tensor has; those come from damaged files."""
    if shape is None or all(OPEN <= dim <= MOST for dim in shape):
        return shape
    return tuple(dim if 0 <= dim <= MOST else OPEN for dim in shape)


def _is_same(value: Value, other: Value | None) -> bool:
    return other is not None and value.shape == other.shape and bool((value == other).all())


def _kept(held: Held | None, after: Held | None) -> Held | None:
    """What a list holds in every iteration; an element shape that becomes known is refined."""
    if held is None or after is None:
        return held
    length = held.length if held.length == after.length else OPEN
    shape = refined(held.shape, after.shape)
    agrees = after.shape is None or refined(after.shape, shape) == shape
    same = held.is_empty or held.value == after.value
    value = after.value if same else held.value if after.is_empty else None
    is_empty = held.is_empty and after.is_empty
    return Held(shape if agrees else common(shape, after.shape), length, value, is_empty)
