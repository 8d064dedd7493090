"""The words that reach a model: templates, what they may say, and texts that can forge nothing."""

__all__: list[str] = []
