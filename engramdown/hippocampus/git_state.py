"""Whether git changed the files itself: a switch of branches is not an edit by a person.

Writes nothing; without git the answer is no; if git moved and nobody can say how, it is yes.

What git did is asked of git, and only when a memory file differs from its last known state and git
was at work since. Everything before that follows from the times of the files that git writes: its
index whenever it brings files, ``HEAD`` and ``ORIG_HEAD`` when it moves, and files that say that it
is at work or that a merge waits for a person.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import re
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, NamedTuple

from engramdown.clock import nanoseconds
from engramdown.errors import GitError, StoreError
from engramdown.hippocampus.snapshot import encoded
from engramdown.storage.disk import Disk
from engramdown.storage.git_program import ask, complaint, environment

# What asking git may end in.
_TROUBLE: Final = (OSError, GitError, StoreError, ValueError)
_NANO: Final = 1_000_000_000
_AT_WORK: Final = "index.lock"
# git writes the files, then its index, then the log; a merge that it refuses it takes back first,
# and puts what was there back. So long after it wrote the index more may follow, in seconds.
_MORE_DUE: Final = 0.25
# git looks whether a file was changed, and writes it soon after: what comes in between it replaces.
_RACE: Final = 2.0
# Later than so many seconds after git began it did not write the log; somebody tidied it up.
_LONGEST: Final = 60.0
# The clock of a file system may be behind the other one by so many seconds.
_GRAIN: Final = 0.005
# What git writes when it goes to another commit.
_MARKS: Final = ("HEAD", "ORIG_HEAD", "reftable/tables.list")
# So many moves and commits are asked for: nobody makes more between two steps.
_MOST: Final = 200
_PLACES: Final = ("--reflog", "--branches", "--remotes", "--glob=refs/stash*")
_STAYS: Final = ("commit:", "commit (amend):", "commit (initial):", "branch:", "Branch:")
_NOTED: Final = re.compile(r"\d+ (?P<blob>[0-9a-f]+) \d\t.*\0.*?mtime: (\d+):(\d+)", re.DOTALL)
# An index of this version leaves out of each name what it shares with the one before.
_COMPRESSED: Final = 4
_OURS: Final = re.compile(r"^<{7,}+ ", re.MULTILINE)
_THEIRS: Final = re.compile(r"^>{7,}+ ", re.MULTILINE)
_UNFINISHED: Final = (
    *("MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD"),
    *("rebase-merge", "rebase-apply"),
)


class Move(NamedTuple):
    """A line of the log of where git was.

    Attributes:
        commit: Where it went.
        at: When, in whole seconds since 1970.
        brings: Whether that brings files, as a commit does not.
        begins: Whether it is the first commit of all.
    """

    commit: str
    at: int
    brings: bool
    begins: bool = False


class _Noted(NamedTuple):
    """What the index notes of a file: the name of its content, and when it was written (ns)."""

    blob: str
    at: int


class WorkTree(NamedTuple):
    """A work tree of git, and what git says of it.

    Attributes:
        top: Its folder.
        folder: Where git keeps what it knows of it.
        disk: The system calls.
    """

    top: Path
    folder: Path
    disk: Disk

    def name(self, path: Path) -> str:
        """Return what git calls a file."""
        return path.relative_to(self.top).as_posix()

    def written(self, name: str) -> float:
        """Return when git wrote one of its files, in seconds since 1970; 0 if it is not there."""
        path = self.folder / name
        return self.disk.changed_at(path) / _NANO if self.disk.exists(path) else 0.0

    def moved_lately(self, since: float) -> bool:
        """Whether git wrote something since then that it writes when it moves."""
        return any(self.written(name) > since - _GRAIN for name in _MARKS)

    def log(self) -> list[Move]:
        """Return how git came to the commit where it is, the newest first, as far as it kept that.

        Raises:
            GitError: If git cannot be asked.
        """
        form = "--format=%H%x09%gd%x09%gs"
        output = self._ask("log", "-g", f"-n{_MOST}", "--date=unix", form, "HEAD", "--")
        lines = [line.split("\t", 2) for line in output.split("\n") if line.count("\t") > 1]
        moves = []
        for (commit, when, done), (old, *_) in zip(lines, [*lines[1:], [""]], strict=False):
            # A branch that begins where we are brings nothing; a reset to there does.
            stays = done.startswith(_STAYS) or (commit == old and done.startswith("checkout:"))
            at = int(when.partition("@{")[2].rstrip("}"))
            moves.append(Move(commit, at, not stays, begins=done.startswith("commit (initial)")))
        return moves

    def noted(self, path: Path) -> _Noted | None:
        """Return what the index notes of a file; ``None`` if git does not know it.

        Raises:
            GitError: If git cannot be asked.
        """
        output = self._ask("ls-files", "-z", "--stage", "--debug", "--", self.name(path))
        row = _NOTED.match(output)
        return _Noted(row["blob"], int(row[2]) * _NANO + int(row[3])) if row else None

    def head(self) -> tuple[str, int]:
        """Return the commit where git is and when it was made; ``""`` before the first one.

        Raises:
            GitError: If git cannot be asked.
        """
        commit, _, at = self._ask("log", "-1", "--format=%H %ct", "HEAD", "--").partition(" ")
        return commit, int(at or 0)

    def blobs(self, names: Iterable[str]) -> set[str]:
        """Return the names of the contents that git finds under some names, as ``HEAD:a.md``.

        Raises:
            GitError: If git cannot be asked.
        """
        given = "".join(f"{name}\n" for name in names)
        output = self._ask("cat-file", "--batch-check", given=given)
        answers = (line.split(" ") for line in output.split("\n"))
        return {words[0] for words in answers if words[1:2] == ["blob"]}

    def late_blobs(self, path: Path) -> set[str]:
        """Return what a file holds in the last commits, of all branches and stashes.

        Raises:
            GitError: If git cannot be asked, or has no answer.
        """
        commits = self._ask("rev-list", f"--max-count={_MOST}", *_PLACES, "HEAD", "--").split()
        if not commits:
            raise GitError(f"{self.top}: git does not say what it knows")
        return self.blobs(f"{commit}:{self.name(path)}" for commit in ("ORIG_HEAD", *commits))

    def names(self) -> bytes | None:
        """Return what holds the names that git knows in small letters, each with a NUL behind it.

        Nothing else is promised of it. ``None`` if it cannot be found out.
        """
        try:
            path = self.folder / "index"
            index = self.disk.read_range(path, 0, self.disk.identity(path)[0])
            # Most indexes hold the names as they are: with each prompt no program is run for them.
            if int.from_bytes(index[4:8]) == _COMPRESSED or b"link" in index:
                index = self._ask("ls-files", "-z").encode("utf-8", "surrogateescape")
            return index.lower()
        except FileNotFoundError:
            return b""
        except (OSError, GitError, StoreError):
            return None

    def _ask(self, *args: str, given: str = "") -> str:
        """Return what git says; ``""`` where it has no answer, as before the first commit."""
        # Without a ``.git`` only the environment says where the repository is.
        is_named = not self.disk.exists(self.top / ".git")
        places = {"GIT_DIR": str(self.folder), "GIT_WORK_TREE": str(self.top)}
        env = environment() | (places if is_named else {})
        code, output, wrong = ask(self.top, env, args, given)
        why_not = complaint(self.top, wrong) if code else ""
        if "in no git repository" in why_not or "belongs to somebody else" in why_not:
            raise GitError(why_not)
        return output.decode("utf-8", "surrogateescape") if not code else ""


def held_by(path: Path, disk: Disk) -> Path | None:
    """Return the file by which git says that it has not finished with the work tree of ``path``.

    A merge that waits for a person counts only where git knows any memory at all.
    """
    with contextlib.suppress(*_TROUBLE):
        work = _work_tree(path, disk)
        if disk.exists(work.folder / _AT_WORK):
            return work.folder / _AT_WORK
        held = next((each for each in _UNFINISHED if disk.exists(work.folder / each)), None)
        return work.folder / held if held and b"memory/" in (work.names() or b"") else None
    return None


def is_merging(path: Path, disk: Disk, *texts: str | None) -> bool:
    """Whether a merge waits for a person: then what is saved is part of it, and not an edit.

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
        work = _work_tree(path, disk)
        index, saved = work.written("index"), _saved(path, disk)
        # Whatever brings files writes the index.
        if index < since - _GRAIN:
            return False
        try:
            noted = work.noted(path)
            moved = _moved(work, path, since, held)
        except GitError:
            # What git writes whenever it moves has to do: a mark, or the file and then its index.
            return work.moved_lately(since) or -_GRAIN < index - saved < _MORE_DUE
    except (OSError, StoreError, ValueError):
        return False
    if noted is None:
        # What git does not know it does not change; it may have taken away what is gone.
        return moved and not saved
    # A file that was saved long after git moved may be no other version for git: what git writes
    # it notes right behind that. A stash that it puts back it does not note.
    if saved - index < _RACE:
        return moved and saved > 0
    stood = noted.at < since * _NANO or noted.blob in _blobs(encoded(held))
    return moved and not stood


