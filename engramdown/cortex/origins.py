"""Which memories were learned from a line of a transcript: a person may have to look at them.

Promises: looking takes no lock and writes nothing; what waits and what was retired counts as well,
as its words stand there, too. Nothing is done to a memory because of where it comes from.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from engramdown.doctor.findings import Finding, find
from engramdown.engram import Scope
from engramdown.errors import SessionNotFoundError, StoreError
from engramdown.hippocampus import placement
from engramdown.hippocampus.snapshot import Reader
from engramdown.storage.disk import Disk
from engramdown.transcripts.changes import FOLDER
from engramdown.transcripts.episode import Pointer
from engramdown.transcripts.sessions import Sessions
from engramdown.transcripts.visibility import REDACTED

__all__ = ["Sourced", "inspect_origins", "journalled", "learned", "learned_from", "remaining"]


# A line so long is not said twice by chance; of more than so many, some tell enough.
_LINE: Final = 24
_MOST_LINES: Final = 5_000


class Sourced(NamedTuple):
    """A memory that was learned from a line.

    Attributes:
        id: The id of the memory.
        scope: Its scope.
        file: Where it stands, relative to the memory folder.
        line: The line there, from 1.
        origin: The line of the transcript.
    """

    id: str
    scope: Scope
    file: str
    line: int
    origin: Pointer


def journalled(root: Path, session: str) -> list[str]:
    """Return the sections of the journal that were written in a session, as a name and a line.

    Raises:
        StoreError: If the journal cannot be read.
    """
    # Imported here: only who takes back asks.
    from engramdown.journal.journal import Journal

    return [
        f"{day.path.parent.name}/{day.path.name}:{section.line}"
        for day in reversed(Journal(root).days(None))
        for section in day.sections
        if section.session == session
    ]


def remaining(root: Path, session: str, said: Iterable[str]) -> list[str]:
    """Return what keeps words of a session when that is taken back, relative to ``root``.

    Args:
        root: The folder of a scope.
        session: The id of the session.
        said: What was said in it.

    Raises:
        StoreError: If something else than a file stands there.
    """
    lines = {" ".join(line.split()) for text in said for line in text.split("\n")}
    wanted = [*sorted(line for line in lines if len(line) >= _LINE)[:_MOST_LINES], f"{session}#"]
    wanted += [json.dumps(line)[1:-1] for line in wanted]
    disk = Disk()
    files = [root / "history.jsonl"]
    for folder in ("working", "gists"):
        names = disk.files(root / folder)
        files += [root / folder / name for name in names if not name.startswith(f"{session}.")]
    found = []
    for path in files:
        text = " ".join((disk.load(path) or b"").decode("utf-8", "replace").split())
        if any(line in text for line in wanted):
            found.append(path.relative_to(root).as_posix())
    return found


def learned(root: Path, scope: Scope) -> Iterator[Sourced]:
    """Yield what the scope at ``root`` has learned from transcripts, in file order.

    Raises:
        StoreError: If a memory file cannot be read.
    """
    reader = Reader(root, Disk(durable=False))
    for name in reader.names():
        for placed in placement.raw_entries(name, reader.read(name).document):
            entry = placement.as_entry(name, scope, placed)
            # What was merged was learned in several places.
            for origin in map(Pointer.parse, entry.origin.split(",")):
                if origin is not None:
                    yield Sourced(entry.id, scope, reader.spelled(name), placed.line, origin)


def learned_from(
    root: Path, scope: Scope, session: str, seqs: Collection[int] = ()
) -> list[Sourced]:
    """Return what was learned from lines of a session, or from any of them if none is named."""
    return [
        each
        for each in learned(root, scope)
        if each.origin.session == session and (not seqs or each.origin.seq in seqs)
    ]


def inspect_origins(root: Path, scope: Scope) -> list[Finding]:
    """Return which memories of the scope at ``root`` were learned from what is not there any more.

    A memory for all projects may come from another project; where there are no transcripts at all,
    somebody else may have them.
    """
    sessions = Sessions(root / FOLDER, Disk())
    here = frozenset(sessions.ids())
    found, gone = [], dict[str, list[Sourced]]()
    try:
        for each in learned(root, scope) if here else ():
            if each.origin.session in here:
                code = _lost(sessions, each.origin)
                place = (each.file, each.line)
                found += [find(place, code, origin=each.origin)] if code else []
            elif scope == "project":
                gone.setdefault(each.file, []).append(each)
    except (OSError, StoreError):
        return found  # which is told of the file itself
    for file, several in gone.items():
        first = several[0]
        found.append(
            find((file, first.line), "session-gone", count=len(several), origin=first.origin)
        )
    return found


def _lost(sessions: Sessions, origin: Pointer) -> str:
    """Return what became of a line of a session that is there, or ``""`` if it is whole."""
    try:
        episode = sessions.episode(*origin)
    except SessionNotFoundError:
        return ""  # removed this moment
    if episode is None:
        return "source-gone"
    return "source-redacted" if REDACTED in episode.more else ""
