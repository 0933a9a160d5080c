"""A TensorFlow graph together with all functions it calls, as one table of ops.

A call stays an op. The ops of its function are named `call/op`; those of loops, conditionals and
cases `call/body/op`, `call/then/op`, `call/branch_0/op` and so on. An op that reads an argument
reads what the call was given, and the call waits for the function's results, so a chain of edges
leads through it.
"""

from __future__ import annotations

from tfprof.sources.tf_functions.flat import Flat, add, flatten

__all__ = ["Flat", "add", "flatten"]
