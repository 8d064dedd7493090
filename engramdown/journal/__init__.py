"""Journal."""

__all__: list[str] = []
