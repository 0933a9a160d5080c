"""Which checkers there are, how they are chosen, and those that users add."""

from importlib import import_module

import pytest

from asking import LINES, RUNS
from build import op, profile, run
from tfprof.advisor import registry
from tfprof.errors import OptionError

SLOW = profile(op("a", "IteratorGetNext"), run("a", 5000))

GOOD = """
from tfprof.advisor.finding import Evidence, Finding

SUMMARY = "Ops, all of them."

def check(profile):
    rows = [(name,) for name in profile.ops.name]
    yield Finding("There are ops.", Evidence.of({"op": None}, rows))
"""


@pytest.fixture
def added(tmp_path, monkeypatch):
    """Installs a package with checkers: names and values of its entry points, and its module."""

    def install(code, **points):
        (tmp_path / "somebodys_checker.py").write_text(code)
        folder = tmp_path / "somebody-1.0.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: somebody\nVersion: 1.0\n")
        lines = [f"{name} = {value}" for name, value in points.items()]
        (folder / "entry_points.txt").write_text("\n".join(["[tfprof.checkers]", *lines]))
        monkeypatch.syspath_prepend(str(tmp_path))
        monkeypatch.delitem(__import__("sys").modules, "somebodys_checker", raising=False)

    return install


def asked(*names):
    return registry.advise(SLOW, names or None)


# Those that come with tfprof


@pytest.mark.parametrize("name", registry.CHECKERS)
def test_a_checker_has_the_two_members_of_its_protocol_and_says_what_it_does(name):
    checker = registry.find(name)

    assert checker.SUMMARY.endswith(".")
    assert callable(checker.check)
    assert len(checker.__doc__.splitlines()) > 2


def test_checkers_are_asked_in_the_order_of_their_table():
    assert [report.checker for report in asked().reports] == list(registry.CHECKERS)
    chosen = asked("DataFeedingChecker", "OperationChecker", "DataFeedingChecker")
    assert [report.checker for report in chosen.reports] == [
        "OperationChecker",
        "DataFeedingChecker",
    ]


def test_nobody_chosen_is_nobody_asked():
    assert registry.advise(SLOW, []).reports == ()


def test_an_unknown_checker_is_answered_with_the_nearest():
    with pytest.raises(OptionError, match=r"Did you mean `DataFeedingChecker`\?"):
        asked("DataFeederChecker")


def test_the_name_without_anything_behind_it_is_taken():
    assert asked("JobChecker").reports == ()


def test_what_several_checkers_lack_is_said_once():
    notes = registry.advise(profile(op("a"))).notes

    assert len(notes) == 1
    assert notes[0].startswith("ExpensiveOperationChecker, IdleAcceleratorChecker, ")
    assert notes[0].endswith(f": no step was recorded with its times: give {RUNS}.")


def test_what_a_checker_found_before_it_lacked_something_is_kept():
    reports = asked("ExpensiveOperationChecker")

    assert len(reports.reports[0].findings) == 2
    assert reports.notes == (
        (
            "ExpensiveOperationChecker: the code lines that created the ops are unknown: "
            f"give {LINES}."
        ),
    )


def test_a_mistake_in_a_checker_of_ours_is_not_hidden(monkeypatch):
    module = import_module(registry.CHECKERS["DataFeedingChecker"])
    monkeypatch.setattr(module, "check", lambda _: 1 / 0)

    with pytest.raises(ZeroDivisionError):
        asked("DataFeedingChecker")


# Those that users add


def test_an_added_checker_is_asked_after_the_others(added):
    added(GOOD, Mine="somebodys_checker")

    reports = asked()

    assert [report.checker for report in reports.reports] == [*registry.CHECKERS, "Mine"]
    assert reports.reports[-1].findings[0].sentence == "There are ops."
    assert registry.summaries()["Mine"] == "Ops, all of them."


def test_an_added_checker_can_be_an_object(added):
    code = "class C:\n SUMMARY = ''\n def check(self, profile):\n  return []\nc = C()"
    added(code, Mine="somebodys_checker:c")

    assert asked("Mine").reports[0].findings == ()
    assert asked("Mine").notes == ()


@pytest.mark.parametrize(
    ("code", "trouble"),
    [
        ("import nowhere_to_be_found", "ModuleNotFoundError: No module named 'nowhere_to_be_f"),
        ("1 +", "SyntaxError: invalid syntax"),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("SUMMARY = ''", "TypeError: it has no `check`"),
        ("def check(_): return []", "TypeError: it has no `SUMMARY`"),
        ("SUMMARY = ''\ncheck = None", "TypeError: 'NoneType' object is not callable"),
        ("SUMMARY = ''\ndef check(_): 1 / 0", "ZeroDivisionError: division by zero"),
        ("SUMMARY = ''\ndef check(_): raise ValueError('a\\nb')", "ValueError: a b"),
        ("SUMMARY = ''\ndef check(_): return ['slow']", "TypeError: it gave 'slow', which is no F"),
        ("SUMMARY = ''\ndef check(_): return None", "TypeError: 'NoneType' object is not iterable"),
        ("SUMMARY = ''\ndef check(p): p.ops.code[0] = 1", "ValueError: assignment destination"),
    ],
)
def test_a_broken_checker_gives_one_line_and_the_others_still_run(code, trouble, added):
    added(code, Mine="somebodys_checker")

    reports = asked("DataFeedingChecker", "Mine")

    assert len(reports.reports[0].findings) == 1
    assert reports.reports[1].findings == ()
    (note,) = reports.notes
    assert note.startswith(f"Mine: it failed: {trouble}")
    assert "\n" not in note


def test_a_checker_that_cannot_be_loaded_says_so_in_the_help(added):
    added("import nowhere_to_be_found", Mine="somebodys_checker")

    assert registry.summaries()["Mine"].startswith("It cannot be loaded: ModuleNotFoundError")


def test_a_name_that_is_taken_is_left_out_with_a_word(added):
    added(GOOD, OperationChecker="somebodys_checker")

    assert asked("OperationChecker").notes == (
        "OperationChecker: the checker somebodys_checker is left out: the name is taken.",
    )
    assert asked("OperationChecker").reports[0].findings == ()
