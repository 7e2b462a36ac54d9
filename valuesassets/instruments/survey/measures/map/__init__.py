"""The Inglehart-Welzel map, part by part; see `cultural_map`."""
