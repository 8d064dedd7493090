"""What another library keeps of a conversation, as lines of its transcript, and back.

What comes back equals what was given, as JSON sees it, but for secrets that are hidden, and for
what stands deeper than :data:`LEVELS`; ids, and what only a provider can read, are never taken for
secrets. A text that a line shows stands there once, not a second time beside it.

Nothing here raises because of a disk. A line that could not be written yet is there for this
process all the same, in its place behind the others, also for whoever opens the session anew. What
is taken back is out of the session, of recall and of summaries, and stays in the file, which is
only ever appended to; of two programs that take the last item back at once, each gets another. To
look again costs what was added since.
"""

from __future__ import annotations

import contextlib
import json
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple
from weakref import WeakKeyDictionary, WeakValueDictionary

from engramdown import EpisodicMemory
from engramdown.clock import nanoseconds
from engramdown.errors import StoreError
from engramdown.forks import Lock
from engramdown.settings import EpisodeSettings
from engramdown.storage import Disk
from engramdown.transcripts import (
    REDACTED,
    SUFFIX,
    Episode,
    Pointer,
    excluded,
    join_surrogates,
    lines,
    read_line,
    read_mark,
    redact_for_role,
    shorten_for_line,
    stamp_of,
)

LEVELS: Final = 150
"""How deep a value is kept: readers of JSON give up from 200 on, each at another number."""
LEFT_OUT: Final = f"[left out: it stands more than {LEVELS} levels deep]"
"""What comes back in the place of what is deeper."""

JSON = Any
"""A value as JSON has it."""
Place = tuple[str | int, ...]
"""The keys and numbers that lead to a text in a value; none lead to the whole."""
Write = Callable[[dict[str, Any]], Pointer | None]
"""Writes a line, given its ``meta``; returns where it stands, or ``None`` if it must wait."""

# What is deeper, or has more parts, is kept as a text: a transcript ends at so many levels.
_MOST_PARTS: Final = 60
_MOST_WAITING: Final = 1_000
_HEAD: Final = 128
_BY: Final = "by"
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


class Item(NamedTuple):
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


class Summary(NamedTuple):
    """A summary that stands for a range of lines.

    Attributes:
        first: The first line that it stands for.
        last: The last one.
        text: What a model is shown.
    """

    first: int
    last: int
    text: str


def copies(items: Iterable[Item]) -> list[Any]:
    """Return the values of items, to be changed at will."""
    found: list[Any] = json.loads(f"[{','.join(item.json for item in items)}]")
    return found


def with_summaries(
    items: list[Item], summaries: list[Summary], made: Callable[[str], Any]
) -> list[Item]:
    """Return items with each summary in the place of what it covers.

    Args:
        items: What a session keeps, in order.
        summaries: In order, and apart from each other.
        made: Returns the value for a summary.
    """
    left: list[Item] = []
    shown = set[int]()
    for item in items:
        covers = next((each for each in summaries if each.first <= item.seq <= each.last), None)
        if covers is None:
            left.append(item)
        elif covers.first not in shown:
            shown.add(covers.first)
            value = made(covers.text)
            left.append(Item(value, seq=covers.first, json=readable(value)))
    return left


# ---- a value as a line ----


def as_json(value: object, other: Callable[[Any], str] | None = None) -> JSON:
    """Return a copy of a value as JSON has it, to :data:`LEVELS` levels.

    Args:
        value: The value.
        other: Returns a text for what JSON has no word for.

    Raises:
        TypeError: If it cannot be said as JSON.
        ValueError: If it contains itself.

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


def cut_off(value: object, levels: int = LEVELS) -> Any:  # noqa: ANN401 - JSON, if the value is
    """Return a copy of a value to so many levels."""
    if not isinstance(value, (dict, list, tuple)):
        return value
    if not levels:
        return LEFT_OUT
    if isinstance(value, dict):
        return {name: cut_off(each, levels - 1) for name, each in value.items()}
    return [cut_off(each, levels - 1) for each in value]


def readable(value: object) -> str:
    """Return a value as JSON that a person can read."""
    return json.dumps(value, ensure_ascii=False)


def lift(value: JSON, place: Place) -> tuple[Any, Any]:
    """Return what stands at ``place``, and the value without it.

    >>> lift({"content": [{"text": "Hello"}]}, ("content", 0, "text"))
    ('Hello', {'content': [{'text': None}]})
    """
    found = value
    for key in place:
        found = found[key]
    return found, _put(value, place, None)


def lifted(role: str, value: JSON, place: Place) -> Line:
    """Return the line that shows what stands at ``place``: a text, or its JSON."""
    found, rest = lift(value, place)
    if isinstance(found, str):
        return Line(role, found, rest, place)
    return Line(role, readable(found), rest, place, is_json=True)


def as_meta(line: Line, hide: Callable[[str], str]) -> dict[str, Any]:
    """Return what is kept beside the text of a line.

    Args:
        line: The line.
        hide: Returns a text without its secrets.
    """
    rest = _without_secrets(line.rest, hide)
    made: dict[str, Any] = {}
    if rest is not None or line.place is None:
        text = json.dumps(rest)
        is_plain = text.count("[") + text.count("{") <= _MOST_PARTS and _is_standard(rest)
        made |= {"item": rest} if is_plain else {"json": text}
    if line.place is not None:
        made["text"] = list(line.place)
    if line.is_json:
        made["read"] = "json"
    return made


def as_value(kept: Mapping[str, Any], text: str, *, is_whole: bool = True) -> JSON:
    """Return the value of which ``kept`` is what :func:`as_meta` returned.

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
        with contextlib.suppress(ValueError):  # Something was hidden in it; it stays a text.
            found = _loaded(text)
    elif not is_whole and place[-1:] in (["arguments"], ["args"]):
        found = readable({"beginning": text})
    return _put(rest, place, found)


