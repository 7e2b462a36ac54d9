"""What reference models are planted to answer, and what is recovered of it."""
