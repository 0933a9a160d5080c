"""The forms in which a budget is written, in a file or from Python."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from tfprof.budgets.amounts import Amount, Quantity, Style, parse, parse_percent
from tfprof.budgets.budget import Bound, Budget, Place
from tfprof.budgets.metrics import BUDGET_METRICS, BudgetMetric
from tfprof.errors import nearest

_TIMES_ARE_RELATIVE = (
    "times can only be compared with a base that was measured in the same job, because machines "
    'differ; write "+3 %" and name the base with --base.'
)


def metric_of(key: str) -> BudgetMetric:
    """The metric of that name; raises `ValueError`, which suggests the nearest one."""
    if key not in BUDGET_METRICS:
        raise ValueError(f"there is no metric `{key}`. {nearest(key, BUDGET_METRICS)}")
    return BUDGET_METRICS[key]


def budget_of(source: str, key: str, place: Place, metric: BudgetMetric, value: Any) -> Budget:
    """The budget that `value` states; raises `ValueError` if it states none."""
    if place.name and not metric.is_of_parts:
        raise ValueError(f"only the whole model has `{metric.key}`; a part has `micros`.")
    if isinstance(value, Mapping):
        keys = frozenset(value)
        if keys not in _FORMS:
            raise ValueError(
                "takes the keys `max` and `min`, or `exact`, or `value` and `tolerance`, not "
                f"{', '.join(f'`{name}`' for name in value) or 'none'}."
            )
        text, most, least = _FORMS[keys](metric.quantity, value)
    else:
        most, least = _bound(metric.quantity, value), None
        text = _upper_text(most)
    budget = Budget(source, key, place, metric, text, most, least)
    if metric.is_time:
        _require_judgeable(budget)
    return budget


def _require_judgeable(budget: Budget) -> None:
    if not all(bound.is_relative for bound in budget.bounds):
        raise ValueError(_TIMES_ARE_RELATIVE)
    if budget.least is not None:
        raise ValueError('a time has only an upper limit, such as "+3 %".')


_Stated = tuple[str, Bound | None, Bound | None]


def _max(quantity: Quantity, value: Mapping[str, Any]) -> _Stated:
    most = _bound(quantity, value["max"])
    return _upper_text(most), most, None


def _min(quantity: Quantity, value: Mapping[str, Any]) -> _Stated:
    least = _bound(quantity, value["min"])
    return f"at least {_text(least)}", None, least


def _range(quantity: Quantity, value: Mapping[str, Any]) -> _Stated:
    most, least = _bound(quantity, value["max"]), _bound(quantity, value["min"])
    if not most.is_relative and not least.is_relative and least.of(_ZERO) > most.of(_ZERO):
        raise ValueError(f"`min` ({least.text}) is more than `max` ({most.text}).")
    return f"{_text(least)} to {_text(most)}", most, least


def _exact(quantity: Quantity, value: Mapping[str, Any]) -> _Stated:
    bound = _absolute(quantity, "exact", value["exact"])
    return f"exactly {bound.text}", bound, bound


def _tolerance(quantity: Quantity, value: Mapping[str, Any]) -> _Stated:
    middle = _absolute(quantity, "value", value["value"])
    assert middle.amount is not None  # noqa: S101 -- it is absolute
    amount = middle.amount
    width = _width(quantity, amount, value["tolerance"])
    low, high = max(amount.value - width, _ZERO), amount.value + width
    text = f"{middle.text} ± {_tolerance_text(value['tolerance'])}"
    return text, _at(high, amount, text), _at(low, amount, text)


_FORMS: dict[frozenset[str], Callable[[Quantity, Mapping[str, Any]], _Stated]] = {
    frozenset({"max"}): _max,
    frozenset({"min"}): _min,
    frozenset({"max", "min"}): _range,
    frozenset({"exact"}): _exact,
    frozenset({"value", "tolerance"}): _tolerance,
}

_ZERO = Fraction(0)


def _bound(quantity: Quantity, value: Any) -> Bound:
    """An amount, or a change such as `+3 %`."""
    if isinstance(value, str) and value.strip()[:1] in ("+", "-"):
        text = value.strip()
        sign, rest = (1 if text[0] == "+" else -1), text[1:].strip()
        if (share := parse_percent(rest)) is not None:
            return Bound(text, share=share, sign=sign)
        return Bound(text, parse(rest, quantity), sign=sign)
    if isinstance(value, str):
        if parse_percent(value) is not None:
            raise ValueError(f'a percentage is a change from a base: write "+{value.strip()}".')
        return Bound(value.strip(), parse(value, quantity))
    number = _integer(value)
    if number is None:
        what = f"takes an integer or a text such as {quantity.example}"
        raise ValueError(f"{what}, not {value!r:.80}.")
    if number < 0:
        raise ValueError(f"must not be negative; {number} is.")
    return Bound(f"{number:,}", Amount(Fraction(number), quantity, Style()))


def _integer(value: Any) -> int | None:
    """`value` as an integer, also from numpy; None for others, including booleans."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        return None
    return int(value.__index__())


def _absolute(quantity: Quantity, key: str, value: Any) -> Bound:
    bound = _bound(quantity, value)
    if bound.is_relative:
        raise ValueError(f"`{key}` takes an amount, not the change {bound.text}.")
    return bound


def _width(quantity: Quantity, amount: Amount, value: Any) -> Fraction:
    """How far a number may be from `amount`."""
    if isinstance(value, str) and (share := parse_percent(value)) is not None:
        return amount.value * share
    return _absolute(quantity, "tolerance", value).of(_ZERO)


def _tolerance_text(value: Any) -> str:
    return value.strip() if isinstance(value, str) else f"{value:,}"


def _at(value: Fraction, like: Amount, text: str) -> Bound:
    return Bound(text, Amount(value, like.quantity, like.style))


def _text(bound: Bound) -> str:
    return f"{bound.text} from the base" if bound.is_relative else bound.text


def _upper_text(bound: Bound) -> str:
    return f"at most {_text(bound)}"
