"""What is a secret, and how it is hidden. Pure."""

__all__: list[str] = []
