"""Dagster's servers as `make ui` starts them, each a program of its own; `valuesassets.desk` watches over them."""

from valuesassets.records.garbage import collect_seldom

collect_seldom()
