"""`survey/human_distributions`: weighted answers of respondents per country; in the demo they are synthetic."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from valuesassets.instruments.survey.material.analysis_scale import analysis_places
from valuesassets.instruments.survey.material.respondents import answer_codes, answer_column
from valuesassets.people.variables import load_variables
from valuesassets.people.weighted_shares import weighted_answers
from valuesassets.records.errors import HumanDataError
from valuesassets.records.questions import Question
from valuesassets.records.study import Study
from valuesassets.records.tables import HUMAN_DISTRIBUTIONS
from valuesassets.records.trials import asked_id


def derive_human_distributions(
    respondents: pd.DataFrame, study: Study, questions: Mapping[str, Sequence[Question]]
) -> pd.DataFrame:
    """Rows of `HUMAN_DISTRIBUTIONS`: for each language, the answers of the respondents of its country.

    `prob` is over the answers that the question offers, with 0 for those that nobody chose. `dk_rate` is the weighted
    share without such an answer among those asked. A question without answers has no rows. A second choice has rows for
    each first choice (`v111@v110=1`), of those who made it.

    Raises:
        HumanDataError: a respondent's answer is none of the question's.
    """
    weights = respondents["weight"].to_numpy(dtype=float)
    sources = respondents["source"].to_numpy(dtype=object)
    rows: list[dict[str, object]] = []
    for language, country, form in _countries_and_forms(study, questions):
        here = np.flatnonzero((respondents["country"] == country).to_numpy(dtype=bool))
        if not len(here):
            continue
        people, place = respondents.iloc[here], analysis_places(questions[form])
        label: dict[str, object] = {"country": country, "language": language}
        for asked_as, values, codes, is_asked in _questions_as_asked(people, questions[form], label):
            if answers := weighted_answers(codes[is_asked], weights[here][is_asked], values):
                probs, measured = answers
                shared = label | {"question_id": asked_as, **measured, "source": sources[here][0]}
                rows += [
                    shared | {"response_value": value, "analysis_value": place(asked_as, value), "prob": prob}
                    for value, prob in zip(values, probs, strict=True)
                ]
    if not rows:
        return HUMAN_DISTRIBUTIONS.empty_frame()
    return pd.DataFrame(rows, columns=pd.Index(HUMAN_DISTRIBUTIONS.names))


def _countries_and_forms(study: Study, questions: Mapping[str, Sequence[Question]]) -> list[tuple[str, str, str]]:
    """Language, country, and the language whose form has the country's questions.

    Further countries have no language of the study, and the questions of its first form.
    """
    own = [(language, country, language) for language, country in study.countries.items() if language in questions]
    first = next((language for language in study.languages if language in questions), None)
    return own if first is None else own + [("", country, first) for country in study.human.countries]


def _questions_as_asked(
    people: pd.DataFrame, questions: Sequence[Question], label: Mapping[str, object]
) -> Iterator[tuple[str, tuple[int, ...], NDArray[np.int16], NDArray[np.bool_]]]:
    """Every question: asked id, its answer codes, (n,) people's codes, and (n,) who was asked."""
    by_id = {question.id: question for question in questions if answer_column(question.id) in people}
    everyone = np.ones(len(people), dtype=bool)
    for question in by_id.values():
        codes = answer_codes(people, question.id)
        other = sorted(set(np.unique(codes[codes > 0]).tolist()) - set(question.values))
        if other:
            raise HumanDataError(
                f"{people['source'].iloc[0]}: column {question.id}, country {label['country']}: answers "
                f"{', '.join(map(str, other))}, where the question in {label['language'] or 'the first form'} offers "
                f"{', '.join(map(str, question.values))}; mend the question's options (overrides) or leave it out"
            )
        earlier = by_id.get(load_variables().of([question]).depends_on.get(question.id) or "")
        if earlier is None:
            yield question.id, question.values, codes, everyone
            continue
        first = answer_codes(people, earlier.id)
        for chosen in earlier.values:
            rest = tuple(value for value in question.values if value != chosen)
            yield asked_id(question.id, f"{earlier.id}={chosen}"), rest, codes, first == chosen
