"""What was said around a hit, up to a silence.

Promises: order is by time and then by place, so that what was said in the same microsecond is
there too; a walk ends at the first silence that is *longer* than the limit, at the number and at
the time a side, whichever comes first; sessions are no border; where there was a hit there is
never nothing, however small the room. No I/O, no clock.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import Final, NamedTuple

__all__ = ["Around", "Limits", "Moment", "around", "shortened"]

_MINUTE: Final = 60_000_000
_HOUR: Final = 60 * _MINUTE
LONGEST: Final = 2_000
"""Bytes of a message that are shown."""


class Moment(NamedTuple):
    """When and where something was said; moments sort in the order of a conversation.

    Attributes:
        ts: In microseconds since 1970.
        session: The id of the session.
        seq: Its number there.
    """

    ts: int
    session: str
    seq: int


class Limits(NamedTuple):
    """How far the surroundings of a hit reach.

    Attributes:
        gap_minutes: A silence that is longer ends them.
        around: Messages on each side at most.
        around_hours: Time on each side at most.
        shown: Messages on each side that are shown.
    """

    gap_minutes: float = 10
    around: int = 50
    around_hours: float = 1
    shown: int = 5


class Around(NamedTuple):
    """The surroundings of a hit.

    Attributes:
        before: What came before, in its order.
        after: What came after.
        more_before: How many more belong to it before these.
        more_after: And after.
    """

    before: Sequence[Moment]
    after: Sequence[Moment]
    more_before: int
    more_after: int


def around(moments: Sequence[Moment], hit: Moment, limits: Limits) -> Around:
    """Return the surroundings of ``hit``.

    Args:
        moments: What was said near it, sorted; the hit need not be among them.
        hit: What was found.
        limits: How far to go.
    """
    at = bisect_left(moments, hit)
    behind = at + (at < len(moments) and moments[at] == hit)
    before = _walk(list(reversed(moments[max(at - limits.around, 0) : at])), hit, limits)
    after = _walk(moments[behind : behind + limits.around], hit, limits)
    shown = max(limits.shown, 0)
    return Around(
        list(reversed(before[:shown])),
        after[:shown],
        len(before) - len(before[:shown]),
        len(after) - len(after[:shown]),
    )


def shortened(text: str, size: int = LONGEST) -> tuple[str, bool]:
    """Return as much of ``text`` as ``size`` bytes hold, and whether it was cut.

    At least the first character stays.

    >>> shortened("naïve", 3), shortened("naïve", 0), shortened("naïve", 9)
    (('na', True), ('n', True), ('naïve', False))
    """
    data = text.encode("utf-8", "surrogatepass")
    if len(data) <= size:
        return text, False
    kept = data[:size]
    while kept and data[len(kept)] & 0xC0 == 0x80:  # noqa: PLR2004 - the rest of a character
        kept = kept[:-1]
    shown = kept.decode("utf-8", "surrogatepass") or text[:1]
    return shown, shown != text


def _walk(moments: Sequence[Moment], hit: Moment, limits: Limits) -> list[Moment]:
    """Return what belongs to ``hit`` of what comes after (or before) it, the nearest first."""
    found: list[Moment] = []
    last = hit.ts
    for moment in moments:
        silence = abs(moment.ts - last) > limits.gap_minutes * _MINUTE
        if silence or abs(moment.ts - hit.ts) > limits.around_hours * _HOUR:
            break
        found.append(moment)
        last = moment.ts
    return found
