"""A conversation with a model behind OpenAI's protocol, with memory: all of it but the terminal."""

__all__: list[str] = []
