"""What of memory and of other conversations fits the words of a turn.

Promises: nobody waits for it longer than a few seconds, and nothing that goes wrong with it goes
wrong for a turn: then there is nothing, and why. What was said in the running session is not
quoted, nor a memory that is shown anyway. Writes nothing.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from engramdown.context.search import LEAST, past_experience, sought
from engramdown.language.untrusted import bullet
from engramdown.tokens import estimate_tokens

if TYPE_CHECKING:
    from engramdown.gate.scopes import Scopes
    from engramdown.hippocampus.entry import Entry

__all__ = ["MOST", "Looking", "Relevant", "look_up"]

MOST: Final = 1_500
"""What it may cost, in tokens."""

_SECONDS: Final = 5.0
_MEMORIES: Final = 5
_SAID: Final = 3
_BYTES: Final = 4_000
_BYTES_PER_TOKEN: Final = 4
_POINTER: Final = re.compile(r"^[->] ([a-z0-9][a-z0-9._-]*#[0-9]+) ", re.MULTILINE)


class Looking(NamedTuple):
    """What is looked for.

    Attributes:
        message: What the user wrote.
        subjects: What the turn is about, if that is known.
        session: The id of the running session.
        shown: The ids of the memories that are shown anyway.
        budget: What may be found, in tokens.
    """

    message: str
    subjects: Sequence[str] = ()
    session: str = ""
    shown: Collection[str] = frozenset()
    budget: int = MOST


class Relevant(NamedTuple):
    """What was found.

    Attributes:
        memories: A line for each memory.
        ids: Their ids.
        said: What was said in other conversations, quoted.
        recalled: The pointers to what is quoted.
        trouble: Why nothing could be looked for, or ``""``.
    """

    memories: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    said: str = ""
    recalled: tuple[str, ...] = ()
    trouble: str = ""

    @property
    def text(self) -> str:
        """All of it."""
        return "\n\n".join(filter(None, ["\n".join(self.memories), self.said]))

    def within(self, budget: int) -> Relevant:
        """Return what is left of it in so many tokens: the best memories first."""
        if estimate_tokens(self.text) <= budget:
            return self
        kept = 0
        for line in self.memories:
            budget -= estimate_tokens(f"{line}\n")
            if budget < 0:
                break
            kept += 1
        return Relevant(self.memories[:kept], self.ids[:kept], trouble=self.trouble)


def look_up(scopes: Scopes, looking: Looking, seconds: float = _SECONDS) -> Relevant:
    """Return what fits, as far as it is found in time."""
    query = sought("", looking.subjects) if any(looking.subjects) else looking.message
    if not query.strip() or looking.budget <= 0:
        return Relevant()
    found: list[Relevant] = []
    searching = threading.Thread(
        target=lambda: found.append(_searched(scopes, looking, query)),
        name="engramdown-relevant",
        daemon=True,
    )
    searching.start()
    searching.join(seconds)
    late = Relevant(trouble=f"the search took longer than {seconds:g} seconds")
    return found[0] if found else late


def _searched(scopes: Scopes, looking: Looking, query: str) -> Relevant:
    try:
        return _found(scopes, looking, query)
    except Exception as error:  # noqa: BLE001 - a store of the caller's may raise whatever it likes
        return Relevant(trouble=f"{type(error).__name__}: {error}")


def _found(scopes: Scopes, looking: Looking, query: str) -> Relevant:
    entries = [entry for entry in scopes.recall(query, 50) if entry.id not in looking.shown]
    chosen, left = _fitting(entries, looking.budget)
    wanted = sought(looking.message, looking.subjects)
    size = min(_BYTES, left * _BYTES_PER_TOKEN)
    said = ""
    if wanted and size >= LEAST:
        said = past_experience(scopes.episodes, wanted, _SAID, size, running=looking.session)
    if estimate_tokens(said) > left:
        said = ""
    return Relevant(
        tuple(bullet(entry.text) for entry in chosen),
        tuple(entry.id for entry in chosen),
        said,
        tuple(dict.fromkeys(_POINTER.findall(said))),
    )


def _fitting(entries: Iterable[Entry], budget: int) -> tuple[list[Entry], int]:
    """Return the memories that fit, the best first, and what is left of the budget."""
    chosen: list[Entry] = []
    for entry in entries:
        cost = estimate_tokens(f"{bullet(entry.text)}\n")
        if cost <= budget:
            chosen.append(entry)
            budget -= cost
        if len(chosen) == _MEMORIES:
            break
    return chosen, budget
