"""Commands that answer a question about a profile."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfprof.errors import OptionError
from tfprof.metrics import AUTO, Need
from tfprof.options import (
    KERNEL_OPTIONS,
    MEMORY_OPTIONS,
    RANK_OPTIONS,
    STEP_OPTIONS,
    MemoryOptions,
)
from tfprof.outputs import registry
from tfprof.views.registry import VIEWS
from tfprof.views.view import TABLE_VALUE_TYPES, View

if TYPE_CHECKING:
    from tfprof.commands.command import Call


def view(call: Call) -> None:
    """Show or write one of the views."""
    options = call.view_options()
    if not VIEWS[call.command.name].has_own_defaults:
        options = options.sorted_by(call.front.default_order)
    spec = options.destination
    registry.require(spec, call.command.name)
    as_json = call.value("json")
    if as_json and (options.output or options.dump_to_file):
        raise OptionError("Use -json or -output, not both; -output json:outfile=F writes JSON.")
    profile = call.load()
    answer = profile.view(call.command.name, options)
    if as_json or spec.kind == "stdout":
        _require_values(answer.view, in_full=as_json)
    if as_json:
        pieces = registry.FILE_OUTPUTS["json"].encode(answer.view)
        call.show(piece.decode() for piece in pieces)
    else:
        if call.front.screen.is_terminal and spec.kind == "stdout":
            answer = answer.without_zero_columns()
            if AUTO in options.select:
                answer = answer.fitted(_terminal_width())
        written = answer.write(show=call.show)
        hinted = call.front.hinted
        call.say(*registry.sentences(spec, written, hints=spec.kind not in hinted))
        hinted.add(spec.kind)
    call.note(answer.notes, profile)


def _terminal_width() -> int:
    from shutil import get_terminal_size  # noqa: PLC0415 -- a pipe does not need it

    return get_terminal_size().columns


def _require_values(shown: View, *, in_full: bool) -> None:
    """Read the tensors that an answer shows, before its first byte is printed.

    Reading a checkpoint is the only step that can fail while an answer is streamed. With this check
    a damaged checkpoint gives an error and no output, instead of half a JSON document. The cost is
    that values are read twice; buffering the whole answer instead would take unbounded memory.
    """
    if "tensor_value" not in shown.options.select or shown.is_gathered:
        return
    if not shown.profile.has(Need.VALUES):
        return
    tensors = shown.profile.tensors
    for row in range(1, len(shown)):
        name = shown.name[row]
        tensor = tensors.find(name)
        if tensor >= 0 and (in_full or tensors.dtype[tensor] in TABLE_VALUE_TYPES):
            tensors.read(name)


def memory(call: Call) -> None:
    """Show memory over time; a step set in the shell applies here too."""
    given = {"step": call.front.options.step} | call.given_of(MEMORY_OPTIONS)
    profile = call.load()
    answer = profile.memory_over_time(MemoryOptions(**given))
    if call.value("json"):
        call.show([answer.to_json()])
    else:
        answer.show(call.show)
    call.note(answer.notes, profile)


def flops(call: Call) -> None:
    """Show float operations by kind of op."""
    profile = call.load()
    ledger = profile.flops()
    call.show([ledger.to_json() if call.value("json") else ledger.report])
    call.note(ledger.notes, profile)


def steps(call: Call) -> None:
    """Show the times of the recorded steps; a step set in the shell applies here too."""
    given = {"step": call.front.options.step} | call.given_of(STEP_OPTIONS)
    profile = call.load()
    table = profile.step_times(**given)
    call.show([table.to_json() if call.value("json") else table.report])
    call.note(table.notes, profile)


def ranks(call: Call) -> None:
    """Compare hosts; a step set in the shell applies here too."""
    given = {"step": call.front.options.step} | call.given_of(RANK_OPTIONS)
    profile = call.load()
    table = profile.ranks(**given)
    call.show([table.to_json() if call.value("json") else table.report])
    call.note(table.notes, profile)


def kernels(call: Call) -> None:
    """Show the kernels of accelerators; a step set in the shell applies here too."""
    given = {"step": call.front.options.step} | call.given_of(KERNEL_OPTIONS)
    profile = call.load()
    table = profile.kernels(**given)
    width = _terminal_width() if call.front.screen.is_terminal else None
    call.show([table.to_json() if call.value("json") else table.draw(width)])
    call.note(table.notes, profile)


def advise(call: Call) -> None:
    """Show the findings of the checkers."""
    profile = call.load()
    advice = profile.advise(call.given.get("checkers"))
    if call.value("json"):
        call.show([advice.to_json()])
    else:
        call.show([advice.text(colour=call.front.screen.has_colour)])
    call.note(advice.notes, profile)
