"""The budget file that `tfprof check --update` creates if there is none."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from tfprof.budgets import file
from tfprof.budgets.amounts import Quantity, Rounding, natural_style, written
from tfprof.budgets.budget import Place
from tfprof.budgets.measuring import Measured, MissingNumberError
from tfprof.budgets.metrics import BUDGET_METRICS
from tfprof.errors import MissingInputError

_START = """\
# Budgets of the model. `tfprof check FILES…` compares them with the model, and ends with the exit
# status 3 if one is not met. `tfprof check FILES… --update` writes the current numbers.
#
# A budget is an upper limit. Other forms:
#   params = {{ max = "25.6 M", min = "20 M" }}
#   params = {{ exact = 25557032 }}
#   params = {{ value = "25.6 M", tolerance = "1 %" }}

[model]
{budgets}
{varying}# Times, and other changes from a base measured in the same job (--base FILE):
# step_time = "+3 %"
"""
_VARYING = "# Memory varies a little from run to run, so leave some room:\n# {line}\n\n"
_PART = """
# Parts of the model are named as in `tfprof layers FILES…` and `tfprof scope FILES…`:
# [layer.{name}]
# {line}
"""

_KEYS = ("params", "float_ops", "ops")


def text(measured: Measured) -> str:
    """The file, with the current numbers of the metrics that the files have."""
    lines = [line for key in _KEYS for line in _lines(measured, key)]
    if not lines:
        raise MissingInputError(
            "The files contain none of the numbers that a budget file starts with: "
            f"{', '.join(_KEYS)}. Give a graph, a SavedModel or a recording."
        )
    varying = "".join(_VARYING.format(line=line) for line in _lines(measured, "peak_bytes"))
    start = _START.format(budgets="".join(f"{line}\n" for line in lines), varying=varying)
    return start + _part(measured)


def _lines(measured: Measured, key: str) -> Iterator[str]:
    """The budget of a metric of the whole model, if the files have it."""
    metric, whole = BUDGET_METRICS[key], measured.parts.find(Place())
    try:
        amount = measured.amount(metric, whole, permits_zero=False)
    except MissingNumberError:
        return
    yield f"{key} = {amount if key == 'ops' else _value(amount, metric.quantity)}"
    if metric.counts_work and (uncounted := int(measured.uncounted(whole, metric).sum())):
        yield f"uncounted_ops = {uncounted}  # so float_ops is too small; see tfprof flops"


def _part(measured: Measured) -> str:
    """An example of a budget for a layer: the one with the most parameters."""
    part = measured.parts.largest_layer("params")
    if part is None:
        return ""
    line = f"params = {_value(Fraction(part.total('params')), Quantity.COUNT)}"
    return _PART.format(name=file.quoted(part.name), line=line)


def _value(amount: Fraction, quantity: Quantity) -> str:
    """An amount in TOML, rounded up."""
    style = natural_style(amount, quantity)
    return f'"{written(amount, quantity, style, Rounding.UP)}"' if style.suffix else str(amount)
