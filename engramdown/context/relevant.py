"""What matches a message: memories that a model does not see anyway, and earlier conversations.

It differs from message to message, and so comes last, after what stays the same. Among few memories
a model finds what it needs; of many, the best are repeated.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from engramdown.context.search import LEAST, past_experience, sought
from engramdown.context.sections import BUDGETS, Section, renderer
from engramdown.kinds import KIND_TABLE
from engramdown.language.terms import words
from engramdown.language.untrusted import bullet
from engramdown.language.words import STOP_WORDS, is_everyday
from engramdown.tokens import estimate_tokens

if TYPE_CHECKING:
    from engramdown.gate.scopes import Scopes
    from engramdown.hippocampus.entry import Entry

HEADING: Final = "## Your Memory — Relevant Now"
# What the headings of relevant.j2 cost, in tokens.
FRAME: Final = 40

# Among this many lessons and rules for a case a model finds what it needs by itself.
_FEW: Final = 20
# How long a turn waits for a search.
_SECONDS: Final = 5.0
_LOOKED_AT: Final = 50
_MEMORIES: Final = 5
_SAID: Final = 5
_BYTES: Final = 4_000
_BYTES_PER_TOKEN: Final = 4
_POINTER: Final = re.compile(r"^[->] ([a-z0-9][a-z0-9._-]*#[0-9]+) ", re.MULTILINE)


class Relevant(NamedTuple):
    """The results of a search for a turn.

    Attributes:
        memories: A line for each memory.
        entries: These memories.
        said: Quotes from other conversations.
        recalled: The pointers to the quoted lines.
        trouble: Why the search failed, or ``""``.
    """

    memories: tuple[str, ...] = ()
    entries: tuple[Entry, ...] = ()
    said: str = ""
    recalled: tuple[str, ...] = ()
    trouble: str = ""

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of the memories."""
        return tuple(entry.id for entry in self.entries)

    @property
    def text(self) -> str:
        """All of it."""
        return "\n\n".join(filter(None, ["\n".join(self.memories), self.said]))

    def within(self, budget: int) -> Relevant:
        """Return all of it if it fits into ``budget``, else as many of the best memories as do."""
        if estimate_tokens(self.text) <= budget:
            return self
        count = 0
        for line in self.memories:
            budget -= estimate_tokens(f"{line}\n")
            if budget < 0:
                break
            count += 1
        return Relevant(self.memories[:count], self.entries[:count], trouble=self.trouble)


def in_view(shown: Iterable[Section]) -> frozenset[str]:
    """Return the ids of the memories that need not be repeated.

    Args:
        shown: The sections that a model sees.
    """
    entries = [entry for section in shown for entry in section.shown]
    case = {entry.id for entry in entries if not _is_always_read(entry)}
    return frozenset(entry.id for entry in entries) - (case if len(case) > _FEW else set())


def _is_always_read(entry: Entry) -> bool:
    return KIND_TABLE[entry.kind].is_whole or entry.kind == "profile" or entry.pin


def is_about_something(message: str) -> bool:
    """Whether a message has a word that is worth a search.

    >>> is_about_something("Why is CI red?"), is_about_something("2) Thanks, go on")
    (True, False)
    """
    # Of scripts without spaces a character is a word.
    told = (word for word in words(message) if len(word) > 1 or not word.isascii())
    return any(word not in STOP_WORDS and not is_everyday(word) for word in told)


def look_up(
    scopes: Scopes,
    message: str,
    subjects: Sequence[str] = (),
    *,
    session: str = "",
    shown: Collection[str] = frozenset(),
    budget: int = BUDGETS["relevant"],
) -> Relevant:
    """Return what matches a turn and is found in time; a failure ends no turn.

    Args:
        scopes: The memory to search.
        message: The user's message.
        subjects: What the turn is about, if that is known.
        session: The id of the running session, which is not quoted.
        shown: The ids of the memories that are shown anyway.
        budget: What the results may cost, in tokens.
    """
    query = sought("", subjects) if any(subjects) else message
    if budget <= 0 or not is_about_something(query):
        return Relevant()
    results: list[Relevant] = []

    def search() -> None:
        try:
            lines, entries, left = _memories(scopes, query, shown, budget)
            said = _said(scopes, sought(message, subjects), left, session)
            quoted = tuple(dict.fromkeys(_POINTER.findall(said)))
            results.append(Relevant(tuple(lines), tuple(entries), said, quoted))
        except Exception as error:  # noqa: BLE001 - a store of the caller's may raise anything
            results.append(Relevant(trouble=f"{type(error).__name__}: {error}"))

    # Not `in_thread`: its future would load logging, which nothing else in a turn needs.
    searching = threading.Thread(target=search, name="engramdown-relevant", daemon=True)
    searching.start()
    searching.join(_SECONDS)
    late = Relevant(trouble=f"the search took longer than {_SECONDS:g} seconds")
    return results[0] if results else late


def _memories(
    scopes: Scopes, query: str, shown: Collection[str], left: int
) -> tuple[list[str], list[Entry], int]:
    """Return the memories that fit, the best first, a line each, and the rest of the budget."""
    lines: list[str] = []
    entries: list[Entry] = []
    told, day = scopes.citations().told, scopes.day().isoformat()
    for entry in scopes.recall(query, _LOOKED_AT):
        if entry.id in shown or (entry.expires and entry.expires < day):
            continue
        line = bullet(told(entry))
        cost = estimate_tokens(f"{line}\n")
        if cost <= left and len(lines) < _MEMORIES:
            lines.append(line)
            entries.append(entry)
            left -= cost
    return lines, entries, left


def _said(scopes: Scopes, query: str, left: int, session: str) -> str:
    """Return quotes from other conversations that fit into ``left`` tokens."""
    size = min(_BYTES, left * _BYTES_PER_TOKEN)
    if not query or size < LEAST or scopes.past:
        return ""
    said = past_experience(scopes.episodes, query, _SAID, size, running=session)
    return said if estimate_tokens(said) <= left else ""


def relevant_section(found: Relevant, budget: int, overrides: Mapping[str, str]) -> Section | None:
    """Return what was found as a section of its own; ``None`` if it says nothing, or too much.

    Args:
        found: What matches a message.
        budget: What it may cost, in tokens.
        overrides: Templates of the person's own, by name.

    Raises:
        StoreError: A template of ``overrides`` is broken.
    """
    text = rendered(found, overrides)
    tokens = estimate_tokens(text)
    if not text or tokens > budget:
        return None
    return Section(
        "relevant", HEADING, budget, tokens, found.entries, text=text, recalled=found.recalled
    )


def rendered(found: Relevant, overrides: Mapping[str, str]) -> str:
    """Return what was found as a model reads it, ``""`` if it is nothing."""
    if not found.text:
        return ""
    values = {"heading": HEADING, "memories": found.memories, "said": found.said}
    return renderer(overrides)("relevant.j2", values)
