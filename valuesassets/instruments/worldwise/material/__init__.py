"""What `worldwise` asks about: files and people, read and checked."""
