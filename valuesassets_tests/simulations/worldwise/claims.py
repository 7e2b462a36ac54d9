"""Simulations that test the conclusions of worldwise: distinguished cultures, agreement with scores, gaps in writing.

Beside tidy settings there are ugly ones: dilemmas of a domain that are alike, cultures of a zone that are alike, few or
unequal numbers of dilemmas, models without a preference or with one answer to everything, written answers lost on one
side.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import expit

from valuesassets.instruments.worldwise.answers.model_answers import CHOICE, ModelAnswers
from valuesassets.instruments.worldwise.answers.reasons import DECIDE, OK, REFUSED
from valuesassets.instruments.worldwise.material.dimensions import AXES, HIGH, LOW, PLACEBO, UNPROMPTED
from valuesassets.instruments.worldwise.measures.alignment import FOLLOWED, derive_alignment
from valuesassets.instruments.worldwise.measures.say_do_gap import derive_say_do_gap, is_beyond
from valuesassets.measure.means import Array
from valuesassets.measure.seeding import seeded
from valuesassets.records.frames import records, rows_where
from valuesassets.records.settings.measuring import Inference
from valuesassets_tests.simulations.outcomes import NULL, PLANTED, Outcome, Simulation

DIFFERS = "A model's choices change with the culture of the persona."
AGREES = "Cultures differ as the scores of their countries do."
GAP = "A model's written decisions differ from its choices."
HOW = Inference(resamples=299)
EQUAL, UNEQUAL, THREE = (8,) * 6, (15, 12, 8, 6, 4, 3), (6, 6, 6)
CULTURES = ("SWE", "DEU", "NLD", "BRA", "MEX", "ARG", "JPN", "CHN", "KOR")
"""Three countries of each of three culture zones."""
PULLS = {"forward": 0.3, "reversed": -0.3}


@dataclass(frozen=True)
class Setting:
    """One kind of simulated study; by default nothing is planted and nothing is ugly. Sizes are in logits.

    Attributes:
        scenarios: of each axis, as many axes as there are.
        cultures: how many; the zone of culture c is c // 3.
        follows: effect of a standard deviation of a country's score.
        apart: standard deviation of effects of cultures that go with no score, of culture and axis.
        zones: share of these effects, and of countries' scores, that is common to the cultures of a zone.
        gap: what is written less what is chosen, on the first two axes.
        level, level_sd: of dilemmas.
        noise, writing: standard deviations of what a culture adds in a dilemma, and of what writing does.
        domains: share of this noise that is common to the dilemmas of a domain, of which an axis has four.
        sharpness: what all logits are multiplied by.
        refused: share of written answers for the low pole that are refused; of those for the high pole a fifth of it.
        draws: written answers to a prompt.
    """

    scenarios: tuple[int, ...] = EQUAL
    cultures: int = 6
    follows: float = 0.0
    apart: float = 0.0
    zones: float = 0.0
    gap: float = 0.0
    level: float = 0.0
    level_sd: float = 0.8
    noise: float = 0.4
    writing: float = 0.4
    domains: float = 0.0
    sharpness: float = 1.0
    refused: float = 0.0
    draws: int = 2


def supported_claims(setting: Setting, seed: int) -> Mapping[str, Outcome]:
    """Which claims a simulated study supports, judged as the report judges."""
    answers, scenarios, z = simulate_answers(setting, seeded(seed, "worldwise simulations"))
    how = HOW.with_seed(seed)
    reliability = {"readouts": pd.DataFrame(columns=pd.Index(["model"]))}
    aligned = derive_alignment({"made": ModelAnswers(answers.choices)}, reliability, scenarios, z, how)
    gaps = derive_say_do_gap({"made": answers}, reliability, scenarios, how)["gaps"]
    chosen, decided = (
        rows_where(frame, **where)
        for frame, where in ((aligned["culture_pairs"], {"readout": CHOICE}), (gaps, {"measure": "decision"}))
    )
    (verdict,) = rows_where(aligned["verdicts"], readout=CHOICE)["verdict"]
    return {
        DIFFERS: Outcome(bool(chosen["is_told_apart"].isin([True]).any())),
        AGREES: Outcome(verdict == FOLLOWED),
        GAP: Outcome(any(is_beyond(row, how.alpha) for row in records(decided))),
    }


def simulate_answers(setting: Setting, random: np.random.Generator) -> tuple[ModelAnswers, pd.DataFrame, pd.DataFrame]:
    """What a model answered, the domains of its dilemmas, and standard scores of the cultures' countries."""
    codes, names = list(AXES[: len(setting.scenarios)]), list(CULTURES[: setting.cultures])
    axis = np.repeat(np.arange(len(codes)), setting.scenarios)
    domain = 4 * axis + np.concatenate([np.arange(n) % 4 for n in setting.scenarios])
    zone = np.arange(setting.cultures) // 3

    def shared(share: float, group: NDArray[np.intp], *shape: int) -> Array:
        """Standard normal, of which a share is common to the members of a group along the last axis."""
        common = random.normal(size=(*shape[:-1], int(group.max()) + 1))[..., group]
        return np.sqrt(share) * common + np.sqrt(1 - share) * random.normal(size=shape)

    scores = shared(setting.zones, zone, len(codes), setting.cultures).T
    apart = shared(setting.zones, zone, len(codes), setting.cultures).T
    moved = np.vstack([setting.follows * scores + setting.apart * apart, np.zeros((2, len(codes)))])
    conditions = [*names, PLACEBO, UNPROMPTED]
    logits = setting.level + random.normal(0, setting.level_sd, axis.size) + moved[:, axis]
    logits = setting.sharpness * (logits + setting.noise * shared(setting.domains, domain, len(conditions), axis.size))
    written = logits + setting.sharpness * setting.writing * shared(setting.domains, domain, axis.size)
    written[:, axis < 2] += setting.gap
    condition, scenario = np.indices(logits.shape).reshape(2, -1)
    questions = pd.DataFrame(
        {
            "culture": np.array(conditions)[condition],
            "axis": np.array(codes)[axis[scenario]],
            "scenario_id": np.char.add("s", scenario.astype(str)),
        }
    )
    pulled = {f"p_high_{order}": expit(logits + pull).ravel() for order, pull in PULLS.items()}
    choices = questions.assign(**pulled, wording=0, channel="exact", status=OK)
    entries = []
    for order, pull in PULLS.items():
        for draw in range(setting.draws):
            is_high = (random.random(written.shape) < expit(written + pull)).ravel()
            is_lost = random.random(is_high.size) < setting.refused * np.where(is_high, 0.2, 1.0)
            decision = np.where(is_lost, None, np.where(is_high, HIGH, LOW))  # type: ignore[call-overload]
            status = np.where(is_lost, REFUSED, OK)
            entries.append(questions.assign(form=DECIDE, order=order, draw=draw, decision=decision, status=status))
    reasons = pd.concat(entries, ignore_index=True)
    reasons["trial_id"] = reasons["order"] + reasons["culture"] + reasons["scenario_id"]
    scenarios = pd.DataFrame({"scenario_id": np.unique(questions["scenario_id"]), "domain": ""})
    scenarios["domain"] = [str(domain[int(name[1:])]) for name in scenarios["scenario_id"]]
    z = pd.DataFrame(scores, index=pd.Index(names), columns=pd.Index(codes))
    return ModelAnswers(choices, reasons), scenarios, z


