"""A view as a pprof file: stacks with what they weigh, for `pprof` and what else reads its format.

The code view with one metric gives the file it has always given. Everything else is complete, and
so is that with the setting `complete`.
"""

from __future__ import annotations

from collections.abc import Iterator

from tfprof.errors import OptionError
from tfprof.outputs.parts import Part
from tfprof.outputs.pprof import classic
from tfprof.outputs.pprof import complete as whole
from tfprof.outputs.pprof.file import compressed
from tfprof.outputs.stacks import selected_numbers
from tfprof.views.registry import Trait
from tfprof.views.view import View


def parts(view: View, *, complete: bool = False) -> Iterator[Part]:
    """The file, and what the view has and it has not."""
    pieces = encode(view, complete=complete)
    is_classic = _is_classic(view, complete)
    lacks = classic.lacks(view, selected_numbers(view)[0]) if is_classic else ()
    yield Part("", pieces, tuple(lacks))


def encode(view: View, *, complete: bool = False) -> Iterator[bytes]:
    """The file; refused where the view has no stacks, or several metrics without `complete`."""
    metrics = selected_numbers(view)
    if len(view.options.select) > 1 and not complete:
        raise OptionError(
            "A pprof file has one metric: -select one, or write pprof:outfile=PATH,complete for "
            "all of them."
        )
    pieces = (
        classic.encode(view, metrics[0])
        if _is_classic(view, complete)
        else whole.encode(view, metrics)
    )
    return compressed(pieces)


def _is_classic(view: View, complete: bool) -> bool:
    return Trait.CODE in view.traits and not complete
