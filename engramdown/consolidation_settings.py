"""What can be set about offline work on memory, in the table ``[consolidation]``.

Promises: nothing here reads a file; each value is checked before it is used.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from engramdown.checks import (
    Check,
    amount,
    boolean,
    count,
    positive,
    provider_model,
    tokens,
    web_address,
)

__all__ = ["CONSOLIDATION_SETTINGS", "ConsolidationSettings"]


class ConsolidationSettings(NamedTuple):
    """What can be set about offline work on memory.

    Attributes:
        model: The language model, ``provider/name``; ``""`` for none.
        base_url: Where a server of that protocol listens, if it is not the provider's own.
        timeout: How long one call may take, in seconds.
        retries: How many calls for one answer may fail before it is given up.
        max_tokens: The ceiling of an answer, in tokens.
        calls_per_run: How many calls one run may make.
        tokens_per_run: How many tokens one run may cost.
        window_hours: How long the window is in which calls and tokens are counted, too.
        calls_per_window: How many calls may be made in it.
        tokens_per_window: How many tokens may be spent in it.
        threshold: From how many entries on a file is compacted.
        learn_from_errors: Whether the end of a turn looks for what went wrong in it.
        identity_every: After so many messages of a user facts about them are looked for; 0 is
            never.
        extract_facts: Whether the background worker asks for facts in conversations.
        at_session_end: Whether a hook that ends a session lets a process of its own sleep.
    """

    model: str = ""
    base_url: str = ""
    timeout: float = 60
    retries: int = 2
    max_tokens: int = 4096
    calls_per_run: int = 30
    tokens_per_run: int = 200_000
    window_hours: float = 24
    calls_per_window: int = 200
    tokens_per_window: int = 1_000_000
    threshold: int = 20
    learn_from_errors: bool = True
    identity_every: int = 5
    extract_facts: bool = False
    at_session_end: bool = True


CONSOLIDATION_SETTINGS: Final[Mapping[str, Check]] = {
    "model": provider_model,
    "base_url": web_address,
    "timeout": positive,
    "retries": count,
    "max_tokens": count,
    "calls_per_run": count,
    "tokens_per_run": tokens,
    "window_hours": amount,
    "calls_per_window": count,
    "tokens_per_window": tokens,
    "threshold": count,
    "learn_from_errors": boolean,
    "identity_every": count,
    "extract_facts": boolean,
    "at_session_end": boolean,
}
"""Each setting of the table, with what checks it."""
