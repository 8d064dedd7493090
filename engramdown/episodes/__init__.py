"""Recording what was said and done, taking it back, and showing it: on cards and as exports."""

from engramdown.lazy import door

__getattr__, __dir__ = door(__name__)
