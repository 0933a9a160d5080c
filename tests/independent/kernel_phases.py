"""The time of the kernels of a Kineto trace by phase, computed from its JSON alone.

    python tests/independent/kernel_phases.py TRACE…

It follows the manual (`docs/how-to/pytorch-record.md`) and shares no code with tfprof.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))

from independent.device_timeline import COLLECTIVE, span
from independent.nesting import Program

GRADIENT = re.compile(r"_backward\b|_backward_")
WHOLE = {  # annotations of a whole phase
    "optimizer": r"Optimizer\.(step|zero_grad)#.*",
    "input": r"enumerate\(DataLoader\)#.*",
}
PARTS = {
    "forward": r"DistributedDataParallel\.forward|.*\(F\)|.*_pre_forward|FSDP::pre_forward.*|"
    r"PP:\d+F\d+",
    "backward": r".*\([BW]\)|.*_post_backward_hook|FSDP::post_backward.*|PP:\d+[BW]\d+",
}
USUAL = {
    "forward": {"forward", "forward_pass", "fwd"},
    "backward": {"backward", "backward_pass", "bwd", "loss_backward"},
    "optimizer": {"optimizer", "optimizer_step", "optim_step", "zero_grad"},
}


def named(name):
    """The phase that the name of an annotation stands for, if any, and whether it is all of it."""
    for patterns in (WHOLE, PARTS):
        for phase, pattern in patterns.items():
            if re.fullmatch(pattern, name):
                return phase, patterns is WHOLE
    usual = "_".join(re.findall("[a-z]+", name.lower()))
    return next(((phase, True) for phase, names in USUAL.items() if usual in names), (None, False))


class Phases:
    """The phases of the calls of a program."""

    def __init__(self, path):
        self.program = Program(path)
        self._with_gradient = set(self.program.forward_of().values())
        threads = self.program.threads.items()
        self._engines = {thread for thread, calls in threads if _is_engine(calls)}
        # The outermost ops and launches, in the order of time, with their phases if known.
        calls = sorted(self.program.calls, key=lambda call: call.begin)
        self._found = {call: self._own(call) for call in calls if _outermost(call) is call}
        self._trains = not {"backward", "optimizer"}.isdisjoint(self._found.values())
        if self._trains:
            self._fill()

    def of(self, call):
        """The phase of a call: its own, or else that of the outermost op around it."""
        rest = "other" if self._trains else "forward"
        return self._around(call) or self._found.get(_outermost(call)) or rest

    def _own(self, call):
        return self._around(call) or ("forward" if self._has_gradient(call) else None)

    def _has_gradient(self, call):
        return call in self._with_gradient or any(map(self._has_gradient, call.children))

    def _around(self, call):
        """The phase of a call by what is around it, or None."""
        chain = list(enumerate(call.chain))
        if any(one.is_collective for _, one in chain):
            return "communication"
        phases = [(at, named(one.name)[0]) for at, one in chain if one.kind == "annotation"]
        annotation, phase = max(((at, name) for at, name in phases if name), default=(-1, None))
        module = max((at for at, one in chain if one.module), default=-1)
        backward = max((at for at, one in chain if one.is_backward), default=-1)
        if phase in {"optimizer", "input"} and annotation > max(module, backward):
            return phase
        if call.thread in self._engines or backward >= 0:
            return "backward"
        if annotation > module:
            return phase
        if module >= 0:
            return "backward" if any(name == "backward" for _, name in phases) else "forward"
        names = (one.name for _, one in chain if one.kind == "op")
        return "backward" if any(map(GRADIENT.search, names)) else None

    def _fill(self):
        """Add the phases of ops between others of known phases."""
        known = dict(self._found)
        for thread in {call.thread for call, phase in known.items() if phase is None}:
            before, waiting = None, []
            for call in [*(call for call in known if _counts(call, known[call], thread)), None]:
                if call and known[call] is None:
                    waiting.append(call)
                    continue
                for one in waiting:
                    if _is_forward(one, before, known.get(before), call, known.get(call)):
                        self._found[one] = "forward"
                before, waiting = call, []


def _counts(call, phase, thread):
    """Whether a call matters to what runs before and after it on a thread."""
    is_zero_grad = any(one.kind == "annotation" and "zero_grad" in one.name for one in call.chain)
    is_known = phase in {"backward", "optimizer"} and not is_zero_grad
    return is_known or (call.thread == thread and phase in {"forward", None})


def _is_forward(call, before, first, after, last):
    """Whether a call between two of known phases is part of the forward pass."""
    if first in {None, "optimizer"} and last == "backward":
        return True
    if after and _in_whole(after):
        return False
    if last == "forward" and 0 <= call.number == after.number and _step(call) == _step(after):
        return True
    return first == "forward" and last != "optimizer" and not _in_whole(before)


def _in_whole(call):
    return any(one.kind == "annotation" and named(one.name)[1] for one in call.chain)


def _step(call):
    return next((one for one in call.chain if one.name.startswith("ProfilerStep")), None)


def _is_engine(calls):
    """Whether a thread computes gradients and little else."""
    ops = [call for call in calls if call.kind == "op" and _outermost(call) is call]
    gradients = sum(op.is_gradient or bool(GRADIENT.search(op.name)) for op in ops)
    return 2 * gradients > len(ops)


def _outermost(call):
    return next((one for one in call.chain if one.kind in {"op", "launch"}), None)


def kernels(path):
    """Begin, nanoseconds and phase of each kernel."""
    phases = Phases(path)
    for event, call in phases.program.kernels:
        begin, end = span(event)
        if COLLECTIVE.search(str(event["name"])):
            phase = "communication"
        elif call is not None:
            phase = phases.of(call)
        else:
            on_stream = phases.program.device_annotations[event["pid"], event["tid"]]
            around = sorted(one for one in on_stream if one[0] <= begin and end <= one[1])
            names = (named(name)[0] for *_, name in reversed(around))
            phase = next((name for name in names if name), "other")
        yield begin, end - begin, phase


def nanos(path):
    """The time of kernels by phase."""
    found = Counter()
    for _, took, phase in kernels(path):
        found[phase] += took
    return +found


if __name__ == "__main__":
    print(json.dumps({path: nanos(path) for path in sys.argv[1:]}, indent=1))
