"""Pprof profiles of a traced run, with the interface of TensorFlow's own `pprof_profiler`."""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import pairwise
from os import PathLike, fspath
from typing import Any, NamedTuple

from tfprof.classic.files import make_folder, write
from tfprof.formats.messages import Message, message_class
from tfprof.outputs.pprof.file import compressed

_SAMPLE_TYPES = {"count": "count", "all_time": "microseconds", "op_time": "microseconds"}

# TensorFlow's own functions that create ops, outermost first. Stacks end above them, because from
# there on the frames are the same for every op.
_OP_MAKERS = ("apply_op", "_apply_op_helper", "create_op", "_create_op_internal")

_UNKNOWN_LINE = -1  # TensorFlow does not record where a function starts


def get_profiles(graph: Any, run_metadata: Any) -> dict[str, Message]:
    """The pprof profile of each device in `run_metadata`, by device name.

    Each sample is an op of `graph` with the calls that created it. `count` is how often it ran,
    `op_time` the microseconds in its kernel, and `all_time` those until all of its work was done;
    the labels are `node_name` and `op_type`. Devices on which no op of the graph ran are left out.
    """
    ops = {op.name: op for op in graph.get_operations()}
    devices = run_metadata.step_stats.dev_stats
    profiles = {}
    for number, device in enumerate(devices, start=1):
        found = _DeviceProfile()
        for run in device.node_stats:
            if run.node_name in ops:
                found.add(run, ops[run.node_name])
        if found.is_empty:
            print(
                f"{device.device} has no profile: no op of the graph was traced on it. "
                "Trace with RunOptions(trace_level=FULL_TRACE), and pass run_metadata."
            )
            continue
        comment = f"Device {number} of {len(devices)}: {device.device}"
        profiles[device.device] = found.finished(comment)
    return profiles


def profile(
    graph: Any, run_metadata: Any, output_dir: str | PathLike[str] | None = None
) -> list[str]:
    """Write the profile of each device to a gzipped file in `output_dir`, and return the paths.

    Each file is named after its device and the current time. Without `output_dir` the profiles are
    printed as text, and no paths are returned.
    """
    profiles = get_profiles(graph, run_metadata)
    if not output_dir:
        for found in profiles.values():
            print("No output_dir given; printing the profile as text.")
            print(found)
        return []
    make_folder(output_dir)
    suffix = time.strftime("%Y%m%d%H%M%S")
    return [
        _written(output_dir, f"{_file_name(device)}_{suffix}.pb.gz", found)
        for device, found in profiles.items()
    ]


def _file_name(device: str) -> str:
    return device.strip("/").translate(str.maketrans("/:", "__"))


def _written(folder: str | PathLike[str], name: str, found: Message) -> str:
    path = f"{fspath(folder).rstrip('/')}/{name}"
    print(f"Writing the profile to {path}")
    write(folder, name, b"".join(compressed([found.SerializeToString()])))
    return path


class _Frame(NamedTuple):
    """A stack frame, as TensorFlow records it."""

    file: str
    line: int
    function: str


class _DeviceProfile:
    """Builds the pprof profile of one device from runs of ops."""

    def __init__(self) -> None:
        self._profile = message_class("perftools.profiles.Profile")()
        self._strings = {"": 0}  # the format requires the empty string first
        self._functions: dict[tuple[str, str], int] = {}
        self._locations: dict[tuple[str, str, int], int] = {}
        self._samples: dict[str, Message] = {}

    @property
    def is_empty(self) -> bool:
        """Whether no op has been added."""
        return not self._samples

    def add(self, run: Any, op: Any) -> None:
        """Count a run of `op`; runs of one op add up."""
        if op.name not in self._samples:
            frames = [_Frame(*frame[:3]) for frame in op.traceback or ()]
            if not frames:
                return
            self._samples[op.name] = self._sample(op, _without_op_makers(frames))
        value = self._samples[op.name].value
        value[0] += 1
        value[1] += run.all_end_rel_micros
        value[2] += run.op_end_rel_micros - run.op_start_rel_micros

    def finished(self, comment: str) -> Message:
        """The complete profile; nothing can be added afterwards."""
        for name, unit in _SAMPLE_TYPES.items():
            self._profile.sample_type.add(type=self._string(name), unit=self._string(unit))
        self._profile.comment.append(self._string(comment))
        self._profile.string_table.extend(self._strings)
        return self._profile

    def _sample(self, op: Any, frames: Sequence[_Frame]) -> Message:
        """A new sample without runs; its locations are the calls of `frames`, innermost first."""
        sample = self._profile.sample.add(
            location_id=[self._location(*call) for call in reversed(list(pairwise(frames)))],
            value=[0] * len(_SAMPLE_TYPES),
        )
        for key, text in (("node_name", op.name), ("op_type", op.type)):
            sample.label.add(key=self._string(key), str=self._string(text))
        return sample

    def _location(self, caller: _Frame, called: _Frame) -> int:
        key = (caller.file, called.function, caller.line)
        if key not in self._locations:
            self._locations[key] = len(self._locations) + 1
            location = self._profile.location.add(id=self._locations[key])
            location.line.add(function_id=self._function(called), line=caller.line)
        return self._locations[key]

    def _function(self, frame: _Frame) -> int:
        key = (frame.file, frame.function)
        if key not in self._functions:
            self._functions[key] = len(self._functions) + 1
            self._profile.function.add(
                id=self._functions[key],
                name=self._string(frame.function),
                filename=self._string(frame.file),
                start_line=_UNKNOWN_LINE,
            )
        return self._functions[key]

    def _string(self, text: str) -> int:
        return self._strings.setdefault(text, len(self._strings))


def _without_op_makers(frames: Sequence[_Frame]) -> Sequence[_Frame]:
    """The frames above the innermost call of an op maker, or all frames without one."""
    functions = [frame.function for frame in frames]
    for maker in _OP_MAKERS:
        if maker in functions:
            return frames[: len(functions) - 1 - functions[::-1].index(maker)]
    return frames
