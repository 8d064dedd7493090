"""What texts say, without a model: words, stems, dates, snippets, claims, hidden characters."""

__all__: list[str] = []
