r"""Summaries of a conversation: their log ``gists/<session>.jsonl``, and the view they leave of it.

Lines are appended, several with one write; what was acknowledged lasts through a power cut; what a
crash left of a line stays where it is, on a line of its own, and counts for nothing. What is
appended is made from the log as it is then, while nobody else writes to it or to the transcript. A
redaction takes out the summaries of what it takes out.

What a model sees is a fold of the transcript and the log, so nothing can get out of step with them.
A summary applies only if its sources are a contiguous run of the view as it is then; otherwise it
is stale and changes nothing. So every message is covered exactly once and in order, whatever order
summaries come in, however many compete, and wherever the log was cut short.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, get_args

from engramdown.settings import LOCK_TIMEOUT
from engramdown.storage.disk import Disk
from engramdown.storage.locks import FolderLock
from engramdown.transcripts.episode import is_count

# The name of the folder in that of a scope.
FOLDER: Final = "gists"

_SUFFIX: Final = ".jsonl"


class GistLog:
    """The logs of one scope."""

    def __init__(self, root: Path, disk: Disk, lock: FolderLock) -> None:
        """Keep the logs in the scope's folder ``root``, written under the lock of transcripts."""
        self.folder = root / FOLDER
        self._disk = disk
        self._lock = lock

    def path(self, session: str) -> Path:
        """Return the file of a session."""
        return self.folder / f"{session}{_SUFFIX}"

    def append(
        self, session: str, transcript: Path | None, make: Callable[[], Sequence[bytes]]
    ) -> list[bytes]:
        r"""Append lines to the log of a session, and return them.

        Args:
            session: Its id.
            transcript: What was said in it; it lasts through a power cut before a summary of it
                does, which would else be taken for one of what is said later. ``None`` for lines
                that do not speak of it.
            make: Returns the lines, each with its ``\n``; nobody writes to the log or to the
                transcript meanwhile.

        Raises:
            LockTimeoutError: If somebody else held the lock for too long.
            StoreError: If there is something other than a file.
            OSError: If it could not be written; the log is as before, if the disk allows that.
        """
        # The folder of the lock is there: it is that of the transcript.
        with self._lock.hold(LOCK_TIMEOUT):
            return self.add(session, transcript, make)

    def add(
        self, session: str, transcript: Path | None, make: Callable[[], Sequence[bytes]]
    ) -> list[bytes]:
        """Append lines as :meth:`append` does, for whoever holds the lock already."""
        path = self.path(session)
        before = self._disk.load(path)
        if before and not before.endswith(b"\n"):
            # A line that lacks only its end counts from now on, so ``make`` must see it.
            self._write(path, b"\n", is_new=False)
        lines = list(make())
        if lines:
            if transcript is not None:
                self._disk.sync_file(transcript)
                self._disk.sync_folder(transcript.parent)
            self._write(path, b"".join(lines), is_new=before is None)
        return lines

    def _write(self, path: Path, data: bytes, *, is_new: bool) -> None:
        if is_new:
            self._disk.make_plain_folder(self.folder, durable=True)
        with self._disk.opened(path, write=True) as descriptor:
            size = self._disk.look(descriptor).st_size
            try:
                self._disk.write_all(descriptor, data)
                self._disk.sync_open(descriptor)
                if is_new:
                    self._disk.sync_folder(self.folder)
            except OSError as error:
                error.filename = error.filename or str(path)
                with contextlib.suppress(OSError):
                    self._disk.truncate_open(descriptor, size)
                raise


