"""Facts derived from TensorFlow's naming: the phase of each op and the forward op of gradients."""

from __future__ import annotations

import re
from bisect import bisect_left

import numpy as np

from tfprof.columns import Bools, Ints, NameTable, Strings
from tfprof.model.ops import (
    DATA_SCOPE,
    NOT_A_GRADIENT,
    OPTIMIZER_OP,
    TAPE_GRADIENT,
    TAPE_SCOPE,
    UNKNOWN_FORWARD,
    Ops,
    Phase,
)
from tfprof.patterns import Patterns

# The scopes of gradients: of `tf.gradients` (numbered if called repeatedly) and of gradient tapes.
_BACKWARD = ("gradients/.*", ".*/gradients/.*", "gradient_tape/.*", ".*/gradient_tape/.*")
_NUMBERED = "gradients_"
_NUMBERED_BACKWARD = "(.*/)?gradients_[0-9]+/.*"
_OPTIMIZER = "(Resource)?(Sparse)?Apply[A-Z].*"
# Keras 3 optimizers consist of ordinary ops, in a scope with the name of the optimizer. A layer may
# have the same name, but only an optimizer updates variables with the kinds below.
_OPTIMIZER_SCOPE = (
    "(.*/)?(?i:adadelta|adafactor|adagrad|adam|adam_?w|adamax|ftrl|lamb|lion|loss_scale_optimizer|"
    "multi_optimizer|muon|nadam|rm_?sprop|schedule_free_adam_?w|sgd)(_[0-9]+)?"
)
_UPDATES = ("AssignAddVariableOp", "AssignSubVariableOp", "ResourceScatterSub")

# Prefixes of the kinds of ops that fetch, read or decode data, or call Python to do so.
_INPUT_KINDS = (
    *("QueueDequeue", "DatasetToSingleElement"),
    *("ReaderRead", "ReadFile", "ParseExample", "ParseSingle", "ParseSequence", "Decode"),
    *("PyFunc", "EagerPyFunc", "Unstage", "InfeedDequeue", "BarrierTake"),
)
# The kinds of ops that create the datasets and iterators of tf.data, or use them.
_PIPELINE_KINDS = (
    "[A-Za-z]*(Dataset|Iterator)(V[0-9]+)?",
    "(MultiDevice)?Iterator(Init|Get|To|From)[A-Za-z0-9]*",
)

# The kinds of ops in which several hosts or devices take part: those of TensorFlow, of TPUs and of
# Horovod. Setting up a communicator is none.
_COLLECTIVES = (
    "Collective.*",
    "_?Nccl.*",
    "AllToAll|CrossReplicaSum|XlaAllReduce|XlaReduceScatter",
    "Horovod(Allreduce|Allgather|Broadcast|Alltoall|Reducescatter|GroupedAll).*",
)
_PREPARES_COLLECTIVE = ("CollectiveAssignGroup.*", "CollectiveInitializeCommunicator")

# `gradients/conv1_grad/mul` is an op of the gradient of `conv1`.
_GRADIENT_PREFIX = "gradients/"
_GRADIENT_END = "_grad/"
# `gradient_tape/ReluGrad` is the gradient of `Relu`.
_GRADIENT_KIND = re.compile(r"Grad(_\d+)?$")


class TensorFlowNames:
    """The `Conventions` of TensorFlow: facts that follow from the names and kinds of ops."""

    def phases(self, ops: Ops, rows: Ints) -> Ints:
        """The `Phase` of each of `rows`; ops that match no rule are forward ops."""
        names, kinds = ops.name.take(rows), ops.kind
        of_kind = _begin_with(kinds.values, _INPUT_KINDS)
        of_kind |= Patterns(_PIPELINE_KINDS).match_column(kinds.values)
        is_input = of_kind[kinds.codes[rows]]
        is_input |= names.starts_with(f"{DATA_SCOPE}/")
        found = np.where(is_input, Phase.INPUT, Phase.FORWARD)
        found[_is_backward(names)] = Phase.BACKWARD
        is_update = Patterns((_OPTIMIZER,)).match_column(kinds.values)
        found[is_update[kinds.codes[rows]]] = Phase.OPTIMIZER
        for scope in _optimizer_scopes(ops):
            found[names.starts_with(f"{scope}/")] = Phase.OPTIMIZER
        found[ops.types.having(OPTIMIZER_OP)[rows]] = Phase.OPTIMIZER
        communicates = Patterns(_COLLECTIVES).match_column(kinds.values)
        communicates &= ~Patterns(_PREPARES_COLLECTIVE).match_column(kinds.values)
        found[communicates[kinds.codes[rows]]] = Phase.COMMUNICATION
        return found.astype(np.int64)

    def forward_of(self, ops: Ops, rows: Ints) -> Ints:
        """The forward op of each gradient in `rows`, found by name."""
        gradients, sources = forward_names(ops.name)
        found = np.full(len(ops), NOT_A_GRADIENT)
        if len(gradients):
            is_gradient = np.zeros(len(ops), np.bool_)
            is_gradient[gradients] = True
            forward = np.flatnonzero(~is_gradient)
            known = NameTable()
            known.add(ops.name.take(forward))
            found[gradients] = np.append(forward, UNKNOWN_FORWARD)[known.find(sources)]
        _find_forward_of_tapes(ops, found)
        return found if len(rows) == len(ops) else found[rows]


