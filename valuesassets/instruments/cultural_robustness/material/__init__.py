"""What `cultural_robustness` asks about: files and people, read and checked."""
