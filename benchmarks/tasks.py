"""The tasks that are measured, and the target of each.

To add one, such as another output, add a `Session` to `RUNS` and a `Task` to `TASKS`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

VIEWS = ("scope", "graph", "op", "code")

TIMES_SMALLER = 5  # than the original, without what importing TensorFlow takes
MAX_GROWTH = 13  # for a model ten times as large

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
    """A question that both profilers understand; `output` is the format of the answer."""

    task: str
    view: str
    options: Mapping[str, Any]
    output: str = "file"

    def answer_file(self, answer: Path) -> Path:
        """The file with the answer: the name of a timeline ends in its step."""
        if self.output != "timeline":
            return answer
        return answer.with_name(f"{answer.name}_{self.options['step']}")

    def as_dict(self, answer: Path) -> dict[str, Any]:
        """The question as part of a job, with its answer written to the file `answer`."""
        options = {**self.options, "output": f"{self.output}:outfile={answer}"}
        return {"task": self.task, "view": self.view, "options": options}


@dataclass(frozen=True)
class Command:
    """One command, measured from the start of the process to its table, including imports."""

    question: Question

    @property
    def questions(self) -> tuple[Question, ...]:
        return (self.question,)


@dataclass(frozen=True)
class Session:
    """A process that loads a model and asks questions; each phase is timed separately."""

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
class Task:
    """A row of the report, with its targets."""

    name: str
    times_faster: float
    at_ops: int = 1_000_000
    max_seconds: float | None = None


TASKS: tuple[Task, ...] = (
    *(Task(_command(view), 20, at_ops=100_000) for view in VIEWS),
    Task("load", 20),
    Task(LOAD_TEXT, 10),
    *(Task(_first(view), 10) for view in VIEWS),
    *(Task(_further(view), 100, max_seconds=0.1) for view in VIEWS),
    Task(TIMELINE, 10),
)
