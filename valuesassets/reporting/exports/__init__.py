"""Readings in the formats of other tools, one module for each format; `FORMATS` in `cli/export.py` names them."""
