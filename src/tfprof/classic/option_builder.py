"""Options as the original's programs make them: dicts, ready made or set one by one."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any, Self

TRAINABLE_VARIABLES = "_trainable_variables"

Given = dict[str, Any]


class ProfileOptionBuilder:
    """A dict of options, set by set: `ProfileOptionBuilder().with_max_depth(5).build()`.

    It begins with those that are given, which stay as they are, or shows the time of everything.
    """

    def __init__(self, options: Mapping[str, Any] | None = None) -> None:
        begun = preset(max_depth=100) if options is None else options
        self._options: Given = dict(copy.deepcopy(begun))

    @staticmethod
    def trainable_variables_parameter() -> Given:
        """The parameters of trainable variables; best by scope."""
        return preset(
            account_type_regexes=[TRAINABLE_VARIABLES],
            account_displayed_op_only=True,
            select=["params"],
        )

    @staticmethod
    def float_operation() -> Given:
        """The float operations of ops that have some."""
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
        """The time and the memory of ops that took at least so much of each."""
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
        """The options as they are now; later settings do not change what is given out."""
        return copy.deepcopy(self._options)

    def with_max_depth(self, max_depth: int) -> Self:
        """Show at most so many levels; of op kinds, so many rows."""
        return self._set(max_depth=max_depth)

    def with_min_memory(
        self,
        min_bytes: int = 0,
        min_peak_bytes: int = 0,
        min_residual_bytes: int = 0,
        min_output_bytes: int = 0,
    ) -> Self:
        """Hide what used less memory; all four are set."""
        return self._set(
            min_bytes=min_bytes,
            min_peak_bytes=min_peak_bytes,
            min_residual_bytes=min_residual_bytes,
            min_output_bytes=min_output_bytes,
        )

    def with_min_execution_time(
        self, min_micros: int = 0, min_accelerator_micros: int = 0, min_cpu_micros: int = 0
    ) -> Self:
        """Hide what took less time; all three are set."""
        return self._set(
            min_micros=min_micros,
            min_accelerator_micros=min_accelerator_micros,
            min_cpu_micros=min_cpu_micros,
        )

    def with_min_parameters(self, min_params: int) -> Self:
        """Hide what has fewer parameters."""
        return self._set(min_params=min_params)

    def with_min_occurrence(self, min_occurrence: int) -> Self:
        """Hide what ran less often; of op kinds, those with fewer ops."""
        return self._set(min_occurrence=min_occurrence)

    def with_min_float_operations(self, min_float_ops: int) -> Self:
        """Hide what has fewer float operations."""
        return self._set(min_float_ops=min_float_ops)

    def with_accounted_types(self, account_type_regexes: Sequence[str]) -> Self:
        """Account for ops one of whose types matches: kind, device, `_trainable_variables`."""
        return self._set(account_type_regexes=copy.copy(account_type_regexes))

    def with_node_names(
        self,
        start_name_regexes: Sequence[str] | None = None,
        show_name_regexes: Sequence[str] | None = None,
        hide_name_regexes: Sequence[str] | None = None,
        trim_name_regexes: Sequence[str] | None = None,
    ) -> Self:
        """Choose rows by name; what is None stays as it was."""
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
        """Let totals cover only the rows that are shown."""
        return self._set(account_displayed_op_only=is_true)

    def with_empty_output(self) -> Self:
        """Write nothing; the message is still given back."""
        return self._set(output="none")

    def with_stdout_output(self) -> Self:
        """Print the table."""
        return self._set(output="stdout")

    def with_file_output(self, outfile: str) -> Self:
        """Write the table to a file."""
        return self._set(output=f"file:outfile={outfile}")

    def with_timeline_output(self, timeline_file: str) -> Self:
        """Write a timeline, with the step behind the name of the file."""
        return self._set(output=f"timeline:outfile={timeline_file}")

    def with_pprof_output(self, pprof_file: str) -> Self:
        """Write a pprof file."""
        return self._set(output=f"pprof:outfile={pprof_file}")

    def order_by(self, attribute: str) -> Self:
        """Order siblings by name, or by the total of a metric."""
        return self._set(order_by=attribute)

    def select(self, attributes: Sequence[str]) -> Self:
        """Show these metrics."""
        return self._set(select=copy.copy(attributes))

    def with_step(self, step: int) -> Self:
        """Use one step that was added; -1 averages over all of them."""
        return self._set(step=step)

    def _set(self, **given: Any) -> Self:
        self._options.update(given)
        return self


def preset(**given: Any) -> Given:
    """What all ready-made options have in common, with `given` in its place."""
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
