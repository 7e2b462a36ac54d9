"""Worldwise as a graph: dilemmas, prompts and choices; each asset is derived by the instrument's file of its name."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import dagster as dg
import pandas as pd

from valuesassets.instruments.worldwise.report import lines as own_lines
from valuesassets.orchestration.assets.calibration import Planting, calibration_assets
from valuesassets.orchestration.assets.declaring import declare
from valuesassets.orchestration.assets.grid import grid_assets
from valuesassets.orchestration.assets.worldwise import checks
from valuesassets.orchestration.assets.worldwise.analyses import measure_assets
from valuesassets.orchestration.assets.worldwise.answers import (
    country_words,
    material_stamp,
    of_cultures,
    reason_assets,
)
from valuesassets.orchestration.grid.cells import model_label
from valuesassets.orchestration.instruments import WORLDWISE
from valuesassets.orchestration.partitions import cell_of, cell_partitions
from valuesassets.orchestration.resources import Storage
from valuesassets.records.files import sha256_json
from valuesassets.records.parquet import table_metadata
from valuesassets.records.settings.worldwise import LANGUAGE, Worldwise
from valuesassets.records.study import Study
from valuesassets.records.trials import Reading, Trial

HOME = "valuesassets.instruments.worldwise"


def worldwise_assets(study: Study) -> list[dg.AssetsDefinition]:
    """Every asset of the instrument."""
    return [
        *material_assets(study),
        *calibration_assets(planting_of(study)),
        *grid_assets(study, WORLDWISE),
        *choice_assets(study),
        *reason_assets(study),
        *measure_assets(study),
    ]


def planting_of(study: Study) -> Planting:
    """What reference models learn to choose, and to write where the study asks for reasons."""
    settings = Worldwise.of(study)
    reasons = {"writes": f"{HOME}.plants.plants:planted_reason_rows", "requests": "reason_trials"}
    return Planting(
        study,
        WORLDWISE,
        f"{HOME}.plants.plants:plant_choices",
        answers="choices",
        stamp=sha256_json([material_stamp(settings, "scenarios"), list(settings.cultures)]),
        as_distributions=f"{HOME}.plants.plants:choice_distributions",
        **(reasons if settings.has_reasons else {}),
    )


def material_assets(study: Study) -> list[dg.AssetsDefinition]:
    """The dilemmas, and each culture's prompts."""
    settings = Worldwise.of(study)
    declared = partial(declare, study, WORLDWISE, "prompts")
    return [
        declared(
            line=own_lines.scenarios_line,
            checks=[checks.SCENARIOS_ARE_SOUND],
            stamp=sha256_json([material_stamp(settings, "scenarios"), country_words(settings)]),
            reads=(),
            io_manager_key="frame",
        )(scenarios),
        declared(
            modules=[".material.cultures"],
            stamp=sha256_json([settings.wordings, settings.demand]),
            **of_cultures(study),
        )(trials),
    ]


def scenarios(study: Study) -> Any:
    """The dilemmas: a situation, a question, and an option for each pole of an axis."""
    from valuesassets.instruments.worldwise.material.scenarios import find_doubts, read_scenarios, scenario_rows
    from valuesassets.instruments.worldwise.tables import SCENARIOS

    settings = Worldwise.of(study)
    dilemmas = read_scenarios(settings.scenarios)
    doubts = [doubt._asdict() for doubt in find_doubts(dilemmas, country_words(settings))]
    rows = scenario_rows(dilemmas)
    return dg.MaterializeResult(
        value=SCENARIOS.frame(rows),
        # Another culture's names may raise doubts, and make no prompt another.
        data_version=dg.DataVersion(sha256_json(rows)[:16]),
        check_results=[checks.SCENARIOS_ARE_SOUND.result(doubts, len(dilemmas))],
    )


def trials(context: dg.AssetExecutionContext, study: Study, scenarios: pd.DataFrame) -> Any:
    """Every dilemma as a culture's persona is asked it, in both orders."""
    from valuesassets.instruments.worldwise.material.scenarios import scenarios_of
    from valuesassets.instruments.worldwise.trials.trials import study_trials

    settings = Worldwise.of(study)
    return study_trials(settings, context.partition_key, scenarios_of(scenarios), study.seed)


