"""Brings in what was said elsewhere: one pure reader per source, and one shell around them.

Promises: importing twice changes nothing; what is not understood is counted, never a stop.
"""

__all__: list[str] = []
