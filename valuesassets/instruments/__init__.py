"""Instruments turn their material into trials, and readings into statistics."""
