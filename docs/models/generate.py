"""Generates the page of models: `make models`.

cd docs && python -m models.generate [--models NAME,…] [--folder FOLDER]

Each model is built in a process of its own. With --models only these are measured again; the facts
of the others stay. --folder keeps the exported models, and models that are already there are read
without building them again.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from models.facts import Facts, Recorded, installed_versions
from models.names import APPLICATIONS, CUSTOM
from models.page import page

_DOCS = Path(__file__).parents[1]
_PAGE = _DOCS / "reference" / "models.md"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", help="names separated by commas (default: all)")
    parser.add_argument("--folder", type=Path, help="where to keep exported models")
    args = parser.parse_args()
    names = args.models.split(",") if args.models else [*APPLICATIONS, *CUSTOM]
    before = Recorded.read()
    measured = dict(_measured(names, args.folder))
    models = before.models | measured
    order = [name for name in (*APPLICATIONS, *CUSTOM) if name in models]
    recorded = Recorded(installed_versions(), {name: models[name] for name in order})
    recorded.write()
    _PAGE.write_text(page(recorded, APPLICATIONS), encoding="utf-8")
    print("wrote", _PAGE)


def _measured(names: Sequence[str], folder: Path | None) -> Iterator[tuple[str, Facts]]:
    for name in names:
        print(name, flush=True)
        with tempfile.TemporaryDirectory() as fresh:
            place = folder or Path(fresh)
            if not (place / f"{name}.json").exists():
                command = [sys.executable, "-m", "models.record", name, str(place.resolve())]
                subprocess.run(command, check=True, cwd=_DOCS)  # noqa: S603 -- our own module
            yield name, Facts.read(name, place)


if __name__ == "__main__":
    main()
