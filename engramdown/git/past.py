"""Memory as it was at a commit, and as it stands on the disk.

Promises: writes nothing; no file of the work tree is read for what was committed, and none of
git's for what is there now.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from engramdown.engram import Scope
from engramdown.errors import EntryNotFoundError
from engramdown.git.comparing import SOUL, State, is_shown, read_state
from engramdown.git.repository import Commit, Repository, find_repository
from engramdown.hippocampus.entry import Archived, Entry
from engramdown.hippocampus.placement import by_prefix
from engramdown.hippocampus.snapshot import Reader, decoded, meant, named
from engramdown.markdown.document import parse
from engramdown.storage.disk import Disk

__all__ = ["Known", "Place", "find", "raw"]

Known = Entry | Archived


class Place(NamedTuple):
    """The memory of a scope, and the repository that it stands in.

    Attributes:
        root: The folder of the scope.
        scope: Which scope it is.
        repository: The repository.
        folder: The memory folder, relative to the top of the work tree.
        limit: The largest file that is read, in bytes.
    """

    root: Path
    scope: Scope
    repository: Repository
    folder: str
    limit: int

    @classmethod
    def of(cls, root: Path, scope: Scope, limit: int) -> Place:
        """Return where the scope at ``root`` stands.

        Raises:
            GitError: If it is in no repository.
        """
        repository = find_repository(root)
        return cls(root, scope, repository, repository.relative(root / "memory"), limit)

    def at(self, commit: Commit) -> State:
        """Return memory as a commit has it.

        Raises:
            GitError: If a file of it cannot be read.
        """
        files = self.repository.files(
            commit.id, self.folder, lambda name: is_shown(meant(name)), self.limit
        )
        texts = {name: decoded(data) or "" for name, data in files.items()}
        return self._state(texts)

    def now(self) -> State:
        """Return memory as it stands on the disk.

        Raises:
            StoreError: If a file cannot be read.
        """
        disk = Disk(durable=False, limit=self.limit)
        reader = Reader(self.root, disk)
        texts = {reader.spelled(name): reader.read(name).text or "" for name in reader.names()}
        place = reader.place(SOUL)
        soul = decoded(disk.read(disk.inside(place, self.root)))
        return self._state(texts if soul is None else {**texts, place.name: soul})

    def _state(self, texts: Mapping[str, str]) -> State:
        """Read files by how they are spelled; one that is not used tells nothing."""
        names = {file: name for file, name in named(texts).items() if is_shown(name)}
        state = read_state({names[file]: texts[file] for file in names}, self.scope)
        return state._replace(spelled={name: file for file, name in names.items()})


def find(state: State, prefix: str, where: str) -> Known:
    """Return what an id or its beginning meant: a memory, before a proposal, before a retired one.

    Raises:
        EntryNotFoundError: If there was none.
        AmbiguousIdError: If there were several.
    """
    for entries in (state.kept, state.waiting):
        try:
            entry = by_prefix(prefix, [*entries.values()], lambda entry: entry.id, where)
        except EntryNotFoundError:
            continue
        spelled = state.spelled.get(entry.file, entry.file)
        return entry if spelled == entry.file else entry._replace(spelled=spelled)
    return by_prefix(prefix, [*state.archived.values()], lambda item: item.entry.id, where)


def raw(state: State, known: Known) -> str:
    """Return the lines of a memory as they stood in its file."""
    entry = known.entry if isinstance(known, Archived) else known
    placed = parse(state.texts[entry.file]).placed()
    return next(each.block.raw for each in placed if each.line == entry.line)
