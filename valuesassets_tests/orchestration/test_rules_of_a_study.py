"""A study's rules of inference reach all five instruments: one rule changed at a time.

One study has four of them. Answers of cultural robustness are made up for reference families of other names: it has a
study beside.
"""

import html
import itertools
import re
import shutil
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import tomlkit

from valuesassets_tests.orchestration.study_here import run_study_here, sketched

pytestmark = pytest.mark.slow

INSTRUMENTS = ("survey", "psych_tasks", "cultural_robustness", "worldvaluesbench", "worldwise")
COMPARED = ("survey/distances", "cultural_robustness/language_pairs", "worldvaluesbench/awareness")
PAGES = tuple(f"{name}/report" for name in INSTRUMENTS)
RULES: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "level": (
        {"inference": {"level": 0.8}},
        (*COMPARED, "psych_tasks/prediction", "worldwise/cultural_profiles"),
    ),
    "resamples": ({"inference": {"resamples": 149}}, (*COMPARED, "worldwise/persona_shift")),
    "alpha": ({"inference": {"alpha": 0.3}}, (*PAGES, "cultural_robustness/language_pairs")),
    "correction": (
        {"inference": {"correction": "benjamini-hochberg"}},
        (*COMPARED, "worldwise/persona_shift", "psych_tasks/prediction", "psych_tasks/report"),
    ),
    "reliability": ({"thresholds": {"reliability": 0.97}}, ("survey/reliability", "worldwise/reliability")),
}
"""Each rule with its change and the assets that show it."""
NOT_USED = {
    ("alpha", "psych_tasks"): "fewer than 30 people: nothing is tested; test_corrections.py has more",
    ("resamples", "psych_tasks"): "its intervals and tests over people are Student's",
    ("reliability", "psych_tasks"): "the reliability of scales has no threshold",
    ("reliability", "worldvaluesbench"): "asked in one wording; test_wording_reliability.py has more",
    ("reliability", "cultural_robustness"): "scores of texts have no reliability over wordings",
}


ALONE = "cultural_robustness"
"""The instrument that has a study of its own."""


def merged(into: dict[str, Any], more: dict[str, Any]) -> dict[str, Any]:
    """Tables of a study file with those of another put into them."""
    for key, value in more.items():
        into[key] = merged(into.get(key, {}), value) if isinstance(value, dict) else value
    return into


def one_study(folders: Sequence[Path]) -> dict[str, Any]:
    """The study that has the tables of small studies, and every family in each of them."""
    study: dict[str, Any] = {}
    for folder in folders:
        merged(study, tomllib.loads((folder / "small.toml").read_text(encoding="utf-8")))
    study |= {"name": "small", "title": "All instruments"}
    for language, zone in (("eng", "English-Speaking"), ("ell", "Orthodox Europe")):
        if language in study["languages"]:
            study["languages"][language]["zone"] = zone
    for family in study["families"]:
        for table, key, value in (("worldvaluesbench", "slopes", 0.0), ("psych_tasks", "laws", {"style": 0.1})):
            if table in study:
                study[table][key].setdefault(family, value)
    return study


def results(storage: Path, assets: Sequence[str]) -> dict[str, str]:
    """The tables and the words of the pages of some assets, by place."""
    places = {}
    for path in sorted(path for asset in assets for path in (storage / "small" / asset).rglob("*.*")):
        if path.suffix in READERS:
            places[path.relative_to(storage / "small").as_posix()] = READERS[path.suffix](path)
    return places


def words_of(page: Path) -> str:
    """The words of a page, without its figures."""
    text = re.sub(r"(?s)<(script|style|svg)\b.*?</\1>|<[^>]+>", " ", page.read_text(encoding="utf-8"))
    return " ".join(html.unescape(text).split())


READERS: dict[str, Callable[[Path], str]] = {
    ".parquet": lambda path: pd.read_parquet(path).to_json(),
    ".csv": lambda path: path.read_text(encoding="utf-8"),
    ".html": words_of,
}


def test_a_changed_rule_changes_what_every_instrument_concludes(
    small_study, small_ratings, small_psych, small_worldwise, small_robustness, tmp_path
):
    folders = [small_study, small_ratings, small_psych, small_worldwise]
    path, storage = tmp_path / "small.toml", tmp_path / "storage"
    for folder, instrument in itertools.product([*folders, small_robustness], INSTRUMENTS):
        for stored in (folder / "storage").glob(f"*/{instrument}"):
            shutil.copytree(stored, storage / "small" / instrument)

    def derive(assets: Sequence[str], changes: dict[str, Any]) -> dict[str, str]:
        for part, is_alone in ((folders, False), ([small_robustness], True)):
            study = merged(one_study(part), merged({"inference": {"resamples": 199}}, changes))
            path.write_text(tomlkit.dumps(study), encoding="utf-8")
            own = [asset for asset in assets if asset.startswith(ALONE) == is_alone]
            with sketched():
                list(run_study_here(path, own, is_forced=True, may_fail=True) if own else ())
        return results(storage, assets)

    all_assets = sorted({asset for _, assets in RULES.values() for asset in assets})
    usual = derive(all_assets, {})
    shutil.copytree(storage, tmp_path / "usual")
    for rule, (changes, assets) in RULES.items():
        changed = derive(assets, changes)
        followers = {place.partition("/")[0] for place in changed if changed[place] != usual[place]}
        assert followers == {name for name in INSTRUMENTS if (rule, name) not in NOT_USED}, rule
        shutil.rmtree(storage)
        shutil.copytree(tmp_path / "usual", storage)
