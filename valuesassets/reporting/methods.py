"""The methods of a run as a paragraph for a paper, with the numbers of the run, and its sources as BibTeX.

Every sentence follows from the study and from the tables handed to the report; a missing table has no sentence. An
instrument puts its own sentences between these.
"""

import functools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import resources

import pandas as pd

from valuesassets.records.frames import records
from valuesassets.records.settings.cells import Family
from valuesassets.records.study import Study
from valuesassets.reporting.run import Run

AS_PLAIN_TEXT = "as a plain text to be continued"
MOST_NAMED = 12
"""The most cells, questions or points that a sentence names; the tables name the others."""
SMALL_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
MODEL_TYPES = {"mono": "one model per language", "multi": "one model for all languages"}
CORRECTIONS = {"holm": "Holm's", "benjamini-hochberg": "Benjamini and Hochberg's"}
CITED = {"holm": "Holm 1979", "benjamini-hochberg": "Benjamini and Hochberg 1995"}
HOLM = "holm1979"
CORRECTION_SOURCES = {"holm": HOLM, "benjamini-hochberg": "benjamini1995"}
SURVEYS = {
    "evs2017": "the European Values Study 2017",
    "wvs7": "the World Values Survey, wave 7",
    "joint": "the joint EVS/WVS file 2017-2022",
}


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """A number with its noun.

    >>> counted(1, "language"), counted(3, "family", "families"), counted(22, "cell")
    ('one language', 'three families', '22 cells')
    """
    word = SMALL_NUMBERS[number] if 0 <= number < len(SMALL_NUMBERS) else f"{number:,}"
    return f"{word} {noun if number == 1 else plural or noun + 's'}"


def listed(names: Sequence[str]) -> str:
    """Names as a sentence lists them.

    >>> listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"])
    ('a', 'a and b', 'a, b and c')
    """
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def some_of(names: Sequence[str]) -> str:
    """Names as a sentence lists them, at most `MOST_NAMED`, and how many more there are."""
    if len(names) <= MOST_NAMED:
        return listed(names)
    return f"{', '.join(names[:MOST_NAMED])} and {len(names) - MOST_NAMED} more"


def share_of(number: int | str, total: int, noun: str) -> str:
    """A number out of a total, with its noun.

    >>> share_of(1, 1, "cell"), share_of("none", 1_200, "item")
    ('1 of 1 cell', 'none of 1,200 items')
    """
    return f"{number} of {total:,} {noun}{'' if total == 1 else 's'}"


def each_in(frame: pd.DataFrame, words: str) -> list[str]:
    """A text for each row, with the values of columns in place of their names in braces.

    >>> each_in(pd.DataFrame({"model": ["m"], "language": ["pol"]}), "{model} in {language}")
    ['m in pol']
    """
    return [words.format_map(row) for row in records(frame)]


def capital(text: str) -> str:
    """A text with its first letter in upper case, the others unchanged."""
    return text[:1].upper() + text[1:]


def planted_families(study: Study) -> list[str]:
    """The families that were trained in this study to give planted answers."""
    return [name for name, family in study.families.items() if family.kind == "reference"]


def planted(run: Run) -> Iterator[str]:
    """Sentences on planted answers: which models and people were synthetic."""
    trained, families = planted_families(run.study), run.study.families
    are_people = run.study.human.source == "planted"
    if len(trained) == len(families):
        people = " and the respondents were drawn from the same plants" if are_people else ""
        yield (
            f"This is a test of the instrument: the models were trained to give planted answers{people}, so nothing "
            "that follows is a finding about people or about the values of a model."
        )
    elif trained:
        yield (
            f"Part of this run is a test of the instrument: {listed(trained)} {was(trained)} trained to give planted "
            f"answers, so nothing that is said of {'it' if len(trained) == 1 else 'them'} is a finding about a model."
        )
    if are_people and len(trained) < len(families):
        yield "The respondents are synthetic, drawn from planted distributions: nothing here is a finding about people."


def read(run: Run) -> Iterator[str]:
    """Sentences on how answers were read: orders of options, wordings and the probabilities of options."""
    if run.probe is None:
        return
    order_setting = run.study.elicitation.orders
    orders = {
        "both": "with its numbered options as printed and reversed",
        "cyclic": "with its numbered options in every cyclic shift and reversed (ten-point scales: as printed and "
        "reversed)",
        "all": "with its numbered options in every order up to four options, in every cyclic shift and reversed beyond "
        "(ten-point scales: as printed and reversed)",
    }.get(
        str(order_setting),
        f"with its numbered options as printed, reversed and in up to {order_setting} more orders drawn at random "
        f"(seed {run.study.seed}; ten-point scales: as printed and reversed)",
    )
    wordings = int(run.probe["wording"].nunique())
    families = {name: run.study.families[name] for name in run.probe["model"].unique() if name in run.study.families}
    yield f"{_shown(families)}, {orders}, with {counted(wordings, 'answer cue')}."
    over = ["orders", *(["cues"] if wordings > 1 else [])]
    drawn = {name: family.draws for name, family in families.items() if family.draws is not None}
    if len(drawn) < len(families) or not families:
        of_whom = f"Of {listed([name for name in families if name not in drawn])}, the" if drawn else "The"
        yield (
            f"{of_whom} probability of every option was read from the model's distribution over the next tokens, all "
            f"spellings of its number counted, brought back to the original scale and averaged over {listed(over)}; "
            "P_valid is the probability that the answer is any option at all."
        )
    for name, draws in drawn.items():
        yield (
            f"{name} wrote at least {draws.n} answers to every prompt (temperature {draws.temperature:g}), and the "
            "share of each option among those that say one option stands for its probability, averaged over "
            f"{listed(over)}; P_valid is the share of answers that say one."
        )


