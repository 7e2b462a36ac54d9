"""What models are asked."""
