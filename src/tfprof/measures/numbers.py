"""Every number of every op, for one step or averaged over the steps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import numpy as np

from tfprof.columns import Ints
from tfprof.errors import OptionError
from tfprof.measures import flops, time
from tfprof.measures.flops import FloatOps
from tfprof.memo import remembered
from tfprof.model.profile import Profile

Numbers: TypeAlias = Mapping[str, Ints]  # a column for each name in `metrics.NUMBERS`


@remembered
def per_op(profile: Profile, step: int) -> Numbers:
    """The numbers of each op in `step`, or with a negative `step` its average over steps.

    An op is averaged over the steps it was seen in; each number is cut to a whole one on its own,
    so a total may differ by one from the sum of its parts.
    """
    if step >= 0 and step not in profile.steps:
        recorded_steps = ", ".join(map(str, profile.steps.tolist())) or "none"
        raise OptionError(f"No step {step}. Recorded: {recorded_steps}; -1 averages over them.")
    recorded = {key: _over_steps(profile, column, step) for key, column in _of_records(profile)}
    once = float_ops_per_run(profile).per_run
    was_seen = np.zeros(len(profile.ops), np.bool_)
    was_seen[profile.records.op] = True
    return {
        **recorded,
        "params": profile.ops.shape.sizes(),
        # Nobody can say how often an op that was never seen runs: it counts as once.
        "float_ops": np.where(was_seen, once * recorded["runs"], once),
        "definitions": np.ones(len(profile.ops), np.int64),
    }


@remembered
def float_ops_per_run(profile: Profile) -> FloatOps:
    """The float ops of one run of each op, and which ops they are not known of."""
    return flops.count(profile)


def _of_records(profile: Profile) -> list[tuple[str, Ints]]:
    memory = profile.memory
    accelerator, cpu = time.accelerator_micros(profile), time.cpu_micros(profile)
    return [
        ("runs", profile.records.runs),
        ("micros", accelerator + cpu),
        ("accelerator_micros", accelerator),
        ("cpu_micros", cpu),
        ("bytes", _sums(profile, memory.requested)),
        ("peak_bytes", _sums(profile, memory.peak)),
        ("residual_bytes", _sums(profile, memory.residual)),
        ("output_bytes", _sums(profile, memory.output)),
    ]


def _sums(profile: Profile, bytes_: Ints) -> Ints:
    """For each record, the sum over its rows of memory."""
    total = np.zeros(len(profile.records), np.int64)
    np.add.at(total, profile.memory.record, bytes_)
    return total


def _over_steps(profile: Profile, column: Ints, step: int) -> Ints:
    """A column of records as one of ops: of one step, or the average over an op's records."""
    records = profile.records
    result = np.zeros(len(profile.ops), np.int64)
    if step >= 0:
        chosen = records.step == step
        result[records.op[chosen]] = column[chosen]
        return result
    np.add.at(result, records.op, column)
    count = np.maximum(np.bincount(records.op, minlength=len(profile.ops)), 1)
    # The original divides 64-bit patterns without a sign, so a negative sum (of residual bytes)
    # comes out huge; the numbers are its numbers.
    return (result.view(np.uint64) // count.astype(np.uint64)).view(np.int64)
