"""On a GPU the head's product leaves in float32, though weights and hidden states are of half the width.

Logits of about 20 in bfloat16 stand on steps of 1/8: labels tie that do not. The sums within a product are float32 in
any case; only what leaves it is rounded.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

Product = Callable[[Tensor, Tensor], Tensor]
HALVES = (torch.bfloat16, torch.float16)


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

    def forward(hidden: Tensor) -> Tensor:
        return product(hidden.flatten(0, -2), head.weight.t()).unflatten(0, hidden.shape[:-1])

    # Of accelerate, where layers are spread: what moves a layer's inputs to its GPU calls this in turn.
    setattr(head, "_old_forward" if hasattr(head, "_old_forward") else "forward", forward)
    return True
