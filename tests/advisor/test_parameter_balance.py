"""The balance of parameters over parameter servers."""

import pytest

from build import op, profile, run
from tfprof.advisor import parameter_balance
from tfprof.errors import MissingInputError

SERVERS = ("/job:ps/replica:0/task:0", "/job:ps/replica:0/task:1")


def spread(*sizes, kind="VariableV2", servers=SERVERS):
    """A variable of each size, each on its own server."""
    facts = []
    for number, (size, server) in enumerate(zip(sizes, servers, strict=True)):
        name = f"v{number}"
        facts += [op(name, kind, shape=(size,)), run(name, device=f"{server}/cpu:0")]
    return profile(*facts)


def test_an_uneven_spread_is_found():
    (finding,) = parameter_balance.check(spread(25_810_000, 58_840_000))

    assert finding.sentence == (f"{SERVERS[1]} holds 58.84m parameters, {SERVERS[0]} only 25.81m.")
    assert finding.evidence.to_dicts() == [
        {"parameter_server": SERVERS[1], "parameters": 58_840_000},
        {"parameter_server": SERVERS[0], "parameters": 25_810_000},
    ]
    # With an even spread, each server would hold 42.33m.
    assert finding.gain.amount == 58_840_000 - 42_325_000


@pytest.mark.parametrize("job", ["ps", "gps", "ps_a", "my_ps_job"])
def test_a_parameter_server_is_a_job_with_ps_in_its_name(job):
    servers = (f"/job:{job}/task:0", f"/job:{job}/task:1")

    (finding,) = parameter_balance.check(spread(10**6, 10**8, servers=servers))

    assert finding.sentence.startswith(servers[1])


def test_a_server_without_variables_counts():
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
def test_other_spreads_are_not_reported(p):
    assert list(parameter_balance.check(p)) == []


def test_the_error_without_a_step_names_the_file_to_give():
    with pytest.raises(MissingInputError, match="--run_meta_path"):
        list(parameter_balance.check(profile(op("v", "VariableV2", shape=(3,)))))
