"""Finds the thread of Python calls that were recorded without one, on thread 0."""

from __future__ import annotations

import numpy as np

from tfprof.columns import Bools, Ints
from tfprof.formats.kineto.columns import Trace

ENGINE = "autograd::engine::evaluate_function: "
NO_THREAD = "0"


def python_threads(trace: Trace, is_python: Bools, is_op: Bools) -> Ints:
    """The thread of each slice; that of Python calls on thread 0 is found if only one can be it.

    It is the thread of the same process that has ops, but no Python calls. If there are several,
    it is the one that does not run the backward pass.
    """
    slices, threads = trace.slices, trace.threads
    calling, computing = (_threads(trace, flags) for flags in (is_python, is_op))
    found = slices.thread
    for lost in calling[_without_number(trace)[calling]].tolist():
        process = threads.process[lost]
        others = np.setdiff1d(computing, calling)
        if process != NO_THREAD:
            others = others[[threads.process[one] == process for one in others.tolist()]]
        if lost in computing or not len(others):
            continue
        if len(others) > 1:
            others = np.setdiff1d(others, _engines(trace, is_op))
        if len(others) == 1:
            found = np.where(is_python & (found == lost), others[0], found)
    return found


def _without_number(trace: Trace) -> Bools:
    """Which threads have the number 0, which no thread of a program has."""
    names = trace.threads.thread
    return np.array([name == NO_THREAD for name in names.values], np.bool_)[names.codes]


def _engines(trace: Trace, is_op: Bools) -> Ints:
    """The threads that run the backward pass."""
    slices = trace.slices
    on_engine = slices.name.values.starts_with(ENGINE)[slices.name.codes] & is_op
    return _threads(trace, on_engine)


def _threads(trace: Trace, flags: Bools) -> Ints:
    """The threads of flagged slices."""
    return np.flatnonzero(np.bincount(trace.slices.thread[flags]))
