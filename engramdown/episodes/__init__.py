"""Recording what was said and done, taking it back, and showing it: on cards and as exports."""

__all__: list[str] = []
