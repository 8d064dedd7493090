"""Words of people: stems, forms, dates, what a text claims, and how it is shown. No I/O."""

__all__: list[str] = []
