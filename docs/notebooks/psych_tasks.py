# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown]
# # Psych tasks: what people's answers are worth to a model
#
# This notebook opens a study that was run. It shows how well a model predicts people's answers, how much of that comes
# from knowing the person, and whether a person's own history predicts their answers better than another person's does.
# [The page on psych tasks](../psych_tasks.md) explains the words.

# %%
import matplotlib.pyplot as plt

import valuesassets as va

print("valuesassets", va.__version__)

# %% [markdown]
# ## A study
#
# The name of a bundled study stands here. Put the name of yours in its place, or the path of its file.

# %% tags=["parameters"]
study = "demo_psych_tasks"

# %% [markdown]
# Where nothing of it is stored, the notebook ends here and says which command makes it. `valuesassets run
# demo_psych_tasks` takes a minute and a half.

# %%
try:
    scores = va.read_table(study, "psych_tasks/prediction/scores")
    gains = va.read_table(study, "psych_tasks/prediction/gains")
    identification = va.read_table(study, "psych_tasks/prediction/identification")
    keying = va.read_table(study, "psych_tasks/keying/models")
except va.ValuesAssetsError as fault:
    raise SystemExit(str(fault)) from None
stored = va.list_tables(study)
print(len(stored), "tables are stored; what the rows of some are:")
print(stored.loc[stored["table"].str.contains("prediction"), ["table", "row"]].to_string(index=False))


# %%
def show(table, *columns):
    """Print some columns; what could not be computed is empty, and the column `reason` says why."""
    chosen = table[list(columns)]
    print(chosen.astype(object).where(chosen.notna(), "").to_string(index=False, float_format="{:.3f}".format))


# %% [markdown]
# ## How well are answers predicted?
#
# The log score is the mean log of the share that a model gave to the answer that was really given. It is nearer to 0
# the better the model predicts. Each row is what the model was shown before: the person's own answers (`human`), those
# of somebody else (`other`), and so on. The last rows need no model: even chances, the most frequent answer at a place.

# %%
show(scores, "model", "task", "history", "log_score", "log_score_low", "log_score_high", "n_participants", "reason")

# %% [markdown]
# ## What of it is the person?
#
# A gain is what one history adds to another, in nats for each answer. `person` is the person's own answers against
# somebody else's, `format` is anybody's answers against none. An interval that holds 0 shows no gain.

# %%
show(gains, "model", "task", "gain", "more", "less", "estimate", "low", "high", "p_corrected", "reason")

# %%
parts = list(gains.groupby(["model", "task"], sort=False))
n_parts = max(len(parts), 1)
figure, axes = plt.subplots(n_parts, squeeze=False, figsize=(7, 3.5 * n_parts), layout="constrained")
for axis, ((model, task), rows) in zip(axes[:, 0], parts, strict=False):
    axis.hlines(rows["gain"], rows["low"].astype(float), rows["high"].astype(float))
    axis.plot(rows["estimate"].astype(float), rows["gain"], "o")
    axis.axvline(0, color="grey", linewidth=0.8)
    axis.set(title=f"{model}, {task}", xlabel="gain (nats for each answer), with its interval")
plt.show()

# %% [markdown]
# ## Whose answers are they?
#
# The share of pairs of persons in which one's own history predicts one's answers better than the other's does. It is
# one half by chance.

# %%
show(identification, "model", "task", "share", "low", "high", "n_participants", "n_donors", "reason")

# %% [markdown]
# ## Does a scale measure what its items say?
#
# Items of a scale are keyed forward or in reverse. A model that likes a label gives it to both: this is its `bias`.
# What it says of itself is the `trait`.

# %%
show(keying, "model", "task", "scale", "forward_mean", "reverse_mean", "trait", "bias", "reason")
