"""The figures of worldwise; the title of each is its question."""

import contextlib

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from valuesassets.figures import style
from valuesassets.figures.backgrounds import has_numbers
from valuesassets.figures.interval_panels import Chance, draw_interval_panels
from valuesassets.figures.labels import Name, write_names
from valuesassets.figures.marks import draw_heat, write_values
from valuesassets.figures.panels import new_panels
from valuesassets.figures.published_and_null import draw_published_and_null
from valuesassets.figures.status_bars import draw_shares, status_handles, status_looks
from valuesassets.instruments.worldwise.answers.model_answers import READOUT_NAMES
from valuesassets.instruments.worldwise.answers.reasons import OK
from valuesassets.instruments.worldwise.measures.axes import LEAST_AUC
from valuesassets.instruments.worldwise.measures.say_do_gap import GAPS
from valuesassets.measure.mds import plane_from_distances
from valuesassets.records.errors import MissingData
from valuesassets.records.frames import column, parts_of, records, rows
from valuesassets.records.settings.measuring import USUAL, Inference

SEED_FIGURES = {
    "alignment by culture": ("alignment, 0 to 10", "a score of zero for every answer"),
    "alignment by domain": ("alignment, 0 to 10", "a score of zero for every answer"),
    "hardest and easiest dilemmas": ("alignment, 0 to 10", "a score of zero for every answer"),
    "two metrics": ("0 to 10", "a score of zero for every answer; a text without any of the words looked for"),
    "distance of unprompted answers": ("distance of scores from targets", "a score of zero for every answer"),
    "decisions": ("share of decisions", "even chances between the poles"),
    "decisions for the high pole": ("share of decisions", "even chances between the poles"),
    "values ticked": ("share of ticked values", "every value as often as any other"),
    "shift of ticked values": ("shift in points, 0 to 100", "conditions exchanged by chance within dilemmas"),
    "stereotype score": ("stereotype score, 0 to 10", "a text without any of the words looked for"),
}
"""By figure of worldWiseAI: the label of its axis, and its null."""
WRITTEN = {(form, measure): READOUT_NAMES[readout] for readout, (form, measure, _) in GAPS.items()}
"""The name of a form and measure."""
Z_SCALE = 3
"""Country scores are drawn as z / 3, so that they fit beside leans."""
PARTS = ("model", "form", "culture")


def draw_cultural_profiles(
    profiles: pd.DataFrame, planted: bool = False, inference: Inference = USUAL
) -> Figure | None:
    """A panel for each axis: a model's lean as each culture, by choices and by reasons, with the country's score.

    None if no readout is reliable.
    """
    if not has_numbers(profiles, "lean"):
        return None
    is_reliable = profiles.groupby("readout")["lean"].transform(lambda leans: leans.notna().any()).to_numpy(bool)
    reliable = rows(profiles, is_reliable)
    drawn = reliable.assign(readout=_readout_names(reliable), country=reliable["z"].astype(float) / Z_SCALE)
    has_countries = has_numbers(drawn, "country")
    return draw_interval_panels(
        drawn,
        "lean",
        title=f"How does {drawn['model'].iloc[0]} lean as a person of each culture?",
        label="low pole   |   high pole",
        row="culture",
        series="readout",
        panel="axis",
        chance=Chance("country", f"the country's score, z / {Z_SCALE}") if has_countries else None,
        limits=(-1.1, 1.1),
        notes=[
            f"Lean: -1 the low pole, 1 the high one; means over dilemmas with {100 * inference.level:g} % intervals. "
            "Reasons are not placed on axes that are not valid. Scores are of countries, not of persons."
        ],
        planted=planted,
    )


def draw_axis_validity(validity: pd.DataFrame, planted: bool = False) -> Figure:
    """A row for each axis: how often it puts held-out sentences in order, for each embedder."""
    invalid = [
        f"{row['axis']} ({row['embedder']}, p {row['p']:.3f})" for row in records(validity) if not row["is_valid"]
    ]
    return draw_interval_panels(
        validity,
        "held_out_auc",
        title="Do axes put sentences in order that they were not made of?",
        label="held-out AUC",
        row="axis",
        series="embedder",
        line=LEAST_AUC,
        limits=(0, 1.03),
        notes=[
            "0.5 is a coin. An axis is valid from the line on, where exchanged poles do as well in 5 % at most. "
            f"Not valid: {', '.join(invalid) or 'none'}."
        ],
        planted=False,
    )


