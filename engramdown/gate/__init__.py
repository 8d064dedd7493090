"""Gate."""

__all__: list[str] = []
