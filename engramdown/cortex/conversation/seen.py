"""A conversation as it is at one moment, and what of it is shown.

Promises: pure; what was added meanwhile changes nothing of it. A result that answers no call, and a
second result of a call, are left out and told. The tail is whole; everything that is not shown as
it was said is told, with why.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from engramdown.consolidation.summaries import Item, answers, fresh_tail
from engramdown.conversation.rendering import (
    Dropped,
    Shown,
    ends,
    gist_placeholder,
    shown_gist,
    shown_message,
)
from engramdown.conversation.view import FRAME, Said, placeholder
from engramdown.cortex.conversation.fitting import fates
from engramdown.tokens import estimate_tokens
from engramdown.transcripts.episode import Pointer
from engramdown.transcripts.summary_log import Gist

__all__ = ["Choice", "Seen"]

_NO_ROOM: Final = "no room for it"
_NO_ROOM_WHOLE: Final = "no room for all of it: a placeholder stands for it"
_OVER: Final = "its turn is over and it is long: a placeholder stands for it"
_NO_CALL: Final = "it answers no call"
_SECOND: Final = "its call was answered before"


class Choice(NamedTuple):
    """What of a conversation is shown.

    Attributes:
        lines: It, in order.
        tail: Where its fresh tail begins.
        tokens: What it costs.
        dropped: What is not shown, or not whole.
        left_out: How many messages are not shown, nor a summary of them; strays are not counted.
    """

    lines: tuple[Shown, ...]
    tail: int
    tokens: int
    dropped: tuple[Dropped, ...]
    left_out: int


class Seen:
    """A conversation as it is at one moment.

    Attributes:
        session: The id of its session.
        newest: What the user said last, or ``""``.
    """

    def __init__(
        self,
        session: str,
        items: Sequence[Item] = (),
        said: Mapping[int, Said] | None = None,
        gists: Mapping[str, Gist] | None = None,
    ) -> None:
        """Take a view with its messages, and every summary of the conversation."""
        self.session = session
        self._said = said or {}
        self._gists = gists or {}
        self._items, self._strays = self._parted(items)
        users = (item.source for item in reversed(self._items) if item.role == "user")
        newest = next(users, None)
        self.newest = self._said[newest].text if isinstance(newest, int) else ""

    def tail(self, count: int) -> int:
        """Return where the tail begins that holds so many messages."""
        return fresh_tail(self._items, count)

    def cost(self, tail: int) -> int:
        """Return what everything from ``tail`` on costs."""
        return sum(item.tokens for item in self._items[tail:])

    def left_out(self, tail: int, room: int) -> int:
        """Return how many messages would not be shown, nor a summary of them."""
        chosen = fates(self._items, tail, room, self._brief)
        return sum(
            self._messages(item)
            for item, fate in zip(self._items, chosen, strict=True)
            if fate == "out"
        )

    def chosen(self, tail: int, room: int) -> Choice:
        """Return what is shown: the tail, and of what is before it as much as there is room for."""
        lines: list[Shown] = []
        dropped = list(self._strays)
        start = left_out = 0
        for at, fate in enumerate(fates(self._items, tail, room, self._brief)):
            item = self._items[at]
            start = len(lines) if at == tail else start
            if fate == "out":
                dropped.append(self._told(item, _NO_ROOM))
                left_out += self._messages(item)
                continue
            lines.append(self._shown(item, at, is_whole=fate == "whole"))
            if fate == "brief":
                dropped.append(self._told(item, _NO_ROOM_WHOLE))
            elif not lines[-1].is_whole:
                dropped.append(self._told(item, _OVER))
        start = start if tail < len(self._items) else len(lines)
        tokens = sum(line.tokens for line in lines)
        return Choice(tuple(lines), start, tokens, tuple(dropped), left_out)

    def _parted(self, items: Sequence[Item]) -> tuple[list[Item], list[Dropped]]:
        """Return the view without the results that answer nothing, and what is told of these."""
        found = answers(items)
        first = {call: result for result, call in reversed(found.items())}
        kept: list[Item] = []
        strays: list[Dropped] = []
        for at, item in enumerate(items):
            if item.role != "tool_result" or first.get(found.get(at, -1)) == at:
                kept.append(item)
            else:
                strays.append(self._told(item, _SECOND if at in found else _NO_CALL))
        return kept, strays

    def _shown(self, item: Item, at: int, *, is_whole: bool) -> Shown:
        tokens = item.tokens if is_whole else self._brief(at)
        if isinstance(item.source, str):
            gist = self._gists[item.source]
            shown = shown_gist(self.session, gist, tokens)
            return shown if is_whole else shown._replace(text=self._briefly(item), is_whole=False)
        message = self._said[item.source]
        # In a turn that is over, a large result costs what its placeholder does.
        is_all = is_whole and item.tokens == message.tokens
        return shown_message(self.session, message, tokens, is_whole=is_all)

    def _brief(self, at: int) -> int:
        """Return what the placeholder of an item costs."""
        item = self._items[at]
        return FRAME + estimate_tokens(self._briefly(item)) + estimate_tokens(item.name)

    def _briefly(self, item: Item) -> str:
        if isinstance(item.source, int):
            message = self._said[item.source]
            return placeholder(self.session, message.episode, message.tokens)
        span = ends(self._gists, item.source)
        return gist_placeholder(self.session, self._gists[item.source], span, item.tokens)

    def _messages(self, item: Item) -> int:
        """Return how many messages an item stands for."""
        return 1 if isinstance(item.source, int) else self._gists[item.source].messages

    def _told(self, item: Item, reason: str) -> Dropped:
        if isinstance(item.source, str):
            return Dropped("summary", item.source, item.tokens, reason)
        what = item.role.replace("_", " ") if item.role.startswith("tool") else "message"
        tokens = self._said[item.source].tokens
        return Dropped(what, str(Pointer(self.session, item.source)), tokens, reason)
