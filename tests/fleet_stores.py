"""Stores for tests, collected in this process."""

from concurrent.futures import ThreadPoolExecutor

import tfprof


def stored(folder, runs, common=(), *, keeps_runs=False):
    """The profile of a store with these files; runs may be pairs of step and path."""
    named = (f"{run[0]}:{run[1]}" if isinstance(run, tuple) else run for run in runs)
    with ThreadPoolExecutor(1) as executor:
        done = tfprof.collect([*common, *named], folder, executor=executor, runs=keeps_runs)
    assert not done.damaged
    return tfprof.load(folder)
