"""GGUF files for `probe` that are no model, or none that can be read."""

import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np

from valuesassets_tests.bad_inputs.case import Case
from valuesassets_tests.bad_inputs.making import all_of, files, folders, good_questions
from valuesassets_tests.bad_inputs.model_folders import good_byte_level_model
from valuesassets_tests.tiny_gguf import write_gguf

COMMAND = "probe --model model.gguf --questions questions.json --language eng --output probe.parquet"


def bad(name: str, spoil: Callable[[Path], object], message: str, command: str = COMMAND) -> Case:
    return Case(name, command, message, all_of(good_questions, lambda folder: spoil(folder / "model.gguf")))


def written(**how: object) -> Callable[[Path], object]:
    return lambda path: write_gguf(path, good_byte_level_model(), **how)


def told(**entries: object) -> Callable[[Path], object]:
    return written(told={name.replace("__", "."): value for name, value in entries.items()})


def cut(path: Path) -> None:
    whole = write_gguf(path, good_byte_level_model()).read_bytes()
    path.write_bytes(whole[: len(whole) - 1000])


def of_version(number: int, order: str = "<") -> Callable[[Path], object]:
    return lambda path: path.write_bytes(b"GGUF" + struct.pack(f"{order}IQQ", number, 1, 1) + bytes(100))


def nested(path: Path) -> None:
    """An entry of lists in lists, as no program writes it."""
    lists = struct.pack("<IQ", 9, 1) * 3000 + struct.pack("<IQ", 0, 0)
    path.write_bytes(
        b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + struct.pack("<Q", 1) + b"a" + struct.pack("<I", 9) + lists
    )


def of_unknown_quantisation(path: Path) -> None:
    """The kind of the last tensor, which stands before its offset at the end of the table, made one of tomorrow."""
    writer = write_gguf(path, good_byte_level_model(), tensors={"zz.weight": np.ones((1, 32), np.float32)})
    whole = writer.read_bytes()
    place = whole.index(b"zz.weight") + len(b"zz.weight") + 4 + 2 * 8
    path.write_bytes(whole[:place] + struct.pack("<I", 99) + whole[place + 4 :])


def one_part(path: Path) -> None:
    write_gguf(path, good_byte_level_model(), parts=3)
    path.with_name("model-00002-of-00003.gguf").unlink()


def renamed_part(path: Path) -> None:
    write_gguf(path, good_byte_level_model(), parts=2).rename(path)


CASES = [
    bad(
        "a GGUF file that is not there",
        lambda path: None,
        "model.gguf: no such file; check the path",
    ),
    bad(
        "an empty GGUF file",
        lambda path: path.touch(),
        "model.gguf: is an empty file, a GGUF file was expected; download it again, or name another file",
    ),
    bad(
        "an HTML page in place of a GGUF file",
        lambda path: path.write_bytes(b"<!DOCTYPE html><html></html>"),
        "model.gguf: is an HTML page, a GGUF file was expected; download it again, or name another file",
    ),
    bad(
        "a GGUF file that was cut off",
        cut,
        "model.gguf: is cut off: [...] bytes are there; download it again",
    ),
    bad(
        "a GGUF file that was cut off in its beginning",
        lambda path: path.write_bytes(b"GGUF" + struct.pack("<IQQ", 3, 5, 5)),
        "model.gguf: is cut off: it ends after 24 bytes, before its weights; download it again",
    ),
    bad(
        "a GGUF file of lists in lists without end",
        nested,
        "model.gguf: its beginning is damaged ([...]); download it again",
    ),
    bad(
        "a GGUF file of a future version",
        of_version(4),
        "model.gguf: is a GGUF file of version 4 of the format, versions 2 and 3 are read; update this project, or use "
        "another file",
    ),
    bad(
        "a GGUF file for big-endian machines",
        of_version(3, ">"),
        "model.gguf: is a GGUF file for big-endian machines, versions 2 and 3 are read; convert the model anew, or use "
        "another file",
    ),
    bad(
        "the vision part of a model",
        told(general__type="mmproj"),
        "model.gguf: is the vision part of a model, not a model that writes text; name the file of the model itself",
    ),
    bad(
        "an adapter as GGUF",
        told(general__type="adapter"),
        "model.gguf: is an adapter (LoRA), not a model that writes text; name the file of the model itself",
    ),
    bad(
        "an embedder as GGUF",
        told(llama__pooling_type=3),
        "model.gguf: is an embedder (llama); choose a model that writes text",
    ),
    bad(
        "an architecture that transformers reads from no GGUF file",
        written(architecture="rwkv9"),
        "model.gguf: transformers reads no GGUF file of the architecture rwkv9; use the model as safetensors, or "
        "another model",
    ),
    bad(
        "a quantisation that transformers cannot read",
        of_unknown_quantisation,
        "model.gguf: transformers cannot read its quantisation type 99; use another quantisation of the model, such as "
        "Q8_0 or Q4_K_M",
    ),
    bad(
        "positions that are stretched",
        told(llama__rope__scaling__type="yarn"),
        "model.gguf: its positions are stretched (yarn), which transformers does not take from a GGUF file; use the "
        "model as safetensors",
    ),
    bad(
        "positions that are stretched in layers of one kind",
        written(architecture="gemma4", tensors={"rope_freqs.weight": np.ones(4, np.float32)}),
        "model.gguf: its positions are stretched by factors that transformers does not know; use the model as "
        "safetensors",
    ),
    bad(
        "a GGUF file whose weights are aligned to nothing",
        told(general__alignment=0),
        "model.gguf: its beginning is damaged (general.alignment is 0, a whole number from 1 was expected); download "
        "it again",
    ),
    bad(
        "a GGUF file whose weights are aligned to a text",
        told(general__alignment="wide"),
        "model.gguf: its beginning is damaged (general.alignment is 'wide', a whole number from 1 was expected); "
        "download it again",
    ),
    bad(
        "a GGUF file whose number of parts is a text",
        told(split__count="two"),
        "model.gguf: its beginning is damaged (split.count is 'two', a whole number from 0 was expected); download it "
        "again",
    ),
    bad(
        "a GGUF file without a tokenizer",
        told(tokenizer__ggml__tokens=None),
        "model.gguf: holds no tokenizer; use a file that was converted with its tokenizer",
    ),
    bad(
        "a part of a split GGUF file without the others",
        one_part,
        "model-00001-of-00003.gguf: part 2 of 3 is missing: model-00002-of-00003.gguf was expected beside it; put all "
        "parts into one folder",
        COMMAND.replace("model.gguf", "model-00001-of-00003.gguf"),
    ),
    bad(
        "a part of a split GGUF file under another name",
        renamed_part,
        "model.gguf: is one of 2 parts, whose names end in -00001-of-00002 and so on; give the parts these names, in "
        "one folder",
    ),
    Case(
        "a revision of a GGUF file",
        COMMAND + " --revision main",
        "Invalid value: --revision main: model.gguf is a file, which has none; leave it out; see `valuesassets probe "
        "--help`",
        all_of(good_questions, lambda folder: written()(folder / "model.gguf")),
        code=2,
    ),
    Case(
        "a model that the package index does not have",
        "models get llama-70b",
        "llama-70b: no such model of the package index; name one of smollm2-135m-instruct, gemma-3-270m",
    ),
    Case(
        "a folder of GGUF files",
        COMMAND.replace("model.gguf", "models"),
        "models: is a folder of GGUF files; name the file itself, such as models/a.gguf",
        all_of(good_questions, folders("models"), files({"models/a.gguf": b"GGUF"})),
    ),
]
