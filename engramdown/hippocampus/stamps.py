"""What a step needs besides what it does: an id from dice, a moment from the clock.

Promises: an id is eight characters of Crockford base32, and random.
"""

from __future__ import annotations

import os
from typing import Final

from engramdown.clock import moment
from engramdown.hippocampus.draft import Act
from engramdown.hippocampus.history import Change, Part, Step

__all__ = ["new_id", "new_step"]

_ALPHABET: Final = "0123456789abcdefghjkmnpqrstvwxyz"


def new_id() -> str:
    """Return a random id: eight characters of Crockford base32."""
    return "".join(_ALPHABET[byte & 31] for byte in os.urandom(8))


def new_step(act: Act, parts: tuple[Part, ...], changes: tuple[Change, ...]) -> Step:
    """Return the step that ``act`` names, as of now."""
    why = act.why.encode("utf-8", "replace").decode()
    return Step(new_id(), moment(), act.by, act.op, why, parts, changes, act.of)
