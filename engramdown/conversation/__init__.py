"""Conversation."""

__all__: list[str] = []
