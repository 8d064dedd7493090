"""The words of turns and of questions: pure, and the same for whoever indexes and whoever asks."""

__all__: list[str] = []
