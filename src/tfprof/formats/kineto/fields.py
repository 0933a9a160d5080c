"""Which arguments of an event become which column, and what is accepted as a number or a time."""

from __future__ import annotations

import re

from tfprof.formats.kineto.columns import MISSING

# The categories of the first versions, such as PyTorch 1.8, and what they are called since.
OLD_OP = "Operator"
ANNOTATION = "user_annotation"
OLD_CATEGORIES = {
    OLD_OP: "cpu_op",
    "Runtime": "cuda_runtime",
    "Kernel": "kernel",
    "Memcpy": "gpu_memcpy",
    "Memset": "gpu_memset",
}

# The categories of what runs on the streams of accelerators.
ON_STREAMS = {"kernel", "gpu_memcpy", "gpu_memset"}

# Arguments of events with a duration.
SLICE_NUMBERS = {
    "correlation": "correlation",
    "External id": "external_id",
    "external id": "external_id",  # in traces of old versions
    "Record function id": "record_id",
    "Sequence number": "sequence",
    "Fwd thread id": "forward_thread",
    "Python id": "python_id",
    "Python parent id": "python_parent",
    "Python module id": "module_id",
    "device": "device",
    "stream": "stream",
    "bytes": "bytes",
}
SLICE_TEXTS = {
    "Input Dims": "input_dims",
    "Input dims": "input_dims",  # in traces of old versions
    "Input type": "input_types",
    "Concrete Inputs": "concrete_inputs",
}

# Arguments of collective operations, which also have the ones above.
COLLECTIVE_NUMBERS = {
    "In msg nelems": "in_elements",
    "Out msg nelems": "out_elements",
    "Group size": "group_size",
}
COLLECTIVE_TEXTS = {
    "Collective name": "name",
    "dtype": "dtype",
    "Process Group Name": "group",
    "Process Group Ranks": "group_ranks",
}

# How a kernel was launched. Kineto estimates the occupancy, in percent.
LAUNCH_NUMBERS = {
    "registers per thread": "registers",
    "shared memory": "shared_memory",
    "est. achieved occupancy %": "occupancy",
}
LAUNCH_TEXTS = {"grid": "grid", "block": "block"}

# Arguments of `[memory]` events.
MEMORY_NUMBERS = {
    "Bytes": "bytes",
    "Addr": "address",
    "Device Type": "device_type",
    "Device Id": "device",
    "Total Allocated": "allocated",
    "Total Reserved": "reserved",
}

# Events without a duration that are read, and the argument that events with names state.
MEMORY_NAME = "[memory]"
LAST_NAME = "Record Window End"
NAMES = {"process_name": "name", "process_labels": "labels", "thread_name": "name"}

# Times are absolute in some traces; with the base time added, they still fit into 64 bits.
LATEST_NS = 2**62
# More than a year: ROCm writes durations near 2**63 and 2**64 if an event seems to end too early.
LONGEST_NS = 2**55

# Values beside the events that take more bytes are left out.
LARGEST_HEADER = 1 << 24

_WHOLE = re.compile(r"-?[0-9]{1,19}(?:\.0*)?")
_DECIMAL = re.compile(r"(-?)([0-9]+)(?:\.([0-9]*))?")


def whole_number(token: str) -> int:
    """The number that a token or text is, or `MISSING` unless it is a whole number of 64 bits."""
    if _WHOLE.fullmatch(token) is None:
        return MISSING
    number = int(token.partition(".")[0])
    return number if -(2**63) <= number < 2**63 else MISSING


def nanoseconds(token: str) -> int | None:
    """Microseconds as nanoseconds, rounded to the nearest; None if that is no possible time.

    Never computed as a float, whose digits do not suffice for a time of day in nanoseconds.
    """
    if (parts := _DECIMAL.fullmatch(token)) is None:
        return _of_exponent(token)
    sign, whole, decimals = parts.groups()
    digits = f"{decimals or ''}0000"
    if len(whole) > 20 and len(whole.lstrip("0")) > 20:
        return None
    found = 1000 * int(whole) + int(digits[:3]) + (digits[3] >= "5")
    return None if found > LATEST_NS else -found if sign else found


def _of_exponent(token: str) -> int | None:
    from decimal import ROUND_HALF_UP, Decimal, InvalidOperation  # noqa: PLC0415 -- rarely needed

    try:
        found = Decimal(token) * 1000
        if not abs(found) <= LATEST_NS:
            return None
        return int(found.to_integral_value(ROUND_HALF_UP))
    except (InvalidOperation, ArithmeticError):  # also for NaN
        return None
