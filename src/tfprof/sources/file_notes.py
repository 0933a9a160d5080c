"""Notes on files of any source: impossible times, and files that need others beside them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tfprof.model.builder import ProfileBuilder
from tfprof.model.notes import FileNote, Note, Subject
from tfprof.sources.source import InputFile


def impossible_times(file: InputFile, builder: ProfileBuilder) -> Iterator[Note]:
    """A note on a file with times that were replaced."""
    if builder.runs.has_impossible_times:
        builder.runs.has_impossible_times = False
        text = (
            f"{file.path} has impossible times, which count as the nearest possible ones (the "
            "years 1933 to 2116, runs of 73 years); is the file damaged?"
        )
        yield Note(text, Subject.TIME | Subject.MEMORY)


def useless(files: Sequence[InputFile]) -> Iterator[str]:
    """A note on each file that only adds to one of another kind, if there is none."""
    titles = {file.source.title for file in files}
    for file in files:
        wanted = getattr(file.source, "adds_to", "")  # sources of other packages have none
        if wanted and wanted not in titles:
            text = f"{file.source.title} only adds to a {wanted}; give that of the same run too."
            yield f"{file.path}: {text}"


def without_edges(files: Sequence[InputFile]) -> Iterator[Note]:
    """A note on each trace, if no file says what feeds what in it."""
    if any(file.source.name == "execution_trace" for file in files):
        return
    for file in files:
        if file.source.name == "kineto":
            yield FileNote(
                file.path,
                "a trace does not say what feeds what: ops are below those that call them; give an "
                "execution trace of the same run too.",
                Subject.EDGES,
            )
