"""The shell: many questions to one profile, line by line."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

import tfprof
from build import allocator, op, profile, run
from tfprof.api import Profile
from tfprof.cli import main
from tfprof.commands.command import Place
from tfprof.commands.table import available
from tfprof.options import VIEW_OPTIONS, Options
from tfprof.shell import loop
from tfprof.shell.screen import Pipe
from tfprof.shell.session import Session

COMMANDS = available(Place.SHELL)
CHECKPOINT = Path(__file__).parent.parent / "samples" / "checkpoints" / "v2" / "model.ckpt"

PROFILE = Profile(
    profile(
        op("net/w", "VariableV2", shape=(3, 4), code=["m.py:1:f"]),
        op("net/mul", "MatMul", inputs=["net/w"], code=["m.py:2:f"]),
        run("net/mul", 5),
    )
)


@pytest.fixture
def shell(capsys):
    """Feeds lines to a shell; gives the status, what was printed and what was said beside it."""

    def serve(*lines, options=None):
        status = loop.serve(
            PROFILE, options or Options(), io.StringIO("".join(f"{line}\n" for line in lines))
        )
        shown = capsys.readouterr()
        return status, shown.out, shown.err

    return serve


def report(kind, **options):
    return getattr(PROFILE, kind)(**options).report


@pytest.mark.parametrize("kind", ["scope", "graph", "code", "op"])
def test_a_line_is_a_view(kind, shell):
    assert shell(kind) == (0, report(kind), "")


def test_each_line_is_answered_in_turn(shell):
    status, out, err = shell("op", "scope -max_depth 1")

    assert (status, err) == (0, "")
    assert out == report("op") + report("scope", max_depth=1)


def test_options_of_a_line_last_for_that_line(shell):
    _, out, _ = shell("scope -select params", "scope")

    assert out == report("scope", select="params") + report("scope")


def test_options_that_are_set_stay(shell):
    _, out, _ = shell("set -select params -max_depth 2", "scope", "scope -max_depth 1", "scope")

    assert out == (
        report("scope", select="params", max_depth=2)
        + report("scope", select="params", max_depth=1)
        + report("scope", select="params", max_depth=2)
    )


def test_a_session_begins_with_the_options_it_is_given(shell):
    _, out, _ = shell("scope", options=Options(select=("params",)))

    assert out == report("scope", select="params")


def test_the_later_word_on_an_option_counts(shell):
    _, out, _ = shell("scope -max_depth 1 -select params -max_depth 2")

    assert out == report("scope", select="params", max_depth=2)


def test_an_empty_line_shows_the_options(shell):
    status, out, err = shell("set -trim_name_regexes a.*,b -account_displayed_op_only", "")

    assert (status, err) == (0, "")
    assert out == (
        "-max_depth                  10\n"
        "-min_bytes                  0\n"
        "-min_peak_bytes             0\n"
        "-min_residual_bytes         0\n"
        "-min_output_bytes           0\n"
        "-min_micros                 0\n"
        "-min_accelerator_micros     0\n"
        "-min_cpu_micros             0\n"
        "-min_params                 0\n"
        "-min_float_ops              0\n"
        "-min_occurrence             0\n"
        "-step                       -1\n"
        "-order_by                   name\n"
        "-account_type_regexes       .*\n"
        "-start_name_regexes         .*\n"
        "-trim_name_regexes          a.*,b\n"
        "-show_name_regexes          .*\n"
        "-hide_name_regexes          \n"
        "-account_displayed_op_only  true\n"
        "-select                     micros\n"
        "-output                     stdout:\n"
    )


@pytest.mark.parametrize("blank", ["", " ", "  \t "])
def test_a_blank_line_is_empty(blank, shell):
    assert shell(blank) == shell("")


def test_an_output_that_is_set_is_shown_with_its_file(shell):
    _, out, _ = shell("set -output json:outfile=x.json", "")

    assert out.endswith("-output                     json:outfile=x.json\n")


def test_a_mistake_is_reported_and_the_rest_still_answered(shell):
    status, out, err = shell("scop", "op")

    assert (status, out) == (1, report("op"))
    assert err == "tfprof: No command `scop`. Did you mean `scope`?\n"


def test_a_mistake_leaves_the_options_as_they_are(shell):
    status, out, _ = shell("set -max_depth 1 -select nonsense", "scope")

    assert (status, out) == (1, report("scope"))


def test_what_an_answer_lacks_is_said_beside_it(shell):
    status, out, err = shell("scope -select tensor_value")

    assert (status, out) == (0, report("scope", select="tensor_value"))
    assert err == (
        "tfprof: `tensor_value` requires checkpoint (--checkpoint_path) or SavedModel, which was "
        "not given; all values are zero or missing.\n"
    )


@pytest.mark.parametrize("word", ["quit", "exit"])
def test_the_session_ends_at(word, shell):
    assert shell("op", word, "scope") == (0, report("op"), "")


def test_quitting_after_a_mistake_is_a_failure_too(shell):
    assert shell("nonsense", "quit")[0] == 1


def test_no_line_at_all_is_no_failure(shell):
    assert shell() == (0, "", "")


def test_the_last_line_needs_no_end(capsys):
    status = loop.serve(PROFILE, Options(), io.StringIO("op"))

    assert status == 0
    assert capsys.readouterr().out == report("op")


@pytest.mark.parametrize(
    "line",
    [
        "   scope   -max_depth    2  ",
        "\tscope -max_depth\t2",
        "scope -max_depth 2\r",
    ],
)
def test_any_space_separates_words(line, shell):
    assert shell(line) == (0, report("scope", max_depth=2), "")


def test_a_number_may_be_negative(shell):
    assert shell("scope -max_depth -1") == (0, report("scope", max_depth=-1), "")


@pytest.mark.parametrize(
    ("words", "is_on"),
    [
        ("-account_displayed_op_only", True),
        ("-account_displayed_op_only -max_depth 10", True),
        ("-account_displayed_op_only true", True),
        ("-account_displayed_op_only YES", True),
        ("-account_displayed_op_only 0 -max_depth 10", False),
        ("-account_displayed_op_only f", False),
    ],
)
def test_a_switch_is_on_unless_the_next_word_says_no(words, is_on, shell):
    wanted = report(
        "scope", select="occurrence", hide_name_regexes=["net"], account_displayed_op_only=is_on
    )

    _, out, _ = shell(f"scope -select occurrence -hide_name_regexes net {words}")

    assert out == wanted


@pytest.mark.parametrize("quote", ['"', "'"])
def test_a_list_may_stand_in_quotes(quote, shell):
    _, out, _ = shell(f"scope -select {quote}params,micros{quote}")

    assert out == report("scope", select="params,micros")


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("scope -account_displayed_op_only maybe", "takes true or false, not `maybe`."),
        ("scope --max_depth 3", "In the shell, write -max_depth VALUE, not `--max_depth`."),
        ("scope -max_depth=3", "In the shell, write -max_depth 3, not `-max_depth=3`."),
        ("scope --max_depth=3", "In the shell, write -max_depth 3, not `--max_depth=3`."),
        ("scope -max_dept 3", "No option `max_dept`. Did you mean `max_depth`?"),
        ("scope -max_depth", "`-max_depth` requires a value: -max_depth NUMBER."),
        ("scope -max_depth 1.5", "`-max_depth` takes a whole number, not `1.5`."),
        ("scope -select micro", "`select` cannot be `micro`. Did you mean `micros`?"),
        ("scope params", "Unexpected word `params`. Did you mean -select params?"),
        ("scope max_depth 3", "Unexpected word `max_depth`. Did you mean -max_depth?"),
        ("scope -select params, micros", "Unexpected word `micros`."),
        ("scope nonsense", "Options start with a dash, and lists contain no spaces"),
        ("scope -output nowhere", "Unknown output `nowhere`."),
        ("set -output file", "Output `file` needs a file: file:outfile=PATH."),
        ("scope -step 3", "No step 3. Recorded: 0"),
        ("scope -show_name_regexes (", "pattern `(`: `(` is not closed"),
        ("reset selec", "No option `selec`. Did you mean `select`?"),
        ("save", "`save` requires -outfile FILE: save FILE [-format FORMAT]."),
        ("save my profile.pb", "`save` writes one file; its name cannot contain spaces."),
        ("save a -outfile b", "`save` writes one file; its name cannot contain spaces."),
        (
            "save a -select params",
            "`save` has no option `select`. It is an option of scope, graph, code,",
        ),
        (
            "memory -select params",
            "`memory` has no option `select`. It is an option of scope, graph, code,",
        ),
        ("flops params", "Unexpected word `params`."),
        ("quit now", "Unexpected word `now`. `quit` takes no arguments."),
        ("scope -json -output none", "Use -json or -output, not both"),
        ("timeline", "`timeline` requires -outfile FILE: timeline FILE [-option value]…"),
        ("timeline x", "A timeline requires RunMetadata: use --run_meta_path."),
        ("help scope op", "`help` takes one topic, not 2."),
        ("run train.py", "No command `run`."),
        ("shell", "No command `shell`."),
        ("save gone/profile.pb", "there is no folder gone; make it first."),
        ("help selec", "No help on `selec`. Did you mean `select`?"),
        ("help rest", "No help on `rest`. Did you mean `reset`?"),
        ("scope -output file:outfile=gone/x", "there is no folder gone; make it first."),
        (
            "???",
            (
                "No command `???`. "
                "Available: advise, code, exit, flops, graph, help, info, memory, op,"
            ),
        ),
    ],
)
def test_a_mistake_is_one_line_that_says_what_to_do(line, complaint, shell):
    status, out, err = shell(line)

    assert (status, out) == (1, "")
    assert err.startswith("tfprof: ")
    assert err.count("\n") == 1
    assert complaint in err


def test_an_answer_may_go_to_a_file(shell, tmp_path):
    path = tmp_path / "report.txt"

    status, out, err = shell(f"set -output file:outfile={path}", "op")

    assert (status, out, err) == (0, "", f"tfprof: wrote {path}\n")
    assert path.read_text() == report("op")


def test_where_to_open_a_timeline_is_said_once(shell, tmp_path):
    line = f"scope -output timeline:outfile={tmp_path / 'time'}"

    _, _, err = shell(line, line)

    assert err.count(f"wrote {tmp_path / 'time'}_-1") == 2
    assert err.count("ui.perfetto.dev") == 1


def test_an_answer_may_go_nowhere(shell):
    assert shell("op -output none") == (0, "", "")


@pytest.mark.parametrize("line", ["reset", "reset select max_depth", "reset -select -max_depth"])
def test_options_can_be_taken_back_to_their_defaults(line, shell):
    _, out, _ = shell("set -select params -max_depth 1", line, "scope")

    assert out == report("scope")


def test_one_option_can_be_taken_back_alone(shell):
    _, out, _ = shell("set -select params -max_depth 1", "reset select", "scope")

    assert out == report("scope", max_depth=1)


def test_a_mistake_in_what_to_take_back_takes_nothing_back(shell):
    _, out, _ = shell("set -max_depth 1", "reset max_depth nonsense", "scope")

    assert out == report("scope", max_depth=1)


def test_a_default_is_that_of_the_table_and_not_of_the_command_line(shell):
    _, out, _ = shell("reset select", "scope", options=Options(select=("params",)))

    assert out == report("scope")


def test_everything_can_be_saved(shell, tmp_path):
    path = tmp_path / "profile.pb"

    assert shell(f"save {path}") == (0, "", f"tfprof: wrote {path}\n")
    assert tfprof.load(path).scope().report == report("scope")


def test_a_profile_may_be_saved_in_the_home_folder(shell, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))  # the same on Windows

    shell("save ~/profile.pb")

    assert (tmp_path / "profile.pb").exists()


def test_what_is_not_saved_is_said(files, capsys):
    loaded = tfprof.load(files / "graph.pb", CHECKPOINT)

    loop.serve(loaded, Options(), io.StringIO("save profile.pb\n"))

    assert capsys.readouterr().err == (
        "tfprof: values stay in the checkpoint: name it again beside the saved profile.\n"
        "tfprof: wrote profile.pb\n"
    )


def test_help_names_every_command_and_option(shell):
    status, out, err = shell("help")

    assert (status, err) == (0, "")
    for name in COMMANDS:
        assert f"\n  {name} " in out
    for name in VIEW_OPTIONS:
        assert f"-{name}" in out


@pytest.mark.parametrize("topic", ["select", "-select", "order_by", "output", "peak_bytes"])
def test_help_on_options_and_metrics_is_that_of_the_command_line(topic, shell, capsys):
    main(["help", topic])
    wanted = capsys.readouterr().out

    status, out, err = shell(f"help {topic}")

    # The command line has a command `shell` for the same options, the shell has `set`.
    assert (status, out.replace("op, set.", "op, shell."), err) == (0, wanted, "")


@pytest.mark.parametrize("view", ["scope", "graph", "code", "op", "set"])
def test_help_on_a_view_has_every_option_and_nothing_of_the_command_line(view, shell):
    _, out, _ = shell(f"help {view}")

    assert out.startswith(f"Usage: {view} [-option value]…\n\n")
    for option in VIEW_OPTIONS.values():
        assert f"\n  -{option.name} {option.value}" in out
    assert "--" not in out


@pytest.mark.parametrize("topic", ["", *COMMANDS])
def test_no_line_of_help_is_wider_than_a_terminal(topic, shell):
    _, out, _ = shell(f"help {topic}")

    assert [line for line in out.splitlines() if len(line) > 80 or line != line.rstrip()] == []


class Typist:
    """Types lines, and remembers what stood at the prompt before."""

    def __init__(self, *lines):
        self.lines = list(lines)
        self.kept = []

    def read(self, kept):
        self.kept.append(kept)
        line = self.lines.pop(0) if self.lines else EOFError()
        if isinstance(line, BaseException):
            raise line
        return line


@pytest.fixture
def converse(capsys):
    """Lets somebody type; gives the status, what was kept before each line, and what was shown."""

    def typed(*lines):
        typist = Typist(*lines)
        status = loop.converse(Session(PROFILE, Options(), Pipe()), typist)
        shown = capsys.readouterr()
        return status, typist.kept, shown.out, shown.err

    return typed


def test_a_conversation_ends_with_its_lines_or_when_told(converse):
    assert converse("op") == (0, ["", ""], report("op"), "")
    assert converse("op", "quit", "op") == (0, ["", ""], report("op"), "")


def test_a_line_with_a_mistake_is_there_to_be_edited(converse):
    status, kept, out, err = converse("scop -max_depth 1", "scope -max_depth 1", "quit")

    assert (status, kept) == (0, ["", "scop -max_depth 1", ""])
    assert out == report("scope", max_depth=1)
    assert err == "tfprof: No command `scop`. Did you mean `scope`?\n"


@pytest.mark.parametrize("line", ["save gone/profile.pb", "scope -output json:outfile=gone/x"])
def test_a_line_with_a_file_that_cannot_be_written_is_there_to_be_edited(line, converse):
    assert converse(line)[1] == ["", line]


def test_a_line_that_no_editing_can_mend_is_not_kept(capsys):
    typist = Typist("code")
    without_code = Profile(profile(op("a")))

    loop.converse(Session(without_code, Options(), Pipe()), typist)

    assert typist.kept == ["", ""]
    assert "--op_log_path" in capsys.readouterr().err


def test_ctrl_c_at_the_prompt_drops_the_line(converse):
    _, kept, out, err = converse("scop", KeyboardInterrupt(), "op")

    assert kept == ["", "scop", "", ""]
    assert (out, err.count("\n")) == (report("op"), 1)


def test_ctrl_c_stops_the_command_and_not_the_shell(converse, monkeypatch):
    def interrupted(*_):
        monkeypatch.undo()
        raise KeyboardInterrupt

    monkeypatch.setattr(Profile, "view", interrupted)

    assert converse("scope", "op") == (0, ["", "", ""], f"\n{report('op')}", "tfprof: stopped.\n")


def test_pasted_lines_are_answered_in_turn_up_to_a_mistake(converse):
    _, kept, out, _ = converse("set -max_depth 1\nscope\nscop\nop")

    assert kept == ["", "scop"]
    assert out == report("scope", max_depth=1)


def test_an_answer_is_shown_piece_by_piece():
    pieces = []

    class Screen(Pipe):
        def show(self, shown):
            pieces.extend(shown)

    Session(PROFILE, Options(), Screen()).answer("scope")

    assert len(pieces) > 1
    assert "".join(pieces) == report("scope")


class Typewriter(io.StringIO):
    """Lines that somebody types."""

    def isatty(self):
        return True


def test_somebody_whose_answers_go_elsewhere_still_sees_a_prompt(capsys):
    status = loop.serve(PROFILE, Options(), Typewriter("op\n"))

    assert status == 0
    assert capsys.readouterr() == (report("op"), "tfprof> tfprof> ")


def test_a_file_is_not_left_behind_by_a_mistake(shell, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    shell("scope -output json:outfile=x.json -step 3")

    assert not Path("x.json").exists()


def test_reset_keeps_to_the_dialect_until_that_is_reset():
    session = Session(Profile(profile(op("a"))), Options(), Pipe())

    session.answer("set -dialect contrib -max_depth 9 -min_params 3")
    session.answer("reset max_depth")
    assert (session.options.max_depth, session.options.min_params) == (4, 3)
    session.answer("reset dialect")
    assert (session.options.max_depth, session.options.min_params) == (10, 3)
    session.answer("reset")
    assert session.options == Options()


def test_advice_is_given(shell):
    _, out, err = shell(
        "advise", "advise -checkers OperationChecker", "advise -checkers OperationCheker"
    )

    advice = PROFILE.advise()
    assert out == advice.text() + PROFILE.advise(["OperationChecker"]).text()
    assert (
        err.splitlines()[-1]
        == "tfprof: No checker `OperationCheker`. Did you mean `OperationChecker`?"
    )


def allocating(step, size):
    return run("a", step=step, allocators=[allocator("host", [(1010, size)])])


def test_the_ledger_of_float_operations_is_a_line_too(shell):
    status, out, err = shell("flops", "flops -step 1")

    assert out == PROFILE.flops().report
    takers = "scope, graph, code, op, memory, timeline, set"
    assert (status, err) == (
        1,
        f"tfprof: `flops` has no option `step`. It is an option of {takers}.\n",
    )


def test_memory_over_time_is_a_line_too(capsys):
    loaded = Profile(profile(allocating(0, 5), allocating(1, 7)))
    lines = io.StringIO(
        "memory -max_rows 3\nset -step 0\nmemory\nmemory -step 1\nmemory --step 1\n"
    )

    assert loop.serve(loaded, Options(), lines) == 1
    shown = capsys.readouterr()

    wanted = (loaded.memory(), loaded.memory(step=0), loaded.memory(step=1))
    assert shown.out == "".join(answer.report for answer in wanted)
    assert shown.err.splitlines()[0] == f"tfprof: {wanted[0].notes[0]}"
    assert shown.err.splitlines()[-1] == "tfprof: In the shell, write -step VALUE, not `--step`."


# Commands that the command line has too.

SAMPLES = Path(__file__).parent.parent / "samples" / "tensorflow" / "mlp_tiny"
TRACED = [str(SAMPLES / name) for name in ("graph.pb.gz", "run_meta_1.gz")]


@pytest.fixture
def both(capsys, monkeypatch, tmp_path):
    """Runs a command on files in the shell and on the command line: what each printed and said."""
    monkeypatch.chdir(tmp_path)

    def ask(command, options, files):
        loop.serve(tfprof.load(*files), Options(), io.StringIO(f"{command} {options}\n"))
        in_shell = capsys.readouterr()
        main([command, *files, *options.split()])
        return tuple(in_shell), tuple(capsys.readouterr())

    return ask


@pytest.mark.parametrize(
    ("command", "options"),
    [
        ("scope", "-select params"),
        ("op", "-select micros -json"),
        ("memory", "-max_rows 2"),
        ("memory", "-json"),
        ("flops", ""),
        ("flops", "-json"),
        ("advise", "-checkers ExpensiveOperationChecker"),
        ("advise", "-json"),
        ("info", ""),
        ("info", "-json"),
        ("save", "-outfile saved"),
        ("save", "-o saved"),
    ],
)
def test_a_command_answers_as_on_the_command_line(command, options, both):
    in_shell, on_command_line = both(command, options, TRACED)

    assert in_shell == on_command_line
    assert "".join(in_shell)


@pytest.mark.usefixtures("files")
def test_the_files_that_were_loaded_are_described(capsys):
    loaded = tfprof.load("graph.pb", run_meta_path={7: "run_meta_0"})

    assert loop.serve(loaded, Options(), io.StringIO("info\n")) == 0
    described = capsys.readouterr().out
    assert described.startswith("graph.pb: GraphDef, 5 ops\nrun_meta_0: RunMetadata, ")
    assert "\nRecording: run_meta: step 7\n" in described


@pytest.fixture
def timelines(capsys, monkeypatch, tmp_path):
    """Runs lines on two recorded steps, 3 and 4; gives what was said and the files written."""
    monkeypatch.chdir(tmp_path)
    runs = {3: SAMPLES / "run_meta_1.gz", 4: SAMPLES / "run_meta_9.gz"}
    loaded = tfprof.load(run_meta_path=runs)

    def run(*lines):
        loop.serve(loaded, Options(), io.StringIO("".join(f"{line}\n" for line in lines)))
        written = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
        return capsys.readouterr().err, written

    return run


def test_the_timeline_of_a_step_is_written(timelines, tmp_path):
    said, written = timelines("timeline by_word -step 4", "timeline -outfile by_option -step 4")

    tfprof.step_timeline(SAMPLES / "run_meta_9.gz", tmp_path / "wanted")
    assert said == "tfprof: wrote by_word\ntfprof: wrote by_option\n"
    assert written["by_word"] == written["by_option"] == (tmp_path / "wanted").read_bytes()


def test_the_step_that_is_set_is_that_of_timelines_too(timelines):
    _, written = timelines("set -step 3", "timeline first", "timeline second -step 3")

    assert written["first"] == written["second"]


def test_a_timeline_shows_what_is_asked_for(timelines):
    _, written = timelines("timeline all -step 3", "timeline less -step 3 -show_memory false")

    assert len(written["less"]) < len(written["all"])


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("timeline x", "A timeline shows one step: choose it with -step. Recorded: 3, 4."),
        ("timeline x -step 5", "No step 5. Recorded: 3, 4."),
    ],
)
def test_a_timeline_needs_one_step(line, complaint, timelines):
    assert timelines(line) == (f"tfprof: {complaint}\n", {})
