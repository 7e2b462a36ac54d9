"""What a person may do wrong, as one table: the bad thing, the command given, the one line that it must end with."""