def is_versioned(path: Path, disk: Disk) -> bool:
    """Whether a folder is in a work tree of git."""
    above = (path, *path.parents)
    return any(disk.exists(folder / ".git") for folder in above) or _named_place(path) is not None


def known_to_git(paths: Iterable[Path], disk: Disk) -> set[Path]:
    """Return which of some files git knows, and folders of which it knows a file; in doubt it does.

    The question is whether a file may be a stranger's, who may have named it in other
    letters, or put a link in the place of a folder.
    """
    names_of = functools.cache(WorkTree.names)

    @functools.cache
    def listing(folder: Path) -> tuple[Path, bytes | None]:
        try:
            work = _work_tree(folder / "any", disk)
        except FileNotFoundError:
            return folder, b""
        except (OSError, StoreError):
            return folder, None
        return work.top, names_of(work)

    def is_known(place: Path) -> bool:
        top, names = listing(place.parent)
        name = os.fsencode(place.relative_to(top).as_posix()).lower()
        return names is None or name + b"\0" in names or name + b"/" in names

    return {path for path in paths if any(map(is_known, {path, Path(os.path.realpath(path))}))}


def is_restored(path: Path, disk: Disk, where: Path | None = None) -> bool:
    """Whether a file is the one that git wrote last: brought or taken back, not saved by an editor.

    git notes of each file when it was written and what it holds.

    Args:
        path: The file.
        disk: The system calls.
        where: Where it is now, if ours displaced it.
    """
    with contextlib.suppress(*_TROUBLE):
        work = _work_tree(path, disk)
        at = disk.changed_at(where or path)
        if work.written("index") < at / _NANO - _GRAIN:
            return False
        noted = work.noted(path)
        data = disk.read(where or path) or b""
        return noted is not None and noted.at == at and noted.blob in _blobs(data)
    return False


