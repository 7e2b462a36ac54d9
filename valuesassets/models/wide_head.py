"""Computes output logits in float32 on a GPU, whatever the weights' dtype, and faster for few rows on a CPU.

Logits of about 20 in bfloat16 are multiples of 1/8, so that labels tie that do not. The sums inside the product are
float32 in any case; only its result would be rounded.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor

Product = Callable[[Tensor, Tensor], Tensor]
HALVES = (torch.bfloat16, torch.float16)
FULL = (torch.float32, torch.float64)


def product_in_float32(rows: Tensor, columns: Tensor) -> Tensor:
    """The float32 product of two half-precision matrices on a GPU."""
    return torch.mm(rows, columns, out_dtype=torch.float32)


def widen_head(model: Any, product: Product = product_in_float32) -> bool:
    """Make a model's head return float32 if it is a plain product in half precision; whether it does now.

    What an architecture does after its head (scaling, capping) is float32 then too. Products elsewhere may no longer
    sum in half precision.
    """
    torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False
    torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False
    head = model.get_output_embeddings()
    if type(head) is not torch.nn.Linear or head.bias is not None or head.weight.dtype not in HALVES:
        return False

    def forward(input: Tensor) -> Tensor:
        return product(input.flatten(0, -2), head.weight.t()).unflatten(0, input.shape[:-1])

    # Where accelerate spreads the layers over GPUs, its wrapper moves the inputs and then calls `_old_forward`.
    setattr(head, "_old_forward" if hasattr(head, "_old_forward") else "forward", forward)
    return True


@contextmanager
def turned_head(model: Any) -> Iterator[None]:
    """A block in which a CPU multiplies few rows by the head faster, if the head is a plain product.

    For few rows times the weights the library copies all weights into another layout; for the weights times few
    columns it does not. The sums are the same up to rounding. One row alone is multiplied as before.
    """
    head: Any = model.get_output_embeddings()
    is_plain = type(head) is torch.nn.Linear and head.bias is None and "forward" not in vars(head)
    if not is_plain or head.weight.device.type != "cpu" or head.weight.dtype not in FULL:
        yield
        return

    def forward(input: Tensor) -> Tensor:
        if input.ndim != 2 or len(input) == 1:
            return torch.nn.functional.linear(input, head.weight)
        return (head.weight @ input.t()).t().contiguous()

    head.forward = forward
    try:
        yield
    finally:
        del head.forward
