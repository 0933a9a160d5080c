"""Writes the files of this folder with PyTorch."""

import io
import json
import shutil
import struct
import zipfile
from pathlib import Path
from typing import Any

import torch
import torch.distributed.checkpoint
from torch import nn

HERE = Path(__file__).parent
TYPES = {torch.float32: "F32", torch.int64: "I64"}


class Net(nn.Module):
    """A model with a list of modules, statistics, and a weight that two modules share."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(10, 4)
        self.blocks = nn.ModuleList([nn.Linear(4, 4), nn.Linear(4, 4)])
        self.norm = nn.BatchNorm1d(4)
        self.head = nn.Linear(4, 10, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        x = self.embed(tokens)
        for block in self.blocks:
            x = torch.relu(block(x))
        return self.head(self.norm(x))


def trained() -> tuple[Net, torch.optim.Optimizer]:
    """The model and its optimizer after one step."""
    torch.manual_seed(1)
    net = Net()
    optimizer = torch.optim.AdamW(net.parameters())
    net(torch.arange(8)).square().sum().backward()
    optimizer.step()
    return net, optimizer


def write_safetensors(path: Path, tensors: dict[str, torch.Tensor]) -> None:
    """Write tensors as the library `safetensors` does."""
    header, values = {"__metadata__": {"format": "pt"}}, b""
    for name, tensor in tensors.items():
        data = tensor.detach().numpy().tobytes()
        span = [len(values), len(values) + len(data)]
        header[name] = {
            "dtype": TYPES[tensor.dtype],
            "shape": [*tensor.shape],
            "data_offsets": span,
        }
        values += data
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + values)


def write_shards(folder: Path, tensors: dict[str, torch.Tensor]) -> None:
    """Write tensors to two files with an index."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    names = list(tensors)
    listed = {}
    for number, chosen in enumerate((names[:3], names[3:]), start=1):
        file = f"model-{number:05}-of-00002.safetensors"
        write_safetensors(folder / file, {name: tensors[name] for name in chosen})
        listed |= dict.fromkeys(chosen, file)
    size = sum(tensor.nbytes for tensor in tensors.values())
    index = {"metadata": {"total_size": size}, "weight_map": listed}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index, indent=2), "utf-8")
    (folder / "config.json").write_text('{"model_type": "net"}', "utf-8")


def rewrite(path: Path, members: dict[str, bytes]) -> None:
    """Replace the files in an archive."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(zipfile.ZipInfo(name), data)


def without_paths(path: Path) -> None:
    """Remove the paths of this machine from the code in a file."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    packages = Path(torch.__file__).parents[1]
    places = {f"{HERE}/": b"", f"{packages}/": b"/usr/lib/python3/site-packages/"}
    for place, other in places.items():
        members = {name: data.replace(place.encode(), other) for name, data in members.items()}
    rewrite(path, {name: data for name, data in members.items() if "debug_pkl" not in name})


def export(net: Net) -> None:
    """Write the program for any batch, and the same as older versions wrote it."""
    batch = torch.export.Dim("batch", max=64)
    shapes = ({0: batch},)
    program = torch.export.export(net, (torch.arange(8),), dynamic_shapes=shapes)
    torch.export.save(program, HERE / "net.pt2")
    without_paths(HERE / "net.pt2")
    state = io.BytesIO()
    torch.save(net.state_dict(), state)
    with zipfile.ZipFile(HERE / "net.pt2") as archive:
        graph = archive.read("net/models/model.json")
    old = {
        "serialized_exported_program.json": graph,
        "serialized_state_dict.pt": state.getvalue(),
        "version": b"8.5",
    }
    rewrite(HERE / "old.pt2", old)


def save_distributed(folder: Path, state: dict[str, Any]) -> None:
    """Write the state as `torch.distributed.checkpoint` does, in a single process."""
    shutil.rmtree(folder, ignore_errors=True)
    torch.distributed.checkpoint.save(state, checkpoint_id=folder.name, no_dist=True)
    shutil.move(folder.name, folder)


def main() -> None:
    net, optimizer = trained()
    state = {"model": net.state_dict(), "optimizer": optimizer.state_dict(), "epoch": 3}
    torch.save(state, HERE / "checkpoint.pt")
    save_distributed(HERE / "distributed", state)
    torch.save(net, HERE / "module.pt")
    torch.save(net.state_dict(), HERE / "old.pt", _use_new_zipfile_serialization=False)
    torch.jit.script(net.eval()).save(HERE / "script.pt")
    without_paths(HERE / "script.pt")
    export(net)
    tensors = net.state_dict()
    tensors.pop("head.weight")  # the format does not allow shared tensors
    write_safetensors(HERE / "net.safetensors", tensors)
    write_shards(HERE / "sharded", tensors)


if __name__ == "__main__":
    main()