def follows_attempt(path: Path, disk: Disk) -> bool:
    """Whether a file was written right after git began a merge or a reset.

    A merge that is refused goes nowhere, but puts files back without looking at them again.
    """
    with contextlib.suppress(*_TROUBLE):
        began = _work_tree(path, disk).written("ORIG_HEAD")
        return 0 <= _saved(path, disk) - began + _GRAIN < _RACE
    return False


def is_brought(path: Path, disk: Disk, where: Path) -> bool:
    """Whether git brought what ours displaced, and that is at ``where`` now: it moved after that.

    git has finished. A person who saves what is in a commit, in that moment, is taken for git.
    """
    with contextlib.suppress(*_TROUBLE):
        since = disk.changed_at(where) / _NANO - _GRAIN
        is_moved = _moved(_work_tree(path, disk), path, since, "")
        return is_moved and committed_lately(path, disk)(disk.read(where) or b"")
    return False


def has_gone_on(path: Path, disk: Disk, where: Path) -> bool:
    """Whether git brought another version of a file after the one that is at ``where`` now."""
    with contextlib.suppress(*_TROUBLE):
        work = _work_tree(path, disk)
        last = next((move.commit for move in work.log() if move.brings), "")
        held = work.blobs([f"{last}:{work.name(path)}"] if last else ())
        return bool(last) and held.isdisjoint(_forms(disk.read(where) or b""))
    return False


