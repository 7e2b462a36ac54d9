# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown]
# # Worldwise: what models choose and say as persons of different cultures
#
# This notebook opens a study that was run. It asks whether a model's choices are evidence at all, how each culture's
# persona moves them, and whether what the model writes agrees with what it chooses. What the words mean is on [a page
# of its own](../worldwise.md).

# %%
import matplotlib.pyplot as plt

import valuesassets as va

# %% [markdown]
# ## A study
#
# The name of a bundled study stands here. Put the path of your study's file in its place.

# %% tags=["parameters"]
study = "demo_worldwise"

# %% [markdown]
# Where nothing of it is stored, the notebook ends here and says which command makes it. `valuesassets run
# demo_worldwise` takes one to two minutes.

# %%
try:
    plan: va.Study = va.load_study(study)
    orders = va.read_table(plan, "worldwise/reliability/orders")
    profiles = va.read_table(plan, "worldwise/cultural_profiles/profiles")
    agreement = va.read_table(plan, "worldwise/alignment/agreement")
    pairs = va.read_table(plan, "worldwise/alignment/culture_pairs")
except va.ValuesAssetsError as fault:
    raise SystemExit(str(fault)) from None
print(plan.title)
print("models:", ", ".join(plan.families))


# %%
def show(table, *columns):
    """Print some columns; what could not be computed is empty, and the column `reason` says why."""
    chosen = table[list(columns)]
    print(chosen.astype(object).where(chosen.notna(), "").to_string(index=False, float_format="{:.3f}".format))


# %% [markdown]
# ## Are the choices evidence?
#
# Each dilemma is asked in both orders of its options. The agreement says how far a preference comes back when both are
# exchanged. Where it is too low, the model chooses by position, and what rests on its choices is withheld.

# %%
show(orders, "model", "agreement", "agreement_low", "agreement_high", "changed", "follow", "is_evidence", "reason")

# %% [markdown]
# ## How a persona moves choices
#
# The lean is -1 at the low pole of an axis and 1 at the high one. An effect is the lean of a culture's persona less
# that of a person from nowhere, the placebo, in the same dilemma.

# %%
choices = profiles[profiles["readout"] == "choice"]
show(choices, "model", "culture", "axis", "lean", "effect", "effect_low", "effect_high", "n_compared", "reason")

# %%
parts = list(choices[choices["effect"].notna()].groupby("model", sort=False))
axis_names = list(choices["axis"].unique())
figure, axes = plt.subplots(
    max(len(parts), 1), squeeze=False, figsize=(7, 4 * max(len(parts), 1)), layout="constrained"
)
for panel, (model, rows) in zip(axes[:, 0], parts, strict=False):
    for place, (culture, effects) in enumerate(rows.groupby("culture", sort=False)):
        heights = [axis_names.index(name) + 0.12 * place for name in effects["axis"]]
        panel.plot(effects["effect"], heights, "o", color=f"C{place}", label=culture)
        panel.hlines(heights, effects["effect_low"], effects["effect_high"], colors=f"C{place}")
    panel.set_yticks(range(len(axis_names)), axis_names)
    panel.axvline(0, color="grey", linewidth=0.8)
    panel.set(title=model, xlabel="effect on the lean, with its interval")
    panel.legend()
plt.show()

# %% [markdown]
# ## Which cultures are distinguished?
#
# Distances are those of leans over all dilemmas; p-values are corrected over the pairs of a model.

# %%
show(pairs, "model", "readout", "culture", "other_culture", "distance", "p_corrected", "reason")

# %% [markdown]
# ## Do leans go with countries' scores?
#
# Cultures that were made up have no country, and so no correlation: its reason stands in its place.

# %%
show(agreement, "model", "readout", "kind", "r", "r_low", "r_high", "p_corrected", "status", "reason")

# %% [markdown]
# ## Is what it writes what it chooses?
#
# A gap is what is written less what is chosen. There is none where a study names no embedder: then no reasons are
# asked for.

# %%
if "worldwise/say_do_gap/gaps" in set(va.list_tables(plan)["table"]):
    gaps = va.read_table(plan, "worldwise/say_do_gap/gaps")
    show(gaps, "model", "form", "measure", "axis", "gap", "gap_low", "gap_high", "p_corrected", "n_scenarios", "reason")
else:
    print("no reasons are stored")
