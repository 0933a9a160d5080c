"""The one door for every front: load files, ask for views, write answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from tfprof.errors import OptionError, nearest
from tfprof.formats.messages import Message
from tfprof.formats.recognise import FileKind
from tfprof.model.builder import ProfileBuilder
from tfprof.model.profile import Profile
from tfprof.options import Inputs, Options, find, INPUT_OPTIONS
from tfprof.outputs import json, message, registry, tabular, text
from tfprof.sources import registry as sources
from tfprof.sources.registry import InputFile
from tfprof.views import code, graph, op, scope
from tfprof.views.view import View

if TYPE_CHECKING:
    import pandas

VIEWS: dict[str, Callable[[Profile, Options], View]] = {
    "scope": scope.build,
    "graph": graph.build,
    "code": code.build,
    "op": op.build,
}


class LoadedProfile:
    """A profile that can be asked: `profile.scope(max_depth=3, select=["params"])`."""

    def __init__(self, columns: Profile, notes: Sequence[str] = ()) -> None:
        self.columns = columns
        self.notes = tuple(notes)

    def view(self, kind: str, options: Options) -> Answer:
        """The answer of one view; an unknown view is answered with the nearest one."""
        if kind not in VIEWS:
            raise OptionError(f"No view `{kind}`. {nearest(kind, VIEWS)}")
        return Answer(VIEWS[kind](self.columns, options))

    def scope(self, **options: Any) -> Answer:
        """Ops by name scope."""
        return self.view("scope", Options.of(**options))

    def graph(self, **options: Any) -> Answer:
        """Ops by what feeds them."""
        return self.view("graph", Options.of(**options))

    def code(self, **options: Any) -> Answer:
        """Ops by the line of code that made them."""
        return self.view("code", Options.of(**options))

    def op(self, **options: Any) -> Answer:
        """Ops by kind."""
        return self.view("op", Options.of(**options))


class Answer:
    """A view with its ways out."""

    def __init__(self, view: View) -> None:
        self.view = view

    @property
    def table(self) -> str:
        return text.table(self.view)

    def to_message(self) -> Message:
        return message.encode(self.view)

    def write(self, output: str) -> None:
        spec = registry.check(output)
        if spec.kind in registry.FILE_OUTPUTS:
            registry.write(self.view, spec)
        elif spec.kind == "stdout":
            print(text.report(self.view))


def load(*paths: Any, **given: Any) -> LoadedProfile:
    inputs = Inputs(**{name: find(name, INPUT_OPTIONS).check(value) for name, value in given.items()})
    builder = ProfileBuilder(counts_float_ops=inputs.count_float_ops)
    files = [InputFile(str(path), sources.detect(str(path))) for path in paths]
    for kind, path in ((FileKind.GRAPH, inputs.graph_path), (FileKind.OP_LOG, inputs.op_log_path), (FileKind.CHECKPOINT, inputs.checkpoint_path),(FileKind.PROFILE, inputs.profile_path)):
        if path:
            files.append(InputFile(path, kind))
    files += [InputFile(path, FileKind.RUN_META, step) for step, path in inputs.run_meta_path]
    sources.merge(files, builder)
    return LoadedProfile(builder.build(), builder.notes)
