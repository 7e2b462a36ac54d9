"""Alignment of a language's questions to the master's: evidence of several kinds in one path."""
