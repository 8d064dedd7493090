"""Memory under git: how branches are merged, and what changed since a commit.

The files stay the person's; nothing here commits, fetches or moves a branch.
"""

from engramdown.lazy import door

__getattr__, __dir__ = door(__name__)
