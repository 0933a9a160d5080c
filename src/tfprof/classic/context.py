"""`ProfileContext`: traces, profiles and dumps steps of the sessions that run inside it."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from os import PathLike
from typing import Any, NamedTuple, Self

from tfprof.classic.files import make_folder, write
from tfprof.classic.profiler import Profiler
from tfprof.classic.question import report
from tfprof.classic.sessions import Call, route_through
from tfprof.classic.traced_run import write_files
from tfprof.formats.messages import Message
from tfprof.frameworks import tensorflow

WARMUP_STEPS = 10  # the first steps fill caches and are slow
MAX_TRACED_STEPS = 100

# With automatic tracing, runs with known fetches are also traced at random until this share of the
# ops has run.
_ENOUGH_COVERAGE = 0.5
_SEED = 111
_NO_FOLDER = "ProfileContext needs a folder for its profiles: pass `profile_dir`."

_METHODS = {
    "graph": "profile_graph",
    "scope": "profile_name_scope",
    "op": "profile_operations",
    "code": "profile_python",
}


class _AutoProfile(NamedTuple):
    """A view to build after each of these steps."""

    cmd: str
    options: Mapping[str, Any]
    steps: frozenset[int]


class _AutoDump(NamedTuple):
    """A folder for the files of these steps."""

    folder: str | PathLike[str]
    steps: frozenset[int]


class ProfileContext:
    """Counts the session runs inside it, and traces, profiles and dumps some of them.

    Without `trace_steps` it chooses steps itself after a warm-up: runs with new fetches, and random
    others until half of the ops have run. A dump is the file `profile_STEP` in `profile_dir`, which
    `tfprof.load` reads; by default step 100 is dumped. Without a `profile_dir`, as in the first
    version of this class, it traces only on request. If not `enabled`, it does nothing. `debug`
    reports each action on standard error and writes each traced run as text.

    While active, it is available as `BaseSession.profile_context`.
    """

    def __init__(
        self,
        profile_dir: str | PathLike[str] | None = None,
        trace_steps: Sequence[int] | None = None,
        dump_steps: Sequence[int] | None = None,
        enabled: bool = True,
        debug: bool = False,
    ) -> None:
        self._enabled = enabled
        if not enabled:
            return
        if profile_dir is None and not dump_steps:
            trace_steps, dump_steps = trace_steps or (), ()
        elif not profile_dir:
            raise ValueError(_NO_FOLDER)
        if trace_steps is not None and len(trace_steps) > MAX_TRACED_STEPS:
            raise ValueError(f"ProfileContext traces at most {MAX_TRACED_STEPS} steps.")
        self._folder = profile_dir
        self._debug = debug
        self._is_automatic = trace_steps is None
        self._trace_steps = set(trace_steps or ())
        self._dump_steps = {MAX_TRACED_STEPS} if dump_steps is None else set(dump_steps)
        self._auto_profiles: list[_AutoProfile] = []
        self._auto_dumps: list[_AutoDump] = []
        self._views: dict[str, dict[int, Message]] = {}
        self._wants_trace = self._wants_dump = self._wants_run_meta = False
        self._run_meta: Any = None
        self._step = self._traced = 0
        self._fetched: set[str] = set()
        self._random = random.Random(_SEED)  # noqa: S311 -- the same choices every time
        self._profiler: Profiler | None = None
        self._lock = threading.Lock()
        self._leave: Callable[[], None] = lambda: None

    @property
    def profiler(self) -> Profiler | None:
        """The profiler of the steps traced so far; None if the context is not enabled."""
        if not self._enabled:
            return None
        if self._profiler is None:
            self._profiler = Profiler(tensorflow().compat.v1.get_default_graph())
        return self._profiler

    def add_auto_profiling(
        self, cmd: str, options: Mapping[str, Any], profile_steps: Sequence[int]
    ) -> None:
        """Trace these steps, and build the view `cmd` with `options` after each of them."""
        if not self._enabled:
            return
        if cmd not in _METHODS:
            raise ValueError(f"Unknown cmd: {cmd}; use one of {', '.join(_METHODS)}.")
        self._auto_profiles.append(_AutoProfile(cmd, options, frozenset(profile_steps)))
        self._trace_steps |= set(profile_steps)

    def get_profiles(self, cmd: str) -> dict[int, Message]:
        """The views requested with `add_auto_profiling`, by step."""
        if not self._enabled or cmd not in self._views:
            raise ValueError(f"No autoprofiler for command: {cmd}, was run")
        return self._views[cmd]

    def add_auto_profile_dump(self, outdir: str | PathLike[str], dump_steps: Sequence[int]) -> None:
        """Trace these steps, and write `graph.pbtxt`, `run_metadata` and `tfprof_log` to `outdir`.

        Each step overwrites the files of the one before.
        """
        if self._enabled:
            self._auto_dumps.append(_AutoDump(outdir, frozenset(dump_steps)))
            self._trace_steps |= set(dump_steps)

    def trace_next_step(self) -> None:
        """Trace the next run."""
        if self._enabled:
            self._wants_trace = True

    def dump_next_step(self) -> None:
        """Write the profile after the next run."""
        if self._enabled:
            if not self._folder:
                raise ValueError(_NO_FOLDER)
            self._wants_dump = True

    def capture_next_run_meta(self) -> None:
        """Trace the next run and keep its RunMetadata for `run_meta`."""
        if self._enabled:
            self._wants_trace = self._wants_run_meta = True

    def run_meta(self) -> Any:
        """The RunMetadata of the last run, if `capture_next_run_meta` was called before it."""
        if not self._enabled or self._run_meta is None:
            raise ValueError("No RunMetadata: call capture_next_run_meta() before the run.")
        return self._run_meta

    def __enter__(self) -> Self:
        if self._enabled:
            self._leave = route_through(self)
        return self

    def __exit__(self, *_: object) -> None:
        if self._enabled:
            self._leave()

    def run(self, session: Any, run: Callable[..., Any], call: Call) -> Any:
        """Run a session as its caller asked, and trace, dump and profile the step if requested."""
        with self._new_step() as (step, is_alone):
            if not is_alone or not self._is_wanted(step):
                return run(session, *call)
            if self._should_trace(step, session.graph, call.fetches):
                result = self._traced_run(session, run, call, step)
            else:
                result = run(session, *call)
            self._dump(step)
            self._auto_profile(step)
            return result

    @contextmanager
    def _new_step(self) -> Iterator[tuple[int, bool]]:
        """The number of this run, and whether it is the only one in progress."""
        is_alone = self._lock.acquire(blocking=False)
        self._run_meta = None
        try:
            yield self._step, is_alone
        finally:
            self._step += 1
            if is_alone:
                self._wants_trace = self._wants_dump = self._wants_run_meta = False
                self._lock.release()

    def _is_wanted(self, step: int) -> bool:
        if step in self._trace_steps | self._dump_steps or self._wants_trace or self._wants_dump:
            return True
        return self._is_automatic and step > WARMUP_STEPS and self._traced <= MAX_TRACED_STEPS

    def _should_trace(self, step: int, graph: Any, fetches: Any) -> bool:
        if self._traced > MAX_TRACED_STEPS and not self._wants_run_meta:
            return False
        is_traced = step in self._trace_steps or self._wants_trace
        if not is_traced and self._is_automatic and step > WARMUP_STEPS:
            is_traced = self._is_new(graph, fetches) or self._is_sampled(step)
        self._traced += is_traced
        return is_traced

    def _is_new(self, graph: Any, fetches: Any) -> bool:
        """Whether this set of fetches is new."""
        from tensorflow.python.client.session import _FetchMapper  # noqa: PLC0415 -- used by `run` too

        with graph.as_default():
            fetched = _FetchMapper.for_fetch(fetches).unique_fetches()
        key = "-".join(sorted(fetch.name for fetch in fetched))
        self._log(f"trace fetches: {key}")
        is_new = key not in self._fetched
        self._fetched.add(key)
        return is_new

    def _is_sampled(self, step: int) -> bool:
        """Whether to trace a step with known fetches, chosen at random."""
        return (
            self.profiler is not None
            and self.profiler._coverage < _ENOUGH_COVERAGE  # noqa: SLF001 -- named as in the original
            and step < MAX_TRACED_STEPS
            and self._random.randint(0, 10) < 2
        )

    def _traced_run(self, session: Any, run: Callable[..., Any], call: Call, step: int) -> Any:
        """Run with a full trace, without modifying the caller's options."""
        self._log(f"tracing step: {step}")
        v1 = tensorflow().compat.v1
        options = v1.RunOptions()
        if call.options is not None:
            options.CopyFrom(call.options)
        options.trace_level = v1.RunOptions.FULL_TRACE
        run_meta = v1.RunMetadata() if call.run_metadata is None else call.run_metadata
        result = run(session, call.fetches, call.feed_dict, options, run_meta)
        if self._wants_run_meta:
            self._run_meta = run_meta
        if self._debug and self._folder:
            self._write(self._folder, f"run_meta_{step}", str(run_meta).encode())
        # The limit lets one extra step through; runs captured beyond that are not kept in memory.
        if self.profiler is not None and self._traced <= MAX_TRACED_STEPS + 1:
            self.profiler._switch_to(session.graph)  # noqa: SLF001 -- the context owns its profiler
            self.profiler.add_step(step, run_meta)
        for dump in self._auto_dumps:
            if step in dump.steps:
                write_files(dump.folder, session.graph, run_meta, "run_metadata")
        return result

    def _dump(self, step: int) -> None:
        is_wanted = step in self._dump_steps or self._wants_dump
        if is_wanted and self._folder and self.profiler is not None:
            self._log(f"dumping file at step: {step}")
            self._write(self._folder, f"profile_{step}", self.profiler.serialize_to_string())

    def _auto_profile(self, step: int) -> None:
        for auto in self._auto_profiles:
            if step in auto.steps:
                self._log(f"profiling {auto.cmd} step: {step}")
                view = getattr(self.profiler, _METHODS[auto.cmd])(auto.options)
                self._views.setdefault(auto.cmd, {})[step] = view

    def _write(self, folder: str | PathLike[str], name: str, data: bytes) -> None:
        make_folder(folder)
        write(folder, name, data)

    def _log(self, action: str) -> None:
        if self._debug:
            report(f"debug: {action}")
