"""The shell: answers to lines, from a pipe and from a user."""

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
    """Feeds lines to a shell; returns the status, standard output and standard error."""

    def serve(*lines, options=None):
        status = loop.serve(
            PROFILE, options or Options(), io.StringIO("".join(f"{line}\n" for line in lines))
        )
        shown = capsys.readouterr()
        return status, shown.out, shown.err

    return serve


def report(kind, order_by="name", **options):
    return getattr(PROFILE, kind)(order_by=order_by, **options).report


@pytest.mark.parametrize("kind", ["scope", "graph", "code", "op"])
def test_a_view_is_printed_as_its_report(kind, shell):
    assert shell(kind) == (0, report(kind), "")


def test_lines_from_a_pipe_are_sorted_by_name_as_in_the_original(shell):
    _, out, _ = shell("code -select params,micros", "code -select micros -order_by auto")

    assert out == report("code", select="params,micros") + report("code", select="micros")
    assert report("code", select="micros") != report("code", "micros", select="micros")


def test_lines_are_answered_in_order(shell):
    status, out, err = shell("op", "scope -max_depth 9")

    assert (status, err) == (0, "")
    assert out == report("op") + report("scope", max_depth=9)


def test_options_of_a_view_apply_to_that_line_only(shell):
    _, out, _ = shell("scope -select params", "scope")

    assert out == report("scope", select="params") + report("scope")


def test_set_applies_to_the_following_lines(shell):
    _, out, _ = shell("set -select params -max_depth 2", "scope", "scope -max_depth 1", "scope")

    assert out == (
        report("scope", select="params", max_depth=2)
        + report("scope", select="params", max_depth=1)
        + report("scope", select="params", max_depth=2)
    )


def test_a_session_starts_with_the_given_options(shell):
    _, out, _ = shell("scope", options=Options(select=("params",)))

    assert out == report("scope", select="params")


def test_the_last_value_of_a_repeated_option_wins(shell):
    _, out, _ = shell("scope -max_depth 1 -select params -max_depth 2")

    assert out == report("scope", select="params", max_depth=2)


def test_an_empty_line_lists_the_options(shell):
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
def test_a_blank_line_counts_as_empty(blank, shell):
    assert shell(blank) == shell("")


def test_the_list_of_options_shows_the_output_file(shell):
    _, out, _ = shell("set -output json:outfile=x.json", "")

    assert out.endswith("-output                     json:outfile=x.json\n")


def test_an_error_is_reported_and_later_lines_are_answered(shell):
    status, out, err = shell("scop", "op")

    assert (status, out) == (1, report("op"))
    assert err == "tfprof: Unknown command `scop`. Did you mean `scope`?\n"


def test_an_error_leaves_the_options_unchanged(shell):
    status, out, _ = shell("set -max_depth 1 -select nonsense", "scope")

    assert (status, out) == (1, report("scope"))


def test_a_missing_input_is_noted_on_standard_error(shell):
    status, out, err = shell("scope -select tensor_value")

    assert (status, out) == (0, report("scope", select="tensor_value"))
    assert err == (
        "tfprof: `tensor_value` requires a checkpoint (--checkpoint_path) or a SavedModel, which "
        "was not given; all values are zero or missing.\n"
    )


@pytest.mark.parametrize("word", ["quit", "exit"])
def test_quit_and_exit_end_the_session(word, shell):
    assert shell("op", word, "scope") == (0, report("op"), "")


def test_the_status_is_1_if_a_line_failed_before_quit(shell):
    assert shell("nonsense", "quit")[0] == 1


def test_empty_input_succeeds(shell):
    assert shell() == (0, "", "")


def test_the_last_line_needs_no_newline(capsys):
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
    assert shell(line)[:2] == (0, report("scope", max_depth=2))


def test_a_number_may_be_negative(shell):
    assert shell("scope -max_depth -1")[:2] == (0, report("scope", max_depth=-1))


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
def test_a_switch_is_on_unless_its_value_is_false(words, is_on, shell):
    wanted = report(
        "scope", select="occurrence", hide_name_regexes=["net"], account_displayed_op_only=is_on
    )

    _, out, _ = shell(f"scope -select occurrence -hide_name_regexes net {words}")

    assert out == wanted


