"""Made-up tables of cultural robustness, as its assets write them: for so many models, languages and countries."""

from itertools import combinations

import numpy as np

from valuesassets.instruments.cultural_robustness.plants.calibration import GROUPING
from valuesassets.instruments.cultural_robustness.tables import (
    ANSWER_QUALITY,
    CALIBRATION,
    COUNTRY_PROFILES,
    DROPPED,
    EMBEDDER_REPORT,
    LANGUAGE_GROUPS,
    LANGUAGE_PAIRS,
    QUESTION_REPORT,
    SCORES,
)

SIX = ("eng", "deu", "fra", "pol", "ell", "bul")
OWN = {"eng": "IE", "deu": "DE", "fra": "FR", "pol": "PL", "ell": "GR", "bul": "BG"}
COUNTRIES = ("BG", "DE", "FR", "GR", "IE", "PL")
GROUPS = {"eng": 1, "pol": 1, "bul": 1, "deu": 2, "ell": 2, "fra": 3}
SCRIPTS = {"ell": 1, "bul": 2}
MODELS = ("cultures", "no-signal")
REFUSED = "countries are not followed (country_follow has p = 0.64, 0.05 is the level)"
OURS = {
    "diversity": (0.62, 0.5, 0.74, 0.002, 0.0),
    "robustness": (0.91, 0.85, 0.97, 0.008, 0.0),
    "culture_gain": (0.31, 0.25, 0.37, 0.002, 0.001),
    "country_follow": (0.45, 0.43, 0.49, 0.008, -0.001),
    "country_distance": (0.5, 0.44, 0.55, None, None),
    "own_country_advantage": (0.12, 0.08, 0.17, 0.006, 0.0),
    "structure": (0.02, None, None, 0.004, 0.003),
    "repeated_answers": (0.1, 0.05, 0.16, None, None),
    "content_distance": (0.4, 0.3, 0.5, None, None),
}
"""Value, ends, p and null of a model that has a culture for each group of languages."""
PUBLISHED = {
    "seed_diversity": (0.11, 0.104),
    "seed_robustness": (0.93, 0.896),
    "seed_product": (0.1, 0.093),
    "cd": (0.31, 0.104),
    "cr": (0.79, 0.896),
    "csp": (0.6, 0.77),
    "csp_question": (0.55, 0.72),
}


def names(n, kind="model"):
    return [f"{kind}{number:02}" for number in range(n)]


def scores(models=MODELS):
    """The last of several models follows no country."""
    rows = []
    for number, model in enumerate(models):
        is_refused = len(models) > 1 and model == models[-1]
        common = {"model": model, "n_questions": 6, "n_languages": 6}
        for name, (value, low, high, p, null) in OURS.items():
            row = common | {"score": name}
            if is_refused and name in ("diversity", "robustness"):
                rows.append(row | {"status": "refused", "reason": REFUSED})
                continue
            drop = 0.03 * number
            value, low, high = (0.001, low and -0.02, high and 0.02) if is_refused else (value, low, high)
            ends = {"low": None if low is None else low - drop, "high": None if high is None else high - drop}
            row |= {"value": value - drop, "null": null, "status": "ok"} | ends
            rows.append(row | {"p": None if p is None else 0.64 if is_refused else p})
        for name, (value, null) in PUBLISHED.items():
            rows.append(common | {"score": name, "value": value + 0.01 * number, "null": null, "status": "ok"})
    return SCORES.frame(rows)


def pairs(models=MODELS, languages=SIX, groups=None):
    """U follows scripts, U - A the groups."""
    grouped = GROUPS if groups is None else groups
    rows = []
    for number, model in enumerate(models):
        for one, other in combinations(languages, 2):
            apart = 0.3 * (grouped.get(one, 0) != grouped.get(other, 0)) * (number + 1 < len(models) or number == 0)
            plain = 0.1 + 0.5 * (SCRIPTS.get(one, 0) != SCRIPTS.get(other, 0)) + 0.2 * apart
            row = {"model": model, "language": one, "other_language": other, "n_questions": 6}
            row |= {"unanchored_distance": plain, "same_country_distance": plain - apart}
            row |= {"other_country_distance": plain + 0.4, "culture_gain": apart}
            rows.append(row | {"culture_gain_low": apart - 0.05, "culture_gain_high": apart + 0.05})
    return LANGUAGE_PAIRS.frame(rows)


