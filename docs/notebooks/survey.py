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
# This notebook needs no network and no download. It writes a small questionnaire in two languages, makes prompts of it,
# and tests on a tiny model that is trained here whether answers can be read back. If you name a model of your own, or a
# study that was run, the notebook shows their answers too.

# %%
import json
import tempfile
import warnings
from pathlib import Path

import matplotlib.pyplot as plt

import valuesassets as va

warnings.filterwarnings("ignore", "IProgress not found")  # libraries of models would show progress by ipywidgets
folder = Path(tempfile.mkdtemp(prefix="valuesassets-"))
print("valuesassets", va.__version__)

# %% [markdown]
# ## What you may change
#
# `model` names a model to ask: `index:smollm2-135m-instruct`, once `valuesassets models get smollm2-135m-instruct` has
# fetched it, a folder, or an id of the hub. With an `endpoint`, such as `va.Endpoint(provider="openai",
# base_url="http://127.0.0.1:8000/v1")`, it is a model's name there. `study` is a survey that was run.

# %% tags=["parameters"]
model = ""
endpoint: va.Endpoint | None = None
study = "demo_survey"

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
extraction: va.Extraction = va.extract(form, "eng", survey="own")


def described(question: va.Question) -> str:
    """A question with its answers, on a line."""
    return f"{question.id}: {question.text} {', '.join(option.label for option in question.options)}"


for question in extraction.questions:
    print(described(question))
print("to look at:", extraction.doubts)

# %% [markdown]
# Questions are kept as JSON, and read again.

# %%
kept = folder / "eng.json"
kept.write_text(json.dumps([question.model_dump(mode="json") for question in extraction.questions]), encoding="utf-8")
print(len(va.read_questions(kept)), "questions are read again")

# %% [markdown]
# ## A second language
#
# The same questions in another language are matched to the first, each with the evidence for its match.

# %%
german = folder / "german.csv"
german.write_text(
    "id,text,item,options\n"
    "happy,Wie glücklich sind Sie?,,sehr glücklich|eher glücklich|nicht sehr glücklich|gar nicht glücklich\n"
    "trust,Kann man den meisten Menschen vertrauen?,,ja|nein\n",
    encoding="utf-8",
)
translated = va.extract(german, "deu", survey="own")
aligned: va.Aligned = va.align({"eng": extraction.questions, "deu": translated.questions})
print(aligned.reasons[["language", "question_id", "status", "evidence", "confidence"]].to_string(index=False))

# %% [markdown]
# ## Prompts
#
# Each question is asked with its answers in both orders, so that a model's liking for the first answer can be told from
# its answer.

# %%
trials: list[va.Trial] = va.make_trials(extraction.questions, "eng")
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
# The probability of every answer is read, and averaged over both orders. `p_valid` is the probability that the model
# answers with one of the options at all.

# %%
if model:
    readings: list[va.Reading] = va.ask(model, trials, endpoint=endpoint, prompting=va.Prompting(style="text"))
    answers = va.answer_distributions(extraction.questions, trials, readings, "model")
    columns = ["question_id", "response_value", "prob_averaged", "position_bias_magnitude", "p_valid", "status"]
    print(answers[columns].to_string(index=False))
else:
    print("no model is asked: `model` names none")

# %% [markdown]
# ## Distances
#
# Two answers on one scale are compared by how far, in scale units, answers have to be moved from one to the other.

# %%
here: va.Distribution = va.distribution([1, 2, 3, 4], [0.4, 0.4, 0.1, 0.1])
there: va.Distribution = va.distribution([1, 2, 3, 4], [0.1, 0.2, 0.4, 0.3])
print(f"Wasserstein distance {va.wasserstein1_unit(here, there):.3f}, total variation {va.tvd(here, there):.3f}")

# %% [markdown]
# ## The map
#
# Answers to questions of the cultural map place a model among countries ([the map](../map.md)). Where the study is not
# stored, a line says which command makes it. The bars span a point's region.

# %%
try:
    points = va.place_on_map(va.read_table(study, "survey/probe_distributions"))
except va.ValuesAssetsError as fault:
    print(fault)
else:
    countries, models = points[points["kind"] == "published"], points[points["kind"] == "model"]
    print(models[["label", "x", "x_low", "x_high", "y", "y_low", "y_high"]].to_string(index=False))
    figure, axis = plt.subplots(layout="constrained")
    axis.plot(countries["x"], countries["y"], ".", color="grey", label="countries")
    for place, (_, point) in enumerate(models.iterrows()):
        axis.plot([point["x_low"], point["x_high"]], [point["y"]] * 2, color=f"C{place}", label=point["label"])
        axis.plot([point["x"]] * 2, [point["y_low"], point["y_high"]], color=f"C{place}")
    axis.set(xlabel="survival to self-expression", ylabel="traditional to secular-rational")
    axis.legend()
    plt.show()
