"""What the UI shows of an asset before anybody opens a file."""
