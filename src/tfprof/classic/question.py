"""Reads option dicts as the original does, with its defaults and its tolerance of mistakes."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tfprof.errors import OptionError, one_line
from tfprof.metrics import BY_KEY, ORDER_KEYS
from tfprof.options import Options, OutputSpec, find
from tfprof.patterns import Patterns

# The options that the original prints, in its order.
_NUMBERS = (
    *("max_depth", "min_bytes", "min_peak_bytes", "min_residual_bytes", "min_output_bytes"),
    *("min_micros", "min_accelerator_micros", "min_cpu_micros", "min_params", "min_float_ops"),
    *("min_occurrence", "step"),
)
_REGEXES = (
    *("account_type_regexes", "start_name_regexes", "trim_name_regexes", "show_name_regexes"),
    "hide_name_regexes",
)
# Options that only older versions or tfprof have; used if given.
_MORE = ("device_regexes", "dialect", "define_type", "viz")

_NAME_WIDTH = 28
_NO_MATCH = r"\zx"  # an x after the end of the text


def report(message: object) -> None:
    """Print a message to standard error, as the original does."""
    if sys.stderr is not None:  # None if the program was started without standard error
        sys.stderr.write(f"tfprof: {one_line(message)}\n")


@dataclass(frozen=True, slots=True)
class Question:
    """A dict of options: as the engine takes them, and as the caller wrote them."""

    options: Options
    select: tuple[str, ...]
    order_by: str
    regexes: Mapping[str, tuple[str, ...]]

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Question:
        """Read a dict of options; missing lists are empty, and unknown names are reported."""
        select = tuple(sorted(set(_texts("select", given))))
        order_by = str(given.get("order_by", "name"))
        regexes = {name: _texts(name, given) for name in _REGEXES}
        usable: dict[str, Any] = {name: tuple(_valid(name, regexes[name])) for name in _REGEXES}
        numbers = {name: find(name).check(given[name]) for name in _NUMBERS if name in given}
        more = {name: find(name).check(given[name]) for name in _MORE if name in given}
        is_core = more.get("dialect", "core") == "core"
        options = Options(
            **numbers,
            order_by=_known_key(order_by),
            **usable,
            account_displayed_op_only=bool(given.get("account_displayed_op_only", False)),
            select=tuple(key for key in select if _is_metric(key, is_core=is_core)),
            output=str(given.get("output", "stdout")),
            dump_to_file=str(given.get("dump_to_file", "") or ""),
            **more,
        )
        return cls(options, select, order_by, regexes)

    @property
    def destination(self) -> OutputSpec:
        return self.options.destination

    def dump(self) -> str:
        """One line per option, as the original prints them above a report."""
        lines = {
            **{name: str(getattr(self.options, name)) for name in _NUMBERS},
            "order_by": self.order_by,
            **{name: ",".join(self.regexes[name]) for name in _REGEXES},
            "account_displayed_op_only": str(self.options.account_displayed_op_only).lower(),
            "select": ",".join(self.select),
            "output": str(self.destination),
        }
        return "".join(f"-{name}".ljust(_NAME_WIDTH) + f"{text}\n" for name, text in lines.items())


def _texts(name: str, given: Mapping[str, Any]) -> tuple[str, ...]:
    """The strings of a list option, unchecked."""
    value = given.get(name, ())
    if isinstance(value, Iterable) and not isinstance(value, str | bytes):
        texts = tuple(value)
        if all(isinstance(text, str) for text in texts):
            return texts
    raise OptionError(f"`{name}` takes a list of strings, not {value!r}.")


def _known_key(key: str) -> str:
    if key and key not in ORDER_KEYS:
        report(f"order_by cannot be `{key}`: rows are ordered by name.")
        return "name"
    return key


def _is_metric(key: str, *, is_core: bool) -> bool:
    """Whether a metric can be shown; num_hidden_ops only in older dialects."""
    is_known = key in BY_KEY and not (is_core and BY_KEY[key].is_of_answer)
    if not is_known:
        report(f"select cannot be `{key}`: it is skipped.")
    return is_known


def _valid(name: str, regexes: Iterable[str]) -> Iterator[str]:
    """The regexes, with invalid ones replaced by one that matches nothing."""
    for regex in regexes:
        try:
            Patterns((regex,))
        except OptionError as error:
            report(f"`{name}`: {error} It matches nothing.")
            yield _NO_MATCH
        else:
            yield regex
