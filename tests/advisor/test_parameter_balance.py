"""Parameters over parameter servers."""

import pytest

from build import op, profile, run
from tfprof.advisor import parameter_balance
from tfprof.errors import MissingInputError

SERVERS = ("/job:ps/replica:0/task:0", "/job:ps/replica:0/task:1")


def spread(*sizes, kind="VariableV2", servers=SERVERS):
    """A variable of each size, each on a server of its own."""
    facts = []
    for place, (size, server) in enumerate(zip(sizes, servers, strict=True)):
        facts += [op(f"v{place}", kind, shape=(size,)), run(f"v{place}", device=f"{server}/cpu:0")]
    return profile(*facts)


def test_the_servers_of_the_documents_are_told_from_each_other():
    (finding,) = parameter_balance.check(spread(25_810_000, 58_840_000))

    assert finding.sentence == (f"{SERVERS[1]} holds 58.84m parameters, {SERVERS[0]} only 25.81m.")
    assert finding.evidence.to_dicts() == [
        {"parameter_server": SERVERS[1], "parameters": 58_840_000},
        {"parameter_server": SERVERS[0], "parameters": 25_810_000},
    ]
    # Evenly spread, each would hold 42.33m.
    assert finding.gain.amount == 58_840_000 - 42_325_000


@pytest.mark.parametrize("job", ["ps", "gps", "ps_a", "my_ps_job"])
def test_a_server_is_a_job_with_ps_in_its_name(job):
    servers = (f"/job:{job}/task:0", f"/job:{job}/task:1")

    (finding,) = parameter_balance.check(spread(10**6, 10**8, servers=servers))

    assert finding.sentence.startswith(servers[1])


def test_a_server_without_any_variable_counts():
    idle = run("x", device=f"{SERVERS[0]}/cpu:0")
    full = [op("v", "VarHandleOp", shape=(10**6,)), run("v", device=f"{SERVERS[1]}/cpu:0")]

    (finding,) = parameter_balance.check(profile(idle, *full))

    assert finding.evidence.to_dicts()[1] == {"parameter_server": SERVERS[0], "parameters": 0}


@pytest.mark.parametrize(
    "p",
    [
        pytest.param(spread(10_000_000, 9_000_000), id="nearly even"),
        pytest.param(spread(150_000, 1_000), id="small"),
        pytest.param(spread(10**6, 10**8, kind="Placeholder"), id="no variables"),
        pytest.param(
            spread(10**6, 10**8, servers=("/job:worker/task:0", "/job:worker/task:1")),
            id="workers",
        ),
        pytest.param(
            spread(10**6, 10**8, servers=("/job:" + "ps" * 100_000, "/job:ps")),
            id="jobs without tasks",
        ),
        pytest.param(spread(10**8, servers=SERVERS[:1]), id="a single server"),
    ],
)
def test_other_spreads_are_left_alone(p):
    assert list(parameter_balance.check(p)) == []


def test_without_a_step_nobody_knows_where_variables_are():
    with pytest.raises(MissingInputError, match="--run_meta_path"):
        list(parameter_balance.check(profile(op("v", "VariableV2", shape=(3,)))))
