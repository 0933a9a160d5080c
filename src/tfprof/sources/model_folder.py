"""The folder of a training run or of a model: the files in it that belong together."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from tfprof.formats.table_footer import is_sorted_table

# The names of graphs, the first that exists is used.
GRAPHS = ("graph.pbtxt", "graph.pb")
LOG = "tfprof_log"
# The names of the weights of a model in Hugging Face's libraries, the first that exists is used.
_WEIGHTS = tuple(
    name + index
    for name in (
        *("model.safetensors", "diffusion_pytorch_model.safetensors", "adapter_model.safetensors"),
        *("pytorch_model.bin", "diffusion_pytorch_model.bin", "adapter_model.bin"),
    )
    for index in (".index.json", "")
)
# The names of what `torch.compile` writes to the folder `TORCH_TRACE`, one file per process.
_COMPILE_LOGS = "dedicated_log_torch_trace_*.log"
METADATA = "metadata"  # a training hook writes run metadata and the op log here
_RUN = re.compile(r"run_meta(?:data)?(?:_([0-9]+))?(?:\.pb(?:txt)?)?(?:\.gz)?")

_STATE = "checkpoint"  # the file that contains the name of the latest checkpoint
_MOST_STATE_BYTES = 1 << 16
_LATEST = re.compile(rb'^[^\S\n]*model_checkpoint_path\s*:\s*"([^"\\]+)"', re.MULTILINE)
_INDEX = ".index"


def files_in(folder: Path) -> list[Path]:
    """The files of a training run in `folder`, or of a model; empty if there are none.

    A folder that has only logs of `torch.compile` stands for these.
    """
    run = [*_graph(folder), *_runs(folder), *_log(folder), *_checkpoint(folder)]
    if run or (run := weights_in(folder)):
        return run
    logs = sorted(folder.glob(_COMPILE_LOGS))
    return logs if len(logs) == len(list(folder.iterdir())) else []


def weights_in(folder: Path) -> list[Path]:
    """The file with the weights of the model in `folder`, or their index; empty if none."""
    return [folder / name for name in _WEIGHTS if (folder / name).is_file()][:1]


def is_run_metadata(name: str) -> bool:
    """Whether a file has the name of run metadata."""
    return _RUN.fullmatch(name) is not None


def first_file(*paths: Path) -> Path | None:
    """The first of `paths` that exists as a file, gzipped or not."""
    packed = (path.with_name(name) for path in paths for name in (path.name, f"{path.name}.gz"))
    return next((path for path in packed if path.is_file()), None)


def latest_checkpoint(folder: Path) -> Path | None:
    """The checkpoint named in the folder's state file, or else the newest."""
    state = folder / _STATE
    if state.is_file():
        with state.open("rb") as file:
            found = _LATEST.search(file.read(_MOST_STATE_BYTES))
        if found is not None:
            # The path may be from another machine, but the checkpoint is beside the state file.
            path = folder / Path(found[1].decode("utf-8", "replace")).name
            if path.is_file() or path.with_name(path.name + _INDEX).is_file():
                return path
    indices = sorted(folder.glob(f"*{_INDEX}"), key=lambda path: path.stat().st_mtime)
    saved = [path.with_suffix("") for path in indices if _is_checkpoint(path)]
    return saved[-1] if saved else None


def _is_checkpoint(index: Path) -> bool:
    return index.name.startswith("model.ckpt") or is_sorted_table(str(index))


def _graph(folder: Path) -> Iterator[Path]:
    found = first_file(*(folder / name for name in GRAPHS))
    if found is not None:
        yield found


def _runs(folder: Path) -> list[Path]:
    """The run metadata of all steps, in the order of their numbers."""
    for place in (folder / METADATA, folder):
        found = [(match, path) for path in place.glob("run_meta*") if (match := _run(path))]
        if found:
            return [path for _, path in sorted(found, key=lambda run: int(run[0][1] or 0))]
    return []


def _run(path: Path) -> re.Match[str] | None:
    return _RUN.fullmatch(path.name) if path.is_file() else None


def _log(folder: Path) -> Iterator[Path]:
    found = first_file(folder / METADATA / LOG, folder / LOG)
    if found is not None:
        yield found


def _checkpoint(folder: Path) -> Iterator[Path]:
    found = latest_checkpoint(folder)
    if found is not None:
        yield found
