"""The runs of ops in which several hosts take part."""

from build import GPU, GPU_STREAM, op, profile, run
from tfprof.measures.collectives import collectives, is_collective
from tfprof.measures.step_sums import step_totals
from tfprof.model.ops import Phase


def test_collectives_are_known_by_their_kinds():
    kinds = ("CollectiveReduceV2", "NcclAllReduce", "_NcclBroadcastRecv", "MatMul", "Collect")
    setup = ("CollectiveAssignGroupV2", "CollectiveInitializeCommunicator")
    p = profile(*(op(kind, kind) for kind in (*kinds, *setup)))

    found = dict(zip(p.ops.name, is_collective(p).tolist(), strict=True))

    assert [kind for kind in (*kinds, *setup) if found[kind]] == list(kinds[:3])


def test_an_op_is_a_collective_if_its_source_says_so():
    p = profile(op("all_reduce", "c10d::allreduce_", phase=Phase.COMMUNICATION), op("b"))

    assert is_collective(p).tolist() == [True, False]


def test_runs_are_counted_in_each_step():
    p = profile(
        op("sum", "CollectiveReduceV2"),
        run("sum", 3, start=100),
        run("sum", 3, start=50),
        run("sum", 3, start=20, step=1),
        run("other", 3, start=10),
    )

    found = collectives(p)

    assert found.step.tolist() == [0, 0, 1]
    assert found.order.tolist() == [0, 1, 0]
    assert found.start_ns.tolist() == [50_000, 100_000, 20_000]
    assert found.end_ns.tolist() == [53_000, 103_000, 23_000]
    assert [p.ops.name[row] for row in found.op.tolist()] == ["sum"] * 3


def test_the_run_that_launches_a_kernel_is_not_a_collective_at_work():
    p = profile(
        op("sum", "NcclAllReduce"),
        run("sum", 2, start=100, device=GPU),
        run("sum", 30, start=110, device=GPU_STREAM),
    )

    assert collectives(p).start_ns.tolist() == [110_000]
    assert step_totals(p).communication_ns.tolist() == [30_000]


def test_communication_is_exposed_while_nothing_else_runs():
    p = profile(
        op("sum", "CollectiveReduceV2"),
        run("sum", 100, start=100),
        run("work", 30, start=150),
        run("work", 30, start=300),
    )

    totals = step_totals(p)

    assert totals.communication_ns.tolist() == [100_000]
    assert totals.exposed_ns.tolist() == [70_000]
    assert totals.busy_ns.tolist() == [130_000]
