"""The command table: one row per command, for the command line, the shell and help.

A command's function is imported when it is called, to keep `tfprof --help` fast.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from tfprof.commands.command import Call, Command, Place, Words
from tfprof.options import (
    CHECK_OPTIONS,
    CHECKERS_OPTION,
    COLLECT_OPTIONS,
    DIFF_OPTIONS,
    INPUT_OPTIONS,
    KERNEL_OPTIONS,
    MEMORY_OPTIONS,
    OUTPUT_OPTIONS,
    PAGE_OPTIONS,
    QUERY_OPTIONS,
    RANK_OPTIONS,
    REPORT_OPTIONS,
    RUN_OPTIONS,
    STEP_OPTIONS,
    TIMELINE_OPTIONS,
    UI_OPTIONS,
    VIEW_OPTIONS,
    Option,
)


def available(place: Place) -> dict[str, Command]:
    """The commands available at `place`, by name."""
    return {name: command for name, command in COMMANDS.items() if place in command.takes}


class Function:
    """A function that is imported on its first call."""

    def __init__(self, module: str, name: str) -> None:
        self.module, self.name = module, name

    def find(self) -> Callable[[Call], int | None]:
        """Import and return the function."""
        return getattr(import_module(self.module), self.name)  # type: ignore[no-any-return]

    def __call__(self, call: Call) -> int | None:
        return self.find()(call)


def _only(*names: str) -> dict[str, Option]:
    return {name: OUTPUT_OPTIONS[name] for name in names}


_QUESTIONS = "tfprof.commands.questions"
_FILES = "tfprof.commands.files"
_SESSION = "tfprof.commands.session"

# The command line names files; the shell has them loaded.
_FILES_OR_LOADED = {Place.COMMAND_LINE: Words.FILES, Place.SHELL: Words.NOTHING}

_VIEW: dict[str, Any] = {
    "run": Function(_QUESTIONS, "view"),
    "takes": _FILES_OR_LOADED,
    "inputs": INPUT_OPTIONS,
    "options": VIEW_OPTIONS | _only("json"),
    "instead": {"outfile": "Write the answer to a file with -output file:outfile=FILE."},
}

# How files are read; a comparison names them as words.
_READING = {name: option for name, option in INPUT_OPTIONS.items() if not name.endswith("_path")}
# A comparison has one way of printing, and is written by its own outputs.
_COMPARED = {
    name: option
    for name, option in VIEW_OPTIONS.items()
    if name not in ("dialect", "viz", "dump_to_file")
}

_ROWS = (
    Command(
        name="scope",
        summary="Show ops by name scope.",
        notes="A scope's total includes everything below it.",
        examples=(
            ("graph.pbtxt", "-select params -max_depth 3"),
            ("graph.pbtxt run_meta", "-order_by micros -min_micros 1000"),
            ("graph.pbtxt tfprof_log", "-account_type_regexes _trainable_variables"),
            ("trace.json.gz", "-order_by accelerator_micros -max_depth 4"),
        ),
        **_VIEW,
    ),
    Command(
        name="graph",
        summary="Show ops by data flow: below each op, the ops that feed it.",
        notes="An op's total includes the inputs below it.",
        examples=(("graph.pbtxt run_meta", "-start_name_regexes 'cost.*'"),),
        **_VIEW,
    ),
    Command(
        name="code",
        summary="Show ops by the line of Python that created them.",
        notes="A line's total includes the calls below it.",
        examples=(("graph.pbtxt run_meta tfprof_log", "-order_by micros -max_depth 5"),),
        **_VIEW,
    ),
    Command(
        name="op",
        summary="Show ops by kind, such as Conv2D or aten::mm.",
        notes="Each number has two percentages: the share of this row and all rows after it, and "
        "the share of this row alone.",
        examples=(("graph.pbtxt run_meta", "-select micros,occurrence -order_by micros"),),
        **_VIEW,
    ),
    Command(
        name="layers",
        summary="Show parameters, float operations and time by layer of the model.",
        notes="A row includes the layers in it, and is in the model's own order without -order_by. "
        "Ops that belong to no layer have rows of their own: the optimizer, the input pipeline, "
        "eager ops and others. Without layers in the files, each scope with variables is a layer. "
        "By default all columns that have values are shown.",
        examples=(
            ("saved_model", ""),
            ("runs/a", "-order_by micros -max_depth 3"),
            ("runs/a", "-select params,forward_micros -min_params 1"),
        ),
        **_VIEW,
    ),
    Command(
        name="memory",
        summary="Show memory over time and what holds it at the peak.",
        run=Function(_QUESTIONS, "memory"),
        takes=_FILES_OR_LOADED,
        inputs=INPUT_OPTIONS,
        options=MEMORY_OPTIONS | _only("json"),
        notes="The curve is the running sum of the allocations recorded in a step. For TensorFlow "
        "it starts at 0, without the memory allocated before the step; for PyTorch that is "
        "included. If the allocator recorded its own level, that is shown too. Events within one "
        "microsecond count as one. A code line is the innermost line outside installed packages.",
        examples=(
            ("graph.pbtxt run_meta tfprof_log", ""),
            ("snapshot.pickle model.safetensors", ""),
            ("graph.pbtxt run_meta_1 run_meta_2", "-step 1 -max_rows 20"),
        ),
    ),
    Command(
        name="flops",
        summary="Show float operations and MACs by kind of op.",
        run=Function(_QUESTIONS, "flops"),
        takes=_FILES_OR_LOADED,
        inputs=INPUT_OPTIONS,
        options=_only("json"),
        notes="Ops that are not counted are listed too. A multiply and an add count as two, any "
        "other operation on an element as one, data movement and random numbers as zero. Counts "
        "from an op log take precedence. Ops in a "
        "scope `gradients` or `gradient_tape` belong to the backward pass, ops such as ApplyAdam "
        "and those of Keras optimizers to the optimizer, and all others to the forward pass.",
        examples=(("graph.pbtxt run_meta", ""), ("graph.pbtxt tfprof_log", "--json")),
    ),
    Command(
        name="steps",
        summary="Show the wall, busy and idle time of each recorded step.",
        run=Function(_QUESTIONS, "steps"),
        takes=_FILES_OR_LOADED,
        inputs=INPUT_OPTIONS,
        options=STEP_OPTIONS | _only("json"),
        notes="A step begins where the program marks it, or calls the function that takes the most "
        "time, and lasts until the next one begins. In run metadata it lasts from its first op to "
        "its last. Time in which several ops run at once counts once as busy time. Steps that took "
        "clearly longer or shorter than the median are listed with what was different in them.",
        examples=(("runs/a", ""), ("graph.pbtxt run_meta_1 run_meta_2", "-step 1 --json")),
    ),
    Command(
        name="kernels",
        summary="Show the kernels of accelerators, their times and launches.",
        run=Function(_QUESTIONS, "kernels"),
        takes=_FILES_OR_LOADED,
        inputs=INPUT_OPTIONS,
        options=KERNEL_OPTIONS | _only("json"),
        notes="Times are sums over all steps, and add up to the kernels in the recording; copies "
        "and fills are not kernels. Kernels of unknown ops are listed as unattributed. A short "
        "name has the arguments of templates that tell kernels apart; JSON and a pipe have the "
        "whole name. Registers, shared memory, grid, block and occupancy are shown if the "
        "recording has them. A terminal shows the columns that fit.",
        examples=(
            ("trace.json.gz", ""),
            ("trace.json.gz", "-step 2 -sort_by launches -max_rows 50"),
            ("trace.json.gz", "-group_by module -show_name_regexes '.*gemm.*'"),
        ),
    ),
    Command(
        name="ranks",
        summary="Compare hosts or ranks, and name the slow ones.",
        run=Function(_QUESTIONS, "ranks"),
        takes=_FILES_OR_LOADED,
        inputs=INPUT_OPTIONS,
        options=RANK_OPTIONS | _only("json"),
        notes="Hosts that wait for each other in every step all take the same time, so they are "
        "compared by their own time: that of a step without the time in which only collectives "
        "ran. A host is slow if it differs from the median host by more than chance and by at "
        "least 5 %. Runs of a collective on several hosts are matched by op, step and order, and "
        "clocks are aligned on their ends: the time until the last host arrives is waiting, the "
        "rest is transfer.",
        examples=(("runs/a", ""), ("host-*.xplane.pb", "-step 120 -max_rows 50 --json")),
    ),
    Command(
        name="diff",
        summary="Compare two profiles: what got slower, larger or heavier, and where.",
        run=Function("tfprof.commands.comparing", "diff"),
        takes={Place.COMMAND_LINE: Words.SIDES},
        inputs=_READING,
        options=_COMPARED | DIFF_OPTIONS,
        instead={"outfile": "Write the answer to a file with -output file:outfile=FILE."},
        notes="Each side is a file, a folder or a saved profile; separate several files of a side "
        "from those of the other with the word vs. Several recordings of a side are repetitions; "
        "record each at least three times. Rows are matched by name, then by content, so "
        "a renamed scope, an inserted layer or a moved line is reported as that. Times are those "
        "of the median step; ~ marks those that the steps do not show to differ. Rows with a "
        "change are listed, the largest change first.",
        examples=(
            ("runs/a runs/b", ""),
            ("runs/a runs/b", "-view layers -select micros"),
            ("a/graph a/run_meta vs b/graph b/run_meta", "-view op --markdown"),
        ),
    ),
    Command(
        name="sql",
        summary="Query the tables of a store with SQL.",
        run=Function("tfprof.commands.queries", "sql"),
        takes={Place.COMMAND_LINE: Words.STORE, Place.SHELL: Words.QUERY},
        options=QUERY_OPTIONS,
        instead=dict.fromkeys(INPUT_OPTIONS, "Collect the files, and query the store."),
        notes="A store is what `tfprof collect` writes. Without a query, its tables and their "
        "columns are listed. A query is one statement in the SQL of DuckDB, and only reads: "
        "SELECT, DESCRIBE, SHOW, SUMMARIZE or EXPLAIN. It cannot read other files. Lists and "
        "structs become JSON in CSV.",
        examples=(
            ("STORE", ""),
            ("STORE", "'SELECT host, sum(cpu_nanos) FROM runs GROUP BY host'"),
            ("STORE", "--format parquet --outfile steps.parquet 'FROM steps'"),
        ),
    ),
    Command(
        name="advise",
        summary="Suggest optimisations and their estimated gain.",
        run=Function(_QUESTIONS, "advise"),
        takes=_FILES_OR_LOADED,
        inputs=INPUT_OPTIONS,
        options={CHECKERS_OPTION.name: CHECKERS_OPTION} | _only("json"),
        examples=(
            ("graph.pbtxt run_meta tfprof_log", ""),
            ("profile.pb", "--checkers DataFeedingChecker --json"),
        ),
    ),
    Command(
        name="check",
        summary="Check budgets of parameters, float operations, memory and time.",
        run=Function("tfprof.commands.checking", "check"),
        takes={Place.COMMAND_LINE: Words.FILES},
        inputs={name: option for name, option in INPUT_OPTIONS.items() if name != "partial"},
        options=CHECK_OPTIONS,
        instead={"partial": "Budgets require complete files: the intact part has smaller numbers."},
        notes="The exit status is 0 if all budgets are met and 3 if not. A budget is an upper "
        'limit in the file: params = "25.6 M" below [model], [scope."a/b"] or [layer."name"]. '
        'Changes from a base, such as step_time = "+3 %", require --base; times have no other '
        "budgets. A number that the files lack is not met. --update keeps comments, and creates "
        "the file if there is none. If GITHUB_STEP_SUMMARY names a file, the result is added to it "
        "as Markdown.",
        examples=(
            ("model.keras", ""),
            ("saved_model", "--update"),
            ("runs/head", "--base runs/base --junit check.xml"),
        ),
    ),
    Command(
        name="info",
        summary="Describe the files and list the metrics and views they support.",
        run=Function(_FILES, "info"),
        takes=_FILES_OR_LOADED,
        inputs=INPUT_OPTIONS,
        options=_only("json"),
        examples=(("graph.pbtxt run_meta tfprof_log model.ckpt", ""),),
    ),
    Command(
        name="report",
        summary="Write a page that shows the profile in a browser.",
        run=Function(_FILES, "report"),
        takes={Place.COMMAND_LINE: Words.FILES, Place.SHELL: Words.OUTFILE},
        inputs=INPUT_OPTIONS,
        options=PAGE_OPTIONS | _only("outfile"),
        required=("outfile",),
        notes="The page is one file that needs nothing else: it can be opened from disk, sent to a "
        "colleague or kept with the results. It contains names, shapes and code lines of the "
        "model, but no values and no source code, and it cannot access the network.",
        examples=(
            ("runs/a", "--outfile report.html"),
            ("graph.pbtxt run_meta", "--outfile report.html --title ResNet-32"),
        ),
    ),
    Command(
        name="save",
        summary="Save everything that was read to one profile file.",
        run=Function(_FILES, "save"),
        takes={Place.COMMAND_LINE: Words.FILES, Place.SHELL: Words.OUTFILE},
        inputs=INPUT_OPTIONS,
        options=_only("outfile", "format"),
        required=("outfile",),
        notes="The profile can be read in place of the files it was made from.",
        examples=(
            ("graph.pbtxt run_meta tfprof_log", "--outfile model.tfprof"),
            ("graph.pbtxt run_meta", "--outfile profile.pb --format profile_proto"),
        ),
    ),
    Command(
        name="collect",
        summary="Collect the recordings of many hosts or steps into a store.",
        run=Function("tfprof.commands.collecting", "collect"),
        takes={Place.COMMAND_LINE: Words.SOURCES},
        options=COLLECT_OPTIONS | _only("json"),
        required=("outfile",),
        instead=dict.fromkeys(INPUT_OPTIONS, "Name the file after the command."),
        notes="A source is a file, a folder, which is searched for recordings (*.xplane.pb, traces "
        "of PyTorch, folders of tfprof.capture, run_meta), or a pattern in quotes; STEP:FILE is "
        "the run metadata of a step. Sources may be URLs. Graphs, op logs and other files of "
        "the model that are named belong to all recordings; those in a folder belong to the "
        "recordings below it. Each recording becomes a partition of the store: what its runs "
        "add up to, per op and step. Files that are in the store and have not changed are "
        "skipped, so the same command continues after an interruption and adds new files. "
        "Damaged files are reported and skipped. Read the store like a file: tfprof scope "
        "STORE.",
        examples=(
            ("runs/a", "--outfile stores/a"),
            ("graph.pb 'workers/*/run_meta_*'", "--outfile stores/b --jobs 4"),
            ("'s3://bucket/a/**/*.xplane.pb'", "--outfile s3://bucket/store"),
            ("runs/a", "--outfile stores/a --scheduler tcp://scheduler:8786"),
        ),
    ),
    Command(
        name="timeline",
        summary="Write a timeline of recorded steps, for trace viewers.",
        run=Function(_FILES, "timeline"),
        takes={Place.COMMAND_LINE: Words.FILES, Place.SHELL: Words.OUTFILE},
        inputs={name: INPUT_OPTIONS[name] for name in ("run_meta_path", "partial")},
        options=TIMELINE_OPTIONS | _only("outfile"),
        required=("outfile",),
        notes="The timeline shows every run of every op: of one step of run metadata, or of all "
        "steps of a recording (a capture folder, *.xplane.pb, a trace of PyTorch or a saved "
        "profile). `-output timeline:outfile=FILE` draws the rows of a view instead.",
        examples=(
            ("runs/a", "--outfile timeline.json"),
            ("run_meta", "--outfile timeline.json"),
            ("run_meta", "--outfile timeline.json --show_memory false"),
        ),
    ),
    Command(
        name="profile",
        summary="Write reports on a training run from its folder.",
        run=Function("tfprof.commands.reports", "profile"),
        takes={Place.COMMAND_LINE: Words.FOLDER},
        options=REPORT_OPTIONS | _only("json"),
        instead=dict.fromkeys(INPUT_OPTIONS, "It finds the files in the folder."),
        notes="The folder contains graph.pbtxt, the checkpoints and, if a metadata hook wrote "
        "them, metadata/run_meta and metadata/tfprof_log. The four reports have the format of the "
        "first tfprof: params.txt (variables), flops.txt (float operations), micro.txt (ops of at "
        "least a millisecond, by data flow) and device.txt (where each op ran).",
        examples=(("", "--model_dir=/path/to/model/dir"),),
    ),
    Command(
        name="run",
        summary="Run a Python program and record what TensorFlow or PyTorch does.",
        run=Function("tfprof.commands.programs", "run"),
        takes={Place.COMMAND_LINE: Words.PROGRAM},
        options=RUN_OPTIONS,
        notes="The program runs as with `python PROGRAM ARGUMENTS…`, or with `-m MODULE "
        "ARGUMENTS…` as with `python -m MODULE ARGUMENTS…`, and tfprof exits with its "
        "status. Put options of tfprof before PROGRAM or -m. Recording starts once the program has "
        "imported TensorFlow or PyTorch, whichever is first. Recordings of long runs are large: "
        "run only a few steps, select some with --skip_steps and --steps, or use tfprof.capture, "
        "tfprof.KerasCallback or tfprof.TorchCallback in the program. Read the folder like any "
        "file: tfprof layers FOLDER.",
        examples=(
            ("", "--outfile runs/a train.py --epochs 1"),
            ("", "--outfile runs/a --overwrite -m package.train --epochs 1"),
            ("", "--outfile runs/a --skip_steps 10 --steps 3 train.py"),
        ),
    ),
    Command(
        name="ui",
        summary="Show a profile in the browser, and update it when files change.",
        run=Function("tfprof.commands.served_page", "ui"),
        takes={Place.COMMAND_LINE: Words.FILES},
        inputs=INPUT_OPTIONS,
        options=UI_OPTIONS,
        instead=dict.fromkeys(VIEW_OPTIONS, "Set it on the page."),
        notes="The page has every option of the views. The files are read again when they change, "
        "for example when a run adds to them. Only this machine can open the page, and only with "
        "the token in its address. Ctrl-C stops the server.",
        examples=(("graph.pbtxt run_meta", ""), ("runs/a", "--port 8080 --no_browser")),
    ),
    Command(
        name="shell",
        summary="Open an interactive shell; so does `tfprof FILES…`.",
        run=Function(_SESSION, "shell"),
        takes={Place.COMMAND_LINE: Words.FILES},
        inputs=INPUT_OPTIONS,
        options=VIEW_OPTIONS,
        notes="Type `help` for the shell's commands. Options given here apply to every line until "
        "they are changed. Lines can also be piped in: if one fails, its error is reported, the "
        "other lines are still answered, and the exit status is 1.",
        examples=(("graph.pbtxt run_meta", ""), ("graph.pbtxt", "-select params < questions.txt")),
    ),
    Command(
        name="set",
        summary="Set options for the following lines.",
        run=Function(_SESSION, "keep"),
        takes={Place.SHELL: Words.NOTHING},
        options=VIEW_OPTIONS,
        notes="An empty line shows all options.",
        examples=(("", "-select params -max_depth 3"),),
    ),
    Command(
        name="reset",
        summary="Reset the named options, or all, to their defaults.",
        run=Function(_SESSION, "reset"),
        takes={Place.SHELL: Words.OPTION_NAMES},
        examples=(("", ""), ("", "select max_depth")),
    ),
    Command(
        name="help",
        summary="Explain a command, an option or a metric.",
        run=Function("tfprof.commands.pages", "explain"),
        takes=dict.fromkeys(Place, Words.TOPIC),
        examples=(("", "scope"), ("", "-select"), ("", "micros")),
    ),
    Command(
        name="quit",
        summary="Leave the shell; so does Ctrl-D.",
        run=Function(_SESSION, "leave"),
        takes={Place.SHELL: Words.NOTHING},
    ),
    Command(
        name="exit",
        summary="Leave the shell.",
        run=Function(_SESSION, "leave"),
        takes={Place.SHELL: Words.NOTHING},
    ),
)

COMMANDS: dict[str, Command] = {row.name: row for row in _ROWS}
