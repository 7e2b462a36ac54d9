"""`python -m valuesassets.cli`: the same as `valuesassets`."""

from valuesassets.cli.app import main

main()
