"""The bundled questionnaires: what they ask (`content`), how they are printed (`render`), and the printed PDFs."""
