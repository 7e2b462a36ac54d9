"""The analyses of WorldValuesBench: one entry gives each its asset, figures, line in the UI and section of the report.

The graph loads this file: what computes or draws is named here and imported when it is used.
"""

from valuesassets.reporting.analyses import Home

COMPARED = ("participants", "value_answers", "probe_samples", "rating_distributions")
"""What every score is made from."""
HOME = Home("valuesassets.instruments.worldvaluesbench", needs=COMPARED, reads=("inference", "seed"))

ANALYSES = {
    "awareness": HOME.analysis(
        "measures.set_ratings:awareness_of_set",
        "awareness_line",
        "report:awareness",
        title="Awareness: does a model move with a person's background as people do?",
        about="How much of people's moves between groups each model makes, with intervals, by factor and question.",
        reads=("inference", "seed", "thresholds"),
        drawings=(
            HOME.drawing(
                "awareness_plane",
                "factors",
                alt="Above are models as points. The horizontal axis shows whether they move with a person's "
                "background as people do (1) or in the opposite direction (-1), and the vertical axis shows how far. "
                "Below is the slope of each model with its interval, for every factor. The table holds the same "
                "numbers.",
                caption="Does a model move with a person's background as people do?",
            ),
            HOME.drawing(
                "group_moves",
                "group_means",
                "factors",
                optional=("factors",),
                alt="One scatter plot per model shows how far each group's mean answer is from that of all groups, for "
                "people (horizontal axis) and for the model (vertical axis), with a line of the slope.",
                caption="Moves of people and of each model, group by group.",
            ),
        ),
    ),
    "group_distances": HOME.analysis(
        "measures.set_ratings:distances_of_set",
        "distances_line",
        "report:floors",
        title="Groups: how close can a model come to people?",
        about="The distance of each model from each group of people, and that of a perfect model by chance.",
        reads=("seed",),
        stored="frame",
        drawings=(
            HOME.drawing(
                "noise_floor",
                "group_distances",
                "benchmark_scores/scores",
                optional=("benchmark_scores/scores",),
                alt="A falling curve shows the distance that a perfect model would have, by the number of people "
                "asked. The thresholds that count as near cross it, and the medians of the models are beside it.",
                caption="How close can a model come to people, given how few people were asked?",
            ),
        ),
    ),
    "benchmark_scores": HOME.analysis(
        "measures.set_ratings:score_set",
        "scores_line",
        "report:scores",
        title="The score of WorldValuesBench, as published",
        about="The benchmark's own score of pooled answers, a score of complete pairs, and the scores of null answers.",
        drawings=(
            HOME.drawing(
                "threshold_curves",
                "threshold_shares",
                "perfect_shares",
                "scores",
                optional=("perfect_shares", "scores"),
                alt="Curves show the share of questions whose distance is at most a threshold, for all, urban and "
                "rural people. Published curves, uniform answers, the majority's answers and the band of a perfect "
                "model are shown for comparison.",
                caption="The benchmark's own score: for how many questions is a model close to people's answers? The "
                "score ignores who gave which answer.",
            ),
            HOME.drawing(
                "question_distances",
                "scores",
                alt="A row for each question has a dot for each model's distance from people, over a bar for the "
                "distance of a perfect model, and published distances. The table holds the same numbers.",
                caption="The benchmark's own score, question by question.",
            ),
            HOME.drawing(
                "one_question",
                "shown_people",
                alt="A prompt as a model gets it. Below it is the question's scale with some people's answers and the "
                "mean answers that models expect of these people.",
                caption="One question, from prompt to answers: a prompt of one person, and people of different groups.",
            ),
            HOME.drawing(
                "answer_distributions",
                "pooled_answers",
                alt="Bars show people's answers to single questions. Each model's answers, with and without "
                "attributes, are drawn over them.",
                caption="What people and models answer to single questions.",
            ),
        ),
    ),
    "readout_comparison": HOME.analysis(
        "measures.set_ratings:readouts_of_set",
        "readouts_line",
        "report:readouts",
        title="How the readout changes the results",
        about="One prompt read in several ways: the distances between readouts, and every score under each readout.",
        needs=(*COMPARED, "decoded_ratings"),
        drawings=(
            HOME.drawing(
                "readouts",
                "readouts",
                alt="Marks for each model show how far greedy and drawn answers are from the exact distribution, and "
                "the scores under each readout.",
                caption="How the readout of an answer changes the results.",
            ),
        ),
    ),
    "human_groups": HOME.analysis(
        "measures.set_ratings:groups_of_set",
        "groups_line",
        "report:people",
        title="People, and what was left out",
        about="Answers of people in each group, as counted and shrunk towards groups of the same levels.",
        reads=(),
        stored="frame",
    ),
}
"""In the order of the report; the key is the asset's name."""
