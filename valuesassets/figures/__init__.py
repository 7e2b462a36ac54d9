"""Pictures (matplotlib): one file per figure, one shared style."""
