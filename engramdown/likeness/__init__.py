"""When two texts say the same: forms of words, what a text claims, how alike two claims are."""

__all__: list[str] = []