def profiles(models=MODELS, languages=SIX, countries=COUNTRIES):
    random, rows = np.random.default_rng(4), []
    for model in models:
        for number, language in enumerate(languages):
            own = OWN.get(language, countries[number % len(countries)])
            for country in countries:
                value = (0.2 if country == own else -0.03) + 0.04 * random.normal()
                row = {"model": model, "language": language, "country": country, "is_own": country == own}
                row |= {"distance": 0.5 - value, "closeness": value, "n_questions": 6}
                rows.append(row | {"closeness_low": value - 0.05, "closeness_high": value + 0.05})
    return COUNTRY_PROFILES.frame(rows)


def groups(models=MODELS[:1]):
    rows = [{"model": m, "language": of, "group": g, "silhouette": 0.8} for m in models for of, g in GROUPS.items()]
    return LANGUAGE_GROUPS.frame(rows)


def quality(models=MODELS, languages=SIX, n=40):
    """One language of the first model has faults of every kind."""
    rows = []
    for model in models:
        for language in languages:
            for number in range(n):
                status = "ok"
                if model == models[0] and language == languages[-2] and number < 10:
                    status = ("empty", "truncated", "truncated", "wrong_language", "echo")[number % 5]
                row = {"language": language, "kind": "unspecific", "id": str(number // 2 + 1), "sample": number % 2}
                row |= {"status": status, "reason": None if status == "ok" else f"why {status}"}
                rows.append(row | {"spoken_language": language})
    frame = ANSWER_QUALITY.frame(rows)
    return frame.assign(model=np.repeat(models, len(languages) * n))


def embedder(unknown=()):
    reason = "finds 0.31 of the translations, 0.50 are needed: another embedder"
    rows = [
        {"language": of, "n_questions": 6, "found_share": 0.31 if of in unknown else 0.97, "variance_share": 0.3}
        | ({"status": "unknown_language", "reason": reason} if of in unknown else {"status": "ok"})
        for of in SIX
    ]
    return EMBEDDER_REPORT.frame(rows)


def dropped():
    reason = "0.43 of its answers without a country count, 0.80 are needed"
    return DROPPED.frame([{"model": "cultures", "language": "tam", "reason": reason}])


def question_faults(n_faults=0):
    row = {"language": "dan", "id": "18", "fault": "read alike", "is_warning": True, "what": "18 and 19 read alike"}
    fault = {"language": "fra", "id": "3", "fault": "foreign", "is_warning": False, "what": "is in eng"}
    return QUESTION_REPORT.frame([row, *[fault] * n_faults])


def calibration(n_off=0):
    facts = [("diversity", 0.62, 0.64, 0.05), ("robustness", 0.93, 0.92, 0.05), (GROUPING, 1.0, 1.0, 0.0)]
    rows = [
        {"model": "cultures", "fact": fact, "planted": planted, "recovered": recovered, "tolerance": tolerance}
        | {"is_recovered": number >= n_off}
        for number, (fact, planted, recovered, tolerance) in enumerate(facts)
    ]
    return CALIBRATION.frame(rows)


def many():
    """Twelve models, 24 languages and 36 countries."""
    models = names(12)
    languages = [f"{one}{other}x" for one in "abcd" for other in "abcdef"]
    countries = [f"{one}{other}" for one in "ABCDEF" for other in "ABCDEF"]
    grouped = {language: number % 4 + 1 for number, language in enumerate(languages)}
    rows = [{"model": models[0], "language": of, "group": each, "silhouette": 0.4} for of, each in grouped.items()]
    return {
        "scores": scores(models),
        "language_pairs": pairs(models, languages, grouped),
        "country_profiles": profiles(models, languages, countries),
        "language_groups": LANGUAGE_GROUPS.frame(rows),
        "answer_quality": quality(models, languages, n=12),
    }


def every_frame(models=MODELS):
    return {
        "scores": scores(models),
        "language_pairs": pairs(models),
        "country_profiles": profiles(models),
        "language_groups": groups(),
        "dropped": dropped(),
        "answer_quality": quality(models),
        "embedder_report": embedder(),
        "question_report": question_faults(),
        "calibration": calibration(),
    }
