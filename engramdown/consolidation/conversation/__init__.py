"""Compaction of a running conversation: what is summarised, by whom, and in which words.

Promises: everything here is given messages and gists and returns what to write; it writes nothing.
"""

from __future__ import annotations

__all__: list[str] = []
