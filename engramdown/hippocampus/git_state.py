"""Whether git changed the files itself: a switch of branches is no edit of a person's.

Promises: writes nothing; where there is no git the answer is no; where git moved, and nobody can
tell how, it is yes.

git writes a line into ``logs/HEAD`` whenever it moves to another commit. One that brings other
files (a checkout, a merge, a pull) after our last step explains why they differ; a commit brings
none. A repository may keep no such log, or keep it elsewhere: if git was at work since our last
step, and that log does not end where git is, git itself is asked. While it is at work, or a merge
waits for a person, it has files that say so.
"""

from __future__ import annotations

import hashlib
import os
import re
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from typing import Final, NamedTuple

from engramdown.clock import nanoseconds
from engramdown.errors import GitError, StoreError
from engramdown.storage.disk import Disk
from engramdown.storage.git_program import ask, complaint, environment

__all__ = [
    "Asked",
    "Head",
    "Move",
    "blobs_of",
    "held_by",
    "in_small",
    "is_at_work",
    "is_kept",
    "is_merging",
    "is_restored",
    "is_split",
    "is_versioned",
    "known_since",
    "known_to_git",
    "knows",
    "loose",
    "moved_since",
    "noted",
    "raced",
    "raced_since",
    "standing",
]

# The newest lines are enough: nobody moves that often between two steps and a look.
_TAIL: Final = 64 * 1024
_LINE: Final = re.compile(rb" (\d{1,12}) [+-]\d{4}\t([^\n]*)\Z")
_STAYS: Final = (b"commit:", b"commit (amend):", b"commit (initial):", b"branch:", b"Branch:")
_NANO: Final = 1_000_000_000
_WORD: Final = 0xFFFFFFFF
# So many bytes before the digest of a file the index says when it was written.
_WRITTEN: Final = 32
_AT_WORK: Final = "index.lock"
# git writes the files, then its index, then the log; a merge that it refuses it takes back first,
# and puts what was there back. So long after it wrote the index more may follow, in seconds.
_MORE_DUE: Final = 0.25
# git looks whether a file was changed, and writes it soon after: what comes in between it replaces.
_RACE: Final = 2.0
_NEVER: Final = "9999"
# A clock for files may be behind the other one by so many seconds.
_GRAIN: Final = 0.005
# What git writes when it goes to another commit: a switch, a reset; and where it keeps all of it.
_MARKS: Final = ("HEAD", "ORIG_HEAD")
_TABLES: Final = ("reftable/tables.list",)
# A log of so many lines was not read to its beginning, which is enough.
_MANY: Final = 200
# The bytes of a digest, if a repository does not use the longer ones.
_SHORT: Final = 20
_OURS: Final = re.compile(r"^<{7,}+ ", re.MULTILINE)
_THEIRS: Final = re.compile(r"^>{7,}+ ", re.MULTILINE)
_UNFINISHED: Final = (
    *("MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD"),
    *("rebase-merge", "rebase-apply"),
)


class _Then(NamedTuple):
    """What the journal says of a file.

    Attributes:
        since: When it said so, in seconds since 1970.
        held: The text.
    """

    since: float
    held: str


def held_by(path: Path, disk: Disk) -> Path | None:
    """Return the file by which git says that it has not finished with the work tree of ``path``.

    A merge that waits for a person counts only where git knows any memory at all.
    """
    try:
        folder = _git_folder(_work_tree(path, disk), disk)
        if disk.exists(folder / _AT_WORK):
            return folder / _AT_WORK
        held = next((folder / name for name in _UNFINISHED if disk.exists(folder / name)), None)
        # The index may leave out of a name what it shares with the one before.
        return held if held and b"memory/" in _end(folder / "index", disk) else None
    except (OSError, StoreError, ValueError):
        return None


