"""Summary lines and pictures of assets in the UI."""
