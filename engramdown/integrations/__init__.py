"""Adapters: memory in the terms of other libraries, each of which is an extra.

Promises: each is thin: it parses, calls the Cortex, and answers.
"""

__all__: list[str] = []
