"""What stands in the view of a conversation, and where it may be cut.

Promises: pure; a cut never parts a tool call from its results, however many there are, whatever
stands between them, and also if an id comes up again. The fresh tail holds the newest user message
and all after it. Linear time.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Sequence
from typing import Final, NamedTuple

from engramdown.consolidation.gists import Source

__all__ = ["FRESH_TAIL", "MOST_FRESH", "Item", "cuts", "fresh_tail"]

FRESH_TAIL: Final = 20
"""So many of the newest messages are never summarised, and always shown."""
MOST_FRESH: Final = 120
"""More than these are not, though a turn be longer."""


class Item(NamedTuple):
    """A message or a gist, as far as it matters for what becomes of it.

    Attributes:
        source: Which.
        tokens: What a model is shown of it costs.
        role: Of a message, as in its line; ``""`` for a gist.
        name: The tool.
        call: What a tool call and its results have in common, or ``""``.
        depth: Of a gist; -1 for a message.
    """

    source: Source
    tokens: int
    role: str = ""
    name: str = ""
    call: str = ""
    depth: int = -1

    @property
    def is_message(self) -> bool:
        """Whether it is a message, not a gist."""
        return self.depth < 0


def cuts(items: Sequence[Item]) -> list[bool]:
    """Return for each place whether a cut before it parts nothing; one place more than items.

    >>> call, result = Item(1, 9, "tool_call", "sh", "c1"), Item(2, 9, "tool_result", "sh", "c1")
    >>> cuts([call, result, Item(3, 9, "user")])
    [True, False, True, True]
    """
    free = [True] * (len(items) + 1)
    waiting: defaultdict[tuple[str, str], deque[int]] = defaultdict(deque)
    answered: dict[tuple[str, str], int] = {}
    reach = [0] * len(items)
    for at, item in enumerate(items):
        key = (item.call, "" if item.call else item.name)
        if item.role == "tool_call":
            waiting[key].append(at)
        elif item.role == "tool_result":
            # A second result goes with the call that was answered last.
            call = waiting[key].popleft() if waiting[key] else answered.get(key)
            if call is not None:
                answered[key] = call
                reach[call] = at
    last = 0
    for at, end in enumerate(reach):
        if at and at <= last:
            free[at] = False
        last = max(last, end)
    return free


def fresh_tail(items: Sequence[Item], count: int = FRESH_TAIL, most: int = MOST_FRESH) -> int:
    """Return where the tail begins that is never summarised.

    Args:
        items: The view.
        count: How many messages it holds at least, if there are as many; it then reaches back to
            the beginning of the turn that it would cut.
        most: How many it holds at most, unless the newest user message stands before these.
    """
    free = cuts(items)
    messages = [at for at, item in enumerate(items) if item.is_message]
    if len(messages) <= count:
        return 0
    users = [at for at in messages if items[at].role == "user"]
    newest = users[-1] if users else len(items)
    start = min(messages[-count] if count > 0 else len(items), newest)
    turn = max((at for at in users if at <= start and free[at]), default=start)
    start = _back(free, turn)
    if len(messages) > most and start < messages[-most]:
        # A turn is longer than what is always shown: only its end is.
        start = _back(free, min(_on(free, messages[-most]), newest))
    return start


def _back(free: Sequence[bool], at: int) -> int:
    """Return the last place up to ``at`` that may be cut."""
    while not free[at]:
        at -= 1
    return at


def _on(free: Sequence[bool], at: int) -> int:
    """Return the first place from ``at`` on that may be cut."""
    while not free[at]:
        at += 1
    return at
