"""Answers that stand word for word under another country too."""

import pandas as pd

from valuesassets.instruments.cultural_robustness.measures.answer_space import SPECIFIC
from valuesassets.records.frames import rows


def repeated_answers(answered: pd.DataFrame, usable: pd.DataFrame | None = None) -> pd.DataFrame:
    """How many anchored answers are, word for word, that of another country: same language, question and persona.

    Args:
        answered: `language, kind, id, question_id, country, persona, sample, text`.
        usable: `language, kind, id, sample` of the answers that count; all with a text where it is None.

    Returns:
        `language, question_id, n, n_repeated`, a row for each language and question with such answers.
    """
    kept = rows(answered, (answered["kind"] == SPECIFIC) & answered["text"].notna())
    if usable is not None:
        keys = ["language", "kind", "id", "sample"]
        kept = kept.merge(usable[keys].drop_duplicates(), on=keys)
    personas = [0 if pd.isna(each) else int(each) for each in kept["persona"]]
    kept = kept.assign(question_id=kept["question_id"].astype(str), persona=personas)
    by = ["language", "question_id"]
    countries = pd.Series(kept.groupby([*by, "persona", "text"], sort=False)["country"].transform("nunique"))
    groups = kept.assign(is_repeated=countries.gt(1)).groupby(by, sort=True)["is_repeated"]
    return groups.agg(n="size", n_repeated="sum").reset_index()
