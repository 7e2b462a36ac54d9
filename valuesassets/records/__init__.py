"""The narrow waist: frozen records, their parquet schemas and the exception tree. Imports nothing of the project."""
