"""Finding: which memories, and which lines of transcripts, answer a question."""

from engramdown.lazy import door

__getattr__, __dir__ = door(__name__)
