"""Loading, scoring, sampling and training models: the only home of torch and transformers."""
