"""A scope's memory as a folder of text files that a model views and edits by commands."""

__all__: list[str] = []
