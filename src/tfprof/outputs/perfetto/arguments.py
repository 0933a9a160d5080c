"""The arguments of slices: the facts a trace gives about an op besides its name and times."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from tfprof.columns import Bools, Ints, NameTable, Strings
from tfprof.measures.numbers import float_ops_per_run
from tfprof.metrics import BY_KEY
from tfprof.model.clock import NANOS_PER_MICRO
from tfprof.model.profile import ProfileColumns
from tfprof.outputs.fields import numbered_texts, shape_texts
from tfprof.outputs.perfetto import packets
from tfprof.outputs.perfetto.packets import Interned
from tfprof.outputs.pieces import Piece, woven, written_once
from tfprof.outputs.proto import double, message, number, one_number, one_text, only_where
from tfprof.views.facts import shapes_of_inputs
from tfprof.views.view import View

_SLASH = ord("/")
_NANOS_PER_SECOND = 1e9


class Argument(IntEnum):
    """The arguments, by the number of their interned name."""

    STEP = 1
    KIND = 2
    SCOPE = 3
    INPUT_SHAPES = 4
    FLOAT_OPS = 5
    FLOPS = 6

    @property
    def text(self) -> str:
        """The name of the argument in the trace."""
        return "FLOP/s" if self is Argument.FLOPS else self.name.lower()


def argument_names() -> Strings:
    """The names of all arguments, in the order of their numbers."""
    return Strings(argument.text for argument in Argument)


def of_step(step: int) -> bytes:
    """The argument that gives the step number."""
    return one_text(4, one_number(1, Argument.STEP) + one_number(4, step))


class OpArguments:
    """The arguments of `ops`, which every run of an op repeats."""

    def __init__(self, profile: ProfileColumns, ops: Ints) -> None:
        table = NameTable()
        # The kind of an op that is known only from runs would be its name.
        is_defined = profile.ops.is_defined[ops]
        kinds, names = profile.ops.kind, profile.ops.name.take(ops)
        kind = table.add(kinds.values)[kinds.codes[ops]]
        scopes = enclosing(names)
        scope = table.add(scopes)
        inputs, shapes = shapes_of_inputs(profile.ops, ops)
        texts = shape_texts(shapes, unknown="unknown")
        shape = table.add(
            written_once(inputs, lambda codes: "|".join(numbered_texts(codes, texts)))
        )
        self._texts = table.texts()
        self.float_ops = float_ops_per_run(profile).per_run[ops]
        self.encoded = woven(
            [
                only_where(is_defined, _text(Argument.KIND, kind)),
                only_where(scopes.lengths > 0, _text(Argument.SCOPE, scope)),
                only_where(inputs.lengths > 0, _text(Argument.INPUT_SHAPES, shape)),
                only_where(self.float_ops > 0, _number(Argument.FLOAT_OPS, self.float_ops)),
            ],
            len(ops),
        )

    def interned_texts(self) -> Iterator[bytes]:
        """Intern the texts that the arguments refer to."""
        return packets.interned(Interned.ARGUMENT_TEXTS, self._texts)

    def of_runs(self, place: Ints, duration: Ints, is_work: Bools) -> list[Piece]:
        """The arguments of runs, each given by the position of its op in `ops`.

        Only runs that computed the op have a FLOP/s argument, not those that dispatched it.
        """
        float_ops = self.float_ops[place]
        is_known = is_work & (float_ops > 0) & (duration > 0)
        rate = float_ops * _NANOS_PER_SECOND / np.maximum(duration, 1)
        return [self.encoded.take(place), only_where(is_known, _double(Argument.FLOPS, rate))]


def enclosing(names: Strings) -> Strings:
    """The scope of each name: everything before its last slash, or an empty string."""
    slashes = np.flatnonzero(np.frombuffer(names.data, np.uint8) == _SLASH)
    last = np.append(slashes, -1)[np.searchsorted(slashes, names.ends) - 1]
    return Strings.of_spans(names.data, names.starts, np.maximum(last, names.starts))


def totals(view: View, keys: Sequence[str], rows: Ints) -> list[Piece]:
    """The totals of `rows`; the argument name of a key is its position in `keys`, from 1."""
    found = []
    for name, key in enumerate(keys, start=1):
        exact = BY_KEY[key].exact
        if exact:
            found += _double(name, view.total[exact][rows] / NANOS_PER_MICRO)
        else:
            found += _number(name, view.total[key][rows])
    return found


def _text(name: int, texts: Ints) -> list[Piece]:
    return message(4, [one_number(1, name), *number(17, texts + 1)], len(texts))


def _number(name: int, values: Ints) -> list[Piece]:
    return message(4, [one_number(1, name), *number(4, values)], len(values))


def _double(name: int, values: npt.NDArray[np.float64]) -> list[Piece]:
    return message(4, [one_number(1, name), *double(5, values)], len(values))
