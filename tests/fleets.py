"""Small fleets of hosts for tests, made by the generator of the benchmarks."""

import sys
from pathlib import Path

import tfprof

sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))

import fleet_servers
from fleet_job import Fault as Fault  # noqa: PLC0414 -- re-exported
from fleet_job import Job as Job  # noqa: PLC0414 -- re-exported

import fleet


def generated(folder, job):
    """The files of all hosts of a job."""
    return fleet.generate(Path(folder), job)


def loaded(folder, job):
    """The profile of all hosts of a job."""
    return tfprof.load(*generated(folder, job))


def loaded_servers(folder, **facts):
    """The profile of all workers of a job with parameter servers."""
    return tfprof.load(*fleet_servers.generate(Path(folder), fleet_servers.ServerJob(**facts)))
