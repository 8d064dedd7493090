"""Storage."""

__all__: list[str] = []
