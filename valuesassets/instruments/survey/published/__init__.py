"""What repeats a published code or publication, beside its nulls."""
