"""Notes on what the numbers of a flattened graph include."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from tfprof.columns import Coded
from tfprof.model.notes import Note, Subject
from tfprof.sources.tf_functions.calls import is_conditional
from tfprof.sources.tf_functions.layout import Layout
from tfprof.sources.tf_shapes import Inferred
from tfprof.units import counted

_MOST_NAMED = 3


def notes(path: str, layout: Layout, unknown: Sequence[str]) -> Iterator[str]:
    """Notes on a layout and on the variables of `unknown` shape."""
    kinds = list(layout.walked.values())
    if conditionals := sum(map(is_conditional, kinds)):
        found = counted(conditionals, "conditional")
        text = (
            f"{path} contains {found}: the float ops of all branches "
            "are counted, although only one will run."
        )
        yield Note(text, Subject.FLOAT_OPS)
    if layout.recursive:
        names = _names(layout.recursive)
        yield f"{path} contains recursive functions ({names}); recursive calls are not counted."
    if layout.missing:
        names = _names(layout.missing)
        yield f"{path} calls functions that it does not contain ({names}); they are not counted."
    if unknown:
        variables = f"{counted(len(unknown), 'variable')} of unknown shape (`{unknown[0]}`)"
        text = f"{path} contains {variables}, whose parameters are not counted."
        yield Note(text, Subject.PARAMS)


def assumed(path: str, size: int) -> Note:
    """A note on the batch size that is assumed for inputs that accept any."""
    text = (
        f"{path}: the inputs accept any batch size; everything is counted for a batch of {size}. "
        "Set another batch size with --batch_size."
    )
    return Note(text, Subject.FLOAT_OPS)


def inference_notes(
    path: str, names: Sequence[str], kinds: Coded, found: Inferred
) -> Iterator[str]:
    """Notes on trip counts and shapes that could not be inferred."""
    if loops := found.unknown_loops:
        what = "a loop" if len(loops) == 1 else f"{len(loops):,} loops"
        text = (
            f"{path} contains {what} of unknown trip count (`{names[loops[0]]}`): float ops inside "
            "are counted for one iteration, because the number depends on data."
        )
        yield Note(text, Subject.FLOAT_OPS)
    if loops := found.endless_loops:
        text = (
            f"{path}: the loop `{names[loops[0]]}` would run its ops too often to finish; they are "
            "counted for one iteration. Check the limit of the loop."
        )
        yield Note(text, Subject.FLOAT_OPS)
    if found.stop is not None:
        kind = kinds[found.stop.row]
        why = "it depends on data" if found.stop.has_rule else f"there is no rule for `{kind}`"
        text = (
            f"{path}: the output shape of `{names[found.stop.row]}` ({kind}) is unknown, because "
            f"{why}; float ops that depend on it are not counted. Use a model with fixed input "
            "shapes, or add a recording of a run."
        )
        yield Note(text, Subject.FLOAT_OPS)


def _names(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in list(names)[:_MOST_NAMED])
