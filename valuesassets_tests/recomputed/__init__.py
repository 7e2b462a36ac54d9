"""The stored numbers of studies, computed again from readings, trials and respondents with numpy and scipy alone.

Nothing here imports the package: what it computes is computed once more, where there is a choice by another algorithm.
What is deterministic has to be equal; what was drawn at random has to lie where draws of our own put it.
"""
