# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown]
# # A survey, from a table of questions to answers
#
# This notebook needs no network and no download. It writes a small questionnaire, makes prompts of it, and tests on a
# tiny model that is trained here whether answers can be read back. Jupyter opens it with jupytext; Python runs it as it
# is.

# %%
import tempfile
from pathlib import Path

import valuesassets as va

folder = Path(tempfile.mkdtemp(prefix="valuesassets-"))

# %% [markdown]
# ## Questions
#
# A table has an id, a text, and the answers in their order.

# %%
form = folder / "questions.csv"
form.write_text(
    "id,text,item,options\n"
    "happy,How happy are you?,,very happy|rather happy|not very happy|not at all happy\n"
    "trust,Can most people be trusted?,,yes|no\n",
    encoding="utf-8",
)
extraction = va.extract(form, "eng", survey="own")
for question in extraction.questions:
    print(question.id, question.text, [option.label for option in question.options])
print("to look at:", extraction.doubts)

# %% [markdown]
# ## Prompts
#
# Each question is asked with its answers in both orders, so that a model's liking for the first answer can be told from
# its answer.

# %%
trials = va.make_trials(extraction.questions, "eng")
print(len(trials), "prompts; the first:")
print(trials[0].prompt)

# %% [markdown]
# ## Does the instrument work on these questions?
#
# A tiny model is trained to give answers that are known. They should come back: `is_recovered`.

# %%
recovery = va.calibrate(extraction.questions, "eng", passes=100)
print(recovery[["response_type", "n", "is_recovered"]].to_string(index=False))

# %% [markdown]
# ## A model
#
# `va.ask("index:smollm2-135m-instruct", trials)` asks a small real model, once `valuesassets models get
# smollm2-135m-instruct` has fetched it. Its readings become answers with `va.answer_distributions`.
#
# ## Distances
#
# Two answers on one scale are compared by how far, in scale units, answers have to be moved from one to the other.

# %%
here = va.distribution([1, 2, 3, 4], [0.4, 0.4, 0.1, 0.1])
there = va.distribution([1, 2, 3, 4], [0.1, 0.2, 0.4, 0.3])
print(f"Wasserstein distance {va.wasserstein1_unit(here, there):.3f}, total variation {va.tvd(here, there):.3f}")
