"""What texts say, without a model: words, stems, dates, snippets, claims, hidden characters."""

from engramdown.lazy import door

__getattr__, __dir__ = door(__name__)
