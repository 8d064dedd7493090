"""One scope's memory: markdown files that a person owns, and the protocol that writes them."""

from __future__ import annotations

__all__: list[str] = []
