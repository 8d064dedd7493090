"""A running conversation: what a model sees of it, and how it is kept within bounds.

Promises: the transcript is never changed; what is seen is made of it and of the log of summaries.
"""

from __future__ import annotations

__all__: list[str] = []
