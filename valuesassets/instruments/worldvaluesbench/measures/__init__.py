"""What is measured of the answers."""