def is_merging(path: Path, disk: Disk, *texts: str | None) -> bool:
    """Whether a merge waits for a person: then what is saved is part of it, and no edit.

    Args:
        path: The file.
        disk: The system calls.
        texts: What it held and holds: where conflict markers stand in one, git wrote them, and who
            takes them away deletes nothing.
    """
    if any(text and _OURS.search(text) and _THEIRS.search(text) for text in texts):
        return True
    held = held_by(path, disk)
    return held is not None and held.name != _AT_WORK


def moved_since(path: Path, moment: str, disk: Disk, held: str = "") -> bool:
    """Whether git brought another version of a file, or took it away, after ``moment``.

    Args:
        path: The file.
        moment: As the journal writes it: UTC, ISO 8601.
        disk: The system calls.
        held: What the file held then.
    """
    try:
        since = datetime.fromisoformat(moment).timestamp()
        tree = _work_tree(path, disk)
        folder = _git_folder(tree, disk)
        name = path.relative_to(tree).as_posix()
        # What git does not know it does not change; it may have taken away what is gone.
        known = not disk.exists(path) or _knows(folder, os.fsencode(name), disk)
        then = _Then(since, held)
        if not known or not _moved(path, tree, folder, then, disk):
            return False
        return not _left_alone(folder / "index", path, tree, then, disk)
    except (OSError, StoreError, ValueError):
        return False


def is_versioned(path: Path, disk: Disk) -> bool:
    """Whether a folder is in a work tree of git."""
    above = (path, *path.parents)
    return any(disk.exists(folder / ".git") for folder in above) or _told_place(path) is not None


def known_to_git(paths: Iterable[Path], disk: Disk) -> set[Path]:
    """Return which of some files git knows, and folders of which it knows a file; in doubt it does.

    Who asks wants to know whether a file may be a stranger's, who may have named it in other
    letters, or put a link in the place of a folder.
    """
    trees: dict[Path, list[bytes | None]] = {}
    folders: dict[Path, tuple[Path, list[bytes | None]]] = {}

    def is_known(place: Path) -> bool:
        if place.parent not in folders:
            folders[place.parent] = _naming(place, trees, disk)
        tree, indexes = folders[place.parent]
        names = [] if not indexes else [_name(tree, place) + end for end in (b"\0", b"/")]
        return any(index is None or any(name in index for name in names) for index in indexes)

    return {path for path in paths if any(map(is_known, {path, Path(os.path.realpath(path))}))}


