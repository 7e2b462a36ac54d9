"""The methods of a psych tasks page, in sentences for a paper, and the sources that it rests on."""

from collections.abc import Iterator, Mapping
from functools import partial

import pandas as pd

from valuesassets.instruments.psych_tasks.answers.mark_ledger import LEFT_OUT
from valuesassets.instruments.psych_tasks.plants.calibration import MOST_TVD, MOST_TVD_P95
from valuesassets.instruments.psych_tasks.report.claims import table_of
from valuesassets.instruments.psych_tasks.report.pictures import LOST
from valuesassets.measure.skewed_means import FEWEST, MORE_FOR_EACH
from valuesassets.records.frames import column, rows
from valuesassets.reporting.methods import CITED, capital, counted, listed, some_of, sources_of_tables, was

Frames = Mapping[str, pd.DataFrame]
RESTS_ON = {
    "valuesassets": (),
    "gneiting2007": ("prediction/scores",),
    "mcfadden1974": ("prediction/scores",),
    "hall1992": ("prediction/scores",),
    "xie2025": ("prediction/gains",),
    "holm1979": ("prediction/gains",),
    "meyer2026": ("keying/scales", "published_scores/scales"),
    "spearman1904": ("keying/scales",),
    "brennan2001": ("reliability/scales",),
    "cronbach1951": ("published_scores/scales",),
    "feldt1965": ("published_scores/scales", "reliability/scales"),
}
"""The tables that make an entry of the bibliography a source, by its key; without tables every page has it."""
TOTALS = ["model", "task", "history", "draw", "layout"]
LAYOUTS = {"marked": "word for word", "plain": "without the marks around answers", "chat": "as a chat"}


def sources(frames: Frames, correction: str = "holm") -> tuple[str, ...]:
    """Keys of the sources of these tables, in the order of their entries."""
    return sources_of_tables(RESTS_ON, frames, correction)


def methods(frames: Frames, is_planted: bool, correction: str = "holm") -> list[str]:
    """Sentences on what was done, with this page's numbers."""
    parts = (_asked, partial(_predicted, correction), _scaled, _calibrated)
    planted = (
        "This is a test of the instrument: people were made up, so nothing that follows is a finding about people."
    )
    return [*([planted] if is_planted else []), *(sentence for part in parts for sentence in part(frames))]


def _asked(frames: Frames) -> Iterator[str]:
    ledger = table_of(frames, "mark_ledger")
    if ledger is None:
        return
    models, tasks = (list(map(str, dict.fromkeys(ledger[name]))) for name in ("model", "task"))
    each = ledger.groupby(TOTALS, dropna=False)["marks"].sum().reset_index().drop_duplicates("task")
    n = int(each["marks"].sum())
    yield (
        f"{capital(counted(len(models), 'model'))} ({some_of(models)}) {was(len(models))} shown the transcripts of "
        f"people in {counted(len(tasks), 'task')} ({some_of(tasks)}) and asked at {counted(n, 'answer')} how probable "
        "each possible answer is."
    )
    layouts = [words for name, words in LAYOUTS.items() if name in set(ledger["layout"].dropna())]
    in_layouts = f", shown {listed(layouts)}" if layouts else ""
    yield (
        f"Probabilities were read exactly, before the answer stands there{in_layouts}: of a candidate of several "
        "tokens the product along its own tokens; they were renormalised over the candidates (q), and what lies "
        "outside these is kept as P_valid."
    )
    histories = list(map(str, dict.fromkeys(ledger["history"].dropna())))
    yield f"What stands before an answer was varied: {listed(histories)}."
    countable = rows(ledger, ~ledger["status"].isin(list(LEFT_OUT)))
    lost = int(rows(countable, countable["status"].isin(list(LOST)))["marks"].sum())
    yield (
        f"No answer was dropped without account: over all models and histories {lost:,} of "
        f"{int(countable['marks'].sum()):,} could not be read, each with its reason."
    )


def _predicted(correction: str, frames: Frames) -> Iterator[str]:
    scores, gains = table_of(frames, "prediction/scores"), table_of(frames, "prediction/gains")
    if scores is None:
        return
    people = column(scores, "n_participants").dropna().astype(float)
    n = f" (up to {int(people.max()):,})" if len(people) else ""
    yield (
        "How well people's answers are predicted is the mean of ln q of what was answered, within and then over "
        f"participants{n}, in nats (Gneiting and Raftery 2007); skill is 1 + that / ln of the number of candidates "
        "(McFadden 1974). Beside it stand even chances; the share that a model gives to the answer's place on average; "
        "the answers of others to the same item (crowd); and counting, which adds others' places and a person's own "
        "earlier answers. Crowd and counting are smoothed by one answer, over what the person may answer, and mixed "
        "with even chances by weights fitted on other people. A model predicts people where it is better than each."
    )
    yield (
        "Intervals and p-values of means over participants are the wider and the larger of Student's t and of t with "
        "a correction for skewness (Hall 1992); participants are taken as independent, their differences not as "
        f"symmetric, and with fewer than {FEWEST} of them, and {MORE_FOR_EACH} for each further test that is corrected "
        "with one, nothing is tested."
    )
    if gains is not None:
        n_tests = int(gains["p"].notna().sum())
        yield (
            f"What one history adds to another was tested in {counted(n_tests, 'test')}, corrected over the models of "
            f"a task and gain ({CITED[correction]}). Answers without any task were asked because "
            "histories alone may predict much (Xie and Zhu 2025)."
        )


def _scaled(frames: Frames) -> Iterator[str]:
    if len(frames.get("keying/scales", ())):
        yield (
            "Whether a scale measures a trait was told from the correlation over models of forward- and reverse-keyed "
            "means before recoding: -1 by content, 1 by label; the share of the label is (1 + rho) / 2 (Meyer, Garcia "
            "and Wulff 2026), with an interval by Fisher's z over lines of models, widened where leaving out a line at "
            "a time reaches further, and a rank test of lines' means (Spearman 1904). Lines (sizes and versions of one "
            "name) are taken as independent, models within them are not."
        )
    if len(frames.get("reliability/scales", ())):
        yield (
            "A model's consistency is the generalizability of its scale scores over items, presentations and draws "
            "(Brennan 2001), of answers that follow no human one; intervals are Feldt's (1965) over lines of models, "
            "widened where leaving out a line at a time reaches further."
        )
    if len(frames.get("published_scores/scales", ())):
        yield (
            "The published score weights what people answered by q; Cronbach's alpha (1951) of it over models has "
            "Feldt's (1965) interval, for as many models as there are lines, and stands beside the band without any "
            "covariance, random logits, probabilities dealt anew among participants, and a model that sees no item."
        )


def _calibrated(frames: Frames) -> Iterator[str]:
    table = table_of(frames, "calibration/recovery")
    if table is None:
        return
    n = int(table["is_recovered"].astype(bool).sum())
    models = list(map(str, dict.fromkeys(table["model"])))
    yield (
        f"Models that were trained to answer by a planted response model ({listed(models)}) gave it back in {n} of "
        f"{len(table)} histories, to a total variation of {MOST_TVD:g} in the mean and {MOST_TVD_P95:g} in 95 of 100 "
        "answers."
    )
