"""Worldwise: dilemmas on Hofstede's dimensions, by what a model chooses and by the reasons that it gives."""
