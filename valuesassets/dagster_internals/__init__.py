"""All that this package uses of Dagster's private modules (`dagster._core` and the like).

These modules may change at any release of Dagster. No other file imports them: ruff's banned imports in
`pyproject.toml` forbid it. Each module has a test that says what breaks without it. `slurm_runner` has the same in its
own `dagster_internals.py`.
"""
