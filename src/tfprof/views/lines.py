"""The line of the user's own code that created each op."""

from __future__ import annotations

import numpy as np

from tfprof.columns import Coded, Ints, Strings
from tfprof.memo import remembered
from tfprof.model.code import CodeTree
from tfprof.model.profile import ProfileColumns
from tfprof.views.code import GRADIENT_SUFFIX, frame_name, installed_calls, place_ops

NO_LINE = "(no line known)"


@remembered
def of_ops(profile: ProfileColumns) -> Coded:
    """The innermost line of each op outside installed packages, named as in the code view.

    If all lines are in installed packages, the innermost line is used. A gradient has the line of
    its forward op, if known, marked as a gradient.
    """
    placed, _ = place_ops(profile)
    call, is_gradient = profile.ops.code.copy(), np.zeros(len(profile.ops), np.bool_)
    call[placed.op] = call[placed.forward]
    is_gradient[placed.op] = placed.is_gradient
    own = np.append(_own_calls(profile.code), -1)[call]
    keys, codes = np.unique(2 * own + is_gradient, return_inverse=True)
    names = [_name(profile.code, key // 2, is_gradient=key % 2 == 1) for key in keys.tolist()]
    # Lines of files in different folders may have the same name; they share a code.
    return Coded.joined([Coded(codes, Strings(names))])


def _name(code: CodeTree, call: int, *, is_gradient: bool) -> str:
    if call < 0:
        return NO_LINE
    return frame_name(code.frame(call)) + (GRADIENT_SUFFIX if is_gradient else "")


def _own_calls(code: CodeTree) -> Ints:
    """For each call, the nearest caller (or itself) that is not in an installed package."""
    calls = np.arange(len(code))
    own = calls
    is_installed = installed_calls(code)
    while len(rows := np.flatnonzero(is_installed[own] & (code.caller[own] >= 0))):
        own = own.copy()
        own[rows] = code.caller[own[rows]]
    return np.where(is_installed[own], calls, own)
