"""Commands on a profile's files: describe them, save them as one, write the timeline of a step."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from tfprof import api
from tfprof.commands import info_text
from tfprof.commands.command import Place
from tfprof.commands.progress import Progress
from tfprof.errors import MissingInputError, OptionError, TfprofError, UnknownFormatError
from tfprof.model.notes import Subject
from tfprof.sources.registry import a_file

if TYPE_CHECKING:
    from tfprof.commands.command import Call
    from tfprof.sources.source import FileSummary


# Files whose runs are drawn from the profile, because they are not RunMetadata.
_RECORDED = ("xspace", "kineto", "tfprof", "store")
_OF_RUN_METADATA = frozenset(("show_dataflow", "show_memory"))


def info(call: Call) -> None:
    """Describe each file, and list the metrics and views that are available.

    Files that cannot be read together are described one by one, before the error.
    """
    try:
        found = call.load().info()
    except TfprofError:
        if len(call.paths) > 1 and not call.value("json"):
            call.show(map(_described, call.paths))
        raise
    call.show([info_text.as_json(found) if call.value("json") else info_text.as_text(found)])


def _described(path: str) -> str:
    """The lines on the files that a path stands for, or what is wrong with it."""
    try:
        return info_text.files_as_text(api.load(path).info())
    except TfprofError as error:
        return f"{error}\n"


def save(call: Call) -> None:
    """Write the whole profile to one file."""
    profile, path = call.load(), call.value("outfile")
    if profile.columns.stored_runs is not None:
        raise MissingInputError(
            "A store cannot be saved as one file, because it has no single runs: copy its folder, "
            "or save one of the collected files."
        )
    call.say(*profile.notes)
    call.say(*profile.save(path, call.value("format")), f"wrote {path}")


def report(call: Call) -> None:
    """Write a page that shows the profile in a browser."""
    profile, path = call.load(), call.value("outfile")
    profile.report(call.value("title")).save(path)
    call.say(f"wrote {path}; open it in a browser.")


def timeline(call: Call) -> None:
    """Write the timeline of one traced step, or of the steps of a recording."""
    if any(file.kind in _RECORDED for file in call.front.files(call)):
        _recording(call)
        return
    run, path = _run_metadata(call), call.value("outfile")
    with Progress(sys.stderr) as progress:
        progress.reading(run.path)
        notes = api.step_timeline(
            run.path,
            path,
            show_dataflow=call.value("show_dataflow"),
            show_memory=call.value("show_memory"),
            partial=_is_partial(call),
        )
    call.say(*notes, f"wrote {path}")


def _is_partial(call: Call) -> bool:
    """Whether damaged files are read; in the shell, as when it was started."""
    if call.front.place is Place.SHELL:
        return "--partial" in call.load().words
    return bool(call.value("partial"))


def _recording(call: Call) -> None:
    """Write the timeline of a recording, from everything that was read."""
    path, wanted = call.value("outfile"), call.given.get("step", call.front.options.step)
    profile = call.load()
    profile.write_timeline(path, step=wanted)
    call.note(profile.notes_on(Subject.STEPS), profile)
    for name in sorted(_OF_RUN_METADATA & call.given.keys()):
        call.say(f"`{name}` has no effect on a recording: it has no data flow or tensors.")
    call.say(f"wrote {path}", "open it in https://ui.perfetto.dev or chrome://tracing")


def _run_metadata(call: Call) -> FileSummary:
    """The RunMetadata of the requested step, or the only one."""
    files = call.front.files(call)
    runs = [file for file in files if file.kind == "run_meta"]
    if call.words and len(runs) < len(files):
        other = next(file for file in files if file not in runs)
        raise UnknownFormatError(
            other.path, f"is {a_file(other.title)}; a timeline requires RunMetadata or a recording."
        )
    if not runs:
        raise MissingInputError("A timeline requires RunMetadata: use --run_meta_path.")
    any_step = call.command.options["step"].default
    wanted = call.given.get("step", call.front.options.step)
    chosen = [run for run in runs if wanted in (any_step, run.step)]
    if len(chosen) == 1:
        return chosen[0]
    recorded = ", ".join(str(run.step) for run in runs)
    problem = "A timeline shows one step: choose it with -step" if chosen else f"No step {wanted}"
    raise OptionError(f"{problem}. Recorded: {recorded}.")