def choice_assets(study: Study) -> list[dg.AssetsDefinition]:
    """What each model chooses; and beside it, where the study says so, what it chooses when told to be typical."""
    declared = partial(
        declare,
        study,
        WORLDWISE,
        "models",
        line=own_lines.choices_line,
        step="cell",
        checks=[checks.EVERY_PROMPT_WAS_ASKED, checks.P_VALID_IS_SUFFICIENT, checks.ORDERS_AGREE],
        partitions_def=cell_partitions(study, WORLDWISE),
        reads=("thresholds",),
        entries=("families",),
        io_manager_key="frame",
    )
    return [declared()(choices), *([declared()(demand_choices)] if Worldwise.of(study).demand else [])]


def choices(
    context: dg.AssetExecutionContext,
    study: Study,
    storage: Storage,
    scenarios: pd.DataFrame,
    trials: list[Trial],
    readings: list[Reading],
) -> Any:
    """What the model chooses in every dilemma: the probability of the high pole, over both orders."""
    from valuesassets.instruments.worldwise.answers.choices import derive_choices
    from valuesassets.instruments.worldwise.trials.trials import is_demand

    prompts = [trial for trial in trials if not is_demand(trial.condition)]
    derive = partial(derive_choices, trials=prompts, readings=readings)
    return _choices(context, study, storage, scenarios, derive)


def demand_choices(
    context: dg.AssetExecutionContext,
    study: Study,
    storage: Storage,
    scenarios: pd.DataFrame,
    trials: list[Trial],
    readings: list[Reading],
) -> Any:
    """Choices of personas who are told to hold the values that are typical there; unprompted nobody is."""
    from valuesassets.instruments.worldwise.answers.demand_choices import derive_demand_choices

    derive = partial(derive_demand_choices, trials=trials, readings=readings)
    return _choices(context, study, storage, scenarios, derive)


def _choices(
    context: dg.AssetExecutionContext,
    study: Study,
    storage: Storage,
    scenarios: pd.DataFrame,
    derive: Callable[..., Any],
) -> dg.MaterializeResult[pd.DataFrame]:
    """A cell's table of choices, whose rows `derive` gives, with its checks."""
    from valuesassets.instruments.worldwise.answers.choices import LOW_P_VALID
    from valuesassets.instruments.worldwise.material.scenarios import scenarios_of
    from valuesassets.instruments.worldwise.tables import CHOICES

    (name, _), rules = cell_of(context), study.thresholds
    label = model_label(study, storage, name, LANGUAGE)
    rows = derive(scenarios_of(scenarios), model_id=label, model=name, least_p_valid=rules.p_valid_question)
    table = CHOICES.frame(rows)
    path = storage.path(WORLDWISE.key("readings"), context.partition_key, "parquet")
    table.attrs["file_metadata"] = table_metadata(path)
    low = [row for row in rows if row["status"] == LOW_P_VALID]
    unread = [row for row in rows if row["status"] not in ("ok", LOW_P_VALID)]
    far = [row for row in rows if row["status"] == "ok" and _is_far(row, rules.position_bias)]
    return dg.MaterializeResult(
        value=table,
        check_results=[
            checks.EVERY_PROMPT_WAS_ASKED.result(_columns(unread, "status", "reason"), len(rows)),
            checks.P_VALID_IS_SUFFICIENT.result(_columns(low, "p_valid"), len(rows)),
            checks.ORDERS_AGREE.result(_columns(far, "p_high_forward", "p_high_reversed"), len(rows)),
        ],
    )


def _is_far(row: Mapping[str, Any], most: float) -> bool:
    """Whether the two orders of a dilemma differ by more than a limit."""
    return abs(row["p_high_forward"] - row["p_high_reversed"]) > most


def _columns(rows: Sequence[Mapping[str, Any]], *names: str) -> list[dict[str, Any]]:
    """The dilemma of each row, and some columns."""
    return [{name: row[name] for name in ("scenario_id", "wording", *names)} for row in rows]