@pytest.mark.parametrize("quote", ['"', "'"])
def test_a_list_may_be_quoted(quote, shell):
    _, out, _ = shell(f"scope -select {quote}params,micros{quote}")

    assert out == report("scope", select="params,micros")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("scope -account_displayed_op_only maybe", "takes true or false, not `maybe`."),
        ("scope --max_depth 3", "In the shell, write -max_depth VALUE, not `--max_depth`."),
        ("scope -max_depth=3", "In the shell, write -max_depth 3, not `-max_depth=3`."),
        ("scope --max_depth=3", "In the shell, write -max_depth 3, not `--max_depth=3`."),
        ("scope -max_dept 3", "Unknown option `max_dept`. Did you mean `max_depth`?"),
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
        ("reset selec", "Unknown option `selec`. Did you mean `select`?"),
        ("save", "`save` requires -outfile FILE: save FILE [-format FORMAT]."),
        ("save my profile.pb", "`save` writes one file; its name cannot contain spaces."),
        ("save a -outfile b", "`save` writes one file; its name cannot contain spaces."),
        (
            "save a -select params",
            "`save` has no option `select`. It is an option of scope, graph, code,",
        ),
        (
            "memory -select x",
            "`memory` has no option `select`. It is an option of scope, graph, code,",
        ),
        ("flops params", "Unexpected word `params`."),
        ("quit now", "Unexpected word `now`. `quit` takes no arguments."),
        ("scope -json -output none", "Use -json or -output, not both"),
        ("timeline", "`timeline` requires -outfile FILE: timeline FILE [-option value]…"),
        ("timeline x", "A timeline requires RunMetadata: use --run_meta_path."),
        ("help scope op", "`help` takes one topic, not 2."),
        ("run train.py", "Unknown command `run`."),
        ("shell", "Unknown command `shell`."),
        ("save gone/profile.pb", "there is no folder gone; make it first."),
        ("help selec", "No help on `selec`. Did you mean `select`?"),
        ("help rest", "No help on `rest`. Did you mean `reset`?"),
        ("scope -output file:outfile=gone/x", "there is no folder gone; make it first."),
        (
            "???",
            (
                "Unknown command `???`. "
                "Available: advise, code, exit, flops, graph, help, info, kernels, layers, memory,"
            ),
        ),
    ],
)
def test_an_error_is_one_line_with_a_hint(line, message, shell):
    status, out, err = shell(line)

    assert (status, out) == (1, "")
    assert err.startswith("tfprof: ")
    assert err.count("\n") == 1
    assert message in err


def test_an_answer_can_be_written_to_a_file(shell, tmp_path):
    path = tmp_path / "report.txt"

    status, out, err = shell(f"set -output file:outfile={path}", "op")

    assert (status, out, err) == (0, "", f"tfprof: wrote {path}\n")
    assert path.read_text() == report("op")


def test_the_hint_on_timelines_is_shown_once(shell, tmp_path):
    line = f"scope -output timeline:outfile={tmp_path / 'time'}"

    _, _, err = shell(line, line)

    assert err.count(f"wrote {tmp_path / 'time'}_-1") == 2
    assert err.count("ui.perfetto.dev") == 1


def test_output_none_shows_nothing(shell):
    assert shell("op -output none") == (0, "", "")


@pytest.mark.parametrize("line", ["reset", "reset select max_depth", "reset -select -max_depth"])
def test_reset_restores_the_defaults(line, shell):
    _, out, _ = shell("set -select params -max_depth 1", line, "scope")

    assert out == report("scope")


def test_an_option_of_several_numbers_is_listed(shell):
    _, out, err = shell("set -rank 0,3", "")

    assert (err, "-rank                       0,3\n" in out) == ("", True)


def test_reset_can_restore_a_single_option(shell):
    _, out, _ = shell("set -select params -max_depth 1", "reset select", "scope")

    assert out == report("scope", max_depth=1)


def test_reset_with_an_unknown_option_resets_nothing(shell):
    _, out, _ = shell("set -max_depth 1", "reset max_depth nonsense", "scope")

    assert out == report("scope", max_depth=1)


def test_reset_ignores_the_options_the_shell_was_started_with(shell):
    _, out, _ = shell("reset select", "scope", options=Options(select=("params",)))

    assert out == report("scope")


def test_save_writes_a_profile_with_the_same_answers(shell, tmp_path):
    path = tmp_path / "profile.pb"

    assert shell(f"save {path}") == (0, "", f"tfprof: wrote {path}\n")
    assert tfprof.load(path).scope().report == report("scope")


def test_save_expands_a_tilde(shell, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))  # the same on Windows

    shell("save ~/profile.pb")

    assert (tmp_path / "profile.pb").exists()


def test_save_reports_what_it_leaves_out(files, capsys):
    loaded = tfprof.load(files / "graph.pb", CHECKPOINT)

    loop.serve(loaded, Options(), io.StringIO("save profile.pb\n"))

    assert capsys.readouterr().err == (
        "tfprof: values stay in the checkpoint: give it together with the saved profile.\n"
        "tfprof: wrote profile.pb\n"
    )