def draw_say_do(gaps: pd.DataFrame, planted: bool = False, inference: Inference = USUAL) -> Figure | None:
    """A panel for each form and measure: what a model writes minus what it chooses, on each axis."""
    if (known_gaps := rows(gaps, gaps["gap"].notna())).empty:
        return None
    named = known_gaps.assign(what=[WRITTEN[row["form"], row["measure"]] for row in records(known_gaps)])
    rejected = records(rows(named, named["p_corrected"] <= inference.alpha))
    names_of_rejected = [f"{row['model']} {row['axis']} ({row['what']})" for row in rejected]
    return draw_interval_panels(
        named,
        "gap",
        title="Do models write what they choose?",
        label="written less chosen",
        row="axis",
        panel="what",
        notes=[
            "Decisions: in P(high); reasons: in leans, twice that. Intervals over dilemmas; corrected p up to "
            f"{inference.alpha:g}: {', '.join(names_of_rejected) or 'none'}."
        ],
        planted=planted,
    )


def draw_agreement_null(agreement: pd.DataFrame, planted: bool = False, inference: Inference = USUAL) -> Figure | None:
    """A row for each model and readout: agreement with country scores, beside that of exchanged cultures."""
    if (correlations := rows(agreement, agreement["r"].notna())).empty:
        return None
    return draw_interval_panels(
        correlations.assign(who=_who(correlations)),
        "r",
        title="Do cultures differ as the scores of their countries do?",
        label="r over cultures and axes",
        row="who",
        series="kind",
        chance=Chance("null_low", f"middle {100 * inference.level:g} % with exchanged cultures", "null_high"),
        limits=(-1.05, 1.05),
        planted=planted,
    )


def draw_shift_excess(shifts: pd.DataFrame, planted: bool = False) -> Figure | None:
    """A row for each condition: the distance of its ticked values from the placebo's, beyond chance."""
    if (excesses := rows(shifts, shifts["tvd_excess"].notna())).empty:
        return None
    return draw_interval_panels(
        excesses,
        "tvd_excess",
        title="Which values does a persona move, beyond chance?",
        label="total variation to the placebo, less its mean by chance",
        row="culture",
        notes=["The placebo is a persona from nowhere. Intervals are too wide where nothing is moved: the p decides."],
        planted=planted,
    )


@style.styled
def draw_statuses(statuses: pd.DataFrame, planted: bool = False) -> Figure | None:
    """A bar for each model, form and condition: the statuses of answers that are not ok."""
    kinds = list(dict.fromkeys(statuses["status"][statuses["status"] != OK]))
    if not kinds:
        return None
    named = statuses.assign(who=[" ".join(key) for key in zip(*(statuses[name] for name in PARTS), strict=True)])
    shares = named.pivot_table(values="rate", index="who", columns="status", aggfunc="sum", sort=False)
    drawn = shares.reindex(columns=kinds).fillna(0.0)
    drawn = drawn.loc[drawn.sum(axis=1) > 0]
    figure = style.new_figure(height_in=1.6 + 0.2 * max(3, len(drawn)))
    axes = figure.add_subplot()
    looks = status_looks(kinds)
    draw_shares(axes, drawn, looks)
    axes.set_yticks(range(len(drawn)), list(drawn.index), fontsize=style.SMALL_PT)
    axes.invert_yaxis()
    axes.set_xlabel("share of answers")
    note = f"{len(shares) - len(drawn)} of {len(shares)} rows, in which every answer is ok, are left out."
    return style.finish(figure, "What became of answers that say nothing?", [note], status_handles(looks), 4, planted)


