"""What values does a language model carry? An instrument that asks, and says how far to trust the answer."""
