"""The cells of a grid: their choice, the jobs that ask them, and their results, here and on Slurm alike."""