def _simulation(name: str, setting: Setting, *right: str, unsaid: tuple[str, ...] = ()) -> Simulation:
    kinds = {texts: PLANTED if texts in right else NULL for texts in (DIFFERS, AGREES, GAP) if texts not in unsaid}
    return Simulation("worldwise", name, kinds, partial(supported_claims, setting))


TIDY = Setting()
FOLLOWS = Setting(follows=0.5, gap=1.1)
SIMULATIONS: tuple[Simulation, ...] = (
    _simulation("a model answers alike as everybody", TIDY),
    _simulation("personas follow their countries, and writing departs on two axes", FOLLOWS, DIFFERS, AGREES, GAP),
    _simulation("personas differ, but not as countries", Setting(apart=0.5), DIFFERS),
    _simulation("personas differ by zone, and not as countries", Setting(cultures=9, apart=0.5, zones=0.8), DIFFERS),
    _simulation(
        "personas follow countries that are alike in a zone",
        Setting(cultures=9, follows=0.5, zones=0.8),
        DIFFERS,
        AGREES,
        unsaid=(GAP,),
    ),
    *(
        _simulation(f"a model answers alike as everybody: {how}", setting)
        for how, setting in {
            "dilemmas of a domain are alike": Setting(domains=0.8),
            "unequal numbers of dilemmas": Setting(scenarios=UNEQUAL),
            "six dilemmas on each of three axes": Setting(scenarios=THREE),
            "hardly any preference": Setting(sharpness=0.1),
            "strong preferences": Setting(sharpness=4.0),
            "nearly all for one pole": Setting(level=-2.5, writing=0.0),
            "written answers lost on one side": Setting(refused=0.4),
            "one written answer to a prompt": Setting(draws=1),
        }.items()
    ),
    _simulation(
        "personas follow their countries, dilemmas of a domain are alike",
        replace(FOLLOWS, domains=0.8),
        DIFFERS,
        AGREES,
        unsaid=(GAP,),
    ),
    *(
        _simulation(
            f"personas follow their countries, and writing departs on two axes: {how}", setting, DIFFERS, AGREES, GAP
        )
        for how, setting in {
            "unequal numbers of dilemmas": replace(FOLLOWS, scenarios=UNEQUAL),
            "written answers lost on one side": replace(FOLLOWS, refused=0.4),
        }.items()
    ),
)

BASES: Mapping[str, str] = {
    DIFFERS: "Cultures permuted within dilemmas, the largest of all pairs' distances, less what dilemmas of a domain "
    "share. Domains are independent.",
    AGREES: "Cultures permuted over all axes together. Cultures are independent but for culture zones.",
    GAP: "Signs of dilemmas flipped together over axes, less what dilemmas of a domain share; the interval stays "
    "beyond 0 with all missing answers on one pole. Differences are symmetric.",
}
"""What each claim is tested by, and what the test takes for granted."""
