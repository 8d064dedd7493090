"""Servers: ways into a memory for other programs.

Promises: each is thin: it parses, calls the Cortex, and answers; what it stands on is an extra.
"""

__all__: list[str] = []