def has_begun(path: Path, disk: Disk) -> bool:
    """Whether git began a moment ago to change files; the message of a commit takes it longer."""
    with contextlib.suppress(*_TROUBLE):
        lock = _work_tree(path, disk).folder / _AT_WORK
        if disk.exists(lock):
            return 0 <= nanoseconds() - disk.changed_at(lock) < _RACE * _NANO
    return False


def is_at_work(path: Path, disk: Disk, where: Path | None = None) -> bool:
    """Whether git is changing files, or has just written this one and may not have said yet why.

    Args:
        path: The file.
        disk: The system calls.
        where: Where it is now, if ours displaced it.
    """
    held = held_by(path, disk)
    if held is not None and held.name == _AT_WORK:
        return True
    with contextlib.suppress(*_TROUBLE):
        index = _work_tree(path, disk).folder / "index"
        age = nanoseconds() - disk.changed_at(index)
        return 0 <= age < _MORE_DUE * _NANO and is_restored(path, disk, where)
    return False


def raced(path: Path, disk: Disk) -> Callable[[str], bool]:
    """Return a test: was a step of that moment one that git may have replaced unseen?

    git looks whether a file was changed, and writes it soon after. So it did when it wrote what
    stands there, and whenever it moved before that; if the file is gone by now, that is never.
    """
    began = _saved(path, disk)
    if not began:
        return lambda _: False
    try:
        work = _work_tree(path, disk)
        moves = work.log()
        spans = [(float(move.at), move.at + 1.0) for move in moves if move.brings]
        spans += [(at, at + _GRAIN) for at in map(work.written, _MARKS[:2])]
    except (OSError, GitError, StoreError):
        moves, spans = [], []
    first = _first(began, moves)

    def is_raced(moment: str) -> bool:
        at = datetime.fromisoformat(moment).timestamp()
        return at >= first or any(begin - _RACE <= at <= end for begin, end in spans)

    return is_raced


def raced_since(path: Path, disk: Disk) -> str:
    """Return since when a step may be one that git replaced unseen, as the journal writes moments.

    If the file is gone by now, that is never.
    """
    began, moves = _saved(path, disk), list[Move]()
    with contextlib.suppress(OSError, GitError, StoreError):
        moves = _work_tree(path, disk).log() if began else []
    first = datetime.fromtimestamp(_first(began, moves), UTC)
    return first.isoformat(timespec="microseconds") if began else "9999"


def _first(began: float, moves: Sequence[Move]) -> float:
    """Return when git may have begun to look: moves at once after one another count as one."""
    for move in moves:
        if move.at < began - _RACE:
            break
        began = min(began, move.at)
    return began - _RACE


def standing(path: Path, disk: Disk) -> tuple[object, ...]:
    """Return what is another thing as soon as git did something in the work tree of ``path``."""
    with contextlib.suppress(*_TROUBLE):
        folder = _work_tree(path, disk).folder
        places = (folder / "index", folder / "logs" / "HEAD", folder / _AT_WORK)
        return tuple(disk.identity(each) for each in places)
    return ()  # There is no git, or it changes so fast that the next look sees it.


