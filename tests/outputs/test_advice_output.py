"""Findings as text and as a message."""

from tfprof.advisor.finding import Evidence, Finding, Gain
from tfprof.advisor.registry import Report, Reports
from tfprof.outputs import advice, advice_message
from tfprof.units import Unit

NOTHING = Evidence.of({}, [])
TABLE = Evidence.of({"op": None, "time": Unit.MICROS}, [("a/long/name", 5), ("b", 12345)])
OURS = Finding(
    "Something takes its time.",
    TABLE,
    ops=("b",),
    gain=Gain(25, 100, Unit.MICROS, "of the step"),
    command=("op", "-show_name_regexes", "a.*"),
)
THEIRS = Finding("A sentence.", NOTHING, classic="two\nlines")


def shown(*reports, **style):
    return advice.text(Reports(reports, ()), **style)


def test_a_finding_of_the_original_is_printed_as_it_was():
    report = Report("OperationChecker", (THEIRS, THEIRS))

    assert shown(report) == "\nOperationChecker:\ntwo\nlines\ntwo\nlines\n"


def test_a_finding_of_ours_has_sentence_table_gain_and_command():
    assert shown(Report("Mine", (OURS,))) == (
        "\nMine:\n"
        "Something takes its time.\n"
        "    op              time\n"
        "    a/long/name      5us\n"
        "    b            12.35ms\n"
        "  Gain: at most 25us of 100us of the step (25.00%)\n"
        "  See:  tfprof op FILES… -show_name_regexes 'a.*'\n"
    )


def test_findings_of_ours_stand_apart():
    assert "'a.*'\n\nSomething" in shown(Report("Mine", (OURS, OURS)))


def test_where_nothing_can_be_said_of_a_gain_it_says_that():
    assert "  Gain: nobody can say\n" in shown(Report("Mine", (Finding("So.", TABLE),)))


def test_a_checker_that_found_nothing_is_named_only_where_the_original_did():
    assert shown(Report("OperationChecker", ()), Report("Mine", ())) == "\nOperationChecker:\n"


def test_names_are_bold_on_a_terminal_alone():
    report = Report("Mine", (OURS,))

    assert shown(report, colour=True).startswith("\n\x1b[1mMine:\x1b[0m\nSomething")
    assert "\x1b" not in shown(report)


def test_what_an_op_is_called_cannot_break_the_output():
    odd = Evidence.of({"op": None}, [("a\n\x1b[2J",)])

    text = shown(Report("Mine", (Finding("It\nis \x1b[2J.", odd, command=("op", "\x1b")),)))

    assert text.count("\n") == 7
    assert "\x1b" not in text


def test_a_long_sentence_is_folded():
    text = shown(Report("Mine", (Finding("word " * 40, TABLE),)))

    assert max(map(len, text.splitlines())) <= 80


def test_the_message_has_the_texts_by_checker():
    reports = Reports((Report("OperationChecker", (THEIRS,)), Report("Mine", ())), ())

    message = advice_message.build(reports)

    assert dict(message.checkers) == {
        "OperationChecker": message.checkers["OperationChecker"],
        "Mine": message.checkers["Mine"],
    }
    assert list(message.checkers["OperationChecker"].reports) == ["two\nlines"]
    assert list(message.checkers["Mine"].reports) == []


def test_a_finding_of_ours_is_in_the_message_as_it_is_printed():
    message = advice_message.build(Reports((Report("Mine", (OURS,)),), ()))

    (text,) = message.checkers["Mine"].reports
    assert f"\nMine:\n{text}\n" == shown(Report("Mine", (OURS,)))
