"""What can be set about transcripts, in the table ``[episodes]``.

Promises: nothing here reads a file; each value is checked before it is used.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, NamedTuple, get_args

from engramdown.checks import (
    Check,
    amount,
    boolean,
    count,
    model_of,
    one_of,
    patterns,
    positive,
    tokens,
)

__all__ = ["EPISODE_SETTINGS", "Durability", "EpisodeSettings"]

Durability = Literal["full", "fast"]


class EpisodeSettings(NamedTuple):
    """What can be set about transcripts, in the table ``[episodes]``.

    Attributes:
        enabled: Whether anything is recorded; ``ENGRAMDOWN_EPISODES`` wins.
        payloads: Whether the whole of a text that a line shows cut is kept (``keep``) or not
            (``drop``).
        input_limit: Code points of a tool's input that a line shows.
        output_limit: Code points of a tool's output, or of a scratchpad, that a line shows.
        durability: ``full`` survives a power cut; ``fast`` only a crash of the program.
        redact: Where secrets are hidden before anything is written: in what tools were given and
            gave back (``tools``), everywhere (``all``), nowhere (``off``, in the global scope).
        ignore: Sessions that are not recorded: their ids, where ``*`` and ``?`` stand for anything.
        idle_minutes: Silence after which a session counts as ended; 0 for never.
        gap_minutes: Silence that ends the surroundings of what recall found.
        around: Episodes on each side of it at most.
        around_hours: Time on each side of it at most.
        shown: Episodes on each side of it that are shown.
        history: Whether a model is reminded of earlier sessions.
        history_tokens: What that may cost.
        embedder: What finds transcripts by their meaning, too; ``""`` for nothing. Only the global
            scope may say so, because it is sent what was said.
        embedder_timeout: How long a recall may wait for it, in seconds.
    """

    enabled: bool = True
    payloads: Literal["keep", "drop"] = "keep"
    input_limit: int = 500
    output_limit: int = 2000
    durability: Durability = "fast"
    redact: Literal["all", "tools", "off"] = "all"
    ignore: tuple[str, ...] = ()
    idle_minutes: float = 0
    gap_minutes: float = 10
    around: int = 50
    around_hours: float = 1
    shown: int = 5
    history: bool = False
    history_tokens: int = 4000
    embedder: str = ""
    embedder_timeout: float = 10


EPISODE_SETTINGS: Final[Mapping[str, Check]] = {
    "enabled": boolean,
    "payloads": one_of("keep", "drop"),
    "input_limit": count,
    "output_limit": count,
    "durability": one_of(*get_args(Durability)),
    "redact": one_of("all", "tools", "off"),
    "ignore": patterns,
    "idle_minutes": amount,
    "gap_minutes": amount,
    "around": count,
    "around_hours": amount,
    "shown": count,
    "history": boolean,
    "history_tokens": tokens,
    "embedder": model_of("openai", "fastembed", "sentence-transformers"),
    "embedder_timeout": positive,
}
"""Each setting of the table ``[episodes]``, with what checks it."""
