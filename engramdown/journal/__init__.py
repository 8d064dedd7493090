"""The journal, a page of markdown for each day, and working notes, one page for each session."""

__all__: list[str] = []
