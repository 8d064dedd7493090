"""Transcripts: what was said and done, one line an episode, one file a session.

Promises: what was recorded is never rewritten, except where a person asks for it.
"""

__all__: list[str] = []
