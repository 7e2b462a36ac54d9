"""Offline extraction from a PDF's text layer: pages -> lines -> blocks (one per question number) -> readings."""