def _without_secrets(value: JSON, hide: Callable[[str], str], key: object = "") -> JSON:
    """Return a value in which ``hide`` went over the texts, but for ids and encrypted ones."""
    if isinstance(value, str):
        return value if key in _OPAQUE or value.startswith("data:") else hide(value)
    if isinstance(value, list):
        return [_without_secrets(each, hide, key) for each in value]
    if isinstance(value, dict):
        return {name: _without_secrets(each, hide, name) for name, each in value.items()}
    return value


def _put(value: JSON, place: Sequence[Any], new: object) -> JSON:
    """Return a copy with ``new`` at ``place``; a place that is not there raises ``ValueError``."""
    if not place:
        return new
    key, *deeper = place
    try:
        inner = _put(value[key], deeper, new)
        return (
            [*value[:key], inner, *value[key + 1 :]]
            if isinstance(value, list)
            else {**value, key: inner}
        )
    except (TypeError, LookupError) as error:
        msg = f"nothing stands at {key!r}"
        raise ValueError(msg) from error


def _is_standard(value: JSON) -> bool:
    """Whether a value is JSON for everybody: ``NaN`` is not."""
    try:
        json.dumps(value, allow_nan=False)
    except ValueError:
        return False
    return True


def _loaded(text: Any) -> JSON:  # noqa: ANN401 - whoever edits a file puts anything there
    """Read JSON; what nobody can read raises ``ValueError``."""
    try:
        return json.loads(text)
    except (TypeError, RecursionError) as error:
        raise ValueError(str(error)) from error


# ---- what could not be written yet ----


@dataclass(slots=True)
class _Waiting:
    """A line that is not in the file yet.

    Attributes:
        line: The role, the text and the ``meta`` that it will have.
        item: The value.
        times: Between which times it was to be written.
        is_taken: Whether it was taken back meanwhile.
    """

    line: tuple[str, str, dict[str, Any]]
    item: Item
    times: tuple[str, str]
    is_taken: bool = False

    def is_line(self, episode: Episode, kept: dict[str, Any]) -> bool:
        """Whether this is what stands in a line, and not the same words of another time."""
        begun, ended = self.times
        return self.line == (episode.role, episode.text, kept) and begun <= episode.ts <= ended


@dataclass(slots=True, eq=False, weakref_slot=True)
class _Unwritten:
    """What waits of one session.

    Attributes:
        lines: The lines, in order.
        popped: The numbers of lines that were taken back, which no line says yet.
    """

    lines: list[_Waiting] = field(default_factory=list)
    popped: set[int] = field(default_factory=set)

    def keep(self) -> None:
        """Let it be found as long as something waits, even if nobody has the session open."""
        with _GUARD:
            if self not in _HELD:
                _HELD.append(self)


_GUARD: Final = Lock()
_HELD: Final[deque[_Unwritten]] = deque(maxlen=_MOST_WAITING)
_OPEN: Final[
    WeakKeyDictionary[EpisodicMemory, WeakValueDictionary[tuple[str, str], _Unwritten]]
] = WeakKeyDictionary()


def unwritten_of(episodes: EpisodicMemory | None, session: str, key: str) -> _Unwritten:
    """Return what waits of a session, the same for all who keep it for one library.

    Args:
        episodes: The transcripts; where nothing is recorded, everybody has what waits alone.
        session: The id of the session.
        key: What the library is known by.
    """
    if episodes is None or not episodes.settings.enabled:
        return _Unwritten()
    with _GUARD:
        known = _OPEN.setdefault(episodes, WeakValueDictionary())
        return known.setdefault((session, key), _Unwritten())


# ---- the items of a session ----


