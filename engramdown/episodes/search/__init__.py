"""Which lines answer a question, how well, and what stands around them."""

__all__: list[str] = []
