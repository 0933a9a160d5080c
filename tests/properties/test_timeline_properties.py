"""Properties of any timeline: it shows exactly the time of its view."""

from itertools import pairwise

from hypothesis import assume, given
from hypothesis import strategies as st

from asking import ask
from build import CPU, GPU, GPU_STREAM, op, profile, run
from profile_strategies import STEPS, accounts, filters, often, orders, profiles
from tfprof.views.nested import nested
from tfprof.views.schedule import Ticks, schedule

steps = st.sampled_from(STEPS)
trees = st.sampled_from(("scope", "code"))
questions = st.just({"max_depth": 100}) | st.builds(
    lambda account, hidden, order: account | hidden | {"order_by": order},
    accounts(),
    filters(),
    orders(),
)

# Few starts and lengths, so that runs start together, overlap and follow each other.
_names = st.sampled_from(("a", "a/b", "a/b/c", "b"))
_stamps = st.integers(1, 8)
_allocations = st.lists(st.tuples(st.integers(0, 900), st.integers(-3, 9)), max_size=3)
_memory = st.fixed_dictionaries({"micros": st.integers(0, 900), "in_use": st.integers(0, 20)})
_runs = st.builds(
    run,
    _names,
    micros=_stamps,
    step=st.sampled_from(STEPS),
    start=_stamps,
    device=st.sampled_from((CPU, GPU, GPU_STREAM)),
    memory=_memory,
    allocations=_allocations,
)
_ops = st.lists(
    st.builds(op, _names, inputs=st.lists(_names, max_size=3)),
    unique_by=lambda fact: fact.name,
)
# In each step an op feeds another one on an accelerator that holds memory. Otherwise few profiles
# would have a flow or a holder.
_FEEDING = [op("fed", inputs=["ran"])]
_FEEDING += [run("ran", step=step) for step in STEPS]
_FEEDING += [
    run("fed", step=step, device=GPU, memory={"micros": 500, "in_use": 20}, allocations=[(1, 5)])
    for step in STEPS
]
timed_profiles = st.builds(
    lambda ops, runs: profile(*ops, *runs, *_FEEDING), _ops, st.lists(_runs, max_size=12)
)


def shown_runs(view, step):
    """Device, start, place in the view and duration of each run of a shown op in a step."""
    p = view.profile
    place = {op: place for place, op in enumerate(view.members.values.tolist())}
    records, runs = p.records, p.executions
    start, duration = runs.start_ns // 1000, runs.duration_ns // 1000
    columns = zip(runs.record, runs.device, start, duration, strict=True)
    for record, device, start, duration in columns:
        op = int(records.op[record])
        # An op without a device is not in the schedule.
        number = p.steps.number[records.step[record]]
        if number == step and op in place and p.home(0)[op] >= 0:
            yield int(device), int(start), place[op], int(duration)


@often
@given(timed_profiles, questions, steps)
def test_a_schedule_has_the_first_of_the_shown_runs_with_the_same_start(p, question, step):
    view = ask("graph", p, **question | {"step": step})
    plan = schedule(view, STEPS.index(step), Ticks.MICROS)

    devices = [p.devices.name.index(name) for name in plan.devices.name]
    slots = plan.slots
    found = {
        (devices[device], start): (op, duration)
        for device, start, op, duration in zip(
            *(c.tolist() for c in (slots.device, slots.start, slots.op, slots.duration)),
            strict=True,
        )
    }
    wanted = {}
    runs = list(shown_runs(view, step))
    for device, start, place, duration in sorted(runs, key=lambda run: run[2]):
        wanted.setdefault((device, start), (int(view.members.values[place]), duration))
    assert found == wanted
    assert len(slots) == len(found)
    assert plan.left_out == len(runs) - len(slots)
    assume(len(slots) > 0)


@often
@given(timed_profiles, questions, steps)
def test_an_exact_schedule_has_every_shown_run(p, question, step):
    view = ask("graph", p, **question | {"step": step})
    slots = schedule(view, STEPS.index(step), Ticks.NANOS).slots

    runs = [(start, duration) for _, start, _, duration in shown_runs(view, step)]
    exact = zip((slots.start // 1000).tolist(), (slots.duration // 1000).tolist(), strict=True)
    assert sorted(exact) == sorted(runs)
    assert len(set(slots.run.tolist())) == len(slots)
    assume(len(runs) > 0)


@often
@given(timed_profiles, questions, steps)
def test_slots_of_a_lane_do_not_overlap(p, question, step):
    slots = schedule(ask("graph", p, **question), STEPS.index(step), Ticks.MICROS).slots

    columns = (slots.device, slots.lane, slots.start, slots.duration)
    for one, other in pairwise(zip(*(column.tolist() for column in columns), strict=True)):
        assert one[:3] < other[:3]
        assert one[:2] != other[:2] or one[2] + one[3] <= other[2]
    assume(len(slots) > 1)


@often
@given(timed_profiles, questions, steps, st.sampled_from([Ticks.MICROS, Ticks.NANOS]))
def test_a_flow_connects_slots_on_different_devices(p, question, step, ticks):
    plan = schedule(ask("graph", p, **question), STEPS.index(step), ticks)
    slots, flows = plan.slots, plan.flows

    ends = set(flows.producer.tolist()) | set(flows.consumer.tolist())
    assert ends <= set(range(len(slots)))
    assert (slots.device[flows.producer] != slots.device[flows.consumer]).all()
    assert (flows.producer[1:] >= flows.producer[:-1]).all()
    assume(len(flows.producer) > 0)


@often
@given(timed_profiles, questions, steps, st.sampled_from([Ticks.MICROS, Ticks.NANOS]))
def test_holders_and_the_rest_add_up_to_the_memory_in_use(p, question, step, ticks):
    curves = schedule(ask("graph", p, **question), STEPS.index(step), ticks).memory

    for curve in curves:
        held = curve.holders.sums(curve.holder_bytes)

        assert (held + curve.rest == curve.in_use).all()
        assert (curve.rest >= 0).all()
        assert curve.in_use.max(initial=0) <= curve.peak
    assume(any(len(curve.holder_bytes) for curve in curves))


@often
@given(profiles(), trees, questions)
def test_the_slices_of_a_tree_have_the_time_of_its_view(p, kind, question):
    view = ask(kind, p, **question)
    slices = nested(view)

    total = view.total["micros"]
    assert slices.duration[0] == total[0]
    assert slices.duration.tolist() == total[slices.row].tolist()
    parents = view.tree.parents.tolist()
    has_slice = [True]
    for row in range(1, len(view)):
        has_slice.append(has_slice[parents[row]] and total[row] > 0)
    assert slices.row.tolist() == [row for row, flag in enumerate(has_slice) if flag]
    assume(len(slices.row) > 1)


@often
@given(profiles(), trees, questions)
def test_slices_are_nested_or_disjoint(p, kind, question):
    slices = nested(ask(kind, p, **question))

    open_ends = []
    for depth, start, duration in zip(
        *(c.tolist() for c in (slices.depth, slices.start, slices.duration)), strict=True
    ):
        ends = open_ends[:depth]
        assert all(start + duration <= end for end in ends)
        assert len(open_ends) <= depth or open_ends[depth] <= start
        open_ends[depth:] = [start + duration]
    assume(len(slices.row) > 1)
