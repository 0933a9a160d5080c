"""Random dicts of options for live models."""

from __future__ import annotations

import re
from typing import Any

from hypothesis import strategies as st

from original_keys import ORDER_KEYS, SELECTABLE

_TYPES = (
    *("_trainable_variables", "MatMul", "Variable.*", "VarHandleOp", "Conv2D", "Const"),
    *(".*cpu:0.*", ".*gpu.*", "mine", ".*Grad.*"),
)
_CODE = (r".*live_models\.py.*", ".*gradient.*", r"ops\.py.*", ".*<module>.*")

_numbers = st.sampled_from((0, 0, 1, 2, 24, 1000))


@st.composite
def options(draw: Any, view: str, names: list[str], *, steps: tuple[int, ...] = (-1, 0)) -> Any:
    """Options that a program may pass; missing ones have the original's defaults."""
    scopes = sorted({name.partition("/")[0] for name in names})
    rows = {
        "scope": [*(re.escape(name) for name in names), *(f"{scope}.*" for scope in scopes)],
        "graph": [re.escape(name) for name in names],
        "code": list(_CODE),
        "op": ["MatMul", "Const", "V.*", "[A-M].*"],
    }[view]
    shown = st.lists(st.sampled_from([*rows, ".*"]), max_size=2)
    everything = st.just([".*"])
    chosen = {
        # The original's code view crashes at depth 0.
        "max_depth": st.sampled_from((1, 2, 3, 10, 10000)),
        **{f"min_{key}": _numbers for key in ("bytes", "micros", "params", "float_ops")},
        **{f"min_{key}_bytes": _numbers for key in ("peak", "residual", "output")},
        **{f"min_{key}_micros": _numbers for key in ("accelerator", "cpu")},
        "min_occurrence": _numbers,
        "step": st.sampled_from((*steps, steps[-1], 77)),
        "order_by": st.sampled_from((*ORDER_KEYS, "nonsense", "")),
        "account_type_regexes": everything | st.lists(st.sampled_from(_TYPES), max_size=2),
        "start_name_regexes": everything | shown,
        # The original's code view crashes if one matches the root.
        "trim_name_regexes": st.lists(st.sampled_from(rows), max_size=2),
        "show_name_regexes": everything | shown,
        "hide_name_regexes": st.lists(st.sampled_from(rows), max_size=1),
        "account_displayed_op_only": st.booleans(),
        "select": st.lists(st.sampled_from([*SELECTABLE, "nonsense"]), max_size=5),
    }
    usual = ("account_type_regexes", "start_name_regexes", "show_name_regexes", "select")
    wanted = draw(st.sets(st.sampled_from(sorted(set(chosen) - set(usual))), max_size=7))
    kept = usual if draw(st.integers(0, 5)) else ()
    return {name: draw(chosen[name]) for name in (*kept, *sorted(wanted))}
