"""The time of the kernels of a Kineto trace by module, computed from its JSON alone.

    python tests/independent/kernel_modules.py TRACE…

It follows the manual (`docs/how-to/pytorch-record.md`) and shares no code with tfprof.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))

from independent.device_timeline import span
from independent.nesting import Program


class Modules:
    """The modules around each call, outermost first."""

    def __init__(self, path):
        self.program = Program(path)
        self._forward = self.program.forward_of()
        self._around = {}  # of forward ops

    def of(self, call):
        """The names of the modules; a backward op is in those of its forward op.

        What a checkpoint computes again is in a module once, if that calls the checkpoint.
        Collectives of the backward pass are in none: they send gradients of several modules.
        """
        found, is_gradient = (), False
        for one in call.chain if call else ():
            is_gradient = (is_gradient or one.is_gradient) and not one.module
            if is_gradient and one.is_collective:
                return ()
            forward = self._forward.get(one)
            if forward:
                if forward not in self._around:
                    self._around[forward] = self.of(forward)
                found = self._around[forward]
            elif one.module:
                place = found.index(one.module) if one.module in found else len(found)
                found = (*found[:place], one.module)
        return found


def kernels(path):
    """Begin, nanoseconds and modules of each kernel."""
    modules = Modules(path)
    for event, call in modules.program.kernels:
        begin, end = span(event)
        yield begin, end - begin, modules.of(call)


def nanos(path):
    """The time of kernels by the modules around them."""
    found = Counter()
    for _, took, names in kernels(path):
        found["/".join(names)] += took
    return found


if __name__ == "__main__":
    print(json.dumps({path: nanos(path) for path in sys.argv[1:]}, indent=1))
