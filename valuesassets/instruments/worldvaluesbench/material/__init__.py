"""What `worldvaluesbench` asks about: files and people, read and checked."""
