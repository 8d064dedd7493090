"""Fuzzing: laws that must hold for every string of bytes, and what breaks them.

Promises: what was found once is tried in every run of the ordinary tests, without a fuzzer.
"""

__all__: list[str] = []
