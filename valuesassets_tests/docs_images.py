"""`python -m valuesassets_tests.docs_images`: the documentation's pictures, out of what the browser tests have seen.

Run it after `make test-all EVIDENCE=1` (and `make demo`, for the map); it takes what is there and says what is not.
"""

import re
import sys
from pathlib import Path

from PIL import Image

from valuesassets_tests.needs import REPOSITORY

IMAGES = REPOSITORY / "docs" / "images"
SHOTS = REPOSITORY / "storage" / "evidence" / "shots"
MAP = REPOSITORY / "storage" / "demo_survey" / "survey" / "cultural_map" / "cultural_map.png"
WIDTH, COLOURS = 1400, 255


def named() -> list[str]:
    """The pictures that the documentation names."""
    pages = [REPOSITORY / "README.md", *(REPOSITORY / "docs").rglob("*.md")]
    return sorted({name for page in pages for name in re.findall(r"images/(\w+)\.png\)", page.read_text("utf-8"))})


def take(source: Path, name: str) -> None:
    """A picture of at most `WIDTH` pixels in few colours, small enough for a repository."""
    with Image.open(source) as picture:
        width = min(WIDTH, picture.width)
        small = picture.convert("RGB").resize(
            (width, round(picture.height * width / picture.width)), Image.Resampling.LANCZOS
        )
    few = small.quantize(COLOURS, Image.Quantize.MAXCOVERAGE, kmeans=3, dither=Image.Dither.NONE)
    few.save(IMAGES / f"{name}.png", "PNG", optimize=True)


def main() -> int:
    """Take every picture that is there; 1 where one is not."""
    absent = []
    for name in named():
        source = MAP if name == "cultural_map" else SHOTS / f"{name}.png"
        if source.exists():
            take(source, name)
        else:
            absent.append(str(source.relative_to(REPOSITORY)))
    if absent:
        print(
            f"not there, left as they were: {', '.join(absent)}; run make test-all EVIDENCE=1 and make demo first",
            file=sys.stderr,
        )
    return 1 if absent else 0


if __name__ == "__main__":
    sys.exit(main())
