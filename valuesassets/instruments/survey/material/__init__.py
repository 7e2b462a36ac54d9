"""What `survey` asks about: files and people, read and checked."""
