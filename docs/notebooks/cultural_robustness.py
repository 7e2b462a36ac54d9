# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown]
# # Cultural robustness: does the language of a question carry a culture?
#
# This notebook opens a study that was run. It shows whether answers in different languages differ in more than their
# language, whether naming a country overrides the difference, and which country each language's answers are closest to
# when no country is named. [The page on cultural robustness](../cultural_robustness.md) explains the words.

# %%
import matplotlib.pyplot as plt

import valuesassets as va

# %% [markdown]
# ## A study
#
# The name of a bundled study stands here. Put the name of yours in its place, or the path of its file.

# %% tags=["parameters"]
study = "demo_cultural_robustness"

# %% [markdown]
# Where nothing of it is stored, the notebook ends here and says which command makes it: `valuesassets run
# demo_cultural_robustness`.

# %%
try:
    scores = va.read_table(study, "cultural_robustness/scores")
    pairs = va.read_table(study, "cultural_robustness/language_pairs")
    profiles = va.read_table(study, "cultural_robustness/country_profiles")
    embedder = va.read_table(study, "cultural_robustness/embedder_report")
except va.ValuesAssetsError as fault:
    raise SystemExit(str(fault)) from None


# %%
def show(table, *columns):
    """Print some columns; what could not be computed is empty, and the column `reason` says why."""
    chosen = table[list(columns)]
    print(chosen.astype(object).where(chosen.notna(), "").to_string(index=False, float_format="{:.3f}".format))


# %% [markdown]
# ## The scores
#
# `diversity` is 0 where the language alone carries no culture, and 1 where languages differ as much as the model's own
# answers do between countries. `robustness` is 1 where a named country decides, whatever the language. `null` is what a
# score would be without a signal. Both are refused where a model does not follow named countries at all.

# %%
is_published = scores["score"].str.match("seed_|cd$|cr$|csp")
show(scores[~is_published], "model", "score", "value", "low", "high", "p", "null", "n_questions", "status", "reason")

# %% [markdown]
# ## The published scores
#
# They stand beside the value that the same formula gives without any signal. Where the two are alike, the score says
# nothing of cultures.

# %%
show(scores[is_published], "model", "score", "value", "null", "status", "reason")

# %% [markdown]
# ## Pairs of languages
#
# The gain is how much farther apart two languages are without a country than under the same one: above 0 there is a
# culture in the language.

# %%
show(
    pairs, "model", "language", "other_language", "culture_gain", "culture_gain_low", "culture_gain_high", "n_questions"
)

# %%
models = list(pairs.groupby("model", sort=False))
figure, axes = plt.subplots(
    max(len(models), 1), squeeze=False, figsize=(7, 3 * max(len(models), 1)), layout="constrained"
)
for axis, (model, rows) in zip(axes[:, 0], models, strict=False):
    names = rows["language"] + " and " + rows["other_language"]
    axis.hlines(names, rows["culture_gain_low"].astype(float), rows["culture_gain_high"].astype(float))
    axis.plot(rows["culture_gain"].astype(float), names, "o")
    axis.axvline(0, color="grey", linewidth=0.8)
    axis.set(title=model, xlabel="gain, with its interval over questions")
plt.show()

# %% [markdown]
# ## Whose answers are the plain ones closest to?
#
# Above 0, the answer without a country is closer to that for this country than to others, means of its language and of
# the country subtracted. Crosses mark a language's own country.

# %%
models = list(profiles.groupby("model", sort=False))
figure, axes = plt.subplots(
    max(len(models), 1), squeeze=False, figsize=(7, 3 * max(len(models), 1)), layout="constrained"
)
for axis, (model, rows) in zip(axes[:, 0], models, strict=False):
    grid = rows.pivot(index="language", columns="country", values="closeness").astype(float)
    most = grid.abs().max().max()
    image = axis.imshow(grid, cmap="RdBu", vmin=-most, vmax=most)
    own = rows[rows["is_own"]]
    axis.plot(grid.columns.get_indexer(own["country"]), grid.index.get_indexer(own["language"]), "x", color="black")
    axis.set_xticks(range(grid.shape[1]), grid.columns)
    axis.set_yticks(range(grid.shape[0]), grid.index)
    axis.set_title(model)
    figure.colorbar(image, ax=axis, label="closeness")
plt.show()
own = profiles[profiles["is_own"]]
show(own, "model", "language", "country", "closeness", "closeness_low", "closeness_high", "n_questions")

# %% [markdown]
# ## Does the embedder know the languages?
#
# Nothing that is measured of a language counts where the embedder does not find its questions again.

# %%
show(embedder, "language", "n_questions", "found_share", "status", "reason")
