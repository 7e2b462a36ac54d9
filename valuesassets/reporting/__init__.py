"""The report page of an instrument: its sections, gates, claims, methods, citations and provenance."""
