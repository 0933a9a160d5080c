"""Findings as text and as a message."""

from dataclasses import replace

from tfprof.advisor.finding import Evidence, Finding, Gain
from tfprof.advisor.registry import Report, Reports
from tfprof.outputs import advice, advice_message
from tfprof.units import Unit

NOTHING = Evidence.of({}, [])
TABLE = Evidence.of({"op": None, "time": Unit.MICROS}, [("a/long/name", 5), ("b", 12345)])
NEW = Finding(
    "Something takes its time.",
    TABLE,
    ops=("b",),
    gain=Gain(25, 100, Unit.MICROS, "of the step"),
    command=("op", "-show_name_regexes", "a.*"),
)
CLASSIC = Finding("A sentence.", NOTHING, classic="two\nlines")


def shown(*reports, **style):
    return advice.text(Reports(reports, ()), **style)


def test_a_classic_finding_is_printed_as_the_original_printed_it():
    report = Report("OperationChecker", (CLASSIC, CLASSIC))

    assert shown(report) == "\nOperationChecker:\ntwo\nlines\ntwo\nlines\n"


def test_a_new_finding_has_sentence_table_gain_and_command():
    assert shown(Report("Mine", (NEW,))) == (
        "\nMine:\n"
        "Something takes its time.\n"
        "    op              time\n"
        "    a/long/name      5us\n"
        "    b            12.35ms\n"
        "  Gain: at most 25us of 100us of the step (25.00%)\n"
        "  See:  tfprof op FILES… -show_name_regexes 'a.*'\n"
    )


def test_new_findings_are_separated_by_an_empty_line():
    assert "'a.*'\n\nSomething" in shown(Report("Mine", (NEW, NEW)))


def test_an_unknown_gain_is_shown_as_unknown():
    assert "  Gain: unknown\n" in shown(Report("Mine", (Finding("So.", TABLE),)))


def test_a_checker_without_findings_is_named_only_if_it_is_classic():
    assert shown(Report("OperationChecker", ()), Report("Mine", ())) == "\nOperationChecker:\n"


def test_checker_names_are_bold_only_in_colour():
    report = Report("Mine", (NEW,))

    assert shown(report, colour=True).startswith("\n\x1b[1mMine:\x1b[0m\nSomething")
    assert "\x1b" not in shown(report)


def test_control_characters_in_findings_are_escaped():
    odd = Evidence.of({"op": None}, [("a\n\x1b[2J",)])

    text = shown(Report("Mine", (Finding("It\nis \x1b[2J.", odd, command=("op", "\x1b")),)))

    assert text.count("\n") == 7
    assert "\x1b" not in text


def test_a_long_sentence_is_wrapped():
    text = shown(Report("Mine", (Finding("word " * 40, TABLE),)))

    assert max(map(len, text.splitlines())) <= 80


def test_the_message_contains_the_findings_of_each_checker():
    reports = Reports((Report("OperationChecker", (CLASSIC,)), Report("Mine", ())), ())

    message = advice_message.build(reports)

    assert dict(message.checkers) == {
        "OperationChecker": message.checkers["OperationChecker"],
        "Mine": message.checkers["Mine"],
    }
    assert list(message.checkers["OperationChecker"].reports) == ["two\nlines"]
    assert list(message.checkers["Mine"].reports) == []


def test_the_message_contains_a_new_finding_as_it_is_printed():
    message = advice_message.build(Reports((Report("Mine", (NEW,)),), ()))

    (text,) = message.checkers["Mine"].reports
    assert f"\nMine:\n{text}\n" == shown(Report("Mine", (NEW,)))


# Recordings that the original cannot read.


def recorded(*reports):
    return advice.text(Reports(reports, (), is_classic=False))


def test_only_checkers_with_findings_appear():
    assert recorded(Report("OperationChecker", ())) == "No findings.\n"
    assert recorded() == ""
    assert "OperationChecker" not in recorded(Report("OperationChecker", ()), Report("M", (NEW,)))


def test_all_findings_have_the_same_form_as_in_json():
    found = recorded(Report("OperationChecker", (CLASSIC,)))

    assert found == "\nOperationChecker:\nA sentence.\n\n  Gain: unknown\n"
    message = advice_message.build(
        Reports((Report("OperationChecker", (CLASSIC,)),), (), is_classic=False)
    )
    assert message.checkers["OperationChecker"].reports[0].startswith("A sentence.")


def test_the_largest_gain_comes_first():
    def gaining(name, amount):
        return replace(NEW, sentence=name, gain=amount and Gain(amount, 100, Unit.MICROS, "of it"))

    found = recorded(
        Report("A", (gaining("unknown.", None),)),
        Report("B", (gaining("small.", 5), gaining("medium.", 30))),
        Report("C", (gaining("large.", 80),)),
    )

    order = [found.index(name) for name in ("large.", "medium.", "small.", "unknown.")]
    assert order == sorted(order)
