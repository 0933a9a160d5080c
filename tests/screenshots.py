"""The screenshots of the manual, and how a new one is compared with the one in the manual."""

from __future__ import annotations

from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import numpy as np
from PIL import Image
from PIL.PngImagePlugin import PngInfo

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
    """The picture `docs/images/NAME.png`: a terminal, or the view of a report that it names."""

    name: str
    theme: str = "light"
    row: int = -1  # the selected row
    width: int = 1200
    height: int = 760
    commands: tuple[str, ...] = ()  # of a terminal

    @property
    def path(self) -> Path:
        return IMAGES / f"{self.name}.png"

    @property
    def report(self) -> str:
        """The name of the report in the gallery."""
        return self.name.partition("-")[0]

    @property
    def state(self) -> str:
        """The part of the report's URL after the `#`."""
        view = self.name.partition("-")[2]
        return f"view={view}" + (f"&row={self.row}" if self.row >= 0 else "")


SELECTED = "params,float_ops,micros"
SCREENSHOTS = [
    Screenshot("transformer-overview"),
    Screenshot("transformer-layers", row=14),
    Screenshot("transformer-timeline", theme="dark"),
    Screenshot("transformer-memory"),
    Screenshot("resnet32-graph"),
    Screenshot("resnet32-scope", theme="dark"),
    Screenshot("diff-layers", height=1300),
    Screenshot("large-overview"),
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


def small(picture: bytes, browser: str) -> bytes:
    """The same picture with 256 colours, a third of the size, and a note of what took it."""
    image = Image.open(BytesIO(picture)).convert("RGB").quantize(256, dither=Image.Dither.NONE)
    facts = PngInfo()
    facts.add_text("Software", browser)
    file = BytesIO()
    image.save(file, "PNG", optimize=True, pnginfo=facts)
    return file.getvalue()


def browser_of(picture: bytes) -> str:
    """The browser, with its version, that took a picture of the manual."""
    return Image.open(BytesIO(picture)).info.get("Software", "an unknown browser")


def size_of(picture: bytes) -> tuple[int, int]:
    """Width and height of a picture."""
    return Image.open(BytesIO(picture)).size


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
