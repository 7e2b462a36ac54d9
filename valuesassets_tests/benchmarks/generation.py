"""Answers that a model writes: rolling rows against `generate`, one by one and in batches of the same width."""

import random
import time
from collections.abc import Sequence

import torch
from transformers import GenerationConfig

from valuesassets.models.answer_certificate import certify_answers
from valuesassets.models.generating import AnswerEntry, prepare_answers, write_answers
from valuesassets.models.loaded_model import LoadedModel
from valuesassets.models.writing import AnswerRequest, Writer
from valuesassets.records.readouts import Generate
from valuesassets_tests.benchmarks.evidence import Entries, Tell, entry
from valuesassets_tests.models.writers import asked

LENGTHS = (8, 96)
"""Fewest and most tokens of an answer; as answers end where they will, each has a limit of its own, drawn."""
PROMPT_TOKENS = (20, 60)


def make_work(loaded: LoadedModel, count: int) -> list[AnswerRequest]:
    """Greedy answers to random prompts, each as long as it is drawn to be: exponential lengths, cut at the most."""
    draw, vocabulary = random.Random(5), min(loaded.opened.config.vocab_size, 8000)  # noqa: S311
    work = []
    for _ in range(count):
        prompt = tuple(draw.randrange(10, vocabulary) for _ in range(draw.randint(*PROMPT_TOKENS)))
        length = min(LENGTHS[0] + int(draw.expovariate(1 / 30)), LENGTHS[1])
        work.append(AnswerRequest(prompt, Generate(max_tokens=length, temperature=0), 0))
    return sorted(work, key=lambda asked: -len(asked.prompt_ids))


def rolling(loaded: LoadedModel, work: Sequence[AnswerRequest], width: int) -> list[list[int]]:
    """By our rows."""
    return [written.tokens for written in Writer(loaded, width).write(work)]


def by_generate(loaded: LoadedModel, work: Sequence[AnswerRequest], width: int) -> list[list[int]]:
    """By `generate` in batches of neighbours in length, padded on the left, each to the end of its longest answer."""
    found = []
    for start in range(0, len(work), width):
        batch = work[start : start + width]
        longest = max(len(each.prompt_ids) for each in batch)
        rows = [[*[0] * (longest - len(each.prompt_ids)), *each.prompt_ids] for each in batch]
        mask = [[0] * (longest - len(each.prompt_ids)) + [1] * len(each.prompt_ids) for each in batch]
        most = max(each.readout.max_tokens for each in batch)
        heat = max(each.readout.temperature for each in batch)
        drawn = {"do_sample": True, "temperature": heat, "top_k": 0} if heat else {"do_sample": False}
        settings = GenerationConfig(max_new_tokens=most, pad_token_id=0, eos_token_id=None, **drawn)
        out = loaded.model.generate(
            input_ids=torch.tensor(rows, device=loaded.device),
            attention_mask=torch.tensor(mask, device=loaded.device),
            generation_config=settings,
        )
        found += [row[longest:][: each.readout.max_tokens].tolist() for row, each in zip(out, batch, strict=True)]
    return found


