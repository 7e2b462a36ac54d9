"""`python -m valuesassets.cli`: the same as `valuesassets`."""

from valuesassets.cli import main

main()
