"""The optimiser of a follower: inner matrices move by orthogonalised gradients, all else by Adam.

A matrix's mean gradient is replaced by nearly the closest orthogonal matrix, so that all directions are learned at one
rate; Adam alone needs twice the batches. Source: Jordan et al., Muon (2024), with their coefficients.
"""

import math
from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Tensor

RATE_OF_MATRICES, MOMENTUM_OF_MATRICES = 0.01, 0.9
"""Step size of matrices, and decay of their mean gradient."""
ROUNDS, COEFFICIENTS = 5, (3.4445, -4.775, 2.0315)
"""Rounds and coefficients of the Newton-Schulz iteration, which orthogonalises a matrix."""
RATE, MOMENTUM, SQUARES, TINY = 1e-2, 0.9, 0.95, 1e-8
"""Adam's rate, decay of the mean gradient and of the mean square, and the term that avoids division by 0."""
LARGEST_GRADIENT = 1.0


def make_stepper(
    weights: Tensor, shapes: Mapping[str, Sequence[int]], matrices: Sequence[str]
) -> Callable[[Tensor, float], None]:
    """A function that updates `weights` in place, given the gradient and a factor for the rates.

    Args:
        shapes: shapes of the parts of `weights`, in order.
        matrices: names of the parts that move by orthogonalised gradients.
    """
    ends = torch.tensor([math.prod(shape) for shape in shapes.values()]).cumsum(0).tolist()
    places = {name: slice(end - math.prod(shapes[name]), end) for name, end in zip(shapes, ends, strict=True)}
    names_by_shape: dict[tuple[int, int], list[str]] = {}
    for name in matrices:
        low, high = sorted(shapes[name])
        names_by_shape.setdefault((low, high), []).append(name)
    means = {shape: torch.zeros(len(names), *shape) for shape, names in names_by_shape.items()}
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
        for (low, high), names in names_by_shape.items():
            parts = [gradient[places[name]].view(*shapes[name]) for name in names]
            wide = torch.stack([part if part.shape[0] == low else part.T for part in parts])
            mean_of_shape = means[low, high].lerp_(wide, 1 - MOMENTUM_OF_MATRICES)
            directions = orthogonal(wide.lerp(mean_of_shape, MOMENTUM_OF_MATRICES)) * math.sqrt(high / low)
            for name, part, each in zip(names, parts, directions, strict=True):
                moved[places[name]] = (each if part.shape[0] == low else each.T).flatten()
        mean.lerp_(gradient, 1 - MOMENTUM)
        square.mul_(SQUARES).addcmul_(gradient, gradient, value=1 - SQUARES)
        adam = mean / (1 - MOMENTUM**steps) / (square / (1 - SQUARES**steps)).sqrt_().add_(TINY)
        weights.sub_(torch.where(is_inner, moved * RATE_OF_MATRICES, adam * RATE), alpha=share)

    return step


def orthogonal(x: Tensor) -> Tensor:
    """Matrices (..., low, high) with the singular vectors of the given ones and singular values near 1."""
    a, b, c = COEFFICIENTS
    x = x / (x.norm(dim=(-2, -1), keepdim=True) + TINY)
    for _ in range(ROUNDS):
        square = x @ x.mT
        x = a * x + (b * square + c * square @ square) @ x
    return x
