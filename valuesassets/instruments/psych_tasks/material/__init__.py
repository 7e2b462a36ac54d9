"""What `psych_tasks` asks about: files and people, read and checked."""