@style.styled
def draw_nearest_persona(nearest_persona: pd.DataFrame, planted: bool = False) -> Figure | None:
    """A shade for each culture: how often its persona is the nearest to answers without one."""
    if (ranked := rows(nearest_persona, nearest_persona["p_nearest"].notna())).empty:
        return None
    table = ranked.assign(who=_who(ranked))
    wide = table.pivot_table(values="p_nearest", index="who", columns="culture", sort=False)
    title = "Which of its own personas is a model nearest to when it has none?"
    return _heat(wide, title, "how often nearest", (0, 1), planted)


@style.styled
def draw_error_heatmap(errors: pd.DataFrame, planted: bool = False) -> Figure:
    """A shade for each culture and axis: the error of the published score, and in separate rows that of zeros."""
    named = errors.assign(
        who=errors["model"].astype(str) + " " + errors["culture"], zeros="zeros " + errors["culture"].astype(str)
    )
    wide = [
        named.pivot_table(values=value, index=who, columns="axis", sort=False)
        for value, who in (("error", "who"), ("error_zero", "zeros"))
    ]
    return _heat(pd.concat(wide), "As published: where does the score miss its targets?", "mean error", (0, 4), planted)


@style.styled
def draw_culture_plane(culture_pairs: pd.DataFrame, planted: bool = False) -> Figure | None:
    """A panel for each model: its cultures as points, near each other where it leans alike."""
    choices = rows(culture_pairs, (culture_pairs["readout"] == "choice") & culture_pairs["distance"].notna())
    planes = {}
    for (model,), pairs in parts_of(choices, ["model"]):
        names = list(dict.fromkeys([*pairs["culture"], *pairs["other_culture"]]))
        distances = np.full((len(names), len(names)), np.nan)
        np.fill_diagonal(distances, 0)
        for row in records(pairs):
            at = names.index(row["culture"]), names.index(row["other_culture"])
            distances[at] = distances[at[::-1]] = row["distance"]
        with contextlib.suppress(MissingData):  # of fewer than three cultures there is no plane
            planes[model] = names, plane_from_distances(distances).points
    if not planes:
        return None
    figure, panels, notes = new_panels(list(planes), 2)
    for axes, (_, points) in zip(panels, planes.values(), strict=False):
        axes.plot(*points.T, "o", color=style.BLUE, markersize=5)
        reach = 1.25 * max(float(np.abs(points).max()), 0.05)
        axes.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
        axes.grid(visible=True)
    notes.append("Distance: root mean square, over axes, of the mean difference of leans. Axes have no meaning.")
    style.finish(figure, "Which cultures does a model take for alike?", notes, planted=planted)
    for axes, (names, points) in zip(panels, planes.values(), strict=False):
        write_names(axes, [Name(x, y, name) for name, (x, y) in zip(names, points, strict=True)])
    return figure


def draw_seed_figure(figures: pd.DataFrame, planted: bool = False) -> Figure:
    """A row for each point of a figure of worldWiseAI, with a dot for each model and a bar for its null."""
    name = str(figures["figure"].iloc[0])
    label, null = SEED_FIGURES[name]
    title, meaning = f"As published: {name}", f"Null: {null}."
    return draw_published_and_null(figures, planted, title=title, meaning=meaning, label=label, most=0.0)


def _readout_names(frame: pd.DataFrame) -> pd.Series:
    return column(frame, "readout").map(pd.Series(READOUT_NAMES))


def _who(frame: pd.DataFrame) -> pd.Series:
    return frame["model"].astype(str) + ", " + _readout_names(frame)


def _heat(wide: pd.DataFrame, title: str, label: str, limits: tuple[float, float], planted: bool) -> Figure:
    figure = style.new_figure(height_in=1.5 + 0.26 * max(3, len(wide)))
    axes = figure.add_subplot()
    values = wide.to_numpy(float)
    draw_heat(figure, axes, values, limits, label)
    write_values(axes, values, limits, style.SMALL_PT)
    axes.set_xticks(np.arange(wide.shape[1]) + 0.5, list(map(str, wide.columns)))
    axes.set_yticks(np.arange(len(wide)) + 0.5, list(map(str, wide.index)), fontsize=style.SMALL_PT)
    return style.finish(figure, title, planted=planted)
