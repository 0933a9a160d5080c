"""Delivers answers as the original does: framed on standard output, as a file, as a message."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from typing import Any

from tfprof import terminal
from tfprof.answers import Answer
from tfprof.api import Profile
from tfprof.classic.question import Question, report
from tfprof.errors import OutputError, TfprofError
from tfprof.formats.messages import Message, message_class
from tfprof.outputs import registry, text
from tfprof.outputs.parts import Written

_MULTI_VIEWS = ("code", "op")
_ROOT = "_TFProfRoot"

_OPTIONS = f"\n{'=' * 25}Options{'=' * 29}\n"
_REPORT = f"\n{'=' * 18}Model Analysis Report{'=' * 22}\n"
_END = f"\n{'=' * 22}End of Report{'=' * 26}\n"
_STARS = "*" * 54
_PEAK = " peak memory: "


def answer(profile: Profile, kind: str, given: Mapping[str, Any]) -> Message:
    """Write a view to the output set in its options, and return its message.

    As in the original, errors are reported on standard error, and the message is then empty or has
    only the name of the root.
    """
    question = Question.of(given)
    spec = question.destination
    try:
        registry.require(spec)
    except TfprofError as error:
        report(error)
        return _nothing(kind)
    try:
        registry.require(spec, kind)
    except TfprofError as error:
        report(error)
        return _root_only(kind)
    try:
        found = profile.view(kind, question.options)
    except TfprofError as error:
        report(error)
        if spec.kind == "stdout":
            _print_framed(question, ())
        return _nothing(kind)
    return _deliver(found, question)


def _deliver(found: Answer, question: Question) -> Message:
    """Write an answer and return its message."""
    kind, output = found.view.kind, question.destination.kind
    if output == "stdout":
        _print_framed(question, (piece.decode() for piece in text.encode(found.view)))
    else:
        try:
            for file in found.write():
                _announce(output, kind, file)
        except TfprofError as error:
            report(error)
            if output == "pprof" and not isinstance(error, OutputError):
                return _root_only(kind)
    if output == "timeline" and kind == "graph" and question.options.step < 0:
        return _nothing(kind)  # several steps have no single message
    return found.to_message()


def _nothing(kind: str) -> Message:
    name = "MultiGraphNodeProto" if kind in _MULTI_VIEWS else "GraphNodeProto"
    return message_class(f"tensorflow.tfprof.{name}")()


def _root_only(kind: str) -> Message:
    message = _nothing(kind)
    message.name = _ROOT
    return message


def _print_framed(question: Question, report: Iterable[str]) -> None:
    out = sys.stdout
    if out is None:  # the program was started without standard output
        return
    out.write(_OPTIONS + question.dump() + _REPORT)
    terminal.write(report)
    out.write(_END)
    out.flush()


def _announce(output: str, view: str, file: Written) -> None:
    """Report a written file on standard output, as the original does."""
    peaks = [note for note in file.notes if _PEAK in note]
    for note in file.notes:
        if note not in peaks:
            report(note)
    if output == "timeline":
        start = ["generating trace file."] if view == "graph" else []
        lines = [
            *(*start, *peaks, "", _STARS, f"Timeline file is written to {file.path}."),
            "Open a Chrome browser, enter URL chrome://tracing and load the timeline file.",
            _STARS,
        ]
        print("\n".join(lines), flush=True)
    elif output == "pprof":
        print(f"\nRun pprof -png --nodecount=100 --sample_index=1 <{file.path}>", flush=True)
