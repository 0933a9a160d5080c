"""Budgets in tests: `assert_budget(model, params="25.6 M", float_ops="8.2 G")`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from tfprof.api import Profile
from tfprof.budgets import outputs
from tfprof.budgets.budget import Budget, Place
from tfprof.budgets.check import check
from tfprof.budgets.forms import budget_of, metric_of
from tfprof.capture.loading import load
from tfprof.errors import OptionError

if TYPE_CHECKING:
    _Budgets = Mapping[str, Any]

__all__ = ["assert_budget"]

_SOURCE = "assert_budget"


def assert_budget(
    model: Any,
    /,
    *,
    scopes: Mapping[str, _Budgets] | None = None,
    layers: Mapping[str, _Budgets] | None = None,
    base: Any = None,
    **budgets: Any,
) -> None:
    """Raise `AssertionError` if a model does not meet its budgets, with a line for each.

    `model` is a Keras model, a `tf.function`, one path or several of files that tfprof reads, or a
    `Profile`.
    The keywords are metrics of the whole model, and `scopes` and `layers` map names of its parts to
    their metrics: `assert_budget(model, params="25.6 M", scopes={"decoder": {"ops": 410}})`. Values
    have the same forms as in a budget file; changes such as "+3 %" are relative to `base`.
    """
    __tracebackhide__ = True  # pytest shows the line of the test
    parts = {"scope": scopes or {}, "layer": layers or {}}
    wanted = [
        *_budgets("", Place(), budgets),
        *(
            budget
            for kind, named in parts.items()
            for name, metrics in named.items()
            for budget in _budgets(f"{kind}s[{name!r}]: ", Place(kind, name), metrics)
        ),
    ]
    if not wanted:
        raise OptionError("assert_budget requires a budget, such as params=25_557_032.")
    found = check(_loaded(model), wanted, None if base is None else _loaded(base))
    if not found.is_met:
        raise AssertionError(f"{found.summary}\n{outputs.text(found)}")


def _budgets(where: str, place: Place, metrics: _Budgets) -> Iterator[Budget]:
    for key, value in metrics.items():
        try:
            yield budget_of(_SOURCE, f"{where}{key}", place, metric_of(key), value)
        except ValueError as error:
            raise OptionError(f"{_SOURCE}: {where}{key}: {error}") from None


def _loaded(model: Any) -> Profile:
    if isinstance(model, Profile):
        return model
    return load(*model) if isinstance(model, list | tuple) else load(model)
