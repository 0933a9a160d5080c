"""The options of individual commands, which are not keywords of questions."""

from __future__ import annotations

from tfprof.options.groups import BUDGETS, FOLDERS, OUTPUT, PROGRAM, SERVER, SHOWN, WORKERS
from tfprof.options.values import Kind, Option


def _named(*options: Option) -> dict[str, Option]:
    return {option.name: option for option in options}


CHECKERS_OPTION = Option(
    "checkers", Kind.NAMES, (), "Run only these checkers (default: all).", SHOWN
)
OUTPUT_OPTIONS: dict[str, Option] = _named(
    Option("json", Kind.SWITCH, False, "Print JSON.", OUTPUT, placeholder=""),
    Option("outfile", Kind.PATH, "", "Write to this file.", OUTPUT, short="o"),
    Option("format", Kind.FORMAT, "tfprof", "Save in this format.", OUTPUT),
)
_MARKDOWN = Option("markdown", Kind.SWITCH, False, "Print Markdown.", OUTPUT, placeholder="")
QUERY_OPTIONS: dict[str, Option] = _named(
    OUTPUT_OPTIONS["json"],
    Option(
        "format",
        Kind.FORMAT,
        "table",
        "Print or write the answer in this format; parquet requires a file.",
        OUTPUT,
        "table|json|csv|parquet",
    ),
    OUTPUT_OPTIONS["outfile"],
)
TIMELINE_OPTIONS: dict[str, Option] = _named(
    Option(
        "step",
        Kind.STEP,
        -1,
        "Draw this recorded step; -1 draws all steps of a recording.",
        SHOWN,
        dashes="-",
    ),
    Option(
        "show_dataflow",
        Kind.SWITCH,
        True,
        "Draw arrows from each op to the ops that read its outputs.",
        SHOWN,
    ),
    Option(
        "show_memory",
        Kind.SWITCH,
        True,
        "Show tensors and the memory in use per allocator.",
        SHOWN,
    ),
)
PAGE_OPTIONS: dict[str, Option] = _named(
    Option(
        "title",
        Kind.TEXT,
        "",
        "Show this title (default: the name of the first file or of its folder).",
        OUTPUT,
    ),
)
REPORT_OPTIONS: dict[str, Option] = _named(
    Option("model_dir", Kind.PATH, "", "Folder of the training run.", FOLDERS, "DIR"),
    Option(
        "output_dir",
        Kind.PATH,
        "",
        "Write the reports to this folder (default: the training run's folder).",
        FOLDERS,
        "DIR",
    ),
)
RUN_OPTIONS: dict[str, Option] = _named(
    Option(
        "outfile",
        Kind.PATH,
        "",
        "Write the recording to this folder, atomically (default: PROGRAM.capture).",
        OUTPUT,
        "FOLDER",
        short="o",
    ),
    Option(
        "overwrite",
        Kind.SWITCH,
        False,
        "Replace an existing recording, once the new one is complete.",
        OUTPUT,
        placeholder="",
    ),
    Option(
        "skip_steps",
        Kind.NUMBER,
        0,
        "Start recording after this many steps of the optimizer (PyTorch).",
        PROGRAM,
        "STEPS",
    ),
    Option(
        "steps",
        Kind.NUMBER,
        0,
        "Record this many steps of the optimizer, then let the program go on (PyTorch; default: "
        "all).",
        PROGRAM,
        "STEPS",
    ),
    Option(
        "all_threads",
        Kind.SWITCH,
        False,
        "Record all threads, but no allocations, instead of one thread with them (PyTorch).",
        PROGRAM,
        placeholder="",
    ),
    Option(
        "module",
        Kind.PATH,
        "",
        "Run a module, as `python -m` does; the words after it are its arguments.",
        PROGRAM,
        "MODULE",
        short="m",
        ends=True,
    ),
)
COLLECT_OPTIONS: dict[str, Option] = _named(
    Option(
        "outfile",
        Kind.PATH,
        "",
        "Write to this store: a folder, or a URL such as s3://bucket/store.",
        OUTPUT,
        "STORE",
        short="o",
    ),
    Option(
        "runs",
        Kind.SWITCH,
        False,
        "Keep every single run of an op, not only sums; the store becomes much larger.",
        OUTPUT,
        placeholder="",
    ),
    Option(
        "overwrite",
        Kind.SWITCH,
        False,
        "Remove what is in the store, and collect all files again.",
        OUTPUT,
        placeholder="",
    ),
    Option(
        "jobs",
        Kind.NUMBER,
        0,
        "Read this many files at a time, each in a process of its own; 0: one per core.",
        WORKERS,
        "PROCESSES",
    ),
    Option(
        "scheduler",
        Kind.TEXT,
        "",
        "Read files on the Dask cluster with this scheduler, such as tcp://host:8786.",
        WORKERS,
        "ADDRESS",
    ),
)
DIFF_OPTIONS: dict[str, Option] = _named(
    Option(
        "view",
        Kind.FORMAT,
        "scope",
        "Compare the rows of this view.",
        SHOWN,
        "scope|layers|code|op|graph",
        dashes="-",
    ),
    Option(
        "unchanged",
        Kind.SWITCH,
        False,
        "Show rows without a change too.",
        SHOWN,
        dashes="-",
    ),
    OUTPUT_OPTIONS["json"],
    _MARKDOWN,
)
UI_OPTIONS: dict[str, Option] = _named(
    Option(
        "port",
        Kind.NUMBER,
        0,
        "Serve the page on this port of 127.0.0.1; 0 uses a free one.",
        SERVER,
        "PORT",
    ),
    Option(
        "no_browser",
        Kind.SWITCH,
        False,
        "Print the address without opening a browser.",
        SERVER,
        placeholder="",
    ),
)
CHECK_OPTIONS: dict[str, Option] = _named(
    Option("budget", Kind.PATH, "tfprof.toml", "File with the budgets.", BUDGETS),
    Option(
        "base",
        Kind.FILES,
        (),
        "Compare with this file or recording; repeat it for several.",
        BUDGETS,
        "FILE",
    ),
    Option("only", Kind.BUDGETS, (), "Check only budgets of these metrics.", BUDGETS, "METRIC,…"),
    Option(
        "update",
        Kind.SWITCH,
        False,
        "Write the current numbers to the budget file instead of checking them.",
        BUDGETS,
        placeholder="",
    ),
    OUTPUT_OPTIONS["json"],
    _MARKDOWN,
    Option("junit", Kind.PATH, "", "Also write JUnit XML to this file.", OUTPUT),
)
GENERAL_OPTIONS: dict[str, Option] = _named(
    Option("help", Kind.SWITCH, False, "Show help on a command.", placeholder="", short="h"),
    Option("version", Kind.SWITCH, False, "Print the version.", placeholder=""),
    Option(
        "no-pager",
        Kind.SWITCH,
        False,
        "Print long answers on a terminal without a pager.",
        placeholder="",
    ),
)
