"""Dagster's servers as `valuesassets ui` starts them, each a program; `valuesassets.desk` watches over them."""

from valuesassets.records.garbage import collect_seldom

collect_seldom()
