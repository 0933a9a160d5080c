"""What is measured, and the bar each of it has to reach: one row for each piece of work.

Work with a bar of its own, such as another output, is one more `Session` and one more `Work`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

VIEWS = ("scope", "graph", "op", "code")

TIMES_SMALLER = 5  # than the original, without what TensorFlow takes by being imported
MOST_GROWTH = 13  # from a model to one ten times as large

_EVERYTHING: Mapping[str, Any] = {
    "step": -1,
    "account_type_regexes": [".*"],
    "start_name_regexes": [".*"],
    "show_name_regexes": [".*"],
}
SHALLOW = {**_EVERYTHING, "max_depth": 3, "order_by": "name", "select": ["micros"]}
WHOLE = {**SHALLOW, "max_depth": 10_000}
OTHER = {
    **SHALLOW,
    "order_by": "bytes",
    "select": ["bytes", "micros", "occurrence"],
    "min_micros": 1,
}


@dataclass(frozen=True)
class Question:
    """A question both profilers understand; `output` is the kind of file they write."""

    work: str
    view: str
    options: Mapping[str, Any]
    output: str = "file"

    def written(self, answer: Path) -> Path:
        """The file that the answer is in: the name of a timeline ends in its step."""
        if self.output != "timeline":
            return answer
        return answer.with_name(f"{answer.name}_{self.options['step']}")

    def asked(self, answer: Path) -> dict[str, Any]:
        """The question as a job holds it, its answer written to the file `answer`."""
        options = {**self.options, "output": f"{self.output}:outfile={answer}"}
        return {"work": self.work, "view": self.view, "options": options}


@dataclass(frozen=True)
class Command:
    """One command from nothing to its table, which holds every process start and import."""

    question: Question

    @property
    def questions(self) -> tuple[Question, ...]:
        return (self.question,)


@dataclass(frozen=True)
class Session:
    """One process that loads a model and then asks; each phase is timed on its own."""

    questions: tuple[Question, ...] = ()
    load: str = "load"
    is_text: bool = False  # whether the graph is read from `graph.pbtxt`


def _first(view: str) -> str:
    return f"first {view} view"


def _further(view: str) -> str:
    return f"further {view} view"


def _command(view: str) -> str:
    return f"command: {view}"


TIMELINE = "graph timeline"
LOAD_TEXT = "load from text"

RUNS: tuple[Command | Session, ...] = (
    *(Command(Question(_command(view), view, SHALLOW)) for view in VIEWS),
    *(
        Session((Question(_first(view), view, WHOLE), Question(_further(view), view, OTHER)))
        for view in VIEWS
    ),
    Session((Question(TIMELINE, "graph", {**WHOLE, "step": 0}, output="timeline"),)),
    Session(load=LOAD_TEXT, is_text=True),
)


@dataclass(frozen=True)
class Work:
    """One row of the report."""

    name: str
    times_faster: float
    at_ops: int = 1_000_000
    most_seconds: float | None = None


WORKS: tuple[Work, ...] = (
    *(Work(_command(view), 20, at_ops=100_000) for view in VIEWS),
    Work("load", 20),
    Work(LOAD_TEXT, 10),
    *(Work(_first(view), 10) for view in VIEWS),
    *(Work(_further(view), 100, most_seconds=0.1) for view in VIEWS),
    Work(TIMELINE, 10),
)
