# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown]
# # WorldValuesBench: does a model move with a person's background as people do?
#
# This notebook opens a study that was run. It shows whether each model's answers differ between groups of people as the
# people's own answers do, and why the published score does not show this. [The page on
# WorldValuesBench](../worldvaluesbench.md) explains the words.

# %%
import matplotlib.pyplot as plt

import valuesassets as va

# %% [markdown]
# ## A study
#
# The name of a bundled study stands here. Put the name of yours in its place, or the path of its file.

# %% tags=["parameters"]
study = "demo_worldvaluesbench"

# %% [markdown]
# Where nothing of it is stored, the notebook ends here and says which command makes it. `valuesassets run
# demo_worldvaluesbench` takes about a minute.

# %%
try:
    slopes = va.read_table(study, "worldvaluesbench/awareness/factors")
    means = va.read_table(study, "worldvaluesbench/awareness/group_means")
    scores = va.read_table(study, "worldvaluesbench/benchmark_scores/scores")
    orders = va.read_table(study, "worldvaluesbench/benchmark_scores/orders")
    people = va.read_table(study, "worldvaluesbench/human_groups")
except va.ValuesAssetsError as fault:
    raise SystemExit(str(fault)) from None


# %%
def show(table, *columns):
    """Print some columns; what could not be computed is empty, and the column `reason` says why."""
    chosen = table[list(columns)]
    print(chosen.astype(object).where(chosen.notna(), "").to_string(index=False, float_format="{:.3f}".format))


# %% [markdown]
# ## The slope
#
# Of how people's answers move from group to group, the slope is the share that the model makes: 1 as people, 0 not at
# all, below 0 the wrong way. The interval is over people within groups. Rows that end in `without attributes` or
# `shuffled` are controls, whose slope should be near 0.

# %%
overall = slopes[slopes["factor"] == "all"]
show(overall, "model", "slope", "slope_low", "slope_high", "p_corrected", "p_opposite_corrected", "planted_slope")

# %%
figure, axis = plt.subplots(layout="constrained")
for place, (factor, rows) in enumerate(slopes.groupby("factor", sort=False)):
    heights = [list(overall["model"]).index(model) + 0.15 * place for model in rows["model"]]
    points = axis.plot(rows["slope"], heights, "o", label=factor)
    axis.hlines(heights, rows["slope_low"], rows["slope_high"], colors=points[0].get_color())
axis.set_yticks(range(len(overall)), overall["model"])
for slope in (0, 1):
    axis.axvline(slope, color="grey", linewidth=0.8)
axis.set_xlabel("slope, with its interval: 0 not at all, 1 as people")
axis.legend()
plt.show()

# %% [markdown]
# ## What a slope is made of
#
# Each point is a group of people in one question. A model that moves as people do lies along the line.

# %%
models = list(means.groupby("model", sort=False))
n_models = max(len(models), 1)
figure, axes = plt.subplots(1, n_models, squeeze=False, sharey=True, figsize=(4 * n_models, 4))
for axis, (model, groups) in zip(axes[0], models, strict=False):
    axis.plot(groups["human_mean_unit"], groups["model_mean_unit"], "o", alpha=0.5)
    axis.axline((0.5, 0.5), slope=1, color="grey", linewidth=0.8)
    axis.set(title=model, xlabel="people's mean answer")
axes[0, 0].set_ylabel("the model's mean answer")
plt.show()

# %% [markdown]
# ## Do ratings follow the answers, or their places?
#
# A model whose ratings follow the places of the answers is in no score. The reason says where nobody can tell.

# %%
show(orders, "model", "agreement", "agreement_low", "agreement_high", "follow", "is_evidence", "reason")

# %% [markdown]
# ## The published score
#
# It lays all people's answers beside all of a model's (`w1_seed`, 0 is best), so that who answered what is gone:
# ratings that were shuffled over people score the same. Beside it stand the expected score of a perfect model, and that
# of uniform answers.

# %%
pooled = scores[scores["subset"] == "all"]
columns = ["w1_seed", "w1_floor_unit", "w1_uniform_unit"]
print(pooled.groupby("model", sort=False)[columns].mean().to_string(float_format="{:.3f}".format))


# %% [markdown]
# ## Two groups of people
#
# How far groups of people lie apart in a question is a distance of their answers: how far, in units of the scale,
# answers have to be moved, and the share of answers that differ. Here are the groups that are farthest from the first.


# %%
def answers_of(group) -> va.Distribution:
    """People's answers to a question in one group."""
    return va.distribution(group["response_value"], group["prob"])


question = people["question_id"].iloc[0]
groups = people[people["question_id"] == question].groupby(["continent", "settlement", "education"], sort=False)
(first, here), *others = [(" ".join(map(str, name)), answers_of(rows)) for name, rows in groups]
distances = sorted(
    ((va.wasserstein1_unit(here, there), va.tvd(here, there), name) for name, there in others), reverse=True
)
print(f"{question}: people of {first}, beside those of")
for moved, differing, name in distances[:5]:
    print(f"{moved:.3f} units, {differing:.3f} of answers: {name}")