def test_help_lists_every_command_and_option(shell):
    status, out, err = shell("help")

    assert (status, err) == (0, "")
    for name in COMMANDS:
        assert f"\n  {name} " in out
    for name in VIEW_OPTIONS:
        assert f"-{name}" in out


@pytest.mark.parametrize("topic", ["select", "-select", "order_by", "output", "peak_bytes"])
def test_help_on_options_and_metrics_is_the_same_as_on_the_command_line(topic, shell, capsys):
    main(["help", topic])
    wanted = capsys.readouterr().out

    status, out, err = shell(f"help {topic}")

    # The command line has a command `shell` for the same options, the shell has `set`.
    assert (status, out.replace("layers, set.", "layers, diff, shell."), err) == (0, wanted, "")


@pytest.mark.parametrize("view", ["scope", "graph", "code", "op", "set"])
def test_help_on_a_view_lists_every_option_in_shell_syntax(view, shell):
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
    """A prompt that types given lines, and records the text it was given to edit."""

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
    """Types lines; returns the status, the text kept before each line, output and errors."""

    def typed(*lines):
        typist = Typist(*lines)
        status = loop.converse(Session(PROFILE, Options(), Pipe()), typist)
        shown = capsys.readouterr()
        return status, typist.kept, shown.out, shown.err

    return typed


def test_a_session_ends_at_the_end_of_input_or_at_quit(converse):
    assert converse("op") == (0, ["", ""], report("op"), "")
    assert converse("op", "quit", "op") == (0, ["", ""], report("op"), "")


def test_a_line_with_an_error_can_be_edited(converse):
    status, kept, out, err = converse("scop -max_depth 9", "scope -max_depth 9", "quit")

    assert (status, kept) == (0, ["", "scop -max_depth 9", ""])
    assert out == report("scope", max_depth=9)
    assert err == "tfprof: Unknown command `scop`. Did you mean `scope`?\n"


@pytest.mark.parametrize("line", ["save gone/profile.pb", "scope -output json:outfile=gone/x"])
def test_a_line_with_an_unwritable_file_can_be_edited(line, converse):
    assert converse(line)[1] == ["", line]


def test_a_line_that_lacks_an_input_file_is_not_kept_for_editing(capsys):
    typist = Typist("code")
    without_code = Profile(profile(op("a")))

    loop.converse(Session(without_code, Options(), Pipe()), typist)

    assert typist.kept == ["", ""]
    assert "--op_log_path" in capsys.readouterr().err


def test_ctrl_c_at_the_prompt_discards_the_line(converse):
    _, kept, out, err = converse("scop", KeyboardInterrupt(), "op")

    assert kept == ["", "scop", "", ""]
    assert (out, err.count("\n")) == (report("op"), 1)


def test_ctrl_c_stops_the_command_and_not_the_shell(converse, monkeypatch):
    def interrupted(*_):
        monkeypatch.undo()
        raise KeyboardInterrupt

    monkeypatch.setattr(Profile, "view", interrupted)

    assert converse("scope", "op") == (0, ["", "", ""], f"\n{report('op')}", "tfprof: stopped.\n")


def test_pasted_lines_are_answered_up_to_the_first_error(converse):
    _, kept, out, _ = converse("set -max_depth 1\nscope\nscop\nop")

    assert kept == ["", "scop"]
    assert out == report("scope", max_depth=1)


def test_an_answer_is_streamed():
    pieces = []

    class Screen(Pipe):
        def show(self, shown):
            pieces.extend(shown)

    Session(PROFILE, Options(), Screen()).answer("scope")

    assert len(pieces) > 1
    assert "".join(pieces) == report("scope")


class Typewriter(io.StringIO):
    """Lines typed at a terminal."""

    def isatty(self):
        return True


def test_the_prompt_goes_to_standard_error_if_answers_are_redirected(capsys):
    status = loop.serve(PROFILE, Options(), Typewriter("op\n"))

    assert status == 0
    assert capsys.readouterr() == (report("op"), "tfprof> tfprof> ")


