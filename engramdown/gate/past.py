"""Memory as it was at an earlier moment: from the journal, or from git.

A commit is asked of the repository of each scope; a scope that does not know it is shown as it was
when that was made. A day or a time is asked of the journal, and of git where the journal begins
later. What was erased since is not shown. Nothing is written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from datetime import date, datetime, time
from typing import NamedTuple

from engramdown.clock import local, moment, today
from engramdown.errors import GitError, InvalidEngramError
from engramdown.git.diff import Place
from engramdown.git.repository import Commit
from engramdown.hippocampus.entry import entry_id
from engramdown.hippocampus.history import versions
from engramdown.hippocampus.store import Hippocampus
from engramdown.markdown.document import parse
from engramdown.transcripts.episode import stamp

_ALLOWED = "a day (2026-02-27), a time (2026-02-27T10:15) or a commit of git"


class Past(NamedTuple):
    """An earlier moment.

    Attributes:
        at: When, in UTC.
        commit: The commit that was asked for, or ``None``.
        rev: What it was called.
    """

    at: str
    commit: Commit | None = None
    rev: str = ""

    @property
    def when(self) -> datetime:
        """When, as the person's clock showed it."""
        return local(datetime.fromisoformat(self.at))


def find_past(as_of: str | date, places: Iterable[Place]) -> Past:
    """Return the moment that is meant by a day, which is meant to its end, a time, or a commit.

    Args:
        as_of: The day, the time, or the name of a commit.
        places: Where the scopes are in git, in the order in which they are asked for the commit.

    Raises:
        InvalidEngramError: If the moment is still to come.
        GitError: If it is no moment, and no commit.
    """
    when = as_of if isinstance(as_of, date) else _read(as_of)
    if when is None:
        error = GitError("memory is in no git repository")
        for place in places:
            try:
                commit = place.repository.commit(str(as_of))
            except GitError as refused:
                error = refused
            else:
                return Past(stamp(datetime.fromisoformat(commit.date)), commit, str(as_of))
        raise GitError(f"{as_of!a} is not {_ALLOWED}: {error}")
    now = moment()
    at = now if when == today() else f"{when}"
    if at < now:
        end = when if isinstance(when, datetime) else datetime.combine(when, time.max)
        with suppress(OverflowError):  # Before the first moment that there is in UTC.
            at = stamp(local(end))
    if at > now:
        raise InvalidEngramError("as-of", f"{when} is still to come; name {_ALLOWED}")
    return Past(at)


def texts_at(
    store: Hippocampus, past: Past, place: Place | None, was_erased: Callable[[str], bool]
) -> Mapping[str, str] | None:
    """Return the files of a scope as they were, by name; ``None`` if nobody knows.

    Args:
        store: The store of the scope.
        past: The moment.
        place: Where it is in git, or ``None``.
        was_erased: Whether a text was erased for good.

    Raises:
        StoreError: If the journal cannot be read.
        GitError: If the commit cannot be read.
    """
    texts = _committed(place, past) if past.rev else None
    if texts is None:
        texts = _journalled(store, past.at)
    if texts is None:
        texts = _committed(place, past._replace(rev=""))
    if texts is None:
        return None
    # The journal has no erased words any more, but the commits may have them.
    changes = [each for step in store.history() for each in step.changes]
    erased = {each.id for each in changes if each.erased}
    known = {*(each.id for each in changes), *(each.id for each in store.entries())}
    found = {}
    for name, text in texts.items():
        document = parse(text)
        for each in document.placed():
            own = entry_id(each)
            if own in erased or (own not in known and was_erased(each.text)):
                document = document.remove(each.block)
        found[name] = document.render()
    return found


def _committed(place: Place | None, past: Past) -> Mapping[str, str] | None:
    """Return the files of a commit, or of the last one before; ``None`` if there is none."""
    if place is None:
        return None
    repository = place.repository
    try:
        commit = repository.commit(past.rev) if past.rev else repository.last_before(past.at)
    except GitError:
        return None  # It is one of the other scope.
    return place.at(commit).texts if commit else None


def _journalled(store: Hippocampus, at: str) -> dict[str, str] | None:
    """Return the files as the journal has them; ``None`` if it begins later, or is broken."""
    steps = store.history()
    if not steps or min(step.at for step in steps) > at:
        return None
    texts: dict[str, str] = {}
    for name in dict.fromkeys(name for step in steps for name in step.files):
        then = [step.id for step in steps if step.at <= at and name in step.files][-1:]
        states = {step.id: after for step, _, after in versions(steps, name)} if then else {}
        if then and then[0] not in states:
            return None
        texts[name] = (states[then[0]] if then else "") or ""
    return texts


def _read(text: str) -> date | None:
    for read in (date.fromisoformat, datetime.fromisoformat):
        try:
            return read(text) if "-" in text else None
        except ValueError:
            continue
    return None
