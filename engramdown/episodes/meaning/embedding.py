"""What turns texts into vectors: the protocol, and what a setting means by one.

Promises: nothing is imported, loaded or asked before the first text is embedded.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, Protocol, runtime_checkable

__all__ = ["Embedder", "LaneError", "open_embedder"]

_OPENAI: Final = "https://api.openai.com/v1"
_SETTING: Final = re.compile(
    r"(?P<kind>openai|fastembed|sentence-transformers):(?P<model>.+?)(?:@(?P<url>https?://\S+))?"
)


class LaneError(Exception):
    """Embeddings cannot be used for this question; the message says why, in one line."""


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into vectors.

    Attributes:
        name: The model, and what else makes its vectors what they are: vectors that were made
            under another name are never compared with these.
    """

    @property
    def name(self) -> str:
        """The model."""
        ...

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """Return one vector per text, all of one length; what it raises switches the lane off."""
        ...


def open_embedder(setting: str, seconds: float) -> Embedder:
    """Return what ``setting`` means.

    Args:
        setting: ``openai:MODEL``, with ``@URL`` for another endpoint that speaks the same
            protocol, ``fastembed:MODEL`` or ``sentence-transformers:MODEL``.
        seconds: How long an endpoint may take.

    Raises:
        LaneError: If it means nothing.
    """
    found = _SETTING.fullmatch(setting)
    if found is None:
        raise LaneError(f"{setting!r} names no embedder; use openai:MODEL or fastembed:MODEL")
    from engramdown.models import embedders

    if found["kind"] == "openai":
        return embedders.Endpoint(found["model"], found["url"] or _OPENAI, seconds)
    model = setting.partition(":")[2]
    if found["kind"] == "fastembed":
        return embedders.FastEmbed(model)
    return embedders.SentenceTransformers(model)
