"""Explains why a memory is there: who decided, what taught it, what it was merged from.

It changes nothing and uses no network. Missing sources, such as a purged transcript or the journal
of another machine, are reported and never guessed. Redacted or excluded lines stay hidden.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from engramdown.engram import Scope
from engramdown.errors import EntryNotFoundError, GitError, SessionNotFoundError, StoreError
from engramdown.gate.gate import REASONS
from engramdown.gate.pending import Proposal
from engramdown.gate.review import Review
from engramdown.git.repository import Commit, find_repository
from engramdown.hippocampus.entry import Archived, Entry, by_prefix, entry_id, retired_name
from engramdown.hippocampus.history import Step
from engramdown.hippocampus.store import Hippocampus
from engramdown.kinds import PENDING
from engramdown.markdown.document import parse
from engramdown.markdown.metadata import is_address
from engramdown.storage.disk import Disk
from engramdown.storage.usage import Used
from engramdown.transcripts.changes import FOLDER
from engramdown.transcripts.episode import Episode, Pointer
from engramdown.transcripts.sessions import Sessions
from engramdown.transcripts.visibility import REDACTED, excluded

if TYPE_CHECKING:
    from engramdown.gate.scopes import Scopes

Known = Entry | Proposal | Archived

_AROUND: Final = 2
_NOT_IN_GIT: Final = "is in no git repository"


class Kept(NamedTuple):
    """A step of the journal, reduced to its changes of the memory, and the scope of the journal."""

    step: Step
    scope: Scope


class Said(NamedTuple):
    """A line of a transcript.

    Attributes:
        episode: The line; its text is empty if it is hidden.
        hidden: Why: ``redacted`` or ``excluded``, or ``""``.
    """

    episode: Episode
    hidden: Literal["", "redacted", "excluded"] = ""


class Taught(NamedTuple):
    """Where a memory was learned.

    Attributes:
        pointer: The line of a transcript.
        said: The line, or ``None``.
        before: The lines before it.
        after: The lines after it.
        source: The program that the session was imported from, or ``""``.
        problem: Why the line is missing: ``no-session`` (purged, or on another machine),
            ``no-line``, ``unreadable``; or ``""``.
    """

    pointer: Pointer
    said: Said | None = None
    before: tuple[Said, ...] = ()
    after: tuple[Said, ...] = ()
    source: str = ""
    problem: Literal["", "no-session", "no-line", "unreadable"] = ""


class Brought(NamedTuple):
    """The commit that brought a memory.

    Attributes:
        commit: The commit, or ``None``.
        problem: Why it is unknown, in words, or ``""``.
        shallow: Whether the history was not fetched completely: it may have come earlier.
    """

    commit: Commit | None = None
    problem: str = ""
    shallow: bool = False


class Why(NamedTuple):
    """Everything that is known about the origin of a memory.

    Attributes:
        found: The memory, the proposal or the retired memory.
        steps: Each step of the journal that touched it, or the proposal that became it, the oldest
            first.
        waited: Why it waited for a person first, in words, or ``""``.
        taught: The lines of transcripts that taught it and the memories it was made of.
        made_of: The retired memories that it stands for now.
        brought: The commit that brought it.
        is_ours: Whether it was said or learned here; ``False`` if it came with git and nobody
            approved it, so that its claims are somebody else's word.
        cites: The lines of files that it cites, each with its state: ``holds``, ``changed`` or
            ``missing``.
        stands: The memory that took the place of a retired one, or ``None``.
        shown: How often it was shown in a context.
        recalled: How often it was recalled.
    """

    found: Known
    steps: tuple[Kept, ...]
    waited: str
    taught: tuple[Taught, ...]
    made_of: tuple[Archived, ...]
    brought: Brought
    is_ours: bool = True
    cites: tuple[tuple[str, str], ...] = ()
    stands: Entry | None = None
    shown: Used = Used()
    recalled: Used = Used()

    @property
    def first(self) -> Kept | None:
        """The step that wrote it, if the journal has it."""
        added = (kept for kept in self.steps if _adds(kept.step, _name(self.found)))
        return next(added, None)


def why(scopes: Scopes, review: Review, prefix: str) -> Why:
    """Return why the memory, the proposal or the retired memory with this id or prefix is there.

    Args:
        scopes: The scopes.
        review: Their proposals.
        prefix: The id, or its beginning.

    Raises:
        EntryNotFoundError: If nothing has this id.
        AmbiguousIdError: If several have.
        StoreError: If a store could not be read.
    """
    found = find_known(scopes, review, prefix)
    name = _name(found)
    journals = [(store, scopes.if_readable(store.history)) for store in scopes.stores]
    ids = {name, *(_proposal(step, name) for _, steps in journals for step in steps)} - {""}
    relevant = [
        Kept(step._replace(changes=touched), store.scope)
        for store, steps in journals
        for step in steps
        if (touched := tuple(change for change in step.changes if change.id in ids))
    ]
    made_of: list[Archived] = []
    archived, names = scopes.archived(), {name}
    # The memories that it replaced, and the ones that these had replaced.
    while more := [each for each in archived if each.replaced in names and each not in made_of]:
        made_of += more
        names = {each.entry.id for each in more}
    by = found.replaced if isinstance(found, Archived) else ""
    standing = [*scopes.entries(), *(each.entry for each in archived)]
    own = found.entry if isinstance(found, Archived) else found
    said = own.engram if isinstance(own, Proposal) else own
    uses = scopes.uses()
    cited = scopes.citations().states(said.cites) if said.scope == "project" else ()
    if isinstance(found, Entry):
        place = found.scope, found.file, found.line
        # If this cannot be looked up, its claims are not trusted.
        is_ours = scopes.if_readable(lambda: [scopes.pulled.is_brought(*place)]) == [False]
    else:
        is_ours = isinstance(found, Archived) or (found.is_ours and found.op != "load")
    return Why(
        found=found,
        steps=tuple(relevant),
        waited=next(filter(None, (_waited(each.step) for each in relevant)), ""),
        taught=tuple(_taught(scopes.stores, [said.origin, *(it.entry.origin for it in made_of)])),
        made_of=tuple(made_of),
        brought=_brought(scopes.stores, found),
        is_ours=is_ours,
        cites=tuple(cited),
        stands=next((entry for entry in standing if by and entry.id == by), None),
        shown=uses.get(f"shown/{name}", Used()),
        recalled=uses.get(f"recalled/{name}", Used()),
    )


def find_known(scopes: Scopes, review: Review, prefix: str) -> Known:
    """Return what has this id or prefix: memories before proposals before retired memories.

    Raises:
        EntryNotFoundError: If nothing has it.
        AmbiguousIdError: If several have.
    """
    with contextlib.suppress(EntryNotFoundError):
        return by_prefix(prefix, scopes.entries(), _name, "memory")
    with contextlib.suppress(EntryNotFoundError):
        return review.find(prefix)
    retired = scopes.archived()
    name = retired_name(prefix, [item.entry for item in retired])
    return by_prefix(prefix, retired, lambda item: name(item.entry), "memory")


def _name(found: Known) -> str:
    return found.entry.id if isinstance(found, Archived) else found.id


# ---- the journal ----


def _adds(step: Step, name: str) -> bool:
    """Whether a step wrote the memory called ``name``."""
    mine = (change for change in step.changes if change.id == name)
    return any(change.before is None and change.after is not None for change in mine)


def _proposal(step: Step, name: str) -> str:
    """Return the id of the proposal that became ``name`` in this step, or ``""``."""
    if step.op != "accept" or not _adds(step, name):
        return ""
    taken = (each for each in step.changes if each.file == PENDING and each.after is None)
    return next((change.id for change in taken), "")


def _waited(step: Step) -> str:
    """Return why the proposal of a step waited, or ``""``."""
    for change in step.changes if step.op == "propose" else ():
        for placed in parse(change.after or "").placed():
            values = placed.block.meta.values() if placed.block.meta else {}
            code = values.get("hold") or values.get("reason") or "confidence"
            return REASONS.get(code, code)
    return ""


# ---- transcripts ----


def _taught(stores: Sequence[Hippocampus], origins: Iterable[str]) -> Iterator[Taught]:
    # A global memory may have been learned in any project, so both scopes are searched.
    folders = [Sessions(store.root / FOLDER, Disk()) for store in reversed(stores)]
    pointers = (Pointer.parse(each) for origin in origins for each in origin.split(","))
    for pointer in dict.fromkeys(filter(None, pointers)):
        taught = Taught(pointer, problem="no-session")
        for sessions in folders:
            taught = _look_up(sessions, pointer)
            if taught.problem != "no-session":
                break
        yield taught


def _look_up(sessions: Sessions, pointer: Pointer) -> Taught:
    try:
        info = sessions.info(pointer.session)
        episodes = sessions.read(pointer.session).episodes
    except SessionNotFoundError:
        return Taught(pointer, problem="no-session")
    except (OSError, StoreError):
        return Taught(pointer, problem="unreadable")
    source = info.source if info else ""
    whole, seqs = excluded(episodes)

    def shown(episode: Episode) -> Said:
        if REDACTED in episode.more:
            return Said(episode._replace(text=""), "redacted")
        if whole or episode.seq in seqs:
            return Said(episode._replace(text=""), "excluded")
        return Said(episode)

    lines = [each for each in episodes if each.role != "event"]
    at = next((at for at, each in enumerate(lines) if each.seq == pointer.seq), None)
    if at is None:
        return Taught(pointer, source=source, problem="no-line")
    before, after = lines[max(at - _AROUND, 0) : at], lines[at + 1 : at + 1 + _AROUND]
    return Taught(
        pointer, shown(lines[at]), tuple(map(shown, before)), tuple(map(shown, after)), source
    )


# ---- git ----


def _brought(stores: Iterable[Hippocampus], found: Known) -> Brought:
    """Return the commit that brought it; a proposal may wait in either scope."""
    own = found.entry if isinstance(found, Archived) else found
    brought = Brought(problem=_NOT_IN_GIT)
    for store in stores:
        if isinstance(own, Entry) and own.scope != store.scope:
            continue
        try:
            repository = find_repository(store.root)
            folder = repository.relative(store.memory)
            commit = repository.first_with(_mark(store, found), folder)
            if commit is not None:
                return Brought(commit, shallow=repository.is_shallow())
            brought = Brought(problem="is not committed yet")
        except GitError as error:
            reason = str(error)
            brought = Brought(problem=_NOT_IN_GIT if _NOT_IN_GIT in reason else reason)
    return brought


def _mark(store: Hippocampus, found: Known) -> str:
    """Return a piece of text that only the lines of this memory contain."""
    name = _name(found)
    if not is_address(name):
        return f"id:{name}"
    if isinstance(found, Entry):
        for placed in store.files.document(found.file).placed():
            if entry_id(placed) == name:
                return placed.block.raw.split("\n")[0].rstrip("\r")
    own = found.entry if isinstance(found, Archived) else found
    return (own.engram if isinstance(own, Proposal) else own).text.split("\n")[0]
