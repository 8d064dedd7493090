"""Markdown."""

__all__: list[str] = []