class History:
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
        self._disk = Disk()
        self._unwritten = unwritten_of(episodes, session, key)
        self._written_late: list[int] = []
        self._forget()

    def _forget(self) -> None:
        self._file, self._end, self._head = (-1, -1), 0, b""
        self._items: dict[int, Item] = {}
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
        kept = as_meta(line, lambda text: redact_for_role(line.role, text, settings))
        begun = stamp_of(nanoseconds())
        if write({self._key: kept}) is not None:
            return
        value = as_value(kept, join_surrogates(redact_for_role(line.role, line.text, settings)))
        item = Item(value, line.call, json=readable(value))
        view = shorten_for_line(line.role, line.text, settings).text
        times = (begun, stamp_of(nanoseconds()))
        self._unwritten.lines.append(_Waiting((line.role, view, kept), item, times))
        self._unwritten.keep()

    def pop(self, whole: Callable[[list[Item]], list[Item]]) -> Item | None:
        """Take back the last of what ``whole`` leaves of the items; ``None`` if nothing is left.

        Who else takes it at once is told by the order of the lines in which they say so.
        """
        while left := whole(self.items()):
            last = left[-1]
            if last.seq < 0:
                next(each for each in self._unwritten.lines if each.item is last).is_taken = True
                return last
            if self._take_back([last.seq], "pop"):
                return last
        return None

    def clear(self) -> None:
        """Take back everything."""
        seqs = [item.seq for item in self.items() if item.seq >= 0 and not item.is_gone]
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
            self._unwritten.popped.update(seqs)
            self._unwritten.keep()
            return True
        self._refresh()
        holders = _holders(self._marks)
        return all(seq in holders and holders[seq].seq == at.seq for seq in seqs)

    # ---- reading ----

    def items(self) -> list[Item]:
        """Return what is kept, in order; of what a person took back, that it is gone."""
        self._refresh()
        whole, seqs = excluded(self._marks)
        held = _holders(self._marks).items()
        told = {seq for seq, event in held if _BY in event.more}
        self._unwritten.popped -= told
        popped = self._unwritten.popped | told
        found = [
            item._replace(is_gone=True) if whole or seq in seqs else item
            for seq, item in self._items.items()
            if seq not in popped
        ]
        return found + [each.item for each in self._unwritten.lines if not each.is_taken]

    def _refresh(self) -> None:
        """Take in what was added to the file; what cannot be read now is left for later."""
        if self._episodes is None:
            return
        path = self._episodes.folder / f"{self.session}{SUFFIX}"
        known = (self._file, self._end, self._head, self._items, self._marks)
        try:
            self._read_on(path)
        except (OSError, StoreError):
            self._file, self._end, self._head, self._items, self._marks = known
        late, self._written_late = self._written_late, []
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
            if episode := read_line(line):
                self._take(episode)

    def _is_same(self, path: Path) -> bool:
        """Whether the file begins as it did: a new one may get the number of one that is gone."""
        descriptor = self._disk.open(path)
        try:
            return self._disk.read_at(descriptor, 0, len(self._head)) == self._head
        finally:
            self._disk.close(descriptor)

    def _take(self, episode: Episode) -> None:
        seq = episode.seq
        if read_mark(episode)[0] is not None:
            self._marks.append(episode)
        elif REDACTED in episode.more:
            self._items[seq] = Item(None, episode.call, is_gone=True, seq=seq)
        else:
            try:
                value = self._value(episode)
            except ValueError:
                value = self._plain(episode)
                if value is None:
                    return
            self._items[seq] = Item(value, episode.call, seq=seq, json=readable(value))

    def _value(self, episode: Episode) -> JSON:
        """Return the value of a line of ours; raises ``ValueError`` if somebody changed it."""
        kept = episode.meta.get(self._key)
        if not isinstance(kept, dict) or self._episodes is None:
            raise ValueError(self._key)
        self._arrived(episode, kept)
        text = self._episodes.whole(episode)
        return as_value(kept, text, is_whole=episode.cut is None or len(text) == episode.cut)

    def _arrived(self, episode: Episode, kept: dict[str, Any]) -> None:
        """Note that a line was written which had to wait."""
        for number, each in enumerate(self._unwritten.lines):
            if each.is_line(episode, kept):
                del self._unwritten.lines[number]
                if each.is_taken:
                    self._written_late.append(episode.seq)
                return


def _holders(marks: Iterable[Episode]) -> dict[int, Episode]:
    """Return which event keeps a line out: the first one since it was brought in again."""
    found: dict[int, Episode] = {}
    for event in marks:
        away, of = read_mark(event)
        if away:
            for seq in of or ():
                found.setdefault(seq, event)
        elif of is None:
            found.clear()
        else:
            for seq in of:
                found.pop(seq, None)
    return found
