"""What a user states outright, read from their messages without a model."""

__all__: list[str] = []
