"""The steps by which a follower's weights are moved: inner matrices by orthogonal ones, all else by Adam.

A matrix's mean gradient is brought near to the orthogonal matrix that is nearest to it, so that all directions are
learned at one rate; Adam alone takes twice the batches. Source: Jordan et al., Muon (2024), with their coefficients.
"""

import math
from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Tensor

RATE_OF_MATRICES, MOMENTUM_OF_MATRICES = 0.01, 0.9
"""How far a step goes, and how much of the mean gradient is kept."""
ROUNDS, COEFFICIENTS = 5, (3.4445, -4.775, 2.0315)
"""Of the iteration that makes a matrix orthogonal (Newton and Schulz)."""
RATE, MOMENTUM, SQUARES, TINY = 1e-2, 0.9, 0.95, 1e-8
"""Of Adam: the rate, how much of the mean gradient and of the mean square is kept, and what keeps it from 0."""
LARGEST_GRADIENT = 1.0


def steps_of(
    weights: Tensor, shapes: Mapping[str, Sequence[int]], matrices: Sequence[str]
) -> Callable[[Tensor, float], None]:
    """What moves weights in one piece against a gradient, given as long, by a share of the rates.

    Args:
        shapes: of the parts that weights are made of, in their order.
        matrices: names of the parts that are moved by orthogonal matrices.
    """
    ends = torch.tensor([math.prod(shape) for shape in shapes.values()]).cumsum(0).tolist()
    places = {name: slice(end - math.prod(shapes[name]), end) for name, end in zip(shapes, ends, strict=True)}
    alike: dict[tuple[int, int], list[str]] = {}
    for name in matrices:
        low, high = sorted(shapes[name])
        alike.setdefault((low, high), []).append(name)
    kept = {shape: torch.zeros(len(names), *shape) for shape, names in alike.items()}
    mean, square, steps = torch.zeros_like(weights), torch.zeros_like(weights), 0
    is_inner = torch.zeros(len(weights), dtype=torch.bool)
    for name in matrices:
        is_inner[places[name]] = True

    @torch.no_grad()
    def step(gradient: Tensor, share: float) -> None:
        nonlocal steps
        steps += 1
        gradient *= (LARGEST_GRADIENT / (gradient.norm() + 1e-6)).clamp(max=1.0)
        moved = torch.empty_like(weights)
        for (low, high), names in alike.items():
            parts = [gradient[places[name]].view(*shapes[name]) for name in names]
            lying = torch.stack([part if part.shape[0] == low else part.T for part in parts])
            of_shape = kept[low, high].lerp_(lying, 1 - MOMENTUM_OF_MATRICES)
            turned = orthogonal(lying.lerp(of_shape, MOMENTUM_OF_MATRICES)) * math.sqrt(high / low)
            for name, part, each in zip(names, parts, turned, strict=True):
                moved[places[name]] = (each if part.shape[0] == low else each.T).flatten()
        mean.lerp_(gradient, 1 - MOMENTUM)
        square.mul_(SQUARES).addcmul_(gradient, gradient, value=1 - SQUARES)
        adam = mean / (1 - MOMENTUM**steps) / (square / (1 - SQUARES**steps)).sqrt_().add_(TINY)
        weights.sub_(torch.where(is_inner, moved * RATE_OF_MATRICES, adam * RATE), alpha=share)

    return step


def orthogonal(x: Tensor) -> Tensor:
    """(..., low, high) matrices whose singular values are near 1, with the singular vectors of those that are given."""
    a, b, c = COEFFICIENTS
    x = x / (x.norm(dim=(-2, -1), keepdim=True) + TINY)
    for _ in range(ROUNDS):
        square = x @ x.mT
        x = a * x + (b * square + c * square @ square) @ x
    return x
