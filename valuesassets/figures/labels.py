"""Names beside points that hide neither each other nor a point."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke
from matplotlib.text import Annotation
from numpy.typing import NDArray

from valuesassets.figures import style
from valuesassets.measure.arrays import Array

RADII_PT = (3, 6, 10, 15, 21, 28, 36, 46, 58, 72, 90, 110, 140)
"""Distances of a name from its point that are tried, nearest first."""
ANGLES = np.deg2rad([0, 180, 90, 270, 45, 135, 315, 225, 22, 158, 338, 202, 67, 113, 293, 247])
"""Directions that are tried, in the order in which readers look: right, left, above, below, corners."""
GAP_PT = 0.8
NAMELESS_PT = 5.0
"""Room kept for a point without a name."""
LEADER_FROM_PT = 8

PER_OVERLAP, PER_CROSSING, PER_POINT = 1000.0, 6.0, 0.5
"""Costs of an overlap, of a crossed line and of a point of distance, by which places are compared."""

Boxes = Array
"""(n, 4): left, bottom, right, top in pixels."""
Pixels = Array
"""(2,) a place, or (4,) one box, in pixels."""
Segment = tuple[tuple[float, float], tuple[float, float]]


@dataclass(frozen=True)
class Name:
    """A name to write beside a point in data coordinates."""

    x: float
    y: float
    text: str
    color: str = style.BLACK
    weight: str = "normal"
    slant: str = "normal"
    size_pt: float = style.SMALL_PT
    marker_pt: float = 7.0
    """Diameter of the point, which no name covers."""
    gid: str | None = None
    """The id that the name carries in the SVG."""
    is_optional: bool = False
    """Whether it is left out where no place near its point is free."""


def write_names(
    axes: Axes, names: Sequence[Name], strokes: Sequence[Segment] = (), nameless: Sequence[tuple[float, float]] = ()
) -> list[Annotation]:
    """Write each name at the nearest free place, joined to its point by a line if that is far.

    The figure's layout is settled first and then frozen, because free places are measured in pixels. Names that are
    optional and find no place are not among those returned.

    Args:
        axes: the axes, all points drawn and limits set.
        names: placed in this order, so the important ones first.
        strokes: lines in data coordinates (intervals) that names should not stand on.
        nameless: points in data coordinates that have no name and that none shall cover.
    """
    figure = axes.figure
    assert isinstance(figure, Figure)  # noqa: S101
    style.settle(figure)
    pixels_per_pt = figure.dpi / 72
    anchors = axes.transData.transform([(name.x, name.y) for name in names]).reshape(-1, 2)
    radii = np.array([name.marker_pt for name in names]) / 2 * pixels_per_pt
    occupied = np.hstack([anchors - radii[:, None], anchors + radii[:, None]])
    others = axes.transData.transform(list(nameless)) if len(nameless) else np.empty((0, 2))
    room = NAMELESS_PT / 2 * pixels_per_pt
    occupied = np.vstack([occupied, np.hstack([others - room, others + room])])
    frame = np.array(axes.get_window_extent().extents)
    lines = [(start, end) for start, end in map(axes.transData.transform, strokes)]
    halo = [withStroke(linewidth=1.5, foreground="white")]
    written = []
    for name, anchor, radius in zip(names, anchors, radii, strict=True):
        text = axes.annotate(
            name.text, (name.x, name.y), xytext=(0, 0), textcoords="offset points", ha="center", va="center",
            color=name.color, weight=name.weight, style=name.slant, fontsize=name.size_pt, zorder=6,
            path_effects=halo, gid=name.gid,
        )  # fmt: skip
        text.set_in_layout(False)
        extent = text.get_window_extent()
        half = np.array([extent.width, extent.height]) / 2 + GAP_PT * pixels_per_pt
        farthest = LEADER_FROM_PT if name.is_optional else np.inf
        centre, cost = _nearest_free(anchor, half, radius, pixels_per_pt, occupied, frame, lines, farthest)
        if name.is_optional and cost >= PER_OVERLAP:
            text.remove()
            continue
        text.set_position(tuple((centre - anchor) / pixels_per_pt))
        occupied = np.vstack([occupied, np.hstack([centre - half, centre + half])])
        edge = np.clip(anchor, centre - half, centre + half)
        if np.hypot(*(edge - anchor)) > radius + LEADER_FROM_PT * pixels_per_pt:
            lines.append((anchor, edge))
            ends = axes.transData.inverted().transform([anchor, edge])
            axes.plot(ends[:, 0], ends[:, 1], color=name.color, lw=0.4, alpha=0.7, zorder=2, gid="leader")
        written.append(text)
    return written


def _nearest_free(
    anchor: Pixels,
    half: Pixels,
    radius: float,
    pixels_per_pt: float,
    occupied: Boxes,
    frame: Pixels,
    lines: list[tuple[Pixels, Pixels]],
    farthest_pt: float,
) -> tuple[Pixels, float]:
    """Centre and cost of the cheapest place: overlaps are dearest, then lines crossed, then the way to the point."""
    directions = np.column_stack([np.cos(ANGLES), np.sin(ANGLES)])
    best, least = anchor, np.inf
    for distance_pt in RADII_PT:
        if distance_pt * PER_POINT >= least or distance_pt > farthest_pt:
            break
        centres = anchor + directions * (half + radius + distance_pt * pixels_per_pt)
        boxes = np.hstack([centres - half, centres + half])
        inside = (boxes[:, :2] >= frame[:2]).all(axis=1) & (boxes[:, 2:] <= frame[2:]).all(axis=1)
        overlap = _overlap(boxes, occupied)
        cost = np.where(overlap > 0, PER_OVERLAP + overlap, 0) + distance_pt * PER_POINT
        cost += PER_CROSSING * np.array([_crossings(box, anchor, occupied, lines) for box in boxes])
        cost = np.where(inside, cost, np.inf)
        choice = int(np.argmin(cost))
        if cost[choice] < least:
            best, least = centres[choice], cost[choice]
    return best, float(least)


def _overlap(boxes: Boxes, occupied: Boxes) -> Array:
    """(n,) area in square pixels that each box shares with occupied boxes."""
    low = np.maximum(boxes[:, None, :2], occupied[None, :, :2])
    high = np.minimum(boxes[:, None, 2:], occupied[None, :, 2:])
    return np.clip(high - low, 0, None).prod(axis=2).sum(axis=1)


def _crossings(box: Pixels, anchor: Pixels, occupied: Boxes, lines: list[tuple[Pixels, Pixels]]) -> int:
    """Number of lines through the box, and of lines and occupied boxes that its leader crosses."""
    edge = np.clip(anchor, box[:2], box[2:])
    leader = np.linspace(anchor, edge, 12)[1:-1]
    is_own = ((anchor > occupied[:, :2]) & (anchor < occupied[:, 2:])).all(axis=1)
    is_inside = (leader[:, None] > occupied[None, :, :2]) & (leader[:, None] < occupied[None, :, 2:])
    boxes_met = is_inside.all(axis=2).any(axis=0) & ~is_own
    if not lines:
        return int(boxes_met.sum())
    starts, ends = (np.array(side) for side in zip(*lines, strict=True))
    steps = np.linspace(0, 1, 24)[:, None, None]
    paths = starts * (1 - steps) + ends * steps
    through = ((paths > box[:2]) & (paths < box[2:])).all(axis=2).any(axis=0)
    is_other = np.abs((starts + ends) / 2 - anchor).max(axis=1) > 1
    met = _cross(anchor, edge, starts, ends) & is_other
    return int(boxes_met.sum() + through.sum() + met.sum())


def _cross(a: Pixels, b: Pixels, starts: Array, ends: Array) -> NDArray[np.bool_]:
    """(n,) whether the segment ab crosses each of the others."""

    def side(p: Array, q: Array, r: Array) -> Array:
        along, across = q - p, r - p
        return along[..., 0] * across[..., 1] - along[..., 1] * across[..., 0]

    return (side(a, b, starts) * side(a, b, ends) < 0) & (side(starts, ends, a) * side(starts, ends, b) < 0)
