"""Encode a view as a pprof file: weighted stacks, for `pprof` and other tools for its format.

The code view becomes the file that the original wrote, unless the setting `complete` is given. All
other files are complete: they contain every row of the view.
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
    """The file, with a note about the ops it omits."""
    pieces = encode(view, complete=complete)
    is_classic = _is_classic(view, complete)
    notes = classic.notes(view, selected_numbers(view)[0]) if is_classic else ()
    yield Part("", pieces, tuple(notes))


def encode(view: View, *, complete: bool = False) -> Iterator[bytes]:
    """The file; fails for a view without stacks, or for several metrics without `complete`."""
    metrics = selected_numbers(view)
    if len(view.options.select) > 1 and not complete:
        raise OptionError(
            "A pprof file holds one metric: -select one, or use pprof:outfile=PATH,complete for "
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
