"""What processes that ask models import, done once in the process that they are forks of."""

import sentence_transformers  # noqa: F401
import torch
import transformers.models.llama.modeling_llama  # noqa: F401

import valuesassets.cli.app
import valuesassets.models.asking
import valuesassets.node.embed
import valuesassets.node.score  # noqa: F401

torch.set_num_threads(1)
