"""Bad model folders for `probe`."""

import shutil

from valuesassets_tests.bad_inputs.case import Case
from valuesassets_tests.bad_inputs.making import QUESTIONS, Make, all_of, files, folders, good_questions
from valuesassets_tests.bad_inputs.model_folders import (
    added,
    configured,
    good_model,
    half,
    index_without_shards,
    infinite,
    loses_lines,
    nan,
    no_digits,
    own_code,
    pickle,
    replaced,
    spoilt,
    three_entries,
    tokenizer,
    weights,
    without,
)
from valuesassets_tests.tiny_models import sentencepiece_like, write_model

COMMAND = "probe --model model --questions questions.json --language eng --output probe.parquet"


def bad(name: str, make: Make, message: str, command: str = COMMAND, **more: object) -> Case:
    return Case(name, command, message, make, **more)


CASES = [
    bad(
        "a folder whose name is no UTF-8",
        spoilt(lambda model: shutil.copytree(model, f"{model}\udcff")),
        "model\\udcff: is a name in another encoding than UTF-8; give the file or folder another name",
        COMMAND.replace("--model model", "--model model\udcff"),
    ),
    bad(
        "no such folder",
        good_questions,
        "./model: no such folder; check the path, or give a hub id such as owner/name",
        COMMAND.replace("--model model", "--model ./model"),
    ),
    bad(
        "a file in place of the folder",
        good_questions,
        "questions.json: is a file, a folder with a model or a GGUF file was expected; name one of them",
        COMMAND.replace("--model model", "--model questions.json"),
    ),
    bad(
        "~ that the shell did not expand",
        good_questions,
        "~/model: no such folder; ~ stands for the home folder only where the shell expands it: leave "
        "out the quotes or write it in full, or give a hub id such as owner/name",
        COMMAND.replace("--model model", "--model '~/model'"),
    ),
    bad(
        "a blank behind the folder's name",
        spoilt(lambda model: None),
        "'model ': no such folder; there is model: leave out the blanks or quotes, or give a hub id such as owner/name",
        COMMAND.replace("--model model", "--model 'model '"),
    ),
    bad(
        "a Windows path",
        good_questions,
        "C:\\models\\llama: no such folder; it looks like a Windows path: write the path as it is on this "
        "machine, with / between folders, or give a hub id such as owner/name",
        COMMAND.replace("--model model", r"--model 'C:\models\llama'"),
    ),
    bad(
        "an empty name",
        good_questions,
        "'': no such folder; check the path, or give a hub id such as owner/name",
        COMMAND.replace("--model model", "--model ''"),
    ),
    bad(
        "a name of the hub without a network",
        good_questions,
        "owner/name: is not in this machine's cache of the hub, and the hub is not to be asked (offline); download it "
        "once with the network allowed, or name a folder that holds it",
        COMMAND.replace("--model model", "--model owner/name"),
        environment={"HF_HUB_OFFLINE": "1", "HF_HOME": "hub"},
        in_own_process=True,
    ),
    bad(
        "a name of the hub that is not in the cache, offline",
        good_questions,
        "owner/name: is not in this machine's cache of the hub at revision v2, and the hub is not to be asked "
        "(offline); download it once with the network allowed, or name a folder that holds it",
        COMMAND.replace("--model model", "--model owner/name --revision v2 --offline"),
    ),
    bad(
        "an empty folder",
        all_of(good_questions, folders("model")),
        "model: no config.json; name a folder as save_pretrained writes it",
    ),
    bad(
        "no tokenizer",
        without("tokenizer*", "special*"),
        "model: no tokenizer; put tokenizer.json (or tokenizer.model) beside the weights",
    ),
    bad(
        "no weights",
        without("*.safetensors"),
        "model: weights in safetensors were expected, found none; save the model again with save_pretrained",
    ),
    bad(
        "a pickle in place of safetensors",
        spoilt(pickle),
        "model: weights in safetensors were expected, found only pytorch_model.bin, a pickle, which can "
        "run code; save the model again with save_pretrained",
    ),
    bad(
        "no configuration", without("config.json"), "model: no config.json; name a folder as save_pretrained writes it"
    ),
    bad(
        "a configuration that is no JSON",
        replaced("config.json", b"{"),
        "model: configuration cannot be read: [...]; check the model's name, or download its config.json again",
    ),
    bad(
        "an empty configuration",
        replaced("config.json", b"{}"),
        "model: configuration cannot be read: [...]; check the model's name, or download its config.json again",
    ),
    bad(
        "a configuration of an unknown architecture",
        configured(model_type="retnet9", architectures=["RetNet9"]),
        "model: configuration cannot be read: [...]; choose another model, or one that this version of "
        "transformers knows",
    ),
    bad(
        "an architecture that writes no text",
        configured(model_type="vit", architectures=["ViTModel"]),
        "model: weights cannot be read: [...]; choose a model that writes text (a causal language model)",
    ),
    bad(
        "a model that brings its own code",
        spoilt(own_code),
        "model: configuration cannot be read: [...]; code that comes with a model is never run: choose a "
        "model that transformers knows by itself",
    ),
    bad(
        "an unknown dtype in the configuration",
        configured(dtype="int8"),
        "model: dtype int8; one of float32, bfloat16, float16 was expected; ask for one of them",
    ),
    bad(
        "half of the weights",
        spoilt(half),
        "[...]model/model.safetensors: not a whole file of weights: [...]; download it again",
    ),
    bad(
        "empty weights",
        replaced("model.safetensors", b""),
        "model/model.safetensors: is an empty file, weights were expected; download the file again",
    ),
    bad(
        "an HTML page in place of the weights",
        replaced("model.safetensors", b"<!DOCTYPE html><html></html>"),
        "model/model.safetensors: is an HTML page, weights were expected; download the file again",
    ),
    bad(
        "a Git LFS pointer in place of the weights",
        replaced("model.safetensors", b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 5\n"),
        "model/model.safetensors: is a Git LFS pointer (the file itself was not downloaded), weights "
        "were expected; download the file again",
    ),
    bad(
        "one of two weight files",
        spoilt(index_without_shards),
        "model/model-00002-of-00002.safetensors: no such file of weights; download it again",
    ),
    bad(
        "a weight that is missing",
        weights(lambda tensors: tensors.pop("model.layers.1.mlp.up_proj.weight")),
        "model: 1 weights are missing or of another shape, first model.layers.1.mlp.up_proj.weight; the "
        "weights are incomplete or belong to another config.json: save both again, from one model",
    ),
    bad(
        "weights of another shape",
        configured(intermediate_size=64),
        "model: 6 weights are missing or of another shape, first model.layers.0.mlp.down_proj.weight "
        "(32x48 in the file, 32x64 by config.json); the weights are incomplete or belong to another "
        "config.json: save both again, from one model",
    ),
    bad(
        "a tokenizer of three entries",
        spoilt(three_entries),
        "model: the tokenizer has 3 entries, the model's embedding 445; the tokenizer's files are broken "
        "or belong to another model: save both again, from one model",
    ),
    bad(
        "a tokenizer that is no JSON",
        replaced("tokenizer.json", b"{"),
        "model: tokenizer cannot be read: [...]; save the tokenizer again beside the weights",
    ),
    bad(
        "a tokenizer without digits",
        tokenizer(no_digits),
        "model: the tokenizer has no token for what stands at the beginning of '1. 2. 3.\\n4 5 6 7 8 9 "
        "10\\nA:'; use a model that writes this language",
    ),
    bad(
        "a tokenizer that loses lines",
        tokenizer(loses_lines),
        "model: '1. 2. 3.\\n4 5 6 7 8 9 10\\nA:' comes back as '1. 2. 3. 4 5 6 7 8 9 10 A:' from the "
        "tokenizer, which is broken or made for other texts: save it again beside the weights, or "
        "use another model",
    ),
    bad(
        "a vocabulary larger than the embedding",
        lambda folder: (good_questions(folder), write_model(folder / "model", sentencepiece_like(), vocab_size=300)),
        "model: the tokenizer has 445 entries, the model's embedding 300; the tokenizer's files are "
        "broken or belong to another model: save both again, from one model",
    ),
    bad(
        "a vocabulary far smaller than the embedding",
        lambda folder: (good_questions(folder), write_model(folder / "model", sentencepiece_like(), vocab_size=3000)),
        "model: the tokenizer has 445 entries, the model's embedding 3000; the tokenizer's files are "
        "broken or belong to another model: save both again, from one model",
    ),
    bad(
        "a token in the prompts that was added to the tokenizer and not to the model",
        added("Question", to_the_model=False),
        "model: none of 6 trials can be asked, the first because: model: token 'Question' (id 445) of [...] has no "
        "place among the 445 rows of the model's embedding; the token was added to the tokenizer and not to the "
        "model: save both again, from one model; use another model",
    ),
    bad(
        "a tokenizer that merges the colon with the answer",
        added(":1", to_the_model=True),
        "model: none of 6 trials can be asked, the first because: tokenizer of model: the tokens of the prompt ending "
        "in [...] change when '1' follows; end the prompt in another way or use another tokenizer; use another model",
    ),
    bad(
        "logits that are NaN",
        weights(nan),
        "model: NaN or infinite logits at trial v1/0/forward (eng, order forward) (dtype float32); the "
        "weights are damaged: download or save them again",
    ),
    bad(
        "logits that are infinite",
        weights(infinite),
        "model: NaN or infinite logits at trial v1/0/forward (eng, order forward) (dtype float32); the "
        "weights are damaged: download or save them again",
    ),
    bad(
        "prompts longer than the model reads",
        configured(max_position_embeddings=8),
        "model: none of 6 trials can be asked, the first because: prompt and answer take 92 tokens, "
        "model reads 8 at most; use another model",
    ),
    bad(
        "a device that is not there",
        spoilt(lambda model: None),
        "model: device cuda asked for, no GPU is visible; ask for cpu or a GPU node",
        COMMAND + " --device cuda",
        environment={"CUDA_VISIBLE_DEVICES": ""},
    ),
    bad(
        "an unknown device",
        spoilt(lambda model: None),
        "Invalid value for '--device': 'tpu' is not one of 'cpu', 'cuda', 'auto'; see `valuesassets probe --help`",
        COMMAND + " --device tpu",
        code=2,
    ),
    bad(
        "an unknown dtype",
        spoilt(lambda model: None),
        "Invalid value for '--dtype': 'int8' is not one of 'float32', 'bfloat16', 'auto'; see "
        "`valuesassets probe --help`",
        COMMAND + " --dtype int8",
        code=2,
    ),
    bad(
        "a revision of a folder",
        spoilt(lambda model: None),
        "Invalid value: --revision main: model is a folder, which has none; leave it out; see "
        "`valuesassets probe --help`",
        COMMAND + " --revision main",
        code=2,
    ),
    bad(
        "model and questions swapped",
        spoilt(lambda model: None),
        "model: is a folder, a JSON file was expected; name the file",
        "probe --model questions.json --questions model --language eng --output probe.parquet",
    ),
    bad(
        "output is a folder",
        all_of(spoilt(lambda model: None), folders("probe.parquet")),
        "probe.parquet: is a folder, a file name was expected; add one",
    ),
    bad(
        "output is a folder, and the model is not there: the output is looked at first",
        all_of(good_questions, folders("probe.parquet")),
        "probe.parquet: is a folder, a file name was expected; add one",
        COMMAND.replace("--model model", "--model ./absent"),
    ),
    bad(
        "output into the model's weights",
        spoilt(lambda model: None),
        "model/model.safetensors: is there already and not a parquet file; choose another name for the output",
        COMMAND.replace("probe.parquet", "model/model.safetensors"),
    ),
    bad(
        "the disk is full in the middle of the parquet",
        spoilt(lambda model: None),
        "probe.parquet: cannot be written: File too large; nothing was changed; free space or choose another folder",
        largest_file=5000,  # what was read of one batch is smaller
    ),
    bad(
        "a language without a lexicon",
        spoilt(lambda model: None),
        "language xyz: unknown; an ISO 639-3 code was expected, one of [...]",
        COMMAND.replace("eng", "xyz"),
    ),
    bad(
        "no lexicon, whatever the case",
        spoilt(lambda model: None),
        "language ENG: unknown; an ISO 639-3 code was expected, one of [...]",
        COMMAND.replace("eng", "ENG"),
    ),
    bad(
        "a faulty question",
        all_of(files({"questions.json": [QUESTIONS[0] | {"options": []}]}), good_model),
        "questions.json: question 1 (v1): no options, at least two were expected; mend or remove it",
    ),
]
