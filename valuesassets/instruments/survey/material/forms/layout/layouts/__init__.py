"""The layouts that forms are set in, a file each: how one is told by its pages, and how its lines are divided."""
