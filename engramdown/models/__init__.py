"""Language models and embedders: what one must do, what asking one costs, and who is asked."""

from engramdown.lazy import door

__getattr__, __dir__ = door(__name__)
