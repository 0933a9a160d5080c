"""The ops of a training program: towers of convolution and dense units, gradients and updates."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import prod
from random import Random
from typing import NamedTuple

from unit_tables import KINDS, Row, UnitKind

Shape = tuple[int, ...]

_BATCH = 32
_CONVS = 24  # in a full tower
_DENSES = 8
_UNITS_IN_BLOCK = 4


class Op(NamedTuple):
    """One op: its definition, and what the recorded step and the op log say about it."""

    name: str
    kind: str
    inputs: list[str]
    outputs: tuple[Shape, ...]
    home: str  # the op it is placed with, or empty
    float_ops: int
    is_trainable: bool
    call: Call


class Call(NamedTuple):
    """The line of the program that created an op: a row of a unit table, called from a stage."""

    phase: str
    layer: str
    line: int
    stage: int


@dataclass(frozen=True)
class Unit:
    """One layer of a tower, and the names that connect it to its neighbours."""

    kind: UnitKind
    tower: Tower
    scope: str
    stage: int

    @cached_property
    def shapes(self) -> dict[str, tuple[Shape, ...]]:
        """The shapes of an op's outputs, by the name that the unit tables give them."""
        channels, side = self.tower.channels, self.tower.side
        image, flat = (_BATCH, side, side, channels), (_BATCH, channels)
        return {
            "image": (image,),
            "filter": ((3, 3, channels, channels),),
            "stem filter": ((3, 3, 3, channels),),
            "channel": ((channels,),),
            "flat": (flat,),
            "matrix": ((channels, channels),),
            "losses": ((_BATCH,), flat),
            "axes": ((3,),),
            "two axes": ((2,),),
            "sizes": ((4,),),
            "two sizes": ((4,), (4,)),
            "scalar": ((),),
            "nothing": (),
        }

    @cached_property
    def float_ops(self) -> dict[str, int]:
        """Float operations, by the name that the unit tables give them."""
        image, flat = prod(self.shapes["image"][0]), prod(self.shapes["flat"][0])
        taps = prod(self.shapes["stem filter" if self.kind.name == "stem" else "filter"][0][:3])
        return {
            "": 0,
            "image": image,
            "flat": flat,
            "channel": self.tower.channels,
            "convolution": 2 * image * taps,
            "product": 2 * flat * self.tower.channels,
        }

    @property
    def output(self) -> str:
        return self.kind.output.format(s=self.scope)

    @property
    def gradient(self) -> str:
        """The op that computes the gradient with respect to the unit's input."""
        return self.kind.gradient.format(s=self.scope, d=f"gradients/{self.scope}")

    def ops(self, phase: str, rows: tuple[Row, ...], **names: str) -> Iterator[Op]:
        """The ops of one of the unit's tables, with its placeholders replaced by `names`."""
        names |= {"s": self.scope, "d": f"gradients/{self.scope}"}
        for line, row in enumerate(rows):
            name = row.name.format_map(names)
            yield Op(
                name=name,
                kind=row.kind,
                inputs=row.inputs.format_map(names).split(),
                outputs=self.shapes[row.shape],
                home=_home(name, row.home.format_map(names)),
                float_ops=self.float_ops[row.work],
                is_trainable=row.is_trainable,
                call=Call(phase, self.kind.name, line, self.stage),
            )


