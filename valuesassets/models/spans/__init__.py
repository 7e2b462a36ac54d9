"""Reads candidates' probabilities at spans of long texts: spelled in place, read beside a cache, summed like labels."""
