"""Readings in the formats of other tools: a file each, `FORMATS` in `cli/export.py` names them."""
