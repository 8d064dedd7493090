"""When which job runs: sleep, the worker, and watching."""

from engramdown.lazy import door

__getattr__, __dir__ = door(__name__)
