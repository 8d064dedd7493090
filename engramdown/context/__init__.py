"""Context."""

__all__: list[str] = []