def record_of(line: bytes, kind: str) -> dict[str, Any] | None:
    """Return what a line of a log says; ``None`` if it is of another kind, or damaged."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) and record.get("kind") == kind else None


def without_gists_of(data: bytes, seqs: Collection[int]) -> bytes:
    """Return a log without the summaries of some messages, and without what was made of those.

    So does a summary go whose author was shown one of them, since it may repeat its words, and a
    line that cannot be read, since it may be one.
    """
    left = [(line, _gist(line)) for line in data.split(b"\n")]
    away: set[object] = set()
    is_done = False
    # A gist comes after its sources, so once is enough, unless somebody reordered the lines.
    while not is_done:
        held, left = left, []
        for line, gist in held:
            if gist is not None and _is_of(gist, seqs, away):
                away.add(gist.get("id"))
            else:
                left.append((line, gist))
        is_done = len(left) == len(held)
    return b"\n".join(line for line, _ in left)


def _gist(line: bytes) -> dict[str, object] | None:
    """Return what may be a gist of a line: any of the kind, and whatever cannot be read."""
    if not line.strip():
        return None
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    if not isinstance(record, dict):
        return {}
    return record if record.get("kind") == "gist" else None


def _is_of(gist: dict[str, object], seqs: Iterable[int], away: Collection[object]) -> bool:
    sources = gist.get("sources")
    if not isinstance(sources, list) or gist.get("previous") in away:
        return True
    for source in sources:
        match source:
            case str():
                is_of = source in away
            case [int(first), int(last)]:
                is_of = any(first <= seq <= last for seq in seqs)
            case _:
                is_of = True
        if is_of:
            return True
    return False


# A message, by its number in the transcript, or a gist, by its id.
Source = int | str
Form = Literal["leaf", "condensed", "handoff"]
Level = Literal["normal", "aggressive", "cut", "extractive"]

# What the key `kind` of a line says: the log has lines of other kinds, too.
KIND: Final = "gist"
# Of messages; of gists; of everything before, for a reader who knows nothing of it.
FORMS: Final[tuple[Form, ...]] = get_args(Form)
# How a text came about: as asked for; asked for again, shorter; cut; without a model.
LEVELS: Final[tuple[Level, ...]] = get_args(Level)


class Gist(NamedTuple):
    """A summary that stands for a part of a conversation.

    Attributes:
        id: ``g`` and 16 hexadecimal digits.
        ts: When it was made, UTC.
        form: One of :data:`FORMS`.
        depth: 0 for a leaf, else one more than the deepest of its sources.
        sources: What it was made from, in order: messages, gists, or both.
        text: The summary.
        tokens: What the text costs, by the estimate of :mod:`engramdown.tokens`.
        level: One of :data:`LEVELS`.
        model: The model that wrote it, or ``""``.
        earliest: When the first of its messages was said.
        latest: When the last of them was.
        messages: How many messages it stands for.
        source_tokens: What its sources cost.
        first: The id of the first of the messages among its sources, which its line has from birth:
            another message of that number is not meant. ``""`` if there is none.
        last: The id of the last of them.
        previous: The id of the summary that a model was shown as what came before, whose words may
            appear in this one; or ``""``.
    """

    id: str
    ts: str
    form: Form
    depth: int
    sources: tuple[Source, ...]
    text: str
    tokens: int
    level: Level = "normal"
    model: str = ""
    earliest: str = ""
    latest: str = ""
    messages: int = 0
    source_tokens: int = 0
    first: str = ""
    last: str = ""
    previous: str = ""

    @property
    def runs(self) -> list[tuple[int, int] | str]:
        """Its sources with messages that follow each other as their first and last number.

        >>> Gist("g1", "", "handoff", 1, ("g0", 4, 5, 6, 9), "", 0).runs
        ['g0', (4, 6), (9, 9)]
        """
        runs: list[tuple[int, int] | str] = []
        for source in self.sources:
            if isinstance(source, str):
                runs.append(source)
            elif runs and not isinstance(runs[-1], str) and source == runs[-1][1] + 1:
                runs[-1] = (runs[-1][0], source)
            else:
                runs.append((source, source))
        return runs


# ---- the line of a gist ----


def write_gist(gist: Gist) -> bytes:
    r"""Return a gist as a line of the log, with its ``\n``.

    Two halves of a surrogate pair that meet are read as the character that they mean: JSON cannot
    tell the two apart.
    """
    record = {"kind": KIND, **gist._asdict(), "sources": gist.runs}
    text = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "backslashreplace") + b"\n"


def read_gist(line: bytes) -> Gist | None:
    """Return the gist of a line; ``None`` if it is something else, or damaged."""
    if _MARK not in line:
        return None
    record = record_of(line, KIND)
    if record is None:
        return None
    sources = _sources(record.get("sources"))
    fields = {name: record.get(name, _DEFAULTS.get(name)) for name in Gist._fields}
    if sources is None or not all(_FITS[name](fields[name]) for name in _FITS):
        return None
    return Gist(**{**fields, "sources": sources})


# ---- the view ----


class Fold:
    """What a model sees of a conversation: messages, and gists in the place of what they cover.

    Attributes:
        gists: Every gist that applied, by its id, covered ones included.
        derived: The gist that covers a gist, by the id of the latter.
    """

    def __init__(self) -> None:
        """Begin with an empty view."""
        self.gists: dict[str, Gist] = {}
        self.derived: dict[str, str] = {}
        self._added: set[int] = set()
        # The view as a list that is linked both ways; "" is the end that closes the ring.
        self._next: dict[Source, Source] = {"": ""}
        self._before: dict[Source, Source] = {"": ""}

    def add(self, seq: int) -> bool:
        """Append a message; ``False`` if one of that number is there, which only damage makes."""
        if seq in self._added:
            return False
        self._added.add(seq)
        self._append(seq)
        return True

    def apply(self, gist: Gist) -> bool:
        """Put a gist in the place of its sources; ``False`` if it is stale."""
        known = gist.id in self.gists or not gist.id
        if known or not self.covers_a_run(gist.sources):
            return False
        before, after = self._before[gist.sources[0]], self._next[gist.sources[-1]]
        for source in gist.sources:
            del self._next[source], self._before[source]
            if isinstance(source, str):
                self.derived[source] = gist.id
        self._link(before, gist.id)
        self._link(gist.id, after)
        self.gists[gist.id] = gist
        return True

    def covers_a_run(self, sources: Sequence[Source]) -> bool:
        """Whether sources are in the view, one right after the other."""
        if not sources or "" in sources or sources[0] not in self._next:
            return False
        return all(self._next.get(one) == other for one, other in pairwise(sources))

    def __iter__(self) -> Iterator[Source]:
        """Yield what is in the view, in order."""
        at = self._next[""]
        while at != "":
            yield at
            at = self._next[at]

    def __contains__(self, source: object) -> bool:
        """Whether a message or a gist is in the view."""
        return source != "" and source in self._next

    def __len__(self) -> int:
        """How many are in the view."""
        return len(self._next) - 1

    def messages(self, source: Source) -> Iterator[int]:
        """Yield the messages that a gist stands for, or a message itself, in order."""
        waiting = [source]
        while waiting:
            one = waiting.pop()
            if isinstance(one, int):
                yield one
            else:
                waiting.extend(reversed(self.gists[one].sources))

    def _append(self, source: Source) -> None:
        self._link(self._before[""], source)
        self._link(source, "")

    def _link(self, one: Source, other: Source) -> None:
        self._next[one], self._before[other] = other, one


# ---- what may be in a line ----

_MARK: Final = b'"gist"'
_DEFAULTS: Final[Mapping[str, object]] = dict(Gist._field_defaults)
_LARGEST: Final = 0xFFFFFFFF


def _is_count(value: Any) -> bool:  # noqa: ANN401 - whatever a line says
    return is_count(value) and value <= _LARGEST


_TEXTS: Final = ("ts", "text", "model", "earliest", "latest", "first", "last", "previous")
_FITS: Final[Mapping[str, Any]] = {
    "id": lambda value: isinstance(value, str) and value != "",
    "form": lambda value: value in FORMS,
    "level": lambda value: value in LEVELS,
    **dict.fromkeys(_TEXTS, lambda value: isinstance(value, str)),
    **dict.fromkeys(("depth", "tokens", "messages", "source_tokens"), _is_count),
}


# A forged line must not fill the memory of its reader.
_MOST: Final = 1_000_000


def _sources(value: object) -> tuple[Source, ...] | None:
    """Return the sources of a line; ``None`` if they are malformed, or too many."""
    found: list[Source] = []
    for each in value if isinstance(value, list) else ():
        match each:
            case str():
                found.append(each)
            case [first, last] if (
                _is_count(first) and _is_count(last) and 0 <= last - first < _MOST - len(found)
            ):
                found.extend(range(first, last + 1))
            case _:
                return None
    return tuple(found) or None
