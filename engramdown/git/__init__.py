"""Memory under git: what its merges leave of memory files, and what its history tells.

The files stay the person's; nothing here commits, fetches or moves a branch.
"""

from __future__ import annotations

__all__: list[str] = []