def measure(loaded: LoadedModel, count: int, width: int, repetitions: int, tell: Tell) -> Entries:
    """Tokens per CPU second of ours over those of `generate`, the answers being the same."""
    loaded.__dict__["eos_ids"] = frozenset()  # lengths are the drawn ones
    work = make_work(loaded, count)
    tokens = sum(asked.readout.max_tokens for asked in work)
    ways = {"one_by_one": 1, "batches": width}
    ours: list[float] = []
    theirs: dict[str, list[float]] = {name: [] for name in ways}
    same = dict.fromkeys(ways, 0)
    rolling(loaded, work[:4], 2)
    for repetition in range(repetitions):
        tell(f"{count} answers of {tokens} tokens: repetition {repetition + 1} of {repetitions}")
        start = time.process_time()
        expected = rolling(loaded, work, width)
        ours.append(time.process_time() - start)
        for name, rows in ways.items():
            start = time.process_time()
            found = by_generate(loaded, work, rows)
            theirs[name].append(time.process_time() - start)
            same[name] = sum(a == b for a, b in zip(expected, found, strict=True))
            # In batches `generate` itself decides near ties by what stands beside a row.
            assert name != "one_by_one" or same[name] == count, f"{same[name]} of {count} greedy answers are the same"
    ratios = {name: [a / b for a, b in zip(times, ours, strict=True)] for name, times in theirs.items()}
    return {
        "answers_tokens_per_second": entry(
            [tokens / seconds for seconds in ours], "tokens per CPU second", width=width
        ),
        "answers_vs_generate_one_by_one": entry(ratios["one_by_one"], "times", ">= 5", same=same["one_by_one"]),
        "answers_vs_generate_batches": entry(ratios["batches"], "times", ">= 1.4", width=width, same=same["batches"]),
    }


TOPICS = ("the sea", "old books", "rain in the city", "the market", "how people vote", "a long walk", "bread", "winter")
FORMS = (
    "Write about {}, part {}.\n",
    "Question {1}: What should one know about {0}? Answer in a few sentences and give a reason.\nAnswer:",
    "Once there was something to be said of {}, and chapter {} begins so:",
)


def against_generate(loaded: LoadedModel, name: str, texts: int, tokens: int, tell: Tell) -> Entries:
    """Tokens per CPU second, the certificate included, over those of one batch of `generate`; the certificate's share.

    No text ends before its limit, so that both write as many tokens: all as many, or each another number (uneven).
    """
    loaded.__dict__["eos_ids"] = frozenset()
    loaded.model.generation_config.eos_token_id = None  # `generate` takes it from there where it is given none
    assert loaded.padding_fault is None  # tried beforehand, once for a model
    prompts = [FORMS[n % len(FORMS)].format(TOPICS[n % len(TOPICS)], n) for n in range(texts)]
    found: Entries = {}
    even = [tokens] * texts
    uneven = [max(tokens * (n * 5 % texts + 1) // texts, 1) for n in range(texts)]
    for kind, temperature, limits in (("greedy", 0.0, even), ("drawn", 1.0, even), ("uneven", 0.0, uneven)):
        written = sum(limits)
        tell(f"{name}: {texts} {kind} answers of {written} tokens")
        trials = [
            asked(prompt, f"q{n}", max_tokens=most, temperature=temperature)
            for n, (prompt, most) in enumerate(zip(prompts, limits, strict=True))
        ]
        entries = [entry for entry in prepare_answers(loaded.opened, trials) if isinstance(entry, AnswerEntry)]
        work, start = {entry.key: entry.request for entry in entries}, time.process_time()
        result = write_answers(loaded, entries)
        ours = time.process_time() - start
        certificate, start = result.certificate, time.process_time()
        assert certify_answers(loaded, work, {answer.key: answer for answer in result.records}) == certificate
        certified, start = time.process_time() - start, time.process_time()
        plain = by_generate(loaded, list(work.values()), texts)
        theirs = time.process_time() - start
        ids = [list(answer.token_ids or ()) for answer in result.records]
        same = None if temperature else sum(a == b for a, b in zip(ids, plain, strict=True))
        assert certificate.agrees, f"{name}: {certificate.doubt}"
        sizes = {"texts": texts, "tokens": tokens, "threads": torch.get_num_threads()}
        of = f"{name}_{kind}"
        found |= {
            f"writing_{of}_tokens_per_second": entry([written / ours], "tokens per CPU second", **sizes),
            f"writing_{of}_generate": entry([written / theirs], "tokens per CPU second", same=same),
            f"writing_{of}_vs_generate": entry([theirs / ours], "times", ">= 1", **sizes),
            f"writing_{of}_certificate": entry(
                [certified / (ours - certified)], "of the writing", "<= 0.2", answers=certificate.answers
            ),
        }
    return found
