"""Puts a LoRA adapter on the weights of its base: computed once, before anything is read, as if it had been merged."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import torch
from safetensors.torch import load_file
from torch import Tensor, nn
from transformers.pytorch_utils import Conv1D

from valuesassets.models.adapter_files import Adapter
from valuesassets.models.adapter_settings import CONFIG, WEIGHTS, LoraSettings
from valuesassets.records.errors import ModelError

PREFIX = "base_model.model."
LOW_RANK = re.compile(r"(.+)\.lora_(?:(?:embedding_)?([AB])(?:\.weight)?|B\.(bias)|(magnitude_vector)(?:\.weight)?)")
"""Names of tensors that change a module; a tensor of another name stands in place of a weight of the base."""
WRAPPED = re.compile(r"\.(base_layer|modules_to_save)(?=\.)")
"""What peft adds to the names of such weights."""
LAYERS = (nn.Linear, Conv1D, nn.Embedding)
DTYPES = (torch.float32, torch.bfloat16, torch.float16, torch.float64)
BLOCK = 2**24
"""Numbers of a weight that are computed at a time, in float64."""

LowRank = Mapping[str, Mapping[str, Tensor]]
"""By module, its tensors: `A` (r, in), `B` (out, r), with DoRA `magnitude_vector` (out,), with a bias `bias` (out,)."""


def put_on(model: Any, adapter: Adapter) -> None:
    """Replace the weights of a loaded base by those that an adapter makes of them, in their own dtype.

    W + s B A is computed in float64; with DoRA each output's row then gets the length that was trained. An embedding
    and a head that share weights are parted where the adapter changes one of them, as they were in training.

    Raises:
        ModelError: the adapter does not fit the base, of which nothing was changed then.

    Source: Hu et al. 2021 (arXiv:2106.09685), equation 3; Kalajdzievski 2023 (arXiv:2312.03732) for stabilised ranks;
        Liu et al. 2024 (arXiv:2402.09353), equation 5, for DoRA.
    """
    low_rank, whole = _tensors(adapter)
    for fault in _faults(model, adapter.settings, low_rank, whole):
        raise ModelError(f"{adapter.name}: {fault}; name the base that it was trained on, or save the adapter again")
    with torch.no_grad():
        _part_tied(model, {*(f"{name}.weight" for name in low_rank), *whole})
        weights = model.state_dict()
        for name, tensor in whole.items():
            weights[name].copy_(tensor)
        for name, parts in low_rank.items():
            _add(model.get_submodule(name), parts, adapter.settings.scale(name))


def _tensors(adapter: Adapter) -> tuple[dict[str, dict[str, Tensor]], dict[str, Tensor]]:
    """The tensors that change modules, by module and part, and those that stand in place of weights, by weight."""
    low_rank: dict[str, dict[str, Tensor]] = {}
    whole: dict[str, Tensor] = {}
    for key, tensor in load_file(adapter.folder / WEIGHTS).items():
        name = key.removeprefix(PREFIX)
        match = LOW_RANK.fullmatch(name)
        if match:
            part = next(filter(None, match.groups()[1:]))
            low_rank.setdefault(match[1], {})[part] = tensor.flatten() if part == "magnitude_vector" else tensor
        else:
            whole[WRAPPED.sub("", name)] = tensor
    return low_rank, whole


def _faults(model: Any, settings: LoraSettings, low_rank: LowRank, whole: Mapping[str, Tensor]) -> Iterator[str]:
    """Why an adapter does not fit a base, in words."""
    modules, head = dict(model.named_modules()), model.get_output_embeddings()
    expected = {"A", "B"} | ({"magnitude_vector"} if settings.use_dora else set())
    expected |= {"bias"} if settings.lora_bias else set()
    for name, parts in low_rank.items():
        module = modules.get(name)
        if module is None:
            yield f"has tensors for {name}, which the base lacks"
        elif not isinstance(module, LAYERS) or module.weight.dtype not in DTYPES:
            yield f"has tensors for {name}, which is no linear layer and no embedding in floating point"
        elif not (settings.targets(name) or (settings.ensure_weight_tying and module is head)):
            yield f"has tensors for {name}, which {CONFIG} does not target"
        elif parts.keys() != expected:
            yield f"has {' and '.join(sorted(parts))} for {name}, {' and '.join(sorted(expected))} were expected"
        else:
            rows, columns = _rows(module).shape
            shapes = {"A": (settings.rank(name), columns), "B": (rows, settings.rank(name))}
            for part, tensor in parts.items():
                yield from _unlike(f"{name}.{part}", tensor, shapes.get(part, (rows,)))
    for name, module in modules.items():
        if isinstance(module, LAYERS) and settings.targets(name) and name not in low_rank:
            yield f"has no tensors for {name}, which {CONFIG} targets"
    weights = model.state_dict()
    for name, tensor in whole.items():
        if name in weights:
            yield from _unlike(name, tensor, tuple(weights[name].shape))
        else:
            yield f"has {name}, which the base lacks"


def _unlike(name: str, tensor: Tensor, shape: tuple[int, ...]) -> Iterator[str]:
    """What is wrong with a tensor that should have a shape, in words."""
    if tuple(tensor.shape) != shape:
        own, other = ("x".join(map(str, each)) for each in (tensor.shape, shape))
        yield f"{name} has the shape {own}, {other} was expected by the base and {CONFIG}"
    elif tensor.dtype not in DTYPES or not tensor.isfinite().all():
        yield f"{name} holds values that are no finite numbers"


def _part_tied(model: Any, changed: set[str]) -> None:
    """Give a model's head weights of its own, if it shares them with the embedding and one of both is changed."""
    embedding, head = model.get_input_embeddings(), model.get_output_embeddings()
    if head is None or head.weight is not embedding.weight:
        return
    if any(f"{name}.weight" in changed for name, module in model.named_modules() if module in (embedding, head)):
        head.weight = nn.Parameter(head.weight.detach().clone(), requires_grad=False)


def _rows(module: Any) -> Tensor:
    """The (out, in) weights of a layer, whichever way they are stored."""
    return module.weight if isinstance(module, nn.Linear) else module.weight.t()


def _add(module: Any, parts: Mapping[str, Tensor], scale: float) -> None:
    """Add s B A to a layer's weights, a block of rows at a time, since float64 takes much memory."""
    weight = _rows(module)
    double = {name: tensor.to(weight.device, torch.float64) for name, tensor in parts.items()}
    for start in range(0, len(weight), step := max(1, BLOCK // weight.shape[1])):
        rows = slice(start, start + step)
        total = weight[rows].double() + scale * (double["B"][rows] @ double["A"])
        if "magnitude_vector" in double:
            total *= (double["magnitude_vector"][rows] / total.norm(dim=1)).unsqueeze(1)
        weight[rows].copy_(total)
    if "bias" in double:
        before = torch.zeros_like(double["bias"]) if module.bias is None else module.bias.double()
        module.bias = nn.Parameter((before + scale * double["bias"]).to(weight.dtype), requires_grad=False)