def is_kept(path: Path, moment: str, disk: Disk) -> bool:
    """Whether git has put away what a file holds, which is neither committed nor to be.

    So it does before it refuses a merge; then it puts it back, and was at work after ``moment``.
    """
    with contextlib.suppress(*_TROUBLE):
        work = _work_tree(path, disk)
        if work.written("index") < datetime.fromisoformat(moment).timestamp() - _GRAIN:
            return False
        held = _blobs(disk.read(path) or b"")
        return bool(work.blobs(held)) and held.isdisjoint(work.blobs([f":{work.name(path)}"]))
    return False


def committed_lately(path: Path, disk: Disk) -> Callable[[bytes], bool]:
    """Return a test: may git know that a file held some bytes a moment ago?

    What was committed or stashed it knows; in doubt it does. That an object holds it says nothing:
    a merge that is refused keeps what it found, too.
    """
    try:
        late = _work_tree(path, disk).late_blobs(path)
    except (OSError, GitError, StoreError, ValueError):
        return lambda _: True

    return lambda data: not late.isdisjoint(_forms(data))


def _work_tree(path: Path, disk: Disk) -> WorkTree:
    """Return the work tree that a file is in.

    Raises:
        FileNotFoundError: If it is in none.
    """
    for top in path.parents:
        place = top / ".git"
        if disk.exists(place):
            if disk.exists(place / "HEAD"):
                return WorkTree(top, place, disk)
            # A second work tree, or a submodule: the file says where its folder is.
            folder = os.fsdecode(disk.read(place) or b"").removeprefix("gitdir:").strip()
            return WorkTree(top, top / folder, disk)
    named = _named_place(path)
    if named is None:
        raise FileNotFoundError(path)
    return WorkTree(*named, disk)


def _named_place(path: Path) -> tuple[Path, Path] | None:
    """Return the work tree of a file and git's folder, if the environment names them."""
    folder, tree = os.environ.get("GIT_DIR", ""), os.environ.get("GIT_WORK_TREE", "")
    top = Path.cwd() / tree
    return (top, Path.cwd() / folder) if folder and path.is_relative_to(top) else None


def _moved(work: WorkTree, path: Path, since: float, held: str) -> bool:
    """Whether git brought another commit's files after a moment, or may have.

    Raises:
        GitError: If git cannot be asked.
    """
    moves = work.log()
    # git gives the whole second in which it began; the system knows better when the newest line
    # was written. It is looked at behind the lines: one that came in between is not older than what
    # was read.
    latest, ends = work.written("logs/HEAD") or float("inf"), []
    for at, move in enumerate(moves):
        latest = min(latest, move.at + (1 if at else _LONGEST))
        ends.append(latest)
    if any(move.brings and end > since for move, end in zip(moves, ends, strict=True)):
        return True
    head, made = work.head()
    is_whole = moves and (moves[-1].begins or ends[-1] <= since or len(moves) == _MOST)
    if not head or (is_whole and moves[0].commit == head):
        return False
    # git has what the file held, and not what it holds now: a person changed it, not git.
    at_head = work.blobs([f"HEAD:{work.name(path)}"])
    now = _blobs(work.disk.read(path) or b"")
    if at_head & _blobs(encoded(held)) and not at_head & now:
        return False
    # A file that a person takes back on purpose looks like one that git puts away.
    age = work.written("index") - _saved(path, work.disk)
    put_back = age < _RACE and is_restored(path, work.disk)
    return made + 1 > since or work.moved_lately(since) or put_back


def _saved(path: Path, disk: Disk) -> float:
    """Return when a file was saved, in seconds since 1970; 0 if it is gone."""
    return disk.changed_at(path) / _NANO if disk.exists(path) else 0.0


def _forms(data: bytes) -> set[str]:
    """Return the names of what a file holds, also with other line ends: git may be told so."""
    return _blobs(data) | _blobs(data.replace(b"\r\n", b"\n"))


def _blobs(data: bytes) -> set[str]:
    """Return both names by one of which git knows what a file holds."""
    blob = b"blob %d\0" % len(data) + data
    return {
        hashlib.sha1(blob, usedforsecurity=False).hexdigest(),
        hashlib.sha256(blob, usedforsecurity=False).hexdigest(),
    }
