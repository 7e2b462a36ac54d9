"""Questionnaires: fetched, read out of the PDF, imported, corrected and reviewed."""
