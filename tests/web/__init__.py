"""The HTTP API, its guard and its page."""
