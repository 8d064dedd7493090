"""Which of some pages answer a question best, and the excerpt of one that shows why.

Any string may be asked; the same texts and question always give the same order; of two that answer
equally well the later one comes first. The score is BM25 over stemmed words. Pages change at any
time and are few enough to be read for each question; transcripts have an index.

Notes on a session that was excluded are not found, nor notes that are older than a redaction of it,
since they may hold what was redacted.
"""

from __future__ import annotations

import contextlib
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import date
from math import log
from pathlib import Path
from typing import Final, NamedTuple

from engramdown.errors import SessionNotFoundError, StoreError
from engramdown.journal.working_notes import FOLDER, Note, WorkingNotes
from engramdown.language.snippets import find, where
from engramdown.language.terms import folded, tokens
from engramdown.language.words import STOP_WORDS
from engramdown.storage.disk import Disk
from engramdown.transcripts.changes import FOLDER as EPISODES
from engramdown.transcripts.episode import is_session_id, stamp_of
from engramdown.transcripts.sessions import Sessions
from engramdown.transcripts.visibility import excluded

# Characters of a preview at most, and of one that is cut exactly.
PREVIEW: Final = 250

_DAY: Final = re.compile(r"(?<![0-9-])([0-9]{4})-([0-9]{2})-([0-9]{2})(?![0-9-])")
_ELLIPSIS: Final = "…"
_K1: Final = 1.2
_B: Final = 0.75
# A pasted log has thousands of words.
_MOST: Final = 128


def query_stems(query: str) -> frozenset[str]:
    """Return the stems to look for: those of content words, or else all; a day is one word.

    >>> sorted(query_stems("How do we deploy?")), sorted(query_stems("who are you"))
    (['deploi'], ['ar', 'who', 'you'])
    >>> sorted(query_stems("on 2026-02-27"))
    ['20260227']
    """
    query = _DAY.sub(r"\1\2\3", query)
    words = folded(query).split()
    said = [word for word in words if word.lower().strip(".,;:!?\"'()") not in STOP_WORDS]
    return frozenset((tokens(" ".join(said)) or tokens(query))[:_MOST])


def may_match(text: str, stems: Iterable[str]) -> bool:
    """Whether a text may hold a word of one of ``stems``; to look closer takes much longer."""
    lowered = folded(text).lower()
    # Of a stem, no more than its last letter is not in the word: "studi", "file" for "filing".
    return any(stem[:-1] in lowered for stem in stems)


def ranked(stems: frozenset[str], texts: Sequence[str]) -> list[tuple[int, float]]:
    """Return the positions of the texts that hold one of ``stems``, the best first, with scores.

    >>> texts = ["Lunch.", "We deployed.", "Deploy, deploy!"]
    >>> [at for at, _ in ranked(query_stems("deploys"), texts)]
    [2, 1]
    """
    counts = [Counter(tokens(text)) for text in texts]
    lengths = [count.total() for count in counts]
    usual = sum(lengths) / len(lengths) if any(lengths) else 1.0
    scores = dict.fromkeys(range(len(texts)), 0.0)
    for stem in sorted(stems):
        holders = [at for at, count in enumerate(counts) if stem in count]
        # Never 0: a word of every text says little, and still more than nothing.
        rare = log(1 + (len(texts) - len(holders) + 0.5) / (len(holders) + 0.5))
        for at in holders:
            often = counts[at][stem]
            spread = _K1 * (1 - _B + _B * lengths[at] / usual)
            scores[at] += rare * often * (_K1 + 1) / (often + spread)
    found = [(at, score) for at, score in scores.items() if score]
    return sorted(found, key=lambda hit: (-hit[1], -hit[0]))


def find_exact(query: str, texts: Sequence[str]) -> list[tuple[int, float]]:
    """Return the positions of the texts that hold the very string, capitals or not, last first.

    >>> find_exact("use uv", ["Use UV", "uv", "We use uv."])
    [(2, 1.0), (0, 1.0)]
    """
    found = [at for at, text in enumerate(texts) if query and find(text, query)]
    return [(at, 1.0) for at in reversed(found)]


def preview(text: str) -> str:
    """Return the beginning of a text: all of it, or exactly :data:`PREVIEW` characters."""
    return text if len(text) <= PREVIEW else text[: PREVIEW - 1] + _ELLIPSIS


def excerpt(text: str, query: str, stems: frozenset[str]) -> str:
    """Return the piece of a text that shows why it was found, as long as a :func:`preview`."""
    start, end = find(text, query) or where(text, stems)
    if end < PREVIEW:
        return preview(text)
    room = PREVIEW - 2 * len(_ELLIPSIS)
    first = max(min(start - (room - (end - start)) // 2, start), 1)
    first = min(first, len(text) - room)
    last = first + room
    if last + len(_ELLIPSIS) >= len(text):
        return _ELLIPSIS + text[-(PREVIEW - 1) :]
    return f"{_ELLIPSIS}{text[first:last]}{_ELLIPSIS}"


_SUFFIX: Final = ".md"


class NoteMatch(NamedTuple):
    """Notes that answer a question.

    Attributes:
        session: The session that they are on.
        path: Their file.
        updated: When they were written last, or ``""``.
        piece: Why they were found, in 250 characters at most.
        score: How well they answer; comparable within one search only.
    """

    session: str
    path: Path
    updated: str
    piece: str
    score: float


def search_notes(
    root: Path,
    query: str,
    limit: int = 5,
    *,
    exact: bool = False,
    session: str | None = None,
    since: date | None = None,
    until: date | None = None,
) -> list[NoteMatch]:
    """Return the notes that answer ``query``, the best first.

    Args:
        root: The folder of the scope.
        query: Words, or for ``exact`` the very string, capitals or not.
        limit: How many at most.
        exact: Whether to look for the string as it is.
        session: The only session.
        since: The earliest day, by when they were written last.
        until: The latest day.
    """
    stems = query_stems(query)
    found = []
    for each, note in _notes(root, session):
        day = note.updated[:10]
        early = since is not None and day < since.isoformat()
        late = until is not None and day > until.isoformat()
        if not (early or late) and (exact or may_match(note.text, stems)):
            found.append((note.updated, each, note.text))
    found.sort()
    texts = [text for _, _, text in found]
    hits: list[NoteMatch] = []
    for at, score in find_exact(query, texts) if exact else ranked(stems, texts):
        if len(hits) >= limit:
            break
        updated, name, text = found[at]
        notes = WorkingNotes(root, name)
        if _may_be_shown(root, name, updated):
            shown = excerpt(" ".join(text.split()), query, stems)
            hits.append(NoteMatch(name, notes.path, updated, shown, score))
    return hits


def _notes(root: Path, session: str | None) -> list[tuple[str, Note]]:
    """Return the notes on each session, or on one."""
    found = []
    for name in Disk().names(root / FOLDER):
        each = name.removesuffix(_SUFFIX)
        if name.endswith(_SUFFIX) and is_session_id(each) and session in (None, each):
            with contextlib.suppress(StoreError):
                found.append((each, WorkingNotes(root, each).read()))
    return found


def _may_be_shown(root: Path, session: str, updated: str) -> bool:
    try:
        episodes = Sessions(root / EPISODES, Disk()).read(session).episodes
    except SessionNotFoundError:
        return True
    redacted = max((each.ts for each in episodes if each.event == "redact"), default="")
    # Who looked through them since has saved them, but seldom says so in the front matter.
    saved = stamp_of(Disk().changed_at(WorkingNotes(root, session).path))
    return not excluded(episodes).whole and redacted[:19] <= max(saved, updated)[:19]
