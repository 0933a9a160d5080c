"""Option dicts as programs for TensorFlow's profiler build them: presets and a builder."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any, Self

TRAINABLE_VARIABLES = "_trainable_variables"

Given = dict[str, Any]


class ProfileOptionBuilder:
    """Builds a dict of options: `ProfileOptionBuilder().with_max_depth(5).build()`.

    Starts from a copy of `options`; by default from options that show the time of all ops.
    """

    def __init__(self, options: Mapping[str, Any] | None = None) -> None:
        start = preset(max_depth=100) if options is None else options
        self._options: Given = dict(copy.deepcopy(start))

    @staticmethod
    def trainable_variables_parameter() -> Given:
        """Options that show the parameters of trainable variables, best in the scope view."""
        return preset(
            account_type_regexes=[TRAINABLE_VARIABLES],
            account_displayed_op_only=True,
            select=["params"],
        )

    @staticmethod
    def float_operation() -> Given:
        """Options that show the float operations of all ops that have any."""
        return preset(
            min_float_ops=1,
            order_by="float_ops",
            account_displayed_op_only=True,
            select=["float_ops"],
        )

    @staticmethod
    def time_and_memory(
        min_micros: int = 1,
        min_bytes: int = 1,
        min_accelerator_micros: int = 0,
        min_cpu_micros: int = 0,
        min_peak_bytes: int = 0,
        min_residual_bytes: int = 0,
        min_output_bytes: int = 0,
    ) -> Given:
        """Options that show the time and memory of ops that reach all of these minimums."""
        return preset(
            min_bytes=min_bytes,
            min_peak_bytes=min_peak_bytes,
            min_residual_bytes=min_residual_bytes,
            min_output_bytes=min_output_bytes,
            min_micros=min_micros,
            min_accelerator_micros=min_accelerator_micros,
            min_cpu_micros=min_cpu_micros,
            order_by="micros",
            account_displayed_op_only=True,
            select=["micros", "bytes"],
        )

    def build(self) -> Given:
        """A copy of the options set so far; later calls do not change it."""
        return copy.deepcopy(self._options)

    def with_max_depth(self, max_depth: int) -> Self:
        """Show rows down to this depth; the root is at depth 1 (op view: rows count from 0)."""
        return self._set(max_depth=max_depth)

    def with_min_memory(
        self,
        min_bytes: int = 0,
        min_peak_bytes: int = 0,
        min_residual_bytes: int = 0,
        min_output_bytes: int = 0,
    ) -> Self:
        """Hide rows that used less memory; sets all four minimums."""
        return self._set(
            min_bytes=min_bytes,
            min_peak_bytes=min_peak_bytes,
            min_residual_bytes=min_residual_bytes,
            min_output_bytes=min_output_bytes,
        )

    def with_min_execution_time(
        self, min_micros: int = 0, min_accelerator_micros: int = 0, min_cpu_micros: int = 0
    ) -> Self:
        """Hide rows that took less time; sets all three minimums."""
        return self._set(
            min_micros=min_micros,
            min_accelerator_micros=min_accelerator_micros,
            min_cpu_micros=min_cpu_micros,
        )

    def with_min_parameters(self, min_params: int) -> Self:
        """Hide rows with fewer parameters."""
        return self._set(min_params=min_params)

    def with_min_occurrence(self, min_occurrence: int) -> Self:
        """Hide ops that ran fewer times (op view: op types with fewer ops)."""
        return self._set(min_occurrence=min_occurrence)

    def with_min_float_operations(self, min_float_ops: int) -> Self:
        """Hide rows with fewer float operations."""
        return self._set(min_float_ops=min_float_ops)

    def with_accounted_types(self, account_type_regexes: Sequence[str]) -> Self:
        """Count only ops with a matching type: op type, device or `_trainable_variables`."""
        return self._set(account_type_regexes=copy.copy(account_type_regexes))

    def with_node_names(
        self,
        start_name_regexes: Sequence[str] | None = None,
        show_name_regexes: Sequence[str] | None = None,
        hide_name_regexes: Sequence[str] | None = None,
        trim_name_regexes: Sequence[str] | None = None,
    ) -> Self:
        """Select rows by name; arguments that are None leave their option unchanged."""
        given = {
            "start_name_regexes": start_name_regexes,
            "show_name_regexes": show_name_regexes,
            "hide_name_regexes": hide_name_regexes,
            "trim_name_regexes": trim_name_regexes,
        }
        return self._set(
            **{name: copy.copy(value) for name, value in given.items() if value is not None}
        )

    def account_displayed_op_only(self, is_true: bool) -> Self:
        """Set whether totals cover only the rows that are shown."""
        return self._set(account_displayed_op_only=is_true)

    def with_empty_output(self) -> Self:
        """Write no output; the message is still returned."""
        return self._set(output="none")

    def with_stdout_output(self) -> Self:
        """Print the table."""
        return self._set(output="stdout")

    def with_file_output(self, outfile: str) -> Self:
        """Write the table to a file."""
        return self._set(output=f"file:outfile={outfile}")

    def with_timeline_output(self, timeline_file: str) -> Self:
        """Write a timeline, with the step appended to the file name."""
        return self._set(output=f"timeline:outfile={timeline_file}")

    def with_pprof_output(self, pprof_file: str) -> Self:
        """Write a pprof file."""
        return self._set(output=f"pprof:outfile={pprof_file}")

    def order_by(self, attribute: str) -> Self:
        """Order sibling rows by name, or by the total of a metric."""
        return self._set(order_by=attribute)

    def select(self, attributes: Sequence[str]) -> Self:
        """Show these metrics."""
        return self._set(select=copy.copy(attributes))

    def with_step(self, step: int) -> Self:
        """Show one of the added steps; -1 averages over all of them."""
        return self._set(step=step)

    def _set(self, **given: Any) -> Self:
        self._options.update(given)
        return self


def preset(**given: Any) -> Given:
    """The options that all presets share, overridden by `given`."""
    return {
        "max_depth": 10000,
        "min_bytes": 0,
        "min_micros": 0,
        "min_params": 0,
        "min_float_ops": 0,
        "min_occurrence": 0,
        "order_by": "name",
        "account_type_regexes": [".*"],
        "start_name_regexes": [".*"],
        "trim_name_regexes": [],
        "show_name_regexes": [".*"],
        "hide_name_regexes": [],
        "account_displayed_op_only": False,
        "select": ["micros"],
        "step": -1,
        "output": "stdout",
        **given,
    }
