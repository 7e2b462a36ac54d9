"""Where a model's layers are, and in which dtype."""

from typing import Any

from valuesassets.records.errors import ModelError

DTYPES = ("float32", "bfloat16", "float16", "float64")


def choose_device(model: str, device: str) -> str:
    """The device that was asked for: `auto` (to accelerate: over all GPUs) where several are visible.

    Args:
        model: for the message.
        device: `cpu`, `cuda`, `cuda:1`, or `auto`.

    Raises:
        ModelError: a GPU is asked for and none is visible.
    """
    import torch

    gpus = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if device.startswith("cuda") and not gpus:
        raise ModelError(f"{model}: device {device} asked for, no GPU is visible; ask for cpu or a GPU node")
    if device in ("auto", "cuda") and gpus:
        return "cuda:0" if gpus == 1 else "auto"
    return "cpu" if device == "auto" else device


def choose_dtype(own: str, device: str) -> str:
    """The dtype of `auto`: half the memory on a GPU, whatever the weights were saved in; the weights' own on a CPU.

    >>> choose_dtype("float32", "cuda:0"), choose_dtype("float16", "cuda:0"), choose_dtype("float32", "cpu")
    ('bfloat16', 'float16', 'float32')
    """
    return own if device == "cpu" or own == "float16" else "bfloat16"


def first_device(model: Any) -> str:
    """Where a model takes its token ids, however its layers are spread."""
    embedding = model.get_input_embeddings()
    # Of accelerate: weights that wait on the disk or in the CPU's memory stand on `meta` until they are needed.
    place = getattr(getattr(embedding, "_hf_hook", None), "execution_device", None)
    if place is None:
        place = embedding.weight.device
    return f"cuda:{place}" if isinstance(place, int) else str(place)
