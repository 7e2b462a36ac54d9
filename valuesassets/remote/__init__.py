"""Models behind an API: keys, requests, failures, costs and stored answers."""
