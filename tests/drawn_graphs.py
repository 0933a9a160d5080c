"""The section `graph` of a report as the page reads it, for tests."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tfprof.model.profile import ProfileColumns
from tfprof.page import graph
from tfprof.page.groups import Kind

GRADIENT = 4


@dataclass
class Drawn:
    """A drawn graph without the backward pass: the group and the cell of each op, by name."""

    profile: ProfileColumns
    section: dict

    @property
    def names(self) -> list[str]:
        return list(self.profile.ops.name)

    @property
    def paths(self) -> list[str]:
        """The labels of each group and of those around it."""
        found, open_ends = [], []
        for group, end in enumerate(self.section["end"].tolist()):
            while open_ends and open_ends[-1][0] <= group:
                open_ends.pop()
            above = f"{open_ends[-1][1]}/" if len(open_ends) > 1 else ""
            found.append(above + self.section["label"][group])
            open_ends.append((end, found[-1]))
        return found

    @property
    def home(self) -> list[int]:
        """The group of each op; that of a gradient is that of its layer."""
        section, ops = self.section, self.section["ops"]
        backward = next(
            (group for group, kind in enumerate(section["kind"]) if kind == Kind.BACKWARD), None
        )
        if backward is None:
            return ops["group"].tolist()
        by_row = {
            row: group for group, row in enumerate(section["row"][:backward].tolist()) if row >= 0
        }
        layers = {0: 0}
        parents = self.parents
        for group in range(backward, len(section["end"])):
            row = int(section["row"][group])
            layers[group] = by_row[row] if row in by_row else layers[parents[group]]
        found = ops["group"].tolist()
        for op, forward in zip(self.gradients, ops["forward"].tolist(), strict=True):
            found[op] = found[forward] if forward >= 0 else layers[found[op]]
        return found

    @property
    def parents(self) -> list[int]:
        found = [0] * len(self.section["end"])
        for group, end in enumerate(self.section["end"].tolist()):
            found[group + 1 : end] = [group] * (end - group - 1)
        return found

    @property
    def gradients(self) -> list[int]:
        return np.flatnonzero(self.section["ops"]["flags"] & GRADIENT).tolist()

    @property
    def cells(self) -> dict[str, str | None]:
        """The op that each op is drawn in, None if it has no node."""
        names = self.names
        into = np.arange(len(names)) - self.section["ops"]["back"]
        cells = into.tolist()
        for op, forward in zip(
            self.gradients, self.section["ops"]["forward"].tolist(), strict=True
        ):
            cells[op] = forward
        return {
            name: names[cell] if cell >= 0 else None
            for name, cell in zip(names, cells, strict=True)
        }

    @property
    def groups(self) -> dict[str, str]:
        """The path of the group of each op."""
        paths = self.paths
        return {name: paths[group] for name, group in zip(self.names, self.home, strict=True)}

    def totals(self, numbers: np.ndarray) -> np.ndarray:
        """The sum of a column over each group and the groups below it."""
        own = np.bincount(self.home, numbers, minlength=len(self.section["end"]))
        running = np.append(0, np.cumsum(own))
        return running[self.section["end"]] - running[:-1]

    def labels(self, *, aside: bool | None = None, parent: int = 0) -> list[str]:
        """The labels of the groups in a group."""
        parents = self.parents
        return [
            label
            for group, label in enumerate(self.section["label"])
            if group
            and parents[group] == parent
            and (aside is None or self.section["aside"][group] == aside)
        ]


def drawn(profile: ProfileColumns) -> Drawn:
    """The drawn graph of a profile."""
    section = graph.section(profile)
    assert section is not None
    return Drawn(profile, section)
