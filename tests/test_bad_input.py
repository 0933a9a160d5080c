"""Mistakes on the command line, and the one-line message that says how to fix each."""

from __future__ import annotations

import gzip
import shutil
from pathlib import Path

import pytest

import model_files
import tfprof
from asking import RUNS, VALUES, ZERO
from tfprof.cli import main

CHECKPOINTS = Path(__file__).parent / "samples" / "checkpoints"

# The arguments, the exit status, and part of the one-line message on standard error.
MISTAKES = [
    # files
    ("scope gone.pb", 1, "gone.pb: no such file; check the path."),
    ("scope --graph_path=gone.pb", 1, "gone.pb: no such file; check the path."),
    ("scope graph.pb gone.ckpt", 1, "gone.ckpt: no such file; check the path."),
    ("scope empty", 1, "empty: is empty; was the program still writing it?"),
    ("scope cut.pb", 1, "cut.pb: is cut short or damaged in record"),
    ("scope cut.pbtxt", 1, "cut.pbtxt: is "),
    (
        "scope cut.gz",
        1,
        "cut.gz: the gzip data ends early; was the copy or download cut short?",
    ),
    ("scope graph.pb cut_run", 1, "cut_run: is cut short or damaged in record"),
    ("scope graph.pb cut_log", 1, "cut_log: is cut short or damaged in record"),
    ("scope cut_profile", 1, "cut_profile: is cut short or damaged in record"),
    ("scope garbage", 1, "garbage: unknown file format; tfprof reads "),
    ("scope binary", 1, "binary: unknown file format; tfprof reads "),
    ("scope --graph_path=garbage", 1, "garbage: unknown file format; tfprof reads"),
    ("scope --graph_path=run_meta_0", 1, "run_meta_0: is a RunMetadata file, not a GraphDef"),
    ("scope --run_meta_path=graph.pb", 1, "graph.pb: is a GraphDef file, not a RunMetadata"),
    ("scope --op_log_path=graph.pb", 1, "graph.pb: is a GraphDef file, not an OpLogProto"),
    (
        "scope --profile_path=graph.pb",
        1,
        "graph.pb: is a GraphDef file, not a saved profile file or a ProfileProto",
    ),
    ("scope --checkpoint_path=graph.pb", 1, "graph.pb: is a GraphDef file, not a checkpoint"),
    ("scope folder", 1, "folder: is an empty folder; check the path."),
    ("scope --graph_path=folder", 1, "folder: is a folder; pass the files in it."),
    ("scope big.pb v2/model.ckpt -select tensor_value", 1, "model.ckpt.data-00001-of-00002: "),
    ("scope --checkpoint_path=v1_shards/model.ckpt", 1, "00001-of-00002: is missing; the check"),
    ("scope --checkpoint_path=gone.ckpt", 1, "gone.ckpt: no checkpoint has this prefix; pass one"),
    ("scope", 2, "No input files: list them after the command or use --graph_path."),
    ("info", 2, "No input files: list them after the command or use --graph_path."),
    ("shell", 2, "No input files: list them after the command or use --graph_path."),
    ("-select params", 2, "No input files: list them after the command or use --graph_path."),
    ("info gone.pb", 1, "gone.pb: no such file; check the path."),
    ("save gone.pb -o x", 1, "gone.pb: no such file; check the path."),
    ("timeline gone -o x", 1, "gone: no such file; check the path."),
    ("timeline cut_run -o x", 1, "cut_run: is cut short or damaged in record"),
    (
        "timeline garbage -o x",
        1,
        "garbage: unknown file format; tfprof reads ",
    ),
    (
        "timeline graph.pb -o x",
        1,
        "graph.pb: is a GraphDef file; a timeline requires RunMetadata or a recording.",
    ),
    ("timeline whole_profile -o x", 1, "whole_profile: is a ProfileProto file; a timel"),
    # words
    ("scop graph.pb", 2, "Unknown command or file `scop`. Did you mean `scope`?"),
    ("advice graph.pb", 2, "Unknown command or file `advice`. "),
    ("help scop", 2, "No help on `scop`. Did you mean `scope`?"),
    ("scope graph.pb -max_dept 3", 2, "Unknown option `max_dept`. Did you mean `max_depth`?"),
    ("scope graph.pb --graph_pat x", 2, "Unknown option `graph_pat`. Did you mean `graph_path`?"),
    ("scope graph.pb -max_depth x", 2, "`-max_depth` takes a whole number, not `x`."),
    ("scope graph.pb -max_depth", 2, "`-max_depth` requires a value: -max_depth NUMBER."),
    ("scope graph.pb -select micro", 2, "`select` cannot be `micro`. Did you mean `micros`?"),
    ("scope graph.pb -select ???", 2, "`select` cannot be `???`. Available: accelerator_micros, "),
    ("scope graph.pb -order_by dept", 2, "`order_by` cannot be `dept`. Available: accelerator"),
    ("scope graph.pb -order_by device", 2, "`order_by` cannot be `device`. Available: accelerat"),
    ("scope graph.pb -account_displayed_op_only=maybe", 2, "takes true or false, not `maybe`."),
    ("scope graph.pb -show_name_regexes (a", 2, "pattern `(a`: `(` is not closed; add `)`"),
    ("scope graph.pb -trim_name_regexes a(?=b)", 2, "look-ahead is not supported; exclude names"),
    ("scope graph.pb run_meta_0 -step 3", 2, "No step 3. Recorded: 0; -1 averages over all steps."),
    ("scope graph.pb --run_meta_path=5:run_meta_0 -step 0", 2, "No step 0. Recorded: 5; -1 av"),
    ("scope graph.pb -output fil", 2, "Unknown output `fil`. Did you mean `file`?"),
    ("scope graph.pb -output csv", 2, "Output `csv` needs a file: csv:outfile=PATH."),
    (
        "save graph.pb",
        2,
        "`save` requires --outfile FILE: tfprof save FILES… --outfile FILE [--format FORMAT].",
    ),
    (
        "timeline run_meta_0",
        2,
        "`timeline` requires --outfile FILE: tfprof timeline FILES… --out",
    ),
    ("save graph.pb --outfile=", 2, "`save` requires --outfile FILE: tfprof save FILES… --outfile"),
    ("scope --graph_path=", 2, "No input files: list them after the command or use --graph_path."),
    ("timeline -o x", 2, "No input files: list them after the command or use --run_meta_path."),
    ("timeline run_meta_0 run_meta_1 -o x", 2, "A timeline shows one step: choose it with -step"),
    ("timeline run_meta_0 run_meta_1 -step 5 -o x", 2, "No step 5. Recorded: 0, 1."),
    ("timeline run_meta_0 --graph_path=graph.pb -o x", 2, "`timeline` has no option `graph_path`"),
    ("timeline run_meta_0 graph.pb -o x", 1, "graph.pb: is a GraphDef file; a timeline requires"),
    ("help scope op", 2, "`help` takes one topic, not 2."),
    (
        "scope graph.pb --show_memory=false",
        2,
        "`scope` has no option `show_memory`. It is an option of tim",
    ),
    (
        "scope graph.pb whole_profile",
        2,
        "whole_profile is a saved profile, which contains its",
    ),
    ("scope run_meta_0 --profile_path=whole_profile", 2, "leave out run_meta_0."),
    # missing inputs
    (
        "code graph.pb run_meta_0",
        1,
        "The code view requires the code lines that created the ops: give",
    ),
    # writing
    ("save graph.pb -o gone/x", 1, "gone/x: cannot be written: there is no folder gone; make it"),
    ("timeline run_meta_0 -o gone/x", 1, "gone/x: cannot be written: there is no folder gone; mak"),
    ("save graph.pb -o folder", 1, "folder: cannot be written: it is a folder; name a file in it."),
    (
        "op run_meta_0 -output csv:outfile=gone/x",
        1,
        "gone/x: cannot be written: there is no folder",
    ),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The files of the small model, and files that are broken in every known way."""
    folder = tmp_path_factory.mktemp("broken")
    model_files.write(folder)
    names = ("graph.pb", "run_meta_0", "tfprof_log")
    tfprof.load(*(folder / name for name in names)).save(folder / "whole_profile", "profile_proto")
    for whole, part in {
        "graph.pb": "cut.pb",
        "graph.pbtxt": "cut.pbtxt",
        "run_meta_0": "cut_run",
        "tfprof_log": "cut_log",
        "whole_profile": "cut_profile",
    }.items():
        data = (folder / whole).read_bytes()
        (folder / part).write_bytes(data[: len(data) * 2 // 3])
    (folder / "cut.gz").write_bytes(gzip.compress((folder / "graph.pb").read_bytes())[:-20])
    (folder / "empty").touch()
    (folder / "garbage").write_text("hello, world\n")
    (folder / "binary").write_bytes(bytes(range(256)) * 8)
    (folder / "folder").mkdir()
    variable = model_files.GraphDef(node=[{"name": "parts/tall", "op": "VariableV2"}])
    (folder / "big.pb").write_bytes(variable.SerializeToString())
    for name in ("v2", "v1_shards"):
        shutil.copytree(CHECKPOINTS / name, folder / name)
        for shard in (folder / name).glob("*00001-of-00002"):
            shard.unlink()
    return folder


@pytest.fixture
def _broken_files(folder, monkeypatch):
    monkeypatch.chdir(folder)


@pytest.mark.usefixtures("_broken_files")
@pytest.mark.parametrize(
    ("line", "status", "advice"), MISTAKES, ids=[line for line, _, _ in MISTAKES]
)
def test_a_mistake_is_reported_in_one_line_that_says_what_to_do(line, status, advice, capsys):
    got = main(line.split())
    shown = capsys.readouterr()

    assert (got, shown.out) == (status, "")
    assert shown.err.startswith("tfprof: ")
    assert shown.err.endswith("\n")
    assert shown.err.count("\n") == 1
    assert advice in shown.err


@pytest.mark.usefixtures("_broken_files")
def test_an_unreadable_file_is_named_in_the_error(capsys, monkeypatch):
    plain_open = Path.open

    def refuse(path, *rest, **others):  # file permissions do not restrict root
        if path.name == "graph.pb":
            raise PermissionError(13, "Permission denied")
        return plain_open(path, *rest, **others)

    monkeypatch.setattr(Path, "open", refuse)

    status = main(["scope", "graph.pb"])

    assert status == 1
    assert capsys.readouterr() == (
        "",
        "tfprof: graph.pb: permission denied; check the file's permissions.\n",
    )


@pytest.mark.parametrize("metric", ["micros", "bytes", "accelerator_micros"])
@pytest.mark.usefixtures("files")
def test_metrics_that_were_not_recorded_are_zero_with_a_note_on_the_missing_file(metric, capsys):
    status = main(["scope", "graph.pb", "-select", metric])
    shown = capsys.readouterr()

    assert status == 0
    assert shown.err == (f"tfprof: `{metric}` requires {RUNS}, {ZERO}\n")
    assert "_TFProfRoot (--/0" in shown.out


@pytest.mark.usefixtures("files")
def test_a_missing_input_is_reported_once_for_all_metrics_that_need_it(capsys):
    main(["scope", "graph.pb", "-select", "micros,bytes,params,tensor_value"])

    assert capsys.readouterr().err == (
        f"tfprof: `bytes` and `micros` require {RUNS}, {ZERO}\n"
        f"tfprof: `tensor_value` requires {VALUES}, {ZERO}\n"
    )
