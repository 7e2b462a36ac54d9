"""How the numbers of a cultural robustness page came about, in sentences for a paper, and what they rest on."""

from collections import Counter
from collections.abc import Iterator
from functools import partial

from valuesassets.figures.backgrounds import has_numbers
from valuesassets.instruments.cultural_robustness.answers.answer_quality import STATUSES
from valuesassets.instruments.cultural_robustness.measures.embedder_report import language_share
from valuesassets.instruments.cultural_robustness.measures.scores import CONTENT, DIVERSITY, TESTS
from valuesassets.instruments.cultural_robustness.report.pictures import published_rows
from valuesassets.records.frames import records, rows
from valuesassets.reporting.methods import CITED, capital, counted, listed, some_of, sources_of_tables, was
from valuesassets.reporting.parts import Frames

RESTS_ON = {
    "valuesassets": (),
    "szekely2013": ("language_pairs",),
    "efron1993": ("language_pairs",),
    "fieller1954": ("language_pairs",),
    "hall1992": ("language_pairs",),
    "phipson2010": ("language_pairs",),
    "holm1979": ("language_pairs",),
    "rousseeuw1987": ("language_groups",),
    "kruskal1964": ("language_pairs",),
    "libovicky2020": ("scores",),
    "capabilities2024": ("scores",),
    "eloquent2026": ("scores",),
}
"""By key of its entry: the tables of which any makes it a source; none: every page rests on it."""


def sources(frames: Frames, correction: str = "holm") -> tuple[str, ...]:
    """Keys of the sources that these tables rest on, in the order of their entries."""
    return sources_of_tables(RESTS_ON, frames, correction)


def methods(frames: Frames, is_planted: bool, correction: str = "holm") -> list[str]:
    """What was done, with this page's numbers."""
    parts = (_answered, _embedded, partial(_compared, correction), _published, _calibrated)
    planted = (
        "This is a test of the instrument: what models answer was made up, so nothing that follows is a finding about "
        "a model or a culture."
    )
    return [*([planted] if is_planted else []), *(sentence for part in parts for sentence in part(frames))]


def _answered(frames: Frames) -> Iterator[str]:
    quality = frames.get("answer_quality")
    if quality is None or not len(quality):
        return
    models, languages = (list(map(str, dict.fromkeys(quality[name]))) for name in ("model", "language"))
    n = Counter(quality.drop_duplicates(["kind", "id"])["kind"])
    plain, anchored = n["unspecific"], n["specific"]
    what = [f"{counted(plain, 'question')} without a country"] if plain else []
    what += [f"{anchored:,} with a country named"] if anchored else []
    yield (
        f"{capital(counted(len(models), 'model'))} ({some_of(models)}) {was(len(models))} asked {listed(what)} in "
        f"{counted(len(languages), 'language')} ({some_of(languages)})."
    )
    n = Counter(quality["status"])
    faults = [f"{n[name]:,} {name.replace('_', ' ')}" for name in STATUSES if name != "ok" and n[name]]
    rest = f" ({listed(faults)})" if faults else ""
    yield (
        f"{len(quality) - n['ok']:,} of {len(quality):,} answers were not ok{rest}: they contained no word, were not "
        "written, echoed the prompt, repeated themselves, had a probability below .01 of being in their own language "
        "(py3langid), or were cut off."
    )
    dropped = frames.get("dropped")
    if dropped is not None and len(dropped):
        left_out = [f"{row['model']} in {row['language']}" for row in records(dropped)]
        yield f"The analysis leaves out {some_of(left_out)}, where too few answers counted."


def _embedded(frames: Frames) -> Iterator[str]:
    report = frames.get("embedder_report")
    if report is None or not has_numbers(report, "found_share"):
        return
    yield (
        f"Answers were compared as vectors of a sentence embedder, which found the translation of a question among all "
        f"questions of another language in at least {report['found_share'].min():.2f} of the cases in each language; "
        f"language accounted for {language_share(report):.2f} of the variance of the questions' vectors."
    )


def _compared(correction: str, frames: Frames) -> Iterator[str]:
    pairs, scores = frames.get("language_pairs"), frames.get("scores")
    if pairs is not None and len(pairs):
        yield (
            "Distances are half the squared distances of mean vectors, minus what sampling answers adds to them; they "
            "are unbiased for the expected vectors (Szekely and Rizzo 2013). U is the distance between languages "
            "without a country, A for the same country and C for different countries; V is the distance between "
            "countries in one language. Diversity is (U - A)/V and robustness is (C - A)/V. Both are ratios of means "
            "over questions, so that what an embedder adds to a language cancels. Intervals over questions invert "
            "skew-adjusted t tests (Hall 1992; for ratios, Fieller 1954) and are given only for 20 or more questions."
        )
        n_tests = 0 if scores is None else int(rows(scores, scores["score"].isin(TESTS))["p"].notna().sum())
        yield (
            f"{capital(counted(n_tests, 'permutation test'))} (Phipson and Smyth 2010) of conditions, countries, own "
            f"countries and languages {was(n_tests)} corrected within each model ({CITED[correction]}). For the first "
            "three, p is at least that of the skew-adjusted t test over questions (Hall 1992). Both ratios are refused "
            "where answers do not follow the named country."
        )
    if scores is None:
        return
    refused = rows(scores, (scores["score"] == DIVERSITY) & (scores["status"] == "refused"))
    if len(refused):
        yield f"The ratios are refused for {some_of(list(map(str, refused['model'])))}."
    if len(rows(scores, (scores["score"] == CONTENT) & scores["value"].notna())):
        yield (
            "Content distance, which needs no named country, subtracts each language's mean over the questions "
            "(Libovicky et al. 2020) and is 0 for translations of one text and 1 for different questions."
        )


def _published(frames: Frames) -> Iterator[str]:
    scores = frames.get("scores")
    if scores is None or not has_numbers(published_rows(scores), "value"):
        return
    yield (
        "Published scores (k-means with the number of clusters by silhouette; mean distances CD and CR; CSP, one minus "
        "a squared rank correlation) are shown with the values that the same formulas give for the questions "
        "themselves and, for CSP, for answers permuted among questions."
    )


def _calibrated(frames: Frames) -> Iterator[str]:
    table = frames.get("calibration")
    if table is None or not len(table):
        return
    n = int(table["is_recovered"].astype(bool).sum())
    models = list(map(str, dict.fromkeys(table["model"])))
    yield f"{n} of {len(table)} facts planted into {listed(models)} were recovered within their tolerance."
