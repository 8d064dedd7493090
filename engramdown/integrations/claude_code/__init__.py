"""Hooks: what a coding agent's events mean to memory.

Promises: no event of an agent ends in an error of the agent's.
"""

__all__: list[str] = []