def _shown(families: Mapping[str, Family]) -> str:
    """How items were put to families: as plain text or in a chat, with which system message and preamble."""
    ways: dict[str, list[str]] = {}
    for name, family in families.items():
        ways.setdefault(_way(family), []).append(name)
    if len(ways) < 2:
        return f"Each item was put {next(iter(ways), AS_PLAIN_TEXT)}"
    return f"Each item was put {listed([f'to {listed(names)} {way}' for way, names in ways.items()])}"


def _way(family: Family) -> str:
    prompting = family.prompting
    preamble = " after a preamble of the study" if prompting.preamble is not None else ""
    if not prompting.is_chat:
        return f"{AS_PLAIN_TEXT}{preamble}"
    if prompting.system is not None:
        whose = "with a system message of the study" if prompting.system else "without a system message"
        return f"as a turn of a chat {whose}{preamble}"
    template = ", in which the model's template may add a system message of its own"
    return f"as a turn of a chat{preamble or template}"


def quantised(run: Run) -> Iterator[str]:
    """A sentence for each model that was read from a quantised file."""
    files = {(str(each["source"]), str(each["quantisation"])) for each in run.provenance if each.get("quantisation")}
    for source, quantisation in sorted(files):
        yield f"The weights of {source} were those of a GGUF file ({quantisation})."


def adapted(run: Run) -> Iterator[str]:
    """A sentence for each model whose weights an adapter has changed."""
    named = {(str(each["source"]), str(each["adapter"])) for each in run.provenance if each.get("adapter")}
    for source, adapter in sorted(named):
        model = source.removesuffix(f"+{adapter}")
        yield f"The weights of {model} were changed by the low-rank adapter {adapter} before it was asked."


def kept(run: Run) -> Iterator[str]:
    """Sentences on the thresholds of P_valid and on how many items and cells they exclude."""
    if not run.quality:
        return
    rules, n_cells, n_questions = run.study.thresholds, len(run.quality["cells"]), len(run.quality["questions"])
    n_read, n_flagged = n_cells - len(run.cells_that("is_missing")), len(run.cells_that("is_flagged"))
    yield (
        f"An answer with P_valid below {rules.p_valid_question:g} was missing in every analysis, and an item below it "
        f"in more than {rules.dropped_share:.0%} of the readable cells (a model in a language) was dropped: "
        f"{share_of(len(run.dropped) or 'none', n_questions, 'item')}."
    )
    low = f"; {counted(n_flagged, 'cell')} with a median P_valid below {rules.p_valid_cell:g} {was(n_flagged)} flagged"
    yield f"{share_of(n_read, n_cells, 'cell')} {was(n_read)} read{low if n_flagged else ''}."


def people(run: Run) -> Iterator[str]:
    """A sentence on the human reference: its source, size, countries and weights."""
    if run.human is None:
        return
    human = run.study.human
    countries = sorted(set(run.human["country"]))
    once = run.human.drop_duplicates(["country", "question_id"])
    n = int(once.groupby("country")["n"].max().sum())
    if human.source == "planted":
        where = f"each of {counted(len(countries), 'country', 'countries')}" if len(countries) > 1 else countries[0]
        yield f"The human reference was made of {human.respondents:,} synthetic respondents in {where}."
        return
    names = [SURVEYS[name] for name in dict.fromkeys(file.survey for file in human.files)]
    origin = listed(names) if names else "published distributions"
    plain = [file.path.name for file in human.files if (file.weight or "").casefold() == "none"]
    weighted = "weighted within country" if not plain else f"weighted within country but for {listed(plain)}"
    weighted = "without weights" if plain and len(plain) == len(human.files) else weighted
    yield (
        f"The human reference is {origin}: up to {n:,} respondents in "
        f"{counted(len(countries), 'country', 'countries')} ({', '.join(countries)}), {weighted}."
    )


