"""What the UI, the pictures and the report say."""
