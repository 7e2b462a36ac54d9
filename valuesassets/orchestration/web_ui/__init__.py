"""Dagster's servers as `make ui` starts them, each a program of its own; `valuesassets.ui` watches over them."""
