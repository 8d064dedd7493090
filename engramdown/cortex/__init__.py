"""What decides about memory and assembles what a model sees."""

from __future__ import annotations

__all__: list[str] = []
