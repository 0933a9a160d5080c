"""The screenshots of the manual, and how a new one is compared with the one in the manual."""

from __future__ import annotations

from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import numpy as np
from PIL import Image

ROOT = Path(__file__).parent.parent
IMAGES = ROOT / "docs" / "images"
SCALE = 2  # pixels of a picture per pixel of the page

# Two pictures are alike if few cells of a grid differ clearly in their mean colour or in how much
# the colours in them vary. Other fonts change many cells a little; another layout, missing text or
# panels and another theme change some cells a lot.
CELL = 60  # pixels of the page
CLEARLY = 24  # of 255
FEW = 0.06  # of all cells


@dataclass(frozen=True, slots=True)
class Screenshot:
    """The picture `docs/images/NAME.png`, of a report or of a terminal."""

    name: str
    width: int
    height: int
    theme: str = "light"
    report: str = ""  # a report of the gallery
    state: str = ""  # the part of the report's URL after the `#`
    commands: tuple[str, ...] = ()  # a terminal in which these were typed

    @property
    def path(self) -> Path:
        return IMAGES / f"{self.name}.png"


SELECTED = "params,float_ops,micros"
SCREENSHOTS = [
    Screenshot("report-resnet32", width=1200, height=760, report="resnet32"),
    Screenshot("report-transformer", width=1200, height=760, report="transformer"),
    Screenshot("report-large", width=1200, height=760, report="large"),
    Screenshot(
        "terminal",
        width=900,
        height=840,
        commands=(
            f"tfprof layers *.tfprof -step 4 -select {SELECTED} -max_depth 3 -min_micros 100",
            "tfprof memory *.tfprof -step 4 2>/dev/null | head -19",
        ),
    ),
]


def small(picture: bytes) -> bytes:
    """The same picture with 256 colours: a third of the size."""
    image = Image.open(BytesIO(picture)).convert("RGB").quantize(256, dither=Image.Dither.NONE)
    file = BytesIO()
    image.save(file, "PNG", optimize=True)
    return file.getvalue()


def unlike(one: bytes, other: bytes) -> float:
    """The share of cells that clearly differ; 1 if the sizes differ."""
    first, second = cells(one), cells(other)
    if first.shape != second.shape:
        return 1.0
    return float((np.abs(first - second).max(axis=-1) > CLEARLY).mean())


def cells(picture: bytes) -> np.ndarray:
    """Mean and standard deviation of red, green and blue in each cell; rows, columns, numbers."""
    image = np.asarray(Image.open(BytesIO(picture)).convert("RGB"), dtype=np.float32)
    side = CELL * SCALE
    rows, columns = image.shape[0] // side, image.shape[1] // side
    blocks = image[: rows * side, : columns * side].reshape(rows, side, columns, side, 3)
    return np.concatenate([blocks.mean(axis=(1, 3)), blocks.std(axis=(1, 3))], axis=-1)