@dataclass(frozen=True)
class Tower:
    """A stack of units with its own weights; all towers have the same input."""

    number: int
    unit_count: int  # convolutions and dense units, not counting stem, pooling and loss
    channels: int
    stride: int

    @property
    def scope(self) -> str:
        return f"tower_{self.number}"

    @property
    def side(self) -> int:
        return 32 // self.stride

    @cached_property
    def units(self) -> list[Unit]:
        """The units from the input to the loss."""
        convs, denses = _shares(self.unit_count)
        return [
            Unit(KINDS["stem"], self, f"{self.scope}/stem", 0),
            *(self._unit("conv", place, place) for place in range(convs)),
            Unit(KINDS["pool"], self, f"{self.scope}/pool", 1),
            *(self._unit("dense", place, convs + place) for place in range(denses)),
            Unit(KINDS["loss"], self, f"{self.scope}/loss", 2),
        ]

    def _unit(self, kind: str, place: int, above: int) -> Unit:
        block, number = divmod(above, _UNITS_IN_BLOCK)
        scope = f"{self.scope}/block_{block}/{kind}_{number}"
        return Unit(KINDS[kind], self, scope, place * 4 // _CONVS)

    def forward(self) -> Iterator[Op]:
        """The ops from the input to the loss."""
        source = "input/queue_Dequeue"
        for unit in self.units:
            yield from unit.ops("forward", unit.kind.forward, x=source)
            source = unit.output

    def backward(self) -> Iterator[Op]:
        """The ops from the loss back to the stem."""
        sources = ["input/queue_Dequeue", *(unit.output for unit in self.units)]
        gradient = "gradients/Fill"
        for unit, source in zip(reversed(self.units), reversed(sources[:-1]), strict=True):
            yield from unit.ops("backward", unit.kind.backward, x=source, g=gradient)
            gradient = unit.gradient

    def updates(self) -> Iterator[Op]:
        """The momentum and update of every weight, and the op that waits for all of them."""
        done = []
        for unit in self.units:
            for op in unit.ops("update", unit.kind.updates):
                yield op
                if op.kind == "ApplyMomentum":
                    done.append(f"^{op.name}")
        name = f"train/group_deps/NoOp_{self.number}"
        yield _plain(name, "NoOp", done, line=2)


@dataclass(frozen=True)
class Model:
    """A program of exactly `op_count` ops: full towers, a smaller one, and weight penalties."""

    op_count: int
    towers: list[Tower]
    penalty_count: int

    @classmethod
    def of_size(cls, op_count: int, seed: int = 0) -> Model:
        """A model with this many ops; `seed` determines the widths of its towers."""
        left = op_count - _SHARED_OPS
        if left < _tower_size(_SMALLEST):
            smallest = _SHARED_OPS + _tower_size(_SMALLEST)
            raise ValueError(f"a model needs at least {smallest} ops, not {op_count}")
        random = Random(seed)  # noqa: S311 -- not used for cryptography
        towers: list[Tower] = []
        while left >= _tower_size(_SMALLEST):
            unit_count = max(
                units
                for units in range(_SMALLEST, _CONVS + _DENSES + 1)
                if _tower_size(units) <= left
            )
            channels, stride = random.choice((16, 24, 32, 48, 64)), random.choice((1, 2, 4))
            towers.append(Tower(len(towers), unit_count, channels, stride))
            left -= _tower_size(unit_count)
        return cls(op_count, towers, left)

    def ops(self) -> Iterator[Op]:
        """All ops, in the order in which the program creates them."""
        yield from self._input()
        for tower in self.towers:
            yield from tower.forward()
        yield from self._loss()
        for tower in self.towers:
            yield from tower.backward()
        yield _plain("train/learning_rate", "Const", [], ((),), line=3)
        yield _plain("train/momentum", "Const", [], ((),), line=4)
        for tower in self.towers:
            yield from tower.updates()
        groups = [f"^train/group_deps/NoOp_{tower.number}" for tower in self.towers]
        yield _plain("train", "NoOp", groups, line=5)

    def _input(self) -> Iterator[Op]:
        image, labels = (_BATCH, 32, 32, 3), (_BATCH,)
        yield _plain("input/queue", "FIFOQueueV2", [], ((),), line=0)
        yield _plain("input/count", "Const", [], ((),), line=0)
        inputs = ["input/queue", "input/count"]
        yield _plain("input/queue_Dequeue", "QueueDequeueManyV2", inputs, (image, labels), line=1)

    def _loss(self) -> Iterator[Op]:
        parts = [f"{tower.scope}/loss/mean" for tower in self.towers]
        for number in range(self.penalty_count):
            unit = self.towers[number % len(self.towers)].units[1]
            name = f"losses/L2Loss_{number}"
            parts.append(name)
            yield _plain(name, "L2Loss", [f"{unit.scope}/weights/read"], ((),), line=6)
        yield _plain("losses/total_loss", "AddN", parts, ((),), line=7)
        yield _plain("gradients/grad_ys_0", "Const", [], ((),), line=8)
        yield _plain("gradients/Shape", "Const", [], ((0,),), line=8)
        inputs = ["gradients/Shape", "gradients/grad_ys_0"]
        yield _plain("gradients/Fill", "Fill", inputs, ((),), line=8)


_SHARED_OPS = 10
_SMALLEST = 2


def _tower_size(unit_count: int) -> int:
    """The number of ops of a tower with this many units."""
    convs, denses = _shares(unit_count)
    ends = sum(KINDS[kind].size for kind in ("stem", "pool", "loss"))
    return ends + convs * KINDS["conv"].size + denses * KINDS["dense"].size + 1


def _shares(unit_count: int) -> tuple[int, int]:
    """How many units of a tower are convolutions, and how many are dense."""
    denses = -(-unit_count * _DENSES // (_CONVS + _DENSES))
    return unit_count - denses, denses


def _plain(
    name: str, kind: str, inputs: list[str], outputs: tuple[Shape, ...] = (), *, line: int
) -> Op:
    """An op outside the units."""
    return Op(name, kind, inputs, outputs, "", 0, False, Call("program", "program", line, 0))


def _home(name: str, stated: str) -> str:
    """The op that an op is placed with: as stated or, for a gradient, its forward op."""
    if stated or not name.startswith("gradients/"):
        return stated
    forward, grad, _ = name.partition("_grad/")
    return forward.removeprefix("gradients/") if grad else ""
