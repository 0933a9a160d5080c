"""Copies between devices while nothing computes."""

import pytest

from build import CPU, MEMCPY, copy, op, profile, run
from kineto_programs import copy as traced_copy
from kineto_programs import launch, loaded, python
from kineto_programs import op as traced_op
from tfprof.advisor import device_copies
from tfprof.cli import main


def test_a_transfer_while_nothing_computes_is_found():
    p = profile(copy("edge_7_images", 400), run("work", 700, start=1300))

    (finding,) = device_copies.check(p)

    assert finding.sentence.startswith("For 300us of step 0, data was copied")
    assert finding.evidence.to_dicts() == [
        {"recorded_by": MEMCPY, "what": "edge_7_images", "copies": 1, "time_micros": 400}
    ]
    assert (finding.gain.amount, finding.gain.of) == (400, 1000)


@pytest.mark.parametrize("kind", ["_Send", "_Recv", "_HostRecv", "edge_12_images"])
def test_send_and_receive_ops_are_copies_too(kind):
    p = profile(op("transfer", kind), run("transfer", 400), run("work", 700, start=1300))

    (finding,) = device_copies.check(p)

    assert finding.ops == ("transfer",)
    assert finding.gain.amount == 400


@pytest.mark.parametrize(("with_stack", "view"), [(True, "code"), (False, "scope")])
def test_a_command_shows_what_copies_in_pytorch(tmp_path, capsys, with_stack, view):
    frames = [python("train.py(7): step", 0, 600)] if with_stack else []
    profile = loaded(
        tmp_path,
        *frames,
        traced_op("aten::copy_", 1, 500),
        launch(1, 2),
        traced_copy("Memcpy HtoD (Pinned -> Device)", 1, 10, 400),
    )

    (finding,) = device_copies.check(profile.columns)
    main([*finding.command, str(tmp_path / "trace.json")])

    assert finding.command[:3] == (view, "-select", "transfer_micros")
    assert "400us" in capsys.readouterr().out


def test_copies_with_the_same_name_are_added_up():
    p = profile(
        copy("RecvTensor", 300, device=CPU),
        copy("RecvTensor", 200, start=1500, device=CPU),
        op("transfer", "_Recv"),
        run("transfer", 100, start=2000),
    )

    (finding,) = device_copies.check(p)

    assert [(row["what"], row["copies"]) for row in finding.evidence.to_dicts()] == [
        ("RecvTensor", 2),
        ("transfer", 1),
    ]


def test_a_transfer_that_overlaps_with_work_is_not_reported():
    assert list(device_copies.check(profile(copy("x", 900), run("work", 1000)))) == []


def test_a_short_transfer_is_not_reported():
    assert list(device_copies.check(profile(copy("x", 99), run("work", 500, start=1100)))) == []


def test_a_step_without_transfers_is_not_reported():
    assert list(device_copies.check(profile(run("work", 1000)))) == []
