"""pprof and speedscope files have the numbers of their view, for any question."""

import json

from hypothesis import assume, given, reject
from hypothesis import strategies as st
from test_view_properties import TREES

from asking import ask
from pprof_reader import PprofFile
from profile_strategies import accounts, filters, often, orders, profiles
from tfprof.errors import OptionError
from tfprof.metrics import BY_KEY, METRICS
from tfprof.outputs import pprof, speedscope
from tfprof.outputs.pprof import classic

KEYS = [metric.key for metric in METRICS if metric.is_number]


def written(view, **settings):
    return PprofFile(b"".join(pprof.encode(view, **settings)))


@often
@given(profiles(), accounts(), filters(), orders(), st.sampled_from(KEYS))
def test_the_classic_pprof_file_and_its_note_add_up_to_the_view(p, account, filter_, order, metric):
    try:
        view = ask("code", p, **account, **filter_, order_by=order, select=[metric])
        found = written(view)
    except OptionError:  # there is no code, or no row has calls
        reject()

    ops, amount = classic.missing(view, BY_KEY[metric])
    assert found.total(metric) + amount == view.total[metric][0]
    assert len(found.samples) + ops == view.hidden.ops + len(view.members.values)


@often
@given(
    profiles(),
    st.sampled_from(TREES),
    accounts(),
    filters(),
    st.booleans(),
)
def test_the_totals_of_a_complete_pprof_file_equal_those_of_the_view(
    p, kind, account, filter_, only_shown
):
    view = ask(kind, p, **account, **filter_, select=KEYS, account_displayed_op_only=only_shown)

    found = written(view, complete=True)

    assert {key: found.total(key) for key in KEYS} == {key: int(view.total[key][0]) for key in KEYS}


@often
@given(profiles(), st.sampled_from(["scope", "graph"]), accounts(), filters())
def test_samples_below_a_pprof_frame_add_up_to_the_total_of_its_row(p, kind, account, filter_):
    view = ask(kind, p, **account, **filter_)

    found = written(view, complete=True)

    for row, name in enumerate(view.name):
        inside = [sample.values["micros"] for sample in found.samples if name in sample.stack]
        assert row == 0 or sum(inside) == view.total["micros"][row]
    assume(len(view) > 1)


@often
@given(profiles(), st.sampled_from(TREES), accounts(), filters(), st.booleans())
def test_frames_of_a_speedscope_file_are_as_long_as_the_totals_of_their_rows(
    p, kind, account, filter_, only_shown
):
    view = ask(kind, p, **account, **filter_, account_displayed_op_only=only_shown)

    (found,) = json.loads(b"".join(speedscope.encode(view)))["profiles"]

    assert found["endValue"] == view.total["micros"][0]
    assert sorted(closed_frames(found["events"])) == sorted(
        micros for micros in view.total["micros"][1:].tolist() if micros
    )


def closed_frames(events):
    """How long each frame is open; frames are closed in the correct order."""
    stack, now = [], 0
    for event in events:
        assert event["at"] >= now
        now = event["at"]
        if event["type"] == "O":
            stack.append(event)
        else:
            opened = stack.pop()
            assert opened["frame"] == event["frame"]
            if event["frame"]:  # the root has the remainder
                yield now - opened["at"]
    assert not stack
