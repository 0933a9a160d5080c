"""Flattens a TensorFlow graph and all functions that it calls into one table of ops.

A call remains an op. The ops of its function are named `call/op`; those of loops, conditionals and
cases are named `call/body/op`, `call/then/op`, `call/branch_0/op` and so on. Ops that read an
argument of the function have an edge from the input of the call, and the call has edges from the
results of the function, so paths lead through the call.
"""

from __future__ import annotations

from tfprof.sources.tf_functions.flat import Batch, Flat, add, flatten, sized_outputs

__all__ = ["Batch", "Flat", "add", "flatten", "sized_outputs"]