def inference(run: Run) -> Iterator[str]:
    """Sentences on resampling and on the correction of p-values."""
    tests = run.tests
    if tests is None:
        return
    families = int(tests["test_family"].nunique())
    resampled = [int(n) for n in sorted(set(tests["n_resamples"].dropna()))]
    if resampled:
        counts = listed([f"{n:,}" for n in resampled])
        yield (
            f"Where chance was simulated, {counts} resamples were drawn with the seed {run.study.seed}; a permutation "
            "p-value is (1 + count) / (1 + permutations)."
        )
    procedures = [CORRECTIONS.get(str(name), str(name)) for name in dict.fromkeys(tests["correction"].dropna())]
    rejected = int(tests["is_rejected"].fillna(value=False).astype(bool).sum())
    if procedures:
        yield (
            f"P-values were corrected by {listed(procedures)} procedure within "
            f"{counted(families, 'declared family', 'declared families')} of tests; "
            f"{share_of(rejected, len(tests), 'test')} {'counts' if rejected == 1 else 'count'} at a level of "
            f"{run.study.inference.alpha:g}."
        )


def software(run: Run) -> Iterator[str]:
    """A sentence on the versions of the software, and the seed."""
    names = ("valuesassets", "scorer", "Python", "torch", "numpy", "scipy", "scikit-learn")
    versions = [f"{name} {run.versions[name]}" for name in names if name in run.versions]
    if versions:
        yield f"Software: {listed(versions)}; seed {run.study.seed}."


def packaged(run: Run) -> Iterator[str]:
    """A sentence on the package that the instrument is from, where that is another one."""
    if run.packages:
        yield f"The instrument is of the package {listed([' '.join(each) for each in run.packages.items()])}."


def was(counted_things: int | Sequence[str]) -> str:
    """The verb after a number of things, or after their names: `was` or `were`."""
    number = counted_things if isinstance(counted_things, int) else len(counted_things)
    return "was" if number == 1 else "were"


SOURCES: Mapping[str, Callable[[Run], bool]] = {
    "valuesassets": lambda run: True,
    "evs2017": lambda run: run.has_survey("evs2017"),
    "wvs7": lambda run: run.has_survey("wvs7"),
    "evswvs2024": lambda run: run.has_survey("joint"),
    "kish1965": lambda run: run.human is not None,
    "phipson2010": lambda run: run.tests is not None and bool(run.tests["n_resamples"].notna().any()),
    "holm1979": lambda run: run.is_corrected_by("holm"),
    "benjamini1995": lambda run: run.is_corrected_by("benjamini-hochberg"),
    "efron1993": lambda run: bool(run.frames("human_comparison")),
    "lin1991": lambda run: bool(run.frames("distances") or run.frames("human_comparison")),
    "endres2003": lambda run: bool(run.frames("distances") or run.frames("human_comparison")),
    "kruskal1964": lambda run: len(run.frames("distances").get("points", ())) > 0,
    "anderson2001": lambda run: len(run.frames("distances").get("tests", ())) > 0,
    "brennan2001": lambda run: bool(run.frames("reliability")),
    "burchell2025": lambda run: run.has_model("HPLT/"),
    "ramos2026": lambda run: run.has_model("utter-project/EuroLLM-22B"),
}
"""By key of an entry: whether a run rests on that source. Instruments add their own."""


def used_sources(run: Run, sources: Mapping[str, Callable[[Run], bool]] = SOURCES) -> tuple[str, ...]:
    """The keys of the sources that a run rests on, in the order of their entries: the software itself first."""
    return tuple(key for key in entries() if key in sources and sources[key](run))


def sources_of_tables(
    rests_on: Mapping[str, Sequence[str]], frames: Mapping[str, pd.DataFrame], correction: str = "holm"
) -> tuple[str, ...]:
    """Keys of the sources that tables rest on, in the order of their entries.

    Args:
        rests_on: by key, the tables that rest on the source; if none are named, every page rests on it.
        correction: the correction of p-values; its source takes the place of Holm's.
    """
    used = {key for key, needed in rests_on.items() if not needed or any(len(frames.get(name, ())) for name in needed)}
    if HOLM in used:
        used = used - {HOLM} | {CORRECTION_SOURCES[correction]}
    return tuple(key for key in entries() if key in used)


def bibtex(keys: tuple[str, ...], packages: Mapping[str, str] | None = None) -> str:
    """The BibTeX entries of these keys, with a blank line between them, then those of packages by name and version."""
    cited = (
        f"@software{{{name},\n  title   = {{{name}}},\n  version = {{{version}}},\n}}"
        for name, version in (packages or {}).items()
    )
    return "\n\n".join([*(entries()[key] for key in keys), *cited])


@functools.cache
def entries() -> Mapping[str, str]:
    """The text of every entry of studies/facts/sources.bib, by its key."""
    text = (resources.files("valuesassets.studies") / "facts" / "sources.bib").read_text(encoding="utf-8")
    return {match[1]: match[0].strip() for match in re.finditer(r"^@\w+\{(\w+),\n.*?^\}$", text, re.M | re.S)}
