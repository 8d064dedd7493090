"""What stands in the view of a conversation, and where it may be cut.

Promises: pure; a cut never parts a tool call from its results, however many there are, whatever
stands between them, and also if an id comes up again. The fresh tail holds the newest user message
and all after it. Linear time.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Final, NamedTuple

from engramdown.transcripts.summary_log import Source

__all__ = ["FRESH_TAIL", "MOST_FRESH", "Item", "answers", "cuts", "fresh_tail"]

FRESH_TAIL: Final = 20
"""So many of the newest messages are never summarised, and always shown."""
MOST_FRESH: Final = 120
"""More than these are not, though a turn be longer."""


class Item(NamedTuple):
    """A message or a gist, as far as it matters for what becomes of it.

    Attributes:
        source: Which.
        tokens: What a model is shown of it costs.
        role: Of a message, as in its line; the form of a gist.
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


def answers(items: Sequence[Item]) -> dict[int, int]:
    """Return for the place of each result the place of its call; one that has none is left out.

    A result goes with the oldest open call of its id; one without an id, with the oldest open call
    without one of the same tool. Calls of the newest turn come first: what an earlier turn left
    open was interrupted. If none is open, it is a second result of the call answered last.

    >>> call, result = Item(1, 9, "tool_call", "sh", "c1"), Item(2, 9, "tool_result", "sh", "c1")
    >>> answers([call, result, Item(3, 9, "user"), result])
    {1: 0, 3: 0}
    """
    found: dict[int, int] = {}
    calls: dict[tuple[str, str], _Calls] = {}
    turn = 0
    for at, item in enumerate(items):
        turn += item.role == "user"
        if item.role not in ("tool_call", "tool_result"):
            continue
        mine = calls.setdefault((item.call, "" if item.call else item.name), _Calls())
        if item.role == "tool_call":
            mine.begin(at, turn)
        elif (call := mine.answer()) is not None:
            found[at] = call
    return found


def cuts(items: Sequence[Item]) -> list[bool]:
    """Return for each place whether a cut before it parts nothing; one place more than items.

    >>> call, result = Item(1, 9, "tool_call", "sh", "c1"), Item(2, 9, "tool_result", "sh", "c1")
    >>> cuts([call, result, Item(3, 9, "user")])
    [True, False, True, True]
    """
    free = [True] * (len(items) + 1)
    reach = [0] * len(items)
    for result, call in answers(items).items():
        reach[call] = result
    last = 0
    for at, end in enumerate(reach):
        free[at] = not at or at > last
        last = max(last, end)
    return free


class _Calls:
    """The calls that a result may belong to.

    Attributes:
        open: Those without a result, by turn.
        answered: The one that was answered last.
    """

    def __init__(self) -> None:
        self.open: list[tuple[int, deque[int]]] = []
        self.answered: int | None = None

    def begin(self, at: int, turn: int) -> None:
        """Note a call."""
        if not self.open or self.open[-1][0] < turn:
            self.open.append((turn, deque()))
        self.open[-1][1].append(at)

    def answer(self) -> int | None:
        """Return the call that the next result belongs to."""
        if self.open:
            _, newest = self.open[-1]
            self.answered = newest.popleft()
            if not newest:
                self.open.pop()
        return self.answered


def fresh_tail(items: Sequence[Item], count: int = FRESH_TAIL, most: int = MOST_FRESH) -> int:
    """Return where the tail begins that is never summarised.

    Args:
        items: The view.
        count: How many messages it holds at least, if there are as many; it then reaches back to
            the beginning of the turn that it would cut.
        most: How many messages it reaches back to at most for the sake of a turn.

    >>> said = [Item("g1", 9, depth=0), *(Item(seq, 9, "user") for seq in range(5))]
    >>> fresh_tail(said), fresh_tail(said, 2)
    (1, 4)
    """
    free = cuts(items)
    messages = [at for at, item in enumerate(items) if item.is_message]
    users = [at for at in messages if items[at].role == "user"]
    kept = messages[-count:] if count > 0 else []
    least = min([*kept[:1], *users[-1:]], default=len(items))
    start = _back(free, max((at for at in users if at <= least and free[at]), default=least))
    if len(messages) > most and start < messages[-most]:
        # A turn is longer than what is always shown: only its end is.
        start = _back(free, min(_on(free, messages[-most]), least))
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
