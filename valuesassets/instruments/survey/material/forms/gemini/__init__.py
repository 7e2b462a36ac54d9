"""Questions read out of a questionnaire PDF by Gemini: `extraction.py` asks, `task.py` says what is to be asked."""
