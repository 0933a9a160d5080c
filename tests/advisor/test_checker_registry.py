"""The registry of checkers, how they are chosen, and checkers from other packages."""

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
    """Installs a package whose module has this code and whose entry points are these."""

    def install(code, **points):
        (tmp_path / "other_checker.py").write_text(code)
        folder = tmp_path / "other-1.0.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: other\nVersion: 1.0\n")
        lines = [f"{name} = {value}" for name, value in points.items()]
        (folder / "entry_points.txt").write_text("\n".join(["[tfprof.checkers]", *lines]))
        monkeypatch.syspath_prepend(str(tmp_path))
        monkeypatch.delitem(__import__("sys").modules, "other_checker", raising=False)

    return install


def advised(*names):
    return registry.advise(SLOW, names or None)


# Built-in checkers


@pytest.mark.parametrize("name", registry.CHECKERS)
def test_a_checker_implements_the_protocol_and_is_documented(name):
    checker = registry.find(name)

    assert checker.SUMMARY.endswith(".")
    assert callable(checker.check)
    assert len(checker.__doc__.splitlines()) > 2


def test_checkers_run_in_the_order_of_the_registry():
    assert [report.checker for report in advised().reports] == list(registry.CHECKERS)
    chosen = advised("DataFeedingChecker", "OperationChecker", "DataFeedingChecker")
    assert [report.checker for report in chosen.reports] == [
        "OperationChecker",
        "DataFeedingChecker",
    ]


def test_an_empty_choice_runs_no_checker():
    assert registry.advise(SLOW, []).reports == ()


def test_the_error_for_an_unknown_checker_suggests_the_nearest():
    with pytest.raises(OptionError, match=r"Did you mean `DataFeedingChecker`\?"):
        advised("DataFeederChecker")


def test_job_checker_is_accepted_but_reports_nothing():
    assert advised("JobChecker").reports == ()


def test_a_file_that_several_checkers_require_is_noted_once():
    notes = registry.advise(profile(op("a"))).notes

    assert len(notes) == 1
    assert notes[0].startswith("ExpensiveOperationChecker, IdleAcceleratorChecker, ")
    assert notes[0].endswith(f": no step with times was recorded: give {RUNS}.")


def test_findings_before_a_missing_input_are_kept():
    reports = advised("ExpensiveOperationChecker")

    assert len(reports.reports[0].findings) == 2
    assert reports.notes == (
        (
            "ExpensiveOperationChecker: the code lines that created the ops are unknown: "
            f"give {LINES}."
        ),
    )


def test_an_exception_in_a_built_in_checker_is_not_hidden(monkeypatch):
    module = import_module(registry.CHECKERS["DataFeedingChecker"])
    monkeypatch.setattr(module, "check", lambda _: 1 / 0)

    with pytest.raises(ZeroDivisionError):
        advised("DataFeedingChecker")


# Added checkers


def test_an_added_checker_runs_after_the_others(added):
    added(GOOD, Mine="other_checker")

    reports = advised()

    assert [report.checker for report in reports.reports] == [*registry.CHECKERS, "Mine"]
    assert reports.reports[-1].findings[0].sentence == "There are ops."
    assert registry.summaries()["Mine"] == "Ops, all of them."


def test_an_added_checker_can_be_an_object(added):
    code = "class C:\n SUMMARY = ''\n def check(self, profile):\n  return []\nc = C()"
    added(code, Mine="other_checker:c")

    assert advised("Mine").reports[0].findings == ()
    assert advised("Mine").notes == ()


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
        (
            "SUMMARY = ''\ndef check(_): return ['slow']",
            "TypeError: it returned 'slow', not a F",
        ),
        ("SUMMARY = ''\ndef check(_): return None", "TypeError: 'NoneType' object is not iterable"),
        ("SUMMARY = ''\ndef check(p): p.ops.code[0] = 1", "ValueError: assignment destination"),
    ],
)
def test_a_failing_checker_is_noted_on_one_line_and_the_others_still_run(code, trouble, added):
    added(code, Mine="other_checker")

    reports = advised("DataFeedingChecker", "Mine")

    assert len(reports.reports[0].findings) == 1
    assert reports.reports[1].findings == ()
    (note,) = reports.notes
    assert note.startswith(f"Mine: it failed: {trouble}")
    assert "\n" not in note


def test_the_summary_of_a_checker_that_cannot_be_loaded_says_so(added):
    added("import nowhere_to_be_found", Mine="other_checker")

    assert registry.summaries()["Mine"].startswith("It cannot be loaded: ModuleNotFoundError")


def test_an_added_checker_whose_name_is_taken_is_skipped_with_a_note(added):
    added(GOOD, OperationChecker="other_checker")

    assert advised("OperationChecker").notes == (
        "OperationChecker: the checker other_checker is skipped: the name is already taken.",
    )
    assert advised("OperationChecker").reports[0].findings == ()
