"""What a study's psych tasks came to, printed at the end of a run; and, where people were made up, as evidence."""

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from valuesassets.cli.outputs import ends_of
from valuesassets.records.files import write_json
from valuesassets.records.frames import records, rows_where
from valuesassets.records.places import storage_root
from valuesassets.records.study import Study

if TYPE_CHECKING:
    import pandas as pd

GAINS = ("format", "style", "content")


def print_outcome(found: Study, folder: Path) -> None:
    """Print what became of the marks, what was planted against what was read, the ladder, and where the page is."""
    from valuesassets.records.parquet import stored_frame

    ledger = folder / "mark_ledger" / "mark_ledger.parquet"
    if ledger.exists():
        listed = records(stored_frame(ledger))
        counts = Counter[str]()
        for row in listed:
            counts[str(row["status"])] += int(row["marks"])
        told = ", ".join(f"{n} {status}" for status, n in counts.most_common() if n)
        print(f"\nMarks, over all cells and histories: {told}")
    recovery = _cells(folder, "calibration", "recovery")
    if len(recovery):
        print("\nCalibration: total variation between planted and read (mean | 95th percentile)")
        for row in records(recovery):
            verdict = "recovered" if row["is_recovered"] else "OFF"
            where = f"{row['model']:<14} {row['task']:<16} {row['history']:<10}"
            read = f"{row['n_read']:>5} of {row['n_marks']:<5}"
            print(f"  {where} {read} {row['tvd_mean']:.4f} | {row['tvd_p95']:.4f}  {verdict}")
    gains, planted = _table(folder, "prediction", "gains"), _cells(folder, "calibration", "gains")
    known = {(row["model"], row["task"], row["gain"]): row["planted"] for row in records(planted)}
    shown = [row for row in records(gains) if row["gain"] in GAINS and row["estimate"] == row["estimate"]]
    if shown:
        print("\nWhat a history adds (nats per answer, interval over participants)")
    for row in shown:
        beside = known.get((row["model"], row["task"], row["gain"]))
        told = "" if beside is None else f"  planted {beside:+.4f}"
        ends = ends_of(row, spec="+.4f") or " no interval"
        print(f"  {row['model']:<14} {row['task']:<16} {row['gain']:<8} {row['estimate']:+.4f}{ends}{told}")
    page = folder / "report" / "report.html"
    print(f"report: {page if page.exists() else 'not written'}")


def write_evidence(found: Study, folder: Path, seconds: float) -> None:
    """Write `evidence/psych.json` beside the studies, where the study's people are made up.

    Args:
        seconds: that the run took.
    """
    marks = _cells(folder, "calibration", "marks")
    if not len(marks):
        return
    told: dict[str, Any] = {"study": found.name, "seconds": seconds, "marks": _accounted(folder)}
    told["recovery"], told["late"] = _recovered(marks)
    told["gains"] = _gained(folder)
    write_json(storage_root() / "evidence" / "psych.json", told)


def _accounted(folder: Path) -> dict[str, int]:
    """Opening delimiters of all transcripts, and marks that have a status in the ledger of one model and history."""
    from valuesassets.instruments.psych_tasks.task_files import load_task
    from valuesassets.records.parquet import stored_frame

    in_files = 0
    for path in sorted(folder.glob("transcripts/*.jsonl")):
        opening = load_task(path.stem).delimiters[0]
        lines = path.read_text(encoding="utf-8").splitlines()
        in_files += sum(json.loads(line)["text"].count(opening) for line in lines)
    ledger = stored_frame(folder / "mark_ledger" / "mark_ledger.parquet")
    first = ledger.loc[(ledger["model"] == ledger["model"].iloc[0]) & (ledger["history"] == "human")]
    return {"in_files": in_files, "accounted": int(first["marks"].sum())}


def _recovered(marks: "pd.DataFrame") -> tuple[dict[str, Any], dict[str, Any]]:
    """By family and history mean and 95th percentile of total variation; by family the mean as published code reads."""
    recovery: dict[str, dict[str, Any]] = {}
    late = {}
    for model, part in rows_where(marks, draw=0).groupby("model", sort=False):
        recovery[str(model)] = {
            str(history): {"tvd_mean": float(each["tvd"].mean()), "tvd_p95": float(each["tvd"].quantile(0.95))}
            for history, each in part.groupby("history", sort=False)
        }
        late[str(model)] = {"tvd_mean": float(part["tvd_late"].mean())}
    return recovery, late


def _gained(folder: Path) -> dict[str, Any]:
    """By family the gains in the first task that has all of them, beside those of the law."""
    gains, planted = _table(folder, "prediction", "gains"), _cells(folder, "calibration", "gains")
    known = {(row["model"], row["task"], row["gain"]): row["planted"] for row in records(planted)}
    found: dict[str, Any] = {}
    for (model, _), part in gains.groupby(["model", "task"], sort=False):  # type: ignore[misc]
        own = {row["gain"]: row for row in records(part) if row["gain"] in GAINS and row["estimate"] == row["estimate"]}
        if len(own) == len(GAINS):
            found.setdefault(
                str(model),
                {
                    gain: {name: float(row[name]) for name in ("estimate", "low", "high")}
                    | {"task": row["task"], "planted": known.get((row["model"], row["task"], gain))}
                    for gain, row in own.items()
                },
            )
    return found


def _table(folder: Path, asset: str, name: str) -> "pd.DataFrame":
    import pandas as pd

    from valuesassets.records.parquet import stored_frame

    path = folder / asset / f"{name}.parquet"
    return stored_frame(path) if path.exists() else pd.DataFrame(columns=pd.Index(["gain", "model", "task"]))


def _cells(folder: Path, asset: str, name: str) -> "pd.DataFrame":
    """One table of all cells, with `model` and `task`."""
    import pandas as pd

    from valuesassets.records.parquet import stored_frame

    paths = sorted(folder.glob(f"{asset}/*/*/{name}.parquet"))
    found = [stored_frame(path).assign(model=path.parts[-3], task=path.parts[-2]) for path in paths]
    return pd.concat(found, ignore_index=True) if found else pd.DataFrame()
