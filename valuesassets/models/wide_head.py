"""The product of a model's head: in float32 on a GPU, whatever the weights' dtype; faster for few rows on a CPU.

Logits of about 20 in bfloat16 stand on steps of 1/8: labels tie that do not. The sums within a product are float32 in
any case; only what leaves it is rounded.
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
    """The product of two matrices of half precision on a GPU, in float32."""
    return torch.mm(rows, columns, out_dtype=torch.float32)


def widen_head(model: Any, product: Product = product_in_float32) -> bool:
    """Have a model's head give float32, where it is a plain product in half precision; whether it does now.

    What an architecture does behind its head (scaling, capping) goes on in float32 too. Products elsewhere are kept
    from summing in half precision.
    """
    torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False
    torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False
    head = model.get_output_embeddings()
    if type(head) is not torch.nn.Linear or head.bias is not None or head.weight.dtype not in HALVES:
        return False

    def forward(input: Tensor) -> Tensor:
        return product(input.flatten(0, -2), head.weight.t()).unflatten(0, input.shape[:-1])

    # Of accelerate, where layers are spread: what moves a layer's inputs to its GPU calls this in turn.
    setattr(head, "_old_forward" if hasattr(head, "_old_forward") else "forward", forward)
    return True


@contextmanager
def turned_head(model: Any) -> Iterator[None]:
    """A block in which the head of a model on a CPU multiplies few rows faster, where it is a plain product.

    The library copies all weights into another layout for the product of a few rows with them, and does not for that of
    them with a few columns. The sums are the same up to rounding. One row is multiplied as ever.
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
