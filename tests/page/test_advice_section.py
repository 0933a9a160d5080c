"""Findings as the page has them."""

import tfprof
from build import op, profile, run
from report_pages import MODELS, ROOT
from tfprof.advisor import registry
from tfprof.advisor.finding import Evidence, Finding, Gain
from tfprof.advisor.registry import Report, Reports
from tfprof.page import advice
from tfprof.units import Unit


def section(monkeypatch, *findings, notes=()):
    """The section of these findings, one per checker."""
    reports = Reports(tuple(Report(name, tuple(found)) for name, found in findings), tuple(notes))
    monkeypatch.setattr(registry, "advise", lambda _: reports)
    return advice.section(profile(op("a")), "graph.pb 'my log'")


def finding(sentence="It is slow.", columns=None, rows=(), **facts):
    return Finding(sentence, Evidence.of(columns or {}, rows), **facts)


def test_findings_are_sorted_by_gain_and_unknown_gains_come_last(monkeypatch):
    found = section(
        monkeypatch,
        ("A", [finding("small", gain=Gain(1, 10, Unit.MICROS, "of the step"))]),
        ("B", [finding("unknown"), finding("large", gain=Gain(9, 10, Unit.BYTES, "in use"))]),
    )

    assert [one["sentence"] for one in found["findings"]] == ["large", "small", "unknown"]
    assert [one["checker"] for one in found["findings"]] == ["B", "A", "B"]


def test_a_gain_is_written_in_the_units_of_the_page(monkeypatch):
    gain = Gain(1_500, 3_000, Unit.MICROS, "of the step")
    (found,) = section(monkeypatch, ("A", [finding(gain=gain)]))["findings"]

    assert found["gain"] == {
        "text": "at most 1.50\N{NO-BREAK SPACE}ms of 3.00\N{NO-BREAK SPACE}ms of the step (50.00%)",
        "share": 0.5,
        "value": 1_500_000,
        "unit": "nanos",
    }


def test_evidence_has_exact_numbers_and_the_views_of_its_names(monkeypatch):
    columns = {"op": None, "size": Unit.BYTES, "time": Unit.MICROS}
    one = finding(columns=columns, rows=[("a/b", 12, 7)])
    (found,) = section(monkeypatch, ("A", [one]))["findings"]

    assert found["evidence"] == {
        "columns": [
            {"heading": "op", "unit": None, "view": "scope"},
            {"heading": "size", "unit": "bytes", "view": None},
            {"heading": "time", "unit": "nanos", "view": None},
        ],
        "rows": [["a/b", 12, 7_000]],
    }


def test_columns_of_zeros_and_repeated_columns_are_left_out(monkeypatch):
    columns = {"kind": None, "cpu": Unit.MICROS, "gpu": Unit.MICROS, "total": Unit.MICROS}
    one = finding(columns=columns, rows=[("MatMul", 3, 0, 3), ("Add", 1, 0, 1)])
    (found,) = section(monkeypatch, ("A", [one]))["findings"]

    assert [column["heading"] for column in found["evidence"]["columns"]] == ["kind", "total"]
    assert found["evidence"]["rows"] == [["MatMul", 3_000], ["Add", 1_000]]


def test_a_command_can_be_pasted(monkeypatch):
    one = finding(command=("op", "-show_name_regexes", "a b|c"))
    (found,) = section(monkeypatch, ("A", [one]))["findings"]

    assert found["command"] == "tfprof op graph.pb 'my log' -show_name_regexes 'a b|c'"


def test_checkers_without_findings_are_listed_unless_they_could_not_run(monkeypatch):
    empty = [(name, []) for name in ("OperationChecker", "TinyOperationChecker")]
    found = section(monkeypatch, *empty, notes=["TinyOperationChecker, Other: no steps."])

    assert [one["checker"] for one in found["quiet"]] == ["OperationChecker"]
    assert found["quiet"][0]["summary"].startswith("Ops that have a faster alternative")
    assert found["notes"] == ["TinyOperationChecker, Other: no steps."]


def test_the_page_has_the_findings_of_the_api():
    loaded = tfprof.load(*(ROOT / name for name in MODELS["resnet32"]))
    found = advice.section(loaded.columns, "")["findings"]
    expected = sorted(one.sentence for one in loaded.advise())

    assert sorted(one["sentence"] for one in found) == expected


def test_a_profile_without_runs_has_notes_instead_of_findings():
    found = advice.section(profile(op("a")), "")

    assert found["findings"] == []
    assert any("no step with times was recorded" in note for note in found["notes"])


def test_runs_are_checked():
    assert advice.section(profile(run("a", 900)), "")["findings"]