TENSORFLOW_NAMES = TensorFlowNames()


def _optimizer_scopes(ops: Ops) -> list[str]:
    """The scopes that are named like a Keras optimizer and update variables."""
    codes = [code for code, kind in enumerate(ops.kind.values) if kind in _UPDATES]
    if not codes:
        return []
    names = ops.name.take(np.flatnonzero(np.isin(ops.kind.codes, codes)))
    scopes = Strings(dict.fromkeys(name.rpartition("/")[0] for name in names))
    is_named = Patterns((_OPTIMIZER_SCOPE,)).match_column(scopes)
    return list(scopes.take(np.flatnonzero(is_named)))


def _begin_with(texts: Strings, beginnings: tuple[str, ...]) -> Bools:
    flags = np.zeros(len(texts), np.bool_)
    for beginning in beginnings:
        flags |= texts.starts_with(beginning)
    return flags


def _is_backward(names: Strings) -> Bools:
    is_backward = Patterns(_BACKWARD).match_column(names)
    # A regex is much slower than a search, and most models have no such name.
    rows = np.flatnonzero(~is_backward & (names.find(_NUMBERED) >= 0))
    is_backward[rows] = Patterns((_NUMBERED_BACKWARD,)).match_column(names.take(rows))
    return is_backward


def forward_names(names: Strings) -> tuple[Ints, Strings]:
    """The rows of ops named like gradients, and the names of their forward ops."""
    prefix = names.find(_GRADIENT_PREFIX)
    rows = np.flatnonzero(prefix >= 0)
    some = names.take(rows)
    start = prefix[rows] + len(_GRADIENT_PREFIX)
    suffix = some.find(_GRADIENT_END)
    end = np.where(suffix > start, suffix, some.lengths)
    kept = np.flatnonzero((suffix >= 0) & (suffix != start))
    spans = some.starts[kept] + start[kept], some.starts[kept] + end[kept]
    return rows[kept], Strings.of_spans(names.data, *spans)


def _find_forward_of_tapes(ops: Ops, found: Ints) -> None:
    """Fill in the forward ops of gradients that have the type of those of a gradient tape.

    `gradient_tape/net/dense/MatMul/MatMul_1` is a gradient of `net/dense/MatMul`, and
    `gradient_tape/net/dense/ReluGrad` one of `net/dense/Relu`. Others are taken for gradients of
    the first op in the innermost scope that they share with a forward op.
    """
    names, of_tape = ops.name, np.flatnonzero(ops.types.having(TAPE_GRADIENT))
    if not len(of_tape):
        return
    is_forward = found == NOT_A_GRADIENT
    is_forward[of_tape] = False
    rows = np.flatnonzero(is_forward)
    forward = dict(zip(names.take(rows), rows.tolist(), strict=True))
    in_order = sorted(forward)
    for row, name in zip(of_tape.tolist(), names.take(of_tape), strict=True):
        source = (
            name.rpartition(TAPE_SCOPE)[2].rpartition(_GRADIENT_PREFIX)[2].replace("_grad/", "/")
        )
        if (nearest := _nearest(source, forward, in_order)) is not None:
            found[row] = nearest


def _nearest(source: str, forward: dict[str, int], in_order: list[str]) -> int | None:
    """The op named `source` or like one of the scopes around it, or the first op of a scope."""
    while source:
        for name in (source, _GRADIENT_KIND.sub("", source)):
            if name in forward:
                return forward[name]
        place = bisect_left(in_order, f"{source}/")
        if place < len(in_order) and in_order[place].startswith(f"{source}/"):
            return forward[in_order[place]]
        source = source.rpartition("/")[0]
    return None
