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
        about="The share of people's moves between groups that each model makes, with intervals, by factor and "
        "question.",
        reads=("inference", "seed", "thresholds"),
        drawings=(
            HOME.drawing(
                "awareness_plane",
                "factors",
                alt="Above, models as points: across, whether they move with a person's background as people do (1) or "
                "the contrary way (-1); upward, how far. Below, the slope of each model with its interval, for every "
                "factor. The table holds the same numbers.",
                caption="Does a model move with a person's background as people do?",
            ),
            HOME.drawing(
                "group_moves",
                "group_means",
                "factors",
                optional=("factors",),
                alt="Scatter plots, one per model: how far each group's mean answer is from that of all groups, "
                "people's across and the model's upward, with a line of the slope.",
                caption="People's moves beside the model's, group by group.",
            ),
        ),
    ),
    "group_distances": HOME.analysis(
        "measures.set_ratings:distances_of_set",
        "distances_line",
        "report:floors",
        title="Groups: how near can a model be at all?",
        about="How far each model is from each group of people, beside what a perfect model would be by chance.",
        reads=("seed",),
        stored="frame",
        drawings=(
            HOME.drawing(
                "noise_floor",
                "group_distances",
                "benchmark_scores/scores",
                optional=("benchmark_scores/scores",),
                alt="A falling curve: the distance that a perfect model would have, by the number of people asked, "
                "crossed by the thresholds that are counted as near; medians of the models beside it.",
                caption="How near to people can a model be at all, given how few were asked?",
            ),
        ),
    ),
    "benchmark_scores": HOME.analysis(
        "measures.set_ratings:score_set",
        "scores_line",
        "report:scores",
        title="The score of WorldValuesBench, as published",
        about="The benchmark's own score of pooled answers, one of complete pairs, and those of answers nobody gave.",
        drawings=(
            HOME.drawing(
                "threshold_curves",
                "threshold_shares",
                "perfect_shares",
                "scores",
                optional=("perfect_shares", "scores"),
                alt="Curves of the share of questions whose distance is at most a threshold, for all people, urban and "
                "rural ones, beside the published ones; uniform answers, the majority's and the band of a perfect "
                "model beside them.",
                caption="The benchmark's own score: in how many questions is a model near people's answers? It does "
                "not see who answered what.",
            ),
            HOME.drawing(
                "question_distances",
                "scores",
                alt="A row for each question with a dot for each model at its distance from people, over a bar up to "
                "what a perfect model would be away; published distances beside. The table holds the same numbers.",
                caption="The benchmark's own score, question by question.",
            ),
            HOME.drawing(
                "one_question",
                "shown_people",
                alt="A prompt as a model gets it, under it the question's scale with some people's answers and, beside "
                "them, the mean answers that models expect of them.",
                caption="One question, from prompt to answers: a prompt of one person, and people of different groups.",
            ),
            HOME.drawing(
                "answer_distributions",
                "pooled_answers",
                alt="People's answers to single questions as bars, and over them each model's, with and without "
                "attributes.",
                caption="What people and models answer to single questions.",
            ),
        ),
    ),
    "readout_comparison": HOME.analysis(
        "measures.set_ratings:readouts_of_set",
        "readouts_line",
        "report:readouts",
        title="What the way of reading changes",
        about="One prompt read in several ways: how far apart they are, and what every score becomes under each.",
        needs=(*COMPARED, "decoded_ratings"),
        drawings=(
            HOME.drawing(
                "readouts",
                "readouts",
                alt="Marks for each model: how far greedy and drawn answers are from the exact distribution, and what "
                "the scores become under each.",
                caption="What the way of reading an answer changes.",
            ),
        ),
    ),
    "human_groups": HOME.analysis(
        "measures.set_ratings:groups_of_set",
        "groups_line",
        "report:people",
        title="People, and what was left out",
        about="What people of each group answer, as counted and drawn towards groups of the same levels.",
        reads=(),
        stored="frame",
    ),
}
"""In the order of the report; the key is the asset's name."""
