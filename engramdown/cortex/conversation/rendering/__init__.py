"""A prompt as text, and as the messages of the large providers.

Promises: pure; what is rendered is accepted by the provider that it is for.
"""

from __future__ import annotations

__all__: list[str] = []
