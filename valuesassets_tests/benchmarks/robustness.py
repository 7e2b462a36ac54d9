"""Time and memory of all scores of one model's answers in many languages, in a process of its own."""

import json
import resource
import subprocess
import sys
import time

import numpy as np
import pandas as pd

from valuesassets.instruments.cultural_robustness.measures.embedder_report import derive_embedder_report
from valuesassets.instruments.cultural_robustness.measures.scores import measure_model
from valuesassets.records.settings.measuring import Inference
from valuesassets_tests.benchmarks.evidence import Entries, Tell, entry
from valuesassets_tests.needs import REPOSITORY

MODULE = "valuesassets_tests.benchmarks.robustness"
SAMPLES, SAMPLES_ANCHORED = 8, 2


def measure(languages: int, countries: int, questions: int, dimensions: int, resamples: int, tell: Tell) -> Entries:
    """Seconds of scoring one model's vectors, and the peak of the process that holds them."""
    sizes = [languages, countries, questions, dimensions, resamples]
    tell(f"robustness: {languages} languages x {countries} countries x {questions} questions, in a fresh process")
    command = [sys.executable, "-m", MODULE, *map(str, sizes)]
    ran = subprocess.run(command, cwd=REPOSITORY, check=True, stdout=subprocess.PIPE, text=True)
    found = json.loads(ran.stdout.splitlines()[-1])
    names = ("languages", "countries", "questions", "dimensions", "resamples")
    of = dict(zip(names, sizes, strict=True)) | {"vectors": found["vectors"], "cpu_seconds": found["cpu_seconds"]}
    return {
        "robustness_scores_seconds": entry([found["seconds"]], "s", wanted="<= 120", **of),
        "robustness_scores_peak_gib": entry([found["peak_gib"]], "GiB", wanted="<= 4", **of),
    }


def made_up(languages: int, countries: int, questions: int, dimensions: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Vectors of length 1 without any law, and the questions that they answer."""
    asked, rows = [], []
    for language in (f"l{number:02}" for number in range(languages)):
        for number in range(1, questions + 1):
            common = {"language": language, "question_id": str(number), "persona": None}
            rows.append((language, "question", str(number), 0))
            for anchor in range(countries + 1):
                id_ = f"{number}-{anchor}" if anchor else str(number)
                named = {"anchor": anchor, "country": f"C{anchor}"} if anchor else {"anchor": None, "country": None}
                asked.append(common | named)
                kind, samples = ("specific", SAMPLES_ANCHORED) if anchor else ("unspecific", SAMPLES)
                rows += [(language, kind, id_, sample) for sample in range(samples)]
    vectors = pd.DataFrame(rows, columns=pd.Index(["language", "kind", "id", "sample"])).assign(is_usable=True)
    drawn = np.random.default_rng(0).standard_normal((len(rows), dimensions), dtype=np.float32)
    drawn /= np.linalg.norm(drawn, axis=1, keepdims=True)
    return vectors.assign(vector=list(drawn)), pd.DataFrame(asked)


def score(sizes: list[int]) -> dict[str, float]:
    """In this process: made-up vectors, then all of a model's tables, timed."""
    vectors, questions = made_up(*sizes[:4])
    answers = pd.DataFrame(vectors[vectors["kind"] == "specific"]).drop(columns="vector")
    answered = answers.assign(question_id=answers["id"].str.partition("-")[0], persona=None)
    answered = answered.assign(country=answered["id"].str.partition("-")[2], text=answered.index.astype(str))
    own = {language: f"C{number + 1}" for number, language in enumerate(questions["language"].unique())}
    started, cpu = time.perf_counter(), time.process_time()
    derive_embedder_report(vectors)
    found = measure_model(
        "made up", vectors, questions, answered=answered, own_countries=own, inference=Inference(resamples=sizes[4])
    )
    seconds, cpu = time.perf_counter() - started, time.process_time() - cpu
    assert len(found["scores"]) == 9
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return {"seconds": seconds, "cpu_seconds": cpu, "peak_gib": peak, "vectors": len(vectors)}


if __name__ == "__main__":
    print(json.dumps(score([int(each) for each in sys.argv[1:]])))
