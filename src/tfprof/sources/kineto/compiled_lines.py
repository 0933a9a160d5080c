"""Shows the ops of compiled calls at the lines that they were compiled from."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from tfprof.columns import Bools, Ints, Ragged, ints, offsets_of
from tfprof.kernels import nesting
from tfprof.kernels.nesting import Chains
from tfprof.model.between_files import CompiledGraph
from tfprof.model.code import Frame
from tfprof.model.ops import Phase
from tfprof.sources.kineto.belonging import Belonging
from tfprof.sources.kineto.compiled import GRAPH
from tfprof.sources.kineto.compiled_graphs import KnownGraphs, op_name
from tfprof.sources.kineto.host import Host
from tfprof.sources.kineto.interpreted import Interpreted
from tfprof.sources.kineto.python_calls import PythonCalls

_KEY = re.compile(re.escape(GRAPH) + r" (?!None )(\S+) ##")
_PARTS = 4  # of what identifies a call, before the names of its ops
_NEAREST = 100  # functions around a call; the one that was compiled is the innermost


def located(found: Interpreted, graphs: Sequence[CompiledGraph]) -> Interpreted:
    """The same trace with the lines of ops in compiled calls, where their graphs are known.

    Calls of the same graph at the same place are looked up once.
    """
    functions = nesting.chains(found.host.in_python, found.calls.frame)
    is_known = _known_names(found, graphs)
    op, calls = _sequences(found, functions, is_known)
    names = {found.trace.slices.name.values[code] for code in np.flatnonzero(is_known).tolist()}
    lookup = _Lookup(found, functions, graphs, names)
    kinds, firsts = calls.numbered()
    chains = [chain for first in firsts.tolist() for chain in lookup.chains(calls[first].tolist())]
    chain = ints(chains)[_places(calls.lengths - _PARTS, kinds, firsts)]
    return replace(
        found,
        calls=lookup.extended(),
        belonging=_placed(found.host, found.belonging, op, chain),
        located=op[chain >= lookup.first],
    )


def _known_names(found: Interpreted, graphs: Sequence[CompiledGraph]) -> Bools:
    """Which names of events are those of ops in compiled calls that graphs call."""
    values, codes = found.trace.slices.name.values, found.trace.slices.name.codes
    kernels = {op_name(name) for name in {one.name for graph in graphs for one in graph.kernels}}
    is_known = np.zeros(len(values), np.bool_)
    used = np.unique(codes[found.host.slice[found.compiled.op]])
    is_known[used] = [values[code] in kernels for code in used.tolist()]
    return is_known


def _sequences(found: Interpreted, functions: Chains, is_known: Bools) -> tuple[Ints, Ragged]:
    """The ops that graphs may have called, and the calls that contain them.

    A call is a row: the code of its name, the chains of functions and lines around its ops, the
    chain of lines around itself, then the codes of the names of its ops.
    """
    codes, slices = found.trace.slices.name.codes, found.host.slice
    rows = np.flatnonzero(is_known[codes[slices[found.compiled.op]]])
    rows = rows[np.argsort(found.compiled.call[rows], kind="stable")]
    op = found.compiled.op[rows]
    call, first, count = np.unique(found.compiled.call[rows], return_index=True, return_counts=True)
    offsets = offsets_of(count + _PARTS)
    values = np.empty(offsets[-1], np.int64)
    is_op = np.ones(len(values), np.bool_)
    parts = (codes[slices[call]], *_around(found.belonging, functions, op[first], call))
    for place, part in enumerate(parts):
        values[offsets[:-1] + place] = part
        is_op[offsets[:-1] + place] = False
    values[is_op] = codes[slices[op]]
    return op, Ragged(offsets, values)


def _around(belonging: Belonging, functions: Chains, op: Ints, call: Ints) -> tuple[Ints, ...]:
    """The chains of functions and lines around each op, and that of lines around its call.

    Those of gradients are those of the forward op, and unknown if that was not recorded.
    """
    forward = belonging.forward
    at = op
    for _ in range(2):  # the forward op may itself be the gradient of another one
        at = np.where(forward[at] >= 0, forward[at], at)
    is_known = (belonging.phase[op] != Phase.BACKWARD) | (forward[op] >= 0)
    chains = (functions.of_row[at], belonging.code[op], belonging.code[call])
    return tuple(np.where(is_known, chain, -1) for chain in chains)


def _places(lengths: Ints, kinds: Ints, firsts: Ints) -> Ints:
    """For each op of each call, the place of its result among those of all kinds of calls."""
    starts = offsets_of(lengths[firsts])[kinds]
    own = np.arange(int(lengths.sum())) - np.repeat(offsets_of(lengths)[:-1], lengths)
    return np.repeat(starts, lengths) + own


def _placed(host: Host, belonging: Belonging, op: Ints, chain: Ints) -> Belonging:
    """Put ops, and those inside them, at lines; those with a chain of -1 stay where they are."""
    own = np.full(len(host), -1)
    own[op] = chain
    matched = nesting.inherited(host.in_op, np.where(own >= 0, np.arange(len(host)), -1))
    rows = np.flatnonzero(matched >= 0)
    # An op inside may have been called by Python code of its own, such as that of a custom op.
    rows = rows[belonging.code[rows] == belonging.code[matched[rows]]]
    code, forward = belonging.code.copy(), belonging.forward.copy()
    code[rows] = own[matched[rows]]
    # A gradient is shown at the lines of its forward op. That op is the whole region, while the
    # gradient itself now has the lines of the forward pass.
    gradients = rows[belonging.phase[rows] == Phase.BACKWARD]
    forward[gradients] = gradients
    return replace(belonging, code=code, forward=forward)


class _Lookup:
    """Finds the lines of calls, and extends the chains of a trace by them."""

    def __init__(
        self,
        found: Interpreted,
        functions: Chains,
        graphs: Sequence[CompiledGraph],
        names: set[str],
    ) -> None:
        self._names = found.trace.slices.name.values
        self._functions = functions
        self._calls = found.calls
        self._frames = list(found.calls.frames)
        self._above: list[int] = found.calls.chains.above.tolist()
        self._label: list[int] = found.calls.chains.label.tolist()
        self.first = len(self._above)  # of the new chains
        self._known: dict[tuple[int, Frame], int] = {}
        own = [one for one in self._frames if one.function_line >= 0]
        self._graphs = KnownGraphs(graphs, names, own)

    def chains(self, call: list[int]) -> list[int]:
        """The chain of each op of a call, or -1 if its graph is unknown."""
        name, functions, inside, outside, *ops = call
        key = _KEY.fullmatch(self._names[name])
        names = tuple(self._names[op] for op in ops)
        around = set(self._functions_in(functions))
        lines = self._graphs.lines(key[1] if key else "", names, around)
        if lines is None:
            return [-1] * len(ops)
        return [self._chain(inside, outside, frames) for frames in lines]

    def _functions_in(self, chain: int) -> Iterator[Frame]:
        """The functions of a chain, innermost first."""
        for _ in range(_NEAREST):
            if chain < 0:
                return
            yield self._frames[self._functions.label[chain]]
            chain = int(self._functions.above[chain])

    def _chain(self, inside: int, outside: int, frames: tuple[Frame, ...]) -> int:
        """The chain of `frames`, below what called the compiled function."""
        chain = self._caller(inside, outside, frames[0]) if frames else outside
        for frame in frames:
            known = self._known.setdefault((chain, frame), len(self._above))
            if known == len(self._above):
                self._above.append(chain)
                self._label.append(len(self._frames))
                self._frames.append(frame)
            chain = known
        return chain

    def _caller(self, inside: int, outside: int, frame: Frame) -> int:
        """The chain around the function of a frame in `inside`, or `outside` if it has none."""
        chain = inside
        for _ in range(_NEAREST):
            if chain < 0:
                break
            own = self._frames[self._label[chain]]
            chain = self._above[chain]
            if (own.file, own.function) == (frame.file, frame.function):
                return chain
        return outside

    def extended(self) -> PythonCalls:
        """The calls of the trace with all chains."""
        chains = Chains(self._calls.chains.of_row, ints(self._above), ints(self._label))
        return replace(self._calls, frames=self._frames, chains=chains)