def test_an_error_leaves_no_output_file(shell, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    shell("scope -output json:outfile=x.json -step 3")

    assert not Path("x.json").exists()


def test_reset_uses_the_defaults_of_the_current_dialect():
    session = Session(Profile(profile(op("a"))), Options(), Pipe())

    session.answer("set -dialect contrib -max_depth 9 -min_params 3")
    session.answer("reset max_depth")
    assert (session.options.max_depth, session.options.min_params) == (4, 3)
    session.answer("reset dialect")
    assert (session.options.max_depth, session.options.min_params) == (10, 3)
    session.answer("reset")
    assert session.options == Options()


def test_advise_works_in_the_shell(shell):
    _, out, err = shell(
        "advise", "advise -checkers OperationChecker", "advise -checkers OperationCheker"
    )

    advice = PROFILE.advise()
    assert out == advice.text() + PROFILE.advise(["OperationChecker"]).text()
    assert (
        err.splitlines()[-1]
        == "tfprof: Unknown checker `OperationCheker`. Did you mean `OperationChecker`?"
    )


def allocating(step, size):
    return run("a", step=step, allocators=[allocator("host", [(1010, size)])])


def test_flops_works_in_the_shell(shell):
    status, out, err = shell("flops", "flops -step 1")

    assert out == PROFILE.flops().report
    takers = "scope, graph, code, op, layers, memory, steps, kernels, ranks, timeline, set"
    assert (status, err) == (
        1,
        f"tfprof: `flops` has no option `step`. It is an option of {takers}.\n",
    )


def test_memory_works_in_the_shell(capsys):
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


# Commands that are also on the command line.

SAMPLES = Path(__file__).parent.parent / "samples" / "tensorflow" / "mlp_tiny"
TRACED = [str(SAMPLES / name) for name in ("graph.pb.gz", "run_meta_1.gz")]


@pytest.fixture
def both(capsys, monkeypatch, tmp_path):
    """Runs a command in the shell and on the command line; returns the output of each."""
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
        ("scope", "-select params -order_by name"),
        ("op", "-select micros -order_by micros -json"),
        ("memory", "-max_rows 2"),
        ("memory", "-json"),
        ("flops", ""),
        ("flops", "-json"),
        ("steps", ""),
        ("steps", "-json"),
        ("ranks", ""),
        ("advise", "-checkers ExpensiveOperationChecker"),
        ("advise", "-json"),
        ("info", ""),
        ("info", "-json"),
        ("save", "-outfile saved"),
        ("save", "-o saved"),
    ],
)
def test_a_command_gives_the_same_answer_as_on_the_command_line(command, options, both):
    in_shell, on_command_line = both(command, options, TRACED)

    assert in_shell == on_command_line
    assert "".join(in_shell)


@pytest.mark.usefixtures("files")
def test_info_describes_the_loaded_files(capsys):
    loaded = tfprof.load("graph.pb", run_meta_path={7: "run_meta_0"})

    assert loop.serve(loaded, Options(), io.StringIO("info\n")) == 0
    described = capsys.readouterr().out
    assert described.startswith("graph.pb: GraphDef, 5 ops\nrun_meta_0: RunMetadata, ")
    assert "\nRecording: run_meta: step 7\n" in described


@pytest.fixture
def timelines(capsys, monkeypatch, tmp_path):
    """Runs lines on two recorded steps, 3 and 4; returns the notes and the files written."""
    monkeypatch.chdir(tmp_path)
    runs = {3: SAMPLES / "run_meta_1.gz", 4: SAMPLES / "run_meta_9.gz"}
    loaded = tfprof.load(run_meta_path=runs)

    def run(*lines):
        loop.serve(loaded, Options(), io.StringIO("".join(f"{line}\n" for line in lines)))
        written = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
        return capsys.readouterr().err, written

    return run


def test_timeline_writes_the_chosen_step(timelines, tmp_path):
    notes, written = timelines("timeline by_word -step 4", "timeline -outfile by_option -step 4")

    tfprof.step_timeline(SAMPLES / "run_meta_9.gz", tmp_path / "wanted")
    assert notes == "tfprof: wrote by_word\ntfprof: wrote by_option\n"
    assert written["by_word"] == written["by_option"] == (tmp_path / "wanted").read_bytes()


def test_a_step_that_was_set_applies_to_timeline(timelines):
    _, written = timelines("set -step 3", "timeline first", "timeline second -step 3")

    assert written["first"] == written["second"]


def test_timeline_can_leave_out_details(timelines):
    _, written = timelines("timeline all -step 3", "timeline less -step 3 -show_memory false")

    assert len(written["less"]) < len(written["all"])


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("timeline x", "A timeline shows one step: choose it with -step. Recorded: 3, 4."),
        ("timeline x -step 5", "No step 5. Recorded: 3, 4."),
    ],
)
def test_timeline_requires_a_single_step(line, message, timelines):
    assert timelines(line) == (f"tfprof: {message}\n", {})