def is_restored(path: Path, disk: Disk) -> bool:
    """Whether a file is the one that git wrote last: brought or taken back, not saved by an editor.

    git notes for each file when it was written and what it holds, as a digest.
    """
    try:
        tree = _work_tree(path, disk)
        data = disk.read(path) or b""
        at = disk.changed_at(path)
        blobs = _blobs(data)
        indexes = _whole_index(_git_folder(tree, disk), disk)
        entry = struct.pack(">II", at // _NANO & _WORD, at % _NANO)
        return any(_has_noted(index, entry, blob) for index in indexes for blob in blobs)
    except (OSError, StoreError, ValueError):
        return False


def _has_noted(index: bytes, entry: bytes, blob: bytes) -> bool:
    """Whether an index notes of any file that it was written then, and holds that."""
    found = index.find(blob)
    while found >= 0:
        if index[max(0, found - _WRITTEN) :].startswith(entry):
            return True
        found = index.find(blob, found + 1)
    return False


def is_at_work(path: Path, disk: Disk) -> bool:
    """Whether git is changing files, or has just written this one and may not have said yet why."""
    held = held_by(path, disk)
    if held is not None and held.name == _AT_WORK:
        return True
    try:
        index = _git_folder(_work_tree(path, disk), disk) / "index"
        age = nanoseconds() - disk.changed_at(index)
        return 0 <= age < _MORE_DUE * _NANO and is_restored(path, disk)
    except (OSError, StoreError):
        return False


def raced(path: Path, disk: Disk) -> Callable[[str], bool]:
    """Return a test: was a step of that moment one that git may have replaced unseen?

    git looks whether a file was changed, and writes it soon after. So it did when it wrote what
    stands there, and whenever it moved before that; if the file is gone by now, that is never.
    """
    first = raced_since(path, disk)
    if first == _NEVER:
        return lambda _: False
    try:
        tree = _work_tree(path, disk)
        folder = _git_folder(tree, disk)
        log = folder / "logs" / "HEAD"
        told = [*_told(log, disk)] if disk.exists(log) else []
        times = [float(line[1]) for line in told if _brings(line[2])]
        if not told:
            times = _asked_times(tree, folder)
        spans = [(at, at + 1) for at in times]
        marks = [
            disk.changed_at(folder / name) / _NANO for name in _MARKS if disk.exists(folder / name)
        ]
        spans += [(at, at + _GRAIN) for at in marks]
    except (OSError, StoreError):
        spans = []

    def is_raced(moment: str) -> bool:
        at = datetime.fromisoformat(moment).timestamp()
        return moment >= first or any(begin - _RACE <= at <= end for begin, end in spans)

    return is_raced


def raced_since(path: Path, disk: Disk) -> str:
    """Return since when a step may be one that git replaced unseen, as the journal writes moments.

    Moves of git that follow one another at once, as in a rebase, count as one. If the file is gone
    by now, that is never.
    """
    try:
        began = disk.changed_at(path) / _NANO
    except OSError:
        return _NEVER
    try:
        log = _git_folder(_work_tree(path, disk), disk) / "logs" / "HEAD"
        for line in _told(log, disk):
            at = int(line[1])
            if at < began - _RACE:
                break
            began = min(began, at)
    except (OSError, StoreError):
        pass  # Then git keeps no log.
    return datetime.fromtimestamp(began - _RACE, UTC).isoformat(timespec="microseconds")


def standing(path: Path, disk: Disk) -> tuple[object, ...]:
    """Return what is another thing as soon as git did something in the work tree of ``path``."""
    try:
        folder = _git_folder(_work_tree(path, disk), disk)
        places = (folder / "index", folder / "logs" / "HEAD", folder / _AT_WORK)
        return tuple(disk.identity(each) for each in places)
    except (OSError, StoreError):
        return ()  # There is no git, or it changes so fast that the next look sees it.


def is_kept(path: Path, disk: Disk) -> bool:
    """Whether git has put away what a file holds, which is neither committed nor to be.

    So it does before it refuses a merge, and puts it back.
    """
    try:
        folder = _git_folder(_work_tree(path, disk), disk)
        blob = _blob(disk.read(path) or b"")
        place = loose(_common(folder, disk) / "objects", blob)
        indexes = _whole_index(folder, disk)
        return disk.exists(place) and not any(blob in index for index in indexes)
    except (OSError, StoreError):
        return False


def known_since(path: Path, moment: str, disk: Disk) -> Callable[[bytes], bool]:
    """Return a test: may git know that a file held some bytes, which it did not before ``moment``?

    What was committed or stashed it knows; in doubt it does. That an object holds it says nothing:
    a merge that is refused keeps what it found, too.
    """
    try:
        tree = _work_tree(path, disk)
        folder = _git_folder(tree, disk)
        common, name = _common(folder, disk), os.fsencode(path.relative_to(tree).as_posix())
        since = datetime.fromisoformat(moment).timestamp()
        log, stash = folder / "logs" / "HEAD", common / "logs" / "refs" / "stash"
        commits = {*_named_since(stash, since, disk), *_named_since(log, since, disk)}
        if not _reaches(_log_of(log, disk), since) or any(len(each) > _SHORT for each in commits):
            # What the log does not name is of late on a branch, or in a stash.
            blobs = _ask(tree, folder).blobs_of_late(os.fsdecode(name), map(bytes.hex, commits))
        else:
            blobs = blobs_of(common / "objects", commits, name, disk)
        # What was packed a moment ago is not read: that it is there says enough.
        packs = (common / "objects" / "pack" / each for each in _packs(common, disk))
        young = [disk.read(each) or b"" for each in packs if disk.changed_at(each) > since * _NANO]
    except (OSError, GitError, StoreError, ValueError):
        return lambda _: True

    def is_known(data: bytes) -> bool:
        # git may have been told to keep other line ends than a file has.
        forms = {*_blobs(data), *_blobs(data.replace(b"\r\n", b"\n"))}
        return not blobs.isdisjoint(forms) or any(form in each for form in forms for each in young)

    return is_known


def _common(folder: Path, disk: Disk) -> Path:
    """Return the folder that work trees share."""
    return folder / os.fsdecode(disk.read(folder / "commondir") or b".").strip()


def _packs(common: Path, disk: Disk) -> list[str]:
    """Return the names of the indexes of packs."""
    names = disk.names(common / "objects" / "pack")
    return [name for name in names if name.endswith(".idx")]


def _named_since(log: Path, since: float, disk: Disk) -> Iterator[bytes]:
    """Yield the commits that a log names since a moment, each before and after a move."""
    if not disk.exists(log):
        return
    for line in _told(log, disk):
        if int(line[1]) + 1 < since:
            return
        named = line.string.split(b" ", 2)[:2]
        yield from (bytes.fromhex(each.decode("ascii")) for each in named)


def _told(log: Path, disk: Disk) -> Iterator[re.Match[bytes]]:
    """Yield the lines of a log, the newest first: the time in whole seconds, and what was done."""
    data = _end(log, disk, _TAIL)
    # What is cut may look like a line, but names no commit.
    lines = data.rstrip(b"\n").split(b"\n")[len(data) == _TAIL :]
    for line in reversed(lines):
        found = _LINE.search(line)
        if found is None:
            return
        yield found


def _blobs(data: bytes) -> tuple[bytes, bytes]:
    """Return both digests by one of which git knows what a file holds."""
    long = hashlib.sha256(b"blob %d\0" % len(data) + data, usedforsecurity=False).digest()
    return _blob(data), long


def _blob(data: bytes) -> bytes:
    """Return the digest by which git knows what a file holds."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).digest()


def _work_tree(path: Path, disk: Disk) -> Path:
    """Return the folder of the work tree that a file is in.

    Raises:
        FileNotFoundError: If it is in none.
    """
    for folder in path.parents:
        if disk.exists(folder / ".git"):
            return folder
    told = _told_place(path)
    if told is None:
        raise FileNotFoundError(path)
    return told[0]


def _told_place(path: Path) -> tuple[Path, Path] | None:
    """Return the work tree of a file and git's folder, where only the environment says them."""
    folder, tree = os.environ.get("GIT_DIR", ""), Path(os.environ.get("GIT_WORK_TREE", ""))
    found = Path.cwd() / tree, Path.cwd() / folder
    return found if folder and path.is_relative_to(found[0]) else None


def _git_folder(tree: Path, disk: Disk) -> Path:
    """Return the folder in which git keeps what it knows of a work tree."""
    place = tree / ".git"
    if disk.exists(place / "HEAD"):
        return place
    told = _told_place(tree)
    if told is not None and not disk.exists(place):
        return told[1]
    # A second work tree, or a submodule: the file says where its folder is.
    said = os.fsdecode(disk.read(place) or b"")
    return tree / said.removeprefix("gitdir:").strip()


def _knows(folder: Path, name: bytes, disk: Disk) -> bool:
    """Whether git knows a file; an index may be kept in two."""
    return any(knows(index, name) for index in _whole_index(folder, disk))


def _whole_index(folder: Path, disk: Disk) -> Iterator[bytes]:
    """Yield the index of a work tree, and what it shares, if it is kept in two."""
    index = _end(folder / "index", disk)
    yield index
    if is_split(index):
        shared = (each for each in disk.names(folder) if each.startswith("sharedindex."))
        yield from (_end(folder / each, disk) for each in shared)


def _naming(
    path: Path, trees: dict[Path, list[bytes | None]], disk: Disk
) -> tuple[Path, list[bytes | None]]:
    """Return the work tree of a file, and which of its indexes name the folder of the file.

    ``None`` stands for one that cannot be read; ``trees`` keeps them all, in small letters.
    """
    try:
        tree = _work_tree(path, disk)
        if tree not in trees:
            trees[tree] = _indexes(_git_folder(tree, disk), disk)
    except FileNotFoundError:
        return path, []
    except (OSError, StoreError, ValueError):
        return path, [None]
    folder = _name(tree, path.parent) if path.parent != tree else b""
    return tree, [index for index in trees[tree] if index is None or folder in index]


def _name(tree: Path, path: Path) -> bytes:
    return os.fsencode(path.relative_to(tree).as_posix()).lower()


def _indexes(folder: Path, disk: Disk) -> list[bytes | None]:
    """Return the index of a work tree, in small letters, and what it shares.

    Raises:
        FileNotFoundError: If there is none.
    """
    return [in_small(index) for index in _whole_index(folder, disk)]


def _moved(path: Path, tree: Path, folder: Path, then: _Then, disk: Disk) -> bool:
    """Whether git brought another commit's files after a moment, or may have."""
    log = folder / "logs" / "HEAD"
    told = _log_of(log, disk)
    if _brought(told, then.since):
        return True
    # Whatever brings files writes the index.
    if disk.changed_at(folder / "index") / _NANO < then.since - _GRAIN:
        return False
    git = _ask(tree, folder)
    try:
        head = git.head()
        if head is None or _is_whole(told, head.commit, then.since):
            return False
        moves = [] if told else git.log()
        if moves and moves[0].commit == head.commit:
            return any(move.brings and move.at + 1 > then.since for move in moves)
        blob = git.blob_at_head(path.relative_to(tree).as_posix())
    except GitError:
        # Nobody can be asked: what git writes whenever it moves has to do.
        return not told and _is_marked(folder, then.since, disk)
    # What git has is what stood there, and not what stands there now: a person was at it, not git.
    held = then.held.encode("utf-8", "surrogateescape")
    stayed = blob == _name_of(held, blob) != _name_of(disk.read(path) or b"", blob)
    # Somebody who takes back a file on purpose cannot be told from git who puts it away.
    age = disk.changed_at(folder / "index") - (disk.changed_at(path) if disk.exists(path) else 0)
    put_back = age < _RACE * _NANO and is_restored(path, disk)
    is_new = _is_made_since(head, folder, then.since, disk) or _is_marked(folder, then.since, disk)
    return not stayed and (is_new or put_back)


def _is_made_since(head: Head, folder: Path, since: float, disk: Disk) -> bool:
    """Whether a commit may have been made after a moment: git tells whole seconds."""
    place = loose(_common(folder, disk) / "objects", bytes.fromhex(head.commit))
    written = disk.changed_at(place) / _NANO if disk.exists(place) else head.at + 1
    return head.at + 1 > since and written > since - _GRAIN


def _brings(done: bytes) -> bool:
    """Whether a line of git's log tells of what brings files, as a commit does not."""
    return not done.startswith(_STAYS)


def _log_of(log: Path, disk: Disk) -> list[Move]:
    """Return the moves of git that its log tells of, the newest first."""
    if not disk.exists(log):
        return []
    moves: list[Move] = []
    # git tells whole seconds; when the newest line was written the system knows better.
    # It is looked at behind the lines: one that came in between is no older than what is read.
    lines = [*_told(log, disk)]
    latest = disk.changed_at(log) / _NANO
    for line in lines:
        at = latest = min(latest, int(line[1]) + 1)
        old, new = line.string.split(b" ", 2)[:2]
        # A branch that begins where we are brings nothing; a reset to there does.
        brings = _brings(line[2]) and not (old == new and line[2].startswith(b"checkout:"))
        moves.append(Move(new.decode("ascii"), at, brings, begins=not old.strip(b"0")))
    return moves


def _brought(moves: Iterable[Move], since: float) -> bool:
    """Whether one of some moves, the newest first, brought files after ``since``."""
    for move in moves:
        if move.at <= since:
            return False
        if move.brings:
            return True
    return False


def _is_whole(moves: list[Move], head: str, since: float) -> bool:
    """Whether moves, the newest first, are all that git made since: they end where it is."""
    if not moves or moves[0].commit != head:
        return False
    return _reaches(moves, since)


def _reaches(moves: list[Move], since: float) -> bool:
    """Whether moves, the newest first, reach back to a moment, as far as anybody can tell."""
    return bool(moves) and (moves[-1].begins or moves[-1].at <= since or len(moves) > _MANY)


def _is_marked(folder: Path, since: float, disk: Disk) -> bool:
    """Whether git wrote something since that it writes when it moves."""
    marks = (folder / name for name in (*_MARKS, *_TABLES))
    return any(
        disk.exists(each) and disk.changed_at(each) / _NANO > since - _GRAIN for each in marks
    )


def _asked_times(tree: Path, folder: Path) -> list[float]:
    """Return when git brought files, where it keeps its log in another place than a file."""
    try:
        return [move.at for move in _ask(tree, folder).log() if move.brings]
    except GitError:
        return []


def _ask(tree: Path, folder: Path) -> Asked:
    return Asked(tree, folder if _told_place(tree) is not None else None)


def _name_of(data: bytes, like: str) -> str:
    """Return the name that git gives to what a file holds, of the kind of another name."""
    return _blobs(data)[len(like) > 2 * _SHORT].hex()


def _left_alone(index: Path, path: Path, tree: Path, then: _Then, disk: Disk) -> bool:
    """Whether a file that was saved long after git moved was no other version for git.

    What git writes it writes right before its index, and notes there; a stash that it puts back it
    does not note.
    """
    name = os.fsencode(path.relative_to(tree).as_posix())
    found = noted(_end(index, disk), name)
    if found is None or disk.changed_at(path) - disk.changed_at(index) < _RACE * _NANO:
        return False
    at, blob = found
    held = then.held.encode("utf-8", "surrogateescape")
    return at < then.since * _NANO or blob == _blob(held)


def _end(path: Path, disk: Disk, most: int | None = None) -> bytes:
    """Return the last ``most`` bytes of a file, or all."""
    size = disk.identity(path)[0]
    return disk.read_range(path, 0 if most is None else max(0, size - most), size)


# What git says of a repository where its files do not tell: where it is, and how it came there.
#
# Promises: asks only when it is called, and writes nothing; where the log and the references of a
# repository stand, and in which form, is git's business.

_LINES: Final = "200"
_LATE: Final = 200
_PLACES: Final = ("--branches", "--remotes", "--glob=refs/stash*")
_STAYS_ASKED: Final = ("commit:", "commit (amend):", "commit (initial):", "branch:", "Branch:")


class Head(NamedTuple):
    """Where git is.

    Attributes:
        commit: The commit.
        at: When it was made, in seconds since 1970.
    """

    commit: str
    at: int


class Move(NamedTuple):
    """A line of the log of where git was.

    Attributes:
        commit: Where it went.
        at: When, in seconds since 1970.
        brings: Whether that brings files, as a commit does not.
        begins: Whether it is the first of all.
    """

    commit: str
    at: float
    brings: bool
    begins: bool = False


class Asked(NamedTuple):
    """A repository whose git is asked.

    Attributes:
        tree: The work tree.
        folder: Where git keeps what it knows of it, if git does not find that by itself.
    """

    tree: Path
    folder: Path | None

    def head(self) -> Head | None:
        """Return where git is; ``None`` before the first commit.

        Raises:
            GitError: If git cannot be asked.
        """
        code, said = self._run("log", "-1", "--format=%H %ct", "HEAD", "--")
        parts = said.split()
        return Head(parts[0], int(parts[1])) if not code and len(parts) > 1 else None

    def log(self) -> list[Move]:
        """Return how git came there, the newest first, as far as it kept that.

        Raises:
            GitError: If git cannot be asked.
        """
        form = "--format=%H%x09%gd%x09%gs"
        code, said = self._run("log", "-g", "-n", _LINES, "--date=unix", form, "HEAD", "--")
        moves = []
        for line in said.split("\n") if not code else ():
            commit, _, rest = line.partition("\t")
            when, _, done = rest.partition("\t")
            seconds = when.partition("@{")[2].rstrip("}")
            if seconds.isdigit():
                moves.append(Move(commit, int(seconds), not done.startswith(_STAYS_ASKED)))
        return moves

    def blob_at_head(self, name: str) -> str:
        """Return the name of what a file holds where git is; ``""`` if it is not there.

        Raises:
            GitError: If git cannot be asked.
        """
        return next(iter(self._blobs([f"HEAD:{name}"])), "")

    def blobs_of_late(self, name: str, commits: Iterable[str] = ()) -> set[bytes]:
        """Return what a file holds in some commits, and in the last ones of all branches.

        Raises:
            GitError: If git cannot be asked.
        """
        _, said = self._run("rev-list", f"--max-count={_LATE}", *_PLACES, "HEAD", "--")
        names = ["ORIG_HEAD", *commits, *said.split()]
        return {bytes.fromhex(blob) for blob in self._blobs(f"{each}:{name}" for each in names)}

    def _blobs(self, names: Iterable[str]) -> list[str]:
        given = "".join(f"{name}\n" for name in names)
        _, said = self._run("cat-file", "--batch-check", given=given)
        answers = (line.split(" ") for line in said.split("\n"))
        return [words[0] for words in answers if words[1:2] == ["blob"]]

    def _run(self, *args: str, given: str = "") -> tuple[int, str]:
        places = {"GIT_DIR": str(self.folder), "GIT_WORK_TREE": str(self.tree)}
        env = environment() | (places if self.folder is not None else {})
        code, said, wrong = ask(self.tree, env, args, given)
        why_not = complaint(self.tree, wrong) if code else ""
        if "in no git repository" in why_not or "belongs to somebody else" in why_not:
            raise GitError(why_not)
        return code, said.decode("utf-8", "replace")


# What git's newest commits hold of a file, read from its object folder.
#
# Promises: runs no program and writes nothing. Only objects that have a file of their own are read,
# as those that were made a moment ago have: what is packed is older, and holds nothing newer.

_DIGEST: Final = 20
_TREE: Final = b"tree "


def loose(objects: Path, digest: bytes) -> Path:
    """Return where an object stands that has a file of its own."""
    name = digest.hex()
    return objects / name[:2] / name[2:]


def blobs_of(objects: Path, commits: Iterable[bytes], name: bytes, disk: Disk) -> set[bytes]:
    """Return the digests under which commits know a file.

    Args:
        objects: The object folder.
        commits: The digests of the commits.
        name: The file, relative to the top of the work tree, with ``/``.
        disk: The system calls.

    Raises:
        ValueError: If an object is not what it should be.
        OSError: If one cannot be read.
    """
    roots = (_root(_read(objects, commit, disk)) for commit in commits)
    found = {root for root in roots if root}
    for part in name.split(b"/"):
        trees = (_entry(_read(objects, tree, disk), part) for tree in found)
        found = {entry for entry in trees if entry}
    return found


def _read(objects: Path, digest: bytes, disk: Disk) -> bytes:
    """Return an object; ``b""`` if it has no file of its own."""
    data = disk.read(loose(objects, digest))
    if data is None:
        return b""
    try:
        return zlib.decompress(data).partition(b"\0")[2]
    except zlib.error as error:
        raise ValueError(digest.hex()) from error


def _root(commit: bytes) -> bytes:
    """Return the digest of a commit's tree."""
    line = commit.partition(b"\n")[0]
    return bytes.fromhex(line.removeprefix(_TREE).decode("ascii"))


def _entry(tree: bytes, name: bytes) -> bytes:
    """Return the digest of an entry of a tree, or ``b""``."""
    at = 0
    while at < len(tree):
        end = tree.index(b"\0", at) + 1
        if tree[at : end - 1].partition(b" ")[2] == name:
            return tree[end : end + _DIGEST]
        at = end + _DIGEST
    return b""


# Which files an index of git knows, from its bytes.
#
# Promises: pure; any bytes may be passed; what cannot be read knows nothing. All versions of the
# format: the fourth leaves out of each name what it shares with the one before.

_COMPRESSED: Final = 4
_HEAD: Final = 12
# Before the digest stand ten numbers of four bytes; a digest has the length of SHA-1 or SHA-256.
_NUMBERS: Final = 40
_DIGESTS: Final = (20, 32)
_WRITTEN_INDEXES: Final = 8
_MODE: Final = 24
_MODES: Final = (0o100644, 0o100755)
_EXTENDED: Final = 0x4000
_EXTENDED_BY: Final = 4
_LENGTH: Final = 0x0FFF
_MORE: Final = 0x80


def knows(index: bytes, name: bytes) -> bool:
    """Whether a file, by its name relative to the top of the work tree, is in an index."""
    if _number(index, 4) < _COMPRESSED:
        return name + b"\0" in index
    return any(name in _names(index, size) for size in _DIGESTS)


def noted(index: bytes, name: bytes) -> tuple[int, bytes] | None:
    """Return what an index notes of a file: when it was written, in nanoseconds, and its digest.

    ``None`` if it is not there, or the index is of the fourth version.
    """
    if _number(index, 4) >= _COMPRESSED:
        return None
    found = index.find(name + b"\0")
    while found >= 0:
        for size, more in product(_DIGESTS, (2, 4)):
            start = found - more - size - _NUMBERS
            flags = _number(index[: found - more + 2], found - more)
            is_here = flags & _LENGTH == min(len(name), _LENGTH)
            is_here = is_here and bool(flags & _EXTENDED) == (more == _EXTENDED_BY)
            if is_here and start >= _HEAD and _number(index, start + _MODE) in _MODES:
                at = _number(index, start + _WRITTEN_INDEXES) * _NANO
                nanoseconds = _number(index, start + _WRITTEN_INDEXES + 4)
                return at + nanoseconds, index[start + _NUMBERS : found - more]
        found = index.find(name + b"\0", found + 1)
    return None


def in_small(index: bytes) -> bytes | None:
    """Return what holds the names in an index in small letters, each with a NUL behind it.

    Nothing else is promised of it. ``None`` if names cannot be read that must be there.
    """
    if _number(index, 4) < _COMPRESSED:
        return index.lower()
    names = set[bytes]().union(*(_names(index, size) for size in _DIGESTS))
    if not names and _number(index, 8):
        return None
    return b"".join(name.lower() + b"\0" for name in names)


def is_split(index: bytes) -> bool:
    """Whether an index may be only what changed since another one, ``sharedindex.…`` beside it."""
    return b"link" in index


def _names(index: bytes, digest: int) -> set[bytes]:
    """Return the names in an index of the fourth version; none if it is not one of such digests."""
    found: set[bytes] = set()
    name, at = b"", _HEAD
    for _ in range(_number(index, 8)):
        at += _NUMBERS + digest
        flags = int.from_bytes(index[at : at + 2])
        left, start = _left_out(index, at + (4 if flags & _EXTENDED else 2))
        at = index.find(b"\0", start) + 1
        if not at or left > len(name):
            return set()
        name = name[: len(name) - left] + index[start : at - 1]
        if min(len(name), _LENGTH) != flags & _LENGTH:
            return set()
        found.add(name)
    return found


def _left_out(index: bytes, at: int) -> tuple[int, int]:
    """Return how many bytes of the name before go, and where the new ones begin."""
    count, more = 0, True
    while more:
        byte = index[at] if at < len(index) else 0
        more = byte & _MORE > 0
        count = (count << 7) + (byte & ~_MORE) + (1 if more else 0)
        at += 1
    return count, at


def _number(index: bytes, at: int) -> int:
    return int.from_bytes(index[at : at + 4])
