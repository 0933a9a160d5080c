import pytest
from measure import ORIGINAL, OURS, Samples, turns
from phases import Measure, Phases, reported

pytestmark = pytest.mark.dist


def test_profilers_alternate_until_each_has_had_its_number_of_runs():
    assert list(turns(3, 1)) == [OURS, ORIGINAL, OURS, OURS]
    assert list(turns(2, 2)) == [OURS, ORIGINAL, OURS, ORIGINAL]


def test_a_figure_is_the_median_of_its_samples():
    samples = Samples()
    for seconds, peak_mb in ((1.0, 30.0), (9.0, 10.0), (2.0, 20.0)):
        samples.add({"load": Measure(seconds, peak_mb)})

    assert samples.median("load") == Measure(2.0, 20.0)
    assert samples.median("import") is None


def test_a_process_reports_its_phases_in_order(capsys):
    phases = Phases()
    for name in ("load", "first view"):
        with phases.phase(name):
            pass
    print("output of a library")
    phases.report()

    measures = reported(capsys.readouterr().out)

    assert list(measures) == ["load", "first view"]
    assert all(measure.seconds >= 0 and measure.peak_mb > 1 for measure in measures.values())
