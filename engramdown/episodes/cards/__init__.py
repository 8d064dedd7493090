"""What a session was about, for a person and for a model that begins another."""

__all__: list[str] = []
