"""How other programs and people lay out what they remember in markdown."""

__all__: list[str] = []
