"""What another library keeps, as a line of a transcript, and back.

Promises: pure; what comes back equals what was given, as JSON sees it, but for the secrets that are
hidden, and for what stands deeper than anybody goes down; a text that the line shows stands there
once, not a second time beside it. Ids, and what only a provider can read, are never taken for
secrets.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple
from weakref import WeakKeyDictionary, WeakValueDictionary

from engramdown.clock import nanoseconds
from engramdown.episodes.memory import EpisodicMemory
from engramdown.errors import StoreError
from engramdown.forks import Lock
from engramdown.settings import EpisodeSettings
from engramdown.storage.disk import EpisodeDisk
from engramdown.transcripts.changes import SUFFIX
from engramdown.transcripts.episode import Episode, Pointer, joined, read_line, stamp_of
from engramdown.transcripts.payloads import hidden, shown
from engramdown.transcripts.sessions import lines
from engramdown.transcripts.visibility import REDACTED, excluded, marked

__all__ = [
    "JSON",
    "LEFT_OUT",
    "LEVELS",
    "Entry",
    "Kept",
    "Line",
    "Summary",
    "Write",
    "as_json",
    "as_line",
    "as_value",
    "copies",
    "cut_off",
    "lift",
    "put_in",
    "readable",
    "unwritten_of",
    "without_secrets",
]

LEVELS: Final = 150
"""How deep a value is kept: readers of JSON give up from 200 on, each at another number."""
LEFT_OUT: Final = f"[left out: it stands more than {LEVELS} levels deep]"
"""What comes back in the place of what is deeper."""

# What is deeper, or has more parts, is kept as a text: a transcript ends at so many levels.
_MOST_PARTS: Final = 60
_OPAQUE: Final = frozenset(
    {
        "id",
        "approval_request_id",
        "call_id",
        "conversation_id",
        "encrypted_content",
        "file_id",
        "kind",
        "name",
        "namespace",
        "part_kind",
        "previous_response_id",
        "provider_response_id",
        "role",
        "run_id",
        "server_label",
        "signature",
        "status",
        "timestamp",
        "tool_call_id",
        "tool_name",
        "type",
    }
)

JSON = Any
"""A value as JSON has it."""

Place = tuple[str | int, ...]
"""The keys and numbers that lead to a text in a value; none lead to the whole."""


class Line(NamedTuple):
    """A line of a transcript that stands for a value.

    Attributes:
        role: See :class:`engramdown.transcripts.episode.Episode`, as for the name and the call.
        text: What it shows.
        rest: The value, without the text if that is lifted out of it.
        place: Where in the value the text stands, or ``None`` if nothing was lifted.
        is_json: Whether what stands there is the text read as JSON.
        name: The tool.
        call: What a call and its result have in common.
        error: Whether it failed.
    """

    role: str
    text: str
    rest: Any = None
    place: Place | None = None
    is_json: bool = False
    name: str = ""
    call: str = ""
    error: bool = False


class Entry(NamedTuple):
    """A value that a session keeps.

    Attributes:
        value: The value, not to be changed.
        call: What a call and its result have in common, or ``""``.
        is_gone: Whether a person took it back: it is told so that what needs it goes, too.
        seq: The number of its line, or -1 if it waits to be written.
        json: The value as JSON.
    """

    value: JSON
    call: str = ""
    is_gone: bool = False
    seq: int = -1
    json: str = "null"


def copies(entries: Iterable[Entry]) -> list[Any]:
    """Return the values of entries, to be changed at will."""
    found: list[Any] = json.loads(f"[{','.join(entry.json for entry in entries)}]")
    return found


def as_json(value: object, other: Callable[[Any], str] | None = None) -> JSON:
    """Return a copy of a value as JSON has it, to :data:`LEVELS` levels.

    Args:
        value: The value.
        other: Returns a text for what JSON has no word for.

    Raises:
        TypeError: If it cannot be said as JSON.
        ValueError: If it runs in a circle.

    >>> as_json({1: ("a",)})
    {'1': ['a']}
    """
    try:
        text = json.dumps(value, default=other)
        if text.count("[") + text.count("{") <= LEVELS:
            return json.loads(text)
    except RecursionError:
        pass  # It is deeper than Python goes; that is cut off.
    return json.loads(json.dumps(cut_off(value), default=other))


def cut_off(value: object) -> Any:  # noqa: ANN401 - JSON, if the value is
    """Return a copy of a value to :data:`LEVELS` levels; never goes down itself."""
    found: list[Any] = [value]
    level: list[tuple[Any, Any]] = [(found, 0)]
    for _ in range(LEVELS):
        level = [each for holder, key in level for each in _opened(holder, key)]
    for holder, key in level:
        if isinstance(holder[key], (dict, list, tuple)):
            holder[key] = LEFT_OUT
    return found[0]


def _opened(holder: Any, key: object) -> Iterator[tuple[Any, Any]]:  # noqa: ANN401 - JSON
    """Put a copy at ``key`` of ``holder``, and yield where in it something stands."""
    inner = holder[key]
    if isinstance(inner, dict):
        holder[key] = named = dict(inner)
        yield from ((named, name) for name in inner)
    elif isinstance(inner, (list, tuple)):
        holder[key] = row = list(inner)
        yield from ((row, at) for at in range(len(inner)))


def lift(value: JSON, place: Place) -> tuple[Any, Any]:
    """Return what stands at ``place``, and the value without it.

    >>> lift({"content": [{"text": "Hello"}]}, ("content", 0, "text"))
    ('Hello', {'content': [{'text': None}]})
    """
    if not place:
        return value, None
    key, *deeper = place
    found, rest = lift(value[key], tuple(deeper))
    return found, _with(value, key, rest)


def readable(value: object) -> str:
    """Return a value as JSON that a person can read."""
    return json.dumps(value, ensure_ascii=False)


def as_line(line: Line, hide: Callable[[str], str]) -> dict[str, Any]:
    """Return what is kept beside the text of a line.

    Args:
        line: The line.
        hide: Returns a text without its secrets.
    """
    rest = without_secrets(line.rest, hide)
    made: dict[str, Any] = {}
    if rest is not None or line.place is None:
        text = json.dumps(rest)
        is_plain = text.count("[") + text.count("{") <= _MOST_PARTS and _is_json(text)
        made |= {"item": rest} if is_plain else {"json": text}
    if line.place is not None:
        made["text"] = list(line.place)
    if line.is_json:
        made["read"] = "json"
    return made


def as_value(kept: Mapping[str, Any], text: str, *, is_whole: bool = True) -> JSON:
    """Return the value of which ``kept`` is what :func:`as_line` returned.

    Args:
        kept: What is kept beside the text; bad JSON in it raises ``ValueError``.
        text: The whole text of the line.
        is_whole: Whether it is; what takes JSON gets an object with its beginning otherwise.
    """
    rest = _loaded(kept["json"]) if "json" in kept else kept.get("item")
    place = kept.get("text")
    if not isinstance(place, list):
        return rest
    found: Any = text
    if kept.get("read") == "json":
        found = _read(text)
    elif not is_whole and place[-1:] in (["arguments"], ["args"]):
        found = readable({"beginning": text})
    return _put(rest, place, found)


def without_secrets(value: JSON, hide: Callable[[str], str], key: object = "") -> JSON:
    """Return a value in which ``hide`` went over the texts, but for ids and encrypted ones.

    >>> without_secrets({"id": "a", "text": "a"}, str.upper)
    {'id': 'a', 'text': 'A'}
    """
    if isinstance(value, str):
        return value if key in _OPAQUE or value.startswith("data:") else hide(value)
    if isinstance(value, list):
        return [without_secrets(each, hide, key) for each in value]
    if isinstance(value, dict):
        return {name: without_secrets(each, hide, name) for name, each in value.items()}
    return value


def _with(value: JSON, key: JSON, new: object) -> JSON:
    """Return a copy of an object or a list with something else at ``key``."""
    if isinstance(value, list):
        return [*value[:key], new, *value[key + 1 :]]
    return {**value, key: new}


def _put(value: JSON, place: Sequence[Any], new: object) -> JSON:
    """Return ``value`` with ``new`` at ``place``; what leads nowhere raises ``ValueError``."""
    if not place:
        return new
    key, *deeper = place
    try:
        return _with(value, key, _put(value[key], deeper, new))
    except (TypeError, LookupError) as error:
        msg = f"nothing stands at {key!r}"
        raise ValueError(msg) from error


def _is_json(text: str) -> bool:
    """Whether a text of :func:`json.dumps` is JSON for everybody: ``NaN`` is not."""

    def refuse(constant: str) -> None:
        raise ValueError(constant)

    try:
        json.loads(text, parse_constant=refuse)
    except ValueError:
        return False
    return True


def _read(text: str) -> JSON:
    """Read JSON; what is none any more, because something was hidden in it, stays a text."""
    try:
        return _loaded(text)
    except ValueError:
        return text


def _loaded(text: Any) -> JSON:  # noqa: ANN401 - whoever edits a file puts anything there
    """Read JSON; what nobody can read raises ``ValueError``."""
    try:
        return json.loads(text)
    except (TypeError, RecursionError) as error:
        raise ValueError(str(error)) from error


# Summaries in the place of what they stand for, in the history that another library is given.
#
# Promises: pure; what no summary covers is given as it was kept, in order; until something is
# summarised anew, the beginning stays the same.


class Summary(NamedTuple):
    """A summary in view.

    Attributes:
        first: The first line that it stands for.
        last: The last one.
        text: What a model is shown.
    """

    first: int
    last: int
    text: str


def put_in(
    entries: list[Entry], summaries: list[Summary], made: Callable[[str], Any]
) -> list[Entry]:
    """Return entries with each summary in the place of what it covers.

    Args:
        entries: What a session keeps, in order.
        summaries: In order, and apart from each other.
        made: Returns the value for a summary.
    """
    left: list[Entry] = []
    shown = set[int]()
    for entry in entries:
        covers = next((each for each in summaries if each.first <= entry.seq <= each.last), None)
        if covers is None:
            left.append(entry)
        elif covers.first not in shown:
            shown.add(covers.first)
            value = made(covers.text)
            left.append(Entry(value, seq=covers.first, json=readable(value)))
    return left


# What a library wants to keep and no disk has yet, for all who have the session open.
#
# Promises: of one session all in a process have the same, while anybody has it open or something
# waits; what waits in many sessions has a limit.

_MOST_SESSIONS: Final = 1_000
_GUARD: Final = Lock()


@dataclass(slots=True)
class Waits:
    """A line that is not in the file yet.

    Attributes:
        role: Of the line.
        kept: What is kept beside its text.
        shown: What the line will show.
        entry: The value.
        times: Between which times it was to be written.
        is_taken: Whether it was taken back meanwhile.
    """

    role: str
    kept: dict[str, Any]
    shown: str
    entry: Entry
    times: tuple[str, str]
    is_taken: bool = False

    def is_line(self, episode: Episode, kept: dict[str, Any]) -> bool:
        """Whether this is what stands in a line, and not the same words of another time."""
        begun, ended = self.times
        same = (self.role, self.shown, self.kept) == (episode.role, episode.text, kept)
        return same and begun <= episode.ts <= ended


class Unwritten:
    """What waits of one session.

    Attributes:
        lines: The lines, in order.
        popped: The numbers of lines that were taken back, which no line says yet.
    """

    def __init__(self, hold: Callable[[Unwritten], None]) -> None:
        """Begin with nothing; ``hold`` keeps it from being forgotten."""
        self.lines: list[Waits] = []
        self.popped: set[int] = set()
        self._hold = hold

    def add(self, line: Waits) -> None:
        """Let a line wait."""
        self.lines.append(line)
        self._hold(self)

    def pop(self, seqs: Iterable[int]) -> None:
        """Note that lines were taken back."""
        self.popped.update(seqs)
        self._hold(self)


class _Sessions:
    """What waits of the sessions of one scope."""

    def __init__(self) -> None:
        self._known: WeakValueDictionary[tuple[str, str], Unwritten] = WeakValueDictionary()
        self._held: dict[tuple[str, str], Unwritten] = {}

    def of(self, name: tuple[str, str]) -> Unwritten:
        """Return what waits of a session."""

        def hold(each: Unwritten) -> None:
            with _GUARD:
                self._held = {key: old for key, old in self._held.items() if _waits(old)}
                self._held[name] = each
                while len(self._held) > _MOST_SESSIONS:
                    del self._held[next(iter(self._held))]

        return self._known.setdefault(name, Unwritten(hold))


_SESSIONS: Final[WeakKeyDictionary[EpisodicMemory, _Sessions]] = WeakKeyDictionary()


def unwritten_of(episodes: EpisodicMemory | None, session: str, key: str) -> Unwritten:
    """Return what waits of a session, the same for all who keep it for one library.

    Args:
        episodes: The transcripts; where nothing is recorded, everybody has what waits alone.
        session: The id of the session.
        key: What the library is known by.
    """
    if episodes is None or not episodes.settings.enabled:
        return Unwritten(lambda _: None)
    with _GUARD:
        return _SESSIONS.setdefault(episodes, _Sessions()).of((session, key))


def _waits(unwritten: Unwritten) -> bool:
    return bool(unwritten.lines or unwritten.popped)


# What another library keeps in a session, read from its transcript.
#
# Promises: nothing here raises because of a disk. A line that could not be written yet is there for
# this process all the same, in its place behind the others, also for whoever opens the session
# anew; what is taken back is out of the session, of recall and of summaries, and stays in the file,
# which is only ever appended to. Of two programs that take the last one back at once, each gets
# another. To look again costs what was added since.

Write = Callable[[dict[str, Any]], Pointer | None]
"""Writes a line, given its ``meta``."""

_HEAD: Final = 128
_NONE: Final = object()
_BY: Final = "by"


class Kept:
    """The values that a session keeps for one library.

    Attributes:
        session: The id of the session.
    """

    def __init__(
        self,
        episodes: EpisodicMemory | None,
        session: str,
        key: str,
        plain: Callable[[Episode], Any],
    ) -> None:
        """Read a session; nothing is read yet.

        Args:
            episodes: The transcripts, or ``None`` if there are none.
            session: The id of the session.
            key: Under which the values stand in ``meta``.
            plain: Returns the value for a line that something else recorded, or ``None``.
        """
        self._episodes = episodes
        self.session = session
        self._key = key
        self._plain = plain
        self._disk = EpisodeDisk()
        self._unwritten = unwritten_of(episodes, session, key)
        self._late: list[int] = []
        self._forget()

    def _forget(self) -> None:
        self._file, self._end, self._head = (-1, -1), 0, b""
        self._entries: dict[int, Entry] = {}
        self._marks: list[Episode] = []

    # ---- writing ----

    def add(self, line: Line, write: Write) -> None:
        """Keep a value.

        Args:
            line: Its line.
            write: Writes it, given the ``meta`` of the line; returns where it stands, or ``None``
                if it must wait.
        """
        settings = EpisodeSettings() if self._episodes is None else self._episodes.settings
        kept = as_line(line, lambda text: hidden(line.role, text, settings))
        begun = stamp_of(nanoseconds())
        if write({self._key: kept}) is None:
            value = as_value(kept, joined(hidden(line.role, line.text, settings)))
            entry = Entry(value, line.call, json=readable(value))
            view = shown(line.role, line.text, settings).text
            times = (begun, stamp_of(nanoseconds()))
            self._unwritten.add(Waits(line.role, kept, view, entry, times))

    def pop(self, whole: Callable[[list[Entry]], list[Entry]]) -> Entry | None:
        """Take back the last of what ``whole`` leaves of the entries; ``None`` if nothing is left.

        Who else takes it at once is told by the order of the lines in which they say so.
        """
        while left := whole(self.entries()):
            last = left[-1]
            if last.seq < 0:
                next(each for each in self._unwritten.lines if each.entry is last).is_taken = True
                return last
            if self._take_back([last.seq], "pop"):
                return last
        return None

    def clear(self) -> None:
        """Take back everything."""
        seqs = [entry.seq for entry in self.entries() if entry.seq >= 0 and not entry.is_gone]
        for each in self._unwritten.lines:
            each.is_taken = True
        if seqs:
            self._take_back(seqs, "clear")

    def _take_back(self, seqs: list[int], by: str) -> bool:
        """Exclude lines; whether nobody else took one of them just before."""
        at = None
        if self._episodes is not None:
            said = {"of": seqs, _BY: f"{self._key} {by}"}
            at = self._episodes.mark(self.session, "exclude", **said)
        if at is None:
            self._unwritten.pop(seqs)
            return True
        self._refresh()
        holders = _holders(self._marks)
        return all(seq in holders and holders[seq].seq == at.seq for seq in seqs)

    # ---- reading ----

    def entries(self) -> list[Entry]:
        """Return what is kept, in order; of what a person took back, that it is gone."""
        self._refresh()
        whole, seqs = excluded(self._marks)
        held = _holders(self._marks).items()
        told = {seq for seq, event in held if _BY in event.more}
        self._unwritten.popped -= told
        popped = self._unwritten.popped | told
        found = [
            entry._replace(is_gone=True) if whole or seq in seqs else entry
            for seq, entry in self._entries.items()
            if seq not in popped
        ]
        return found + [each.entry for each in self._unwritten.lines if not each.is_taken]

    def _refresh(self) -> None:
        """Take in what was added to the file; what cannot be read now is left for later."""
        if self._episodes is None:
            return
        path = self._episodes.folder / f"{self.session}{SUFFIX}"
        known = (self._file, self._end, self._head, self._entries, self._marks)
        try:
            self._read_on(path)
        except (OSError, StoreError):
            self._file, self._end, self._head, self._entries, self._marks = known
        late, self._late = self._late, []
        if late:
            self._take_back(late, "pop")

    def _read_on(self, path: Path) -> None:
        found = self._disk.find(path)
        if found is None:
            self._forget()
            return
        file = (found.st_dev, found.st_ino)
        if file != self._file or found.st_size < self._end or not self._is_same(path):
            self._forget()
            self._file = file
        for offset, line in lines(self._disk, path, self._end):
            if not line.endswith(b"\n"):
                break
            self._end = offset + len(line)
            self._head = self._head or line[:_HEAD]
            self._take(read_line(line))

    def _is_same(self, path: Path) -> bool:
        """Whether the file begins as it did: a new one may get the number of one that is gone."""
        descriptor = self._disk.open(path)
        try:
            return self._disk.read(descriptor, 0, len(self._head)) == self._head
        finally:
            self._disk.close(descriptor)

    def _take(self, episode: Episode | None) -> None:
        if episode is None:
            return
        if marked(episode)[0] is not None:
            self._marks.append(episode)
        elif REDACTED in episode.more:
            self._entries[episode.seq] = Entry(None, episode.call, is_gone=True, seq=episode.seq)
        else:
            self._take_value(episode)

    def _take_value(self, episode: Episode) -> None:
        kept = episode.meta.get(self._key)
        value = self._value(episode, kept) if isinstance(kept, dict) else _NONE
        if value is _NONE:
            value = self._plain(episode)
            if value is None:
                return
        self._entries[episode.seq] = Entry(
            value, episode.call, seq=episode.seq, json=readable(value)
        )

    def _value(self, episode: Episode, kept: dict[str, Any]) -> object:
        """Return the value of a line of ours; ``_NONE`` if somebody changed the line."""
        self._arrived(episode, kept)
        text = self._whole(episode)
        is_whole = episode.cut is None or len(text) == episode.cut
        try:
            return as_value(kept, text, is_whole=is_whole)
        except ValueError:
            return _NONE

    def _whole(self, episode: Episode) -> str:
        return episode.text if self._episodes is None else self._episodes.whole(episode)

    def _arrived(self, episode: Episode, kept: dict[str, Any]) -> None:
        """Note that a line was written which had to wait."""
        for number, each in enumerate(self._unwritten.lines):
            if each.is_line(episode, kept):
                del self._unwritten.lines[number]
                if each.is_taken:
                    self._late.append(episode.seq)
                return


def _holders(marks: Iterable[Episode]) -> dict[int, Episode]:
    """Return which event keeps a line out: the first one since it was brought in again."""
    found: dict[int, Episode] = {}
    for event in marks:
        away, of = marked(event)
        if away:
            for seq in of or ():
                found.setdefault(seq, event)
        elif of is None:
            found.clear()
        else:
            for seq in of:
                found.pop(seq, None)
    return found
