"""Writes current numbers to a budget file; comments, order and the style of values stay."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

from tfprof.budgets import file
from tfprof.budgets.amounts import (
    Amount,
    Rounding,
    exactly_restyled,
    parse,
    restyled,
)
from tfprof.budgets.budget import Bound, Budget, Place
from tfprof.budgets.measuring import Measured
from tfprof.budgets.verdict import Verdict
from tfprof.budgets.verdicts import judge_all
from tfprof.errors import InputError, TfprofError

if TYPE_CHECKING:
    from tomlkit import TOMLDocument


class Updated(NamedTuple):
    """A budget that was changed: where it is, and its old and new text."""

    key: str
    old: str
    new: str

    def __str__(self) -> str:
        return f"{self.key}: {self.old} -> {self.new}"


def update(path: str, measured: Measured) -> tuple[str, tuple[Updated, ...]]:
    """The new text of a budget file, and what was changed; relative budgets stay as they are."""
    text = file.text_of(path)
    budgets = file.budgets_in(path, text)
    verdicts = _judged(path, budgets, measured)
    document = _document(path, text)
    changes = [change for verdict in verdicts for change in _changed(document, verdict)]
    new = document.as_string()
    if any(one.is_failure for one in _judged(path, file.budgets_in(path, new), measured)):
        raise TfprofError(f"{path} cannot be updated: a budget would still not be met.")
    return new, tuple(changes)


def _judged(path: str, budgets: tuple[Budget, ...], measured: Measured) -> tuple[Verdict, ...]:
    """Verdicts on the absolute budgets, all of which have a number."""
    absolute = [budget for budget in budgets if not budget.is_relative]
    found = judge_all(absolute, measured, None)
    for verdict in found:
        if not verdict.is_known:
            raise InputError(path, f"{verdict.budget.key}: {verdict.remark} Nothing was written.")
    return found


def _document(path: str, text: str) -> TOMLDocument:
    try:
        import tomlkit  # noqa: PLC0415 -- optional, and only needed here
        from tomlkit.exceptions import TOMLKitError  # noqa: PLC0415 -- see above
    except ModuleNotFoundError:
        raise TfprofError(
            "updating a budget file requires tomlkit: pip install 'tfprof[check]'."
        ) from None
    try:
        return tomlkit.parse(text)
    except TOMLKitError as error:
        raise InputError(path, f"cannot be updated: {error}.") from None


def _changed(document: TOMLDocument, verdict: Verdict) -> Iterator[Updated]:
    """Change the values of a budget in the document."""
    budget, amount = verdict.budget, verdict.measured
    assert amount is not None  # noqa: S101 -- known, see `_judged`
    table, key = _table(document, budget.place), budget.metric.key
    if not isinstance(table[key], Mapping):
        yield from _replaced(budget, table, key, amount, Rounding.UP)
        return
    inner = table[key]
    if "exact" in inner:
        yield from _replaced(budget, inner, "exact", amount, None)
    if "value" in inner:
        yield from _replaced(budget, inner, "value", amount, Rounding.NEAREST)
    if "max" in inner:
        yield from _replaced(budget, inner, "max", amount, Rounding.UP)
    if "min" in inner and ("max" not in inner or _is_below(amount, budget.least)):
        yield from _replaced(budget, inner, "min", amount, Rounding.DOWN)


def _is_below(amount: Fraction, bound: Bound | None) -> bool:
    return bound is not None and amount < bound.of(Fraction(0))


def _table(document: Any, place: Place) -> Any:
    table = document[place.kind]
    return table[place.name] if place.name else table


def _replaced(
    budget: Budget, table: Any, key: str, amount: Fraction, rounding: Rounding | None
) -> Iterator[Updated]:
    """Replace a value by `amount` in the same style; without `rounding`, exactly."""
    import tomlkit  # noqa: PLC0415 -- see `_document`

    old = table[key]
    written = old.as_string()
    new = _written(budget, old, written, amount, rounding)
    if new != written:
        table[key] = tomlkit.value(new)
        yield Updated(budget.key, written, new)


def _written(
    budget: Budget, old: Any, written: str, amount: Fraction, rounding: Rounding | None
) -> str:
    """`amount` as a TOML value that looks like the old one."""
    if isinstance(old, int):
        return f"{int(amount):_}" if "_" in written else str(int(amount))
    like = parse(str(old), budget.metric.quantity)
    text = exactly_restyled(amount, like)
    if rounding is not None:
        rounded = restyled(amount, like, rounding)
        # A rounded value may be too far from the number for a narrow tolerance.
        if rounding is not Rounding.NEAREST or _is_within(budget, like, rounded, amount):
            text = rounded
    quote = written[0]
    return f"{quote}{text}{quote}"


def _is_within(budget: Budget, like: Amount, text: str, amount: Fraction) -> bool:
    """Whether `amount` is still as close to a new value as to permit it."""
    new = parse(text, like.quantity).value
    width = Fraction(0)
    if budget.most is not None and like.value:
        width = (budget.most.of(Fraction(0)) - like.value) * min(new / like.value, Fraction(1))
    return abs(amount - new) <= width
