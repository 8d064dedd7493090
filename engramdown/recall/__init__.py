"""Recall."""

__all__: list[str] = []
