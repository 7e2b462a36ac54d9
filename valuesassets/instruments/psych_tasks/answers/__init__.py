"""What models answered, from readings and texts to tables."""
