"""A conversation that another library runs: what it keeps, as lines of a transcript, and a session.

What comes back equals what was given, as JSON sees it, but for secrets that are hidden, and for
what stands deeper than :data:`LEVELS`; ids, and what only a provider can read, are never taken for
secrets. A text that a line shows stands there once, not a second time beside it.

Nothing here raises because of a disk. A line that could not be written yet is there for this
process all the same, in its place behind the others, also for whoever opens the session anew. What
is taken back is out of the session, of recall and of summaries, and stays in the file, which is
only ever appended to; of two programs that take the last item back at once, each gets another. To
look again costs what was added since.

One call at a time reaches a cortex, whichever library it comes from, and no event loop waits for a
disk. A call that was begun is waited for, also by whoever is cancelled meanwhile, so that nobody
finds half of it. No trouble with memory is raised, but where a person decides. What our own tools
bring back is marked on the line of their result, which comes later, when the library keeps it.
Older lines are summarised in the background; where summaries cannot be read, there are none.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar, Unpack
from weakref import WeakKeyDictionary, WeakValueDictionary

from engramdown import Cortex, EngramdownError, EpisodicMemory, Hippocampus, transcripts
from engramdown.clock import nanoseconds, today
from engramdown.context import degraded, left_out
from engramdown.cortex import TOOLS, Answer
from engramdown.engram import Engram, Scope
from engramdown.episodes import Said
from engramdown.errors import StoreError
from engramdown.forks import Lock, RLock
from engramdown.gate import Operation, Pending, harmless
from engramdown.hippocampus import new_id
from engramdown.secrets import redact
from engramdown.settings import EpisodeSettings
from engramdown.storage import Disk
from engramdown.transcripts import Episode, Pointer, lines

if TYPE_CHECKING:
    from engramdown import Proposal, Session
    from engramdown.conversation import CompactionBeside

T = TypeVar("T")

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
# The members that hold ids, or what only a provider can read.
_OPAQUE: Final = re.compile(
    r"(?:(?:approval_request|call|conversation|file|run|tool_call)_|(?:previous|provider)_response_)?id"
    r"|encrypted_content|kind|name|namespace|part_kind|role|server_label|signature|status|timestamp"
    r"|tool_name|type"
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
        if _size(text) <= LEVELS:
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
        try:
            is_plain = _size(json.dumps(rest, allow_nan=False)) <= _MOST_PARTS
        except ValueError:  # NaN is JSON for Python alone.
            is_plain = False
        made |= {"item": rest} if is_plain else {"json": json.dumps(rest)}
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


def _without_secrets(value: JSON, hide: Callable[[str], str], key: str = "") -> JSON:
    """Return a value in which ``hide`` went over the texts, but for ids and encrypted ones."""
    if isinstance(value, str):
        is_opaque = _OPAQUE.fullmatch(key) or value.startswith("data:")
        return value if is_opaque else hide(value)
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
        if not isinstance(value, list):
            return {**value, key: inner}
        return [*value[:key], inner, *value[key + 1 :]]
    except (TypeError, LookupError) as error:
        raise ValueError(f"nothing stands at {key!r}") from error


def _size(text: str) -> int:
    """Return how many lists and objects JSON has, at most."""
    return text.count("[") + text.count("{")


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
_Open = WeakKeyDictionary[EpisodicMemory, WeakValueDictionary[tuple[str, str], _Unwritten]]
_OPEN: Final[_Open] = WeakKeyDictionary()


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
        kept = as_meta(line, lambda text: transcripts.redact_for_role(line.role, text, settings))
        begun = transcripts.stamp_of(nanoseconds())
        if write({self._key: kept}) is not None:
            return
        text = transcripts.redact_for_role(line.role, line.text, settings)
        value = as_value(kept, transcripts.join_surrogates(text))
        item = Item(value, line.call, json=readable(value))
        view = transcripts.shorten_for_line(line.role, line.text, settings).text
        times = (begun, transcripts.stamp_of(nanoseconds()))
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
        said = {"of": seqs, _BY: f"{self._key} {by}"}
        at = None
        if self._episodes is not None:
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
        whole, seqs = transcripts.excluded(self._marks)
        told = {seq for seq, event in _holders(self._marks).items() if _BY in event.more}
        self._unwritten.popped -= told
        popped = self._unwritten.popped | told
        kept = [(seq, item) for seq, item in self._items.items() if seq not in popped]
        found = [
            item._replace(is_gone=True) if whole or seq in seqs else item for seq, item in kept
        ]
        return found + [each.item for each in self._unwritten.lines if not each.is_taken]

    def _refresh(self) -> None:
        """Take in what was added to the file; what cannot be read now is left for later."""
        if self._episodes is None:
            return
        path = self._episodes.folder / f"{self.session}{transcripts.SUFFIX}"
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
        is_same = file == self._file and found.st_size >= self._end
        if is_same:
            # A new file may get the number of one that is gone: does it begin as it did?
            descriptor = self._disk.open(path)
            try:
                is_same = self._disk.read_at(descriptor, 0, len(self._head)) == self._head
            finally:
                self._disk.close(descriptor)
        if not is_same:
            self._forget()
            self._file = file
        for offset, line in lines(self._disk, path, self._end):
            if not line.endswith(b"\n"):
                break
            self._end = offset + len(line)
            self._head = self._head or line[:_HEAD]
            if episode := transcripts.read_line(line):
                self._take(episode)

    def _take(self, episode: Episode) -> None:
        seq = episode.seq
        if transcripts.read_mark(episode)[0] is not None:
            self._marks.append(episode)
        elif transcripts.REDACTED in episode.more:
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
        for number, each in enumerate(self._unwritten.lines):
            begun, ended = each.times
            is_it = each.line == (episode.role, episode.text, kept)
            if is_it and begun <= episode.ts <= ended:
                # It had to wait, and is written now; the same words of another time are not it.
                del self._unwritten.lines[number]
                if each.is_taken:
                    self._written_late.append(episode.seq)
                break
        text = self._episodes.whole(episode)
        return as_value(kept, text, is_whole=episode.cut is None or len(text) == episode.cut)


def _holders(marks: Iterable[Episode]) -> dict[int, Episode]:
    """Return which event keeps a line out: the first one since it was brought in again."""
    found: dict[int, Episode] = {}
    for event in marks:
        away, of = transcripts.read_mark(event)
        if away:
            for seq in of or ():
                found.setdefault(seq, event)
        elif of is None:
            found.clear()
        else:
            for seq in of:
                found.pop(seq, None)
    return found


# ---- a session ----

_MOST_ANSWERS: Final = 100
_LONGEST_TITLE: Final = 100
_Failure = (EngramdownError, OSError)
_LOCKS: Final[WeakKeyDictionary[Cortex, RLock]] = WeakKeyDictionary()


def lock_of(cortex: Cortex) -> RLock:
    """Return the lock that is held by whoever calls ``cortex``."""
    with _GUARD:
        return _LOCKS.setdefault(cortex, RLock())


async def in_thread(cortex: Cortex, act: Callable[[], T]) -> T:
    """Return what ``act`` returns, which is called in a thread, alone with ``cortex``.

    A cancellation counts once that has returned.
    """
    # Imported here: whoever calls this has loaded it already.
    import asyncio

    def alone() -> T:
        with lock_of(cortex):
            return act()

    running = asyncio.ensure_future(asyncio.to_thread(alone))
    cancelled: asyncio.CancelledError | None = None
    while not running.done():
        try:
            await asyncio.wait({running})
        except asyncio.CancelledError as error:
            cancelled = cancelled or error
    if cancelled is not None:
        # What it raised is seen by nobody else.
        running.exception()
        raise cancelled
    return running.result()


def memory_context(cortex: Cortex, asked: str, session: Session | None = None) -> str:
    """Return what a model is told of memory, and which part of it cannot be read."""
    try:
        context = str(cortex.build_memory_context(asked, session, scratchpad=True))
        lost = [left_out(reason) for reason in cortex.scopes.unreadable()[:1]]
        return "\n\n".join(filter(None, [context, *lost]))
    except _Failure as error:
        return degraded(str(error))


def answer_call(
    cortex: Cortex, session: ExternalSession | None, name: str, arguments: object, call: str = ""
) -> Answer:
    """Answer a call of one of our tools, in a session if that is one of the same memory."""
    if session is None or session.cortex is not cortex:
        return cortex.use_tool(name, arguments)
    return session.use_tool(name, arguments, call)


def store_with_files(cortex: Cortex, scope: Scope, purpose: str) -> Hippocampus:
    """Return the store of a scope, whose files another program is to read and write.

    Raises:
        StoreError: If it has none.
    """
    store = cortex.scopes.global_hc if scope == "global" else cortex.scopes.project_hc
    if not isinstance(store, Hippocampus):
        raise StoreError(f"{type(store).__name__}: has no files {purpose}")
    return store


def ask_user(cortex: Cortex, engram: Engram, op: Operation, of: str, code: str) -> Pending:
    """Return the proposal that asks the user whether a program may do what it wants to.

    Args:
        cortex: In its mode autopilot nobody is prompted about it.
        engram: What is to be remembered.
        op: What is to be done with it.
        of: The memory that it is about, or ``""``.
        code: The code of why it is not simply done.
    """
    hold, day = code if cortex.mode == "autopilot" else "", today().isoformat()
    return Pending(new_id(), harmless(engram), hold=hold, reason=code, op=op, of=of, ts=day)


def title_of(name: str) -> str:
    """Return what to call the transcript of a session whose file could not be called so."""
    return "" if transcripts.is_session_id(name) else redact(name)[:_LONGEST_TITLE]


def check_budget(budget: int | None) -> int | None:
    """Return what a history may cost, in tokens, if that is limited.

    Raises:
        ValueError: If it is not above 0.
    """
    if budget is not None and budget <= 0:
        raise ValueError(f"budget is {budget}; give the tokens that the history may cost, or None")
    return budget


class ExternalSession:
    """A conversation.

    Attributes:
        id: The id of its transcript.
        cortex: The memory.
        history: What the library keeps of it.
        runs: How many runs of it run, if the library tells.
    """

    def __init__(
        self,
        cortex: Cortex,
        history: History,
        *,
        parent: str | None = None,
        title: str = "",
        budget: int | None = None,
    ) -> None:
        """Prepare to begin a conversation, or to go on with it.

        Args:
            cortex: The memory.
            history: What the library keeps of it.
            parent: The session that it is begun from.
            title: What to call it.
            budget: What its history may cost, in tokens, if that is limited: older lines are
                summarised once it costs much of that.

        Raises:
            ValueError: If ``budget`` is not above 0.
        """
        self.id = history.session
        self.cortex = cortex
        self.history = history
        self.runs = 0
        self._budget = check_budget(budget)
        self._begin = partial(cortex.session, self.id, parent=parent, title=title)
        self._session: Session | None = None
        self._compaction: CompactionBeside | None = None
        self._context = ""
        self._answers: dict[str, Answer] = {}

    @property
    def session(self) -> Session:
        """The session, which begins when it is asked for."""
        if self._session is None:
            self._session = self._begin()
        return self._session

    @property
    def in_turn(self) -> bool:
        """Whether a turn is running."""
        return self._session is not None and self._session.in_turn

    def add(self, line: Line, **said: Unpack[Said]) -> None:
        """Keep something that was said or done; ``said`` is what else its line says."""
        answer = self._answers.pop(line.call, None) if line.role == "tool_result" else None
        told: Said = {"name": line.name, "call": line.call, "error": line.error}
        if answer is not None:
            told |= {"error": line.error or answer.is_error, "recalled": answer.recalled}
        told.update(said)
        write = partial(self.session.record, line.role, line.text, **told)
        self.history.add(line, lambda meta: write(meta=meta))

    def begin_turn(self, line: Line) -> None:
        """Begin a turn with the user's words, and keep them."""
        self.end_turn()
        self.history.add(line, partial(self._begin_turn, line.text))

    def _begin_turn(self, text: str, meta: dict[str, Any]) -> Pointer | None:
        try:
            self._context = str(self.session.begin_turn(text, meta, scratchpad=True))
        except _Failure as error:
            self._context = degraded(str(error))
        return self.session.turn_began

    def end_turn(self) -> None:
        """End the turn, if one is running."""
        if not self.in_turn:
            return
        try:
            self.session.end_turn()
        except _Failure:
            return  # What was ticked or learned waits for the next turn.
        self.summarize()

    def context(self, asked: str) -> str:
        """Return what a model is told of memory, the same throughout a turn.

        Args:
            asked: What it is asked, if that began no turn: a run may go on without new words.
        """
        return self._context if self.in_turn else memory_context(self.cortex, asked, self.session)

    def use_tool(self, name: str, arguments: object, call: str) -> Answer:
        """Answer a call of one of our tools."""
        self.session.attend()
        answer = TOOLS[name](self.cortex, arguments, self.session)
        self._answers[call] = answer
        while len(self._answers) > _MOST_ANSWERS:  # Those of runs that ended before they were kept.
            self._answers.pop(next(iter(self._answers)))
        return answer

    def confirmations(self) -> list[Proposal]:
        """Return the proposals to ask the user about now; none during a turn.

        Raises:
            StoreError: If what waits cannot be read.
        """
        return self.session.confirmations()

    def end(self, reason: str) -> None:
        """End the transcript; it goes on if it is used again."""
        self.end_turn()
        session, self._session = self._session, None
        if session is not None:
            session.end(reason)

    # ---- summaries ----

    def summaries(self) -> list[Summary]:
        """Return the summaries that stand for its older part; none unless there is a budget."""
        if self._budget is None:
            return []
        from engramdown.consolidation import format_summary
        from engramdown.conversation import ends

        try:
            track = self.cortex.conversations.get(self.id).track
            with track.guard:
                track.refresh()
                gists = track.known_gists()
                names = [each.source for each in track.items() if isinstance(each.source, str)]
                texts = {name: format_summary(gists[name], self.id) for name in names}
                return [Summary(*ends(gists, name), text) for name, text in texts.items()]
        except _Failure:
            return []

    def summarize(self) -> None:
        """Begin to summarise, if it is time for that; never raises, and nobody waits for it."""
        wanted = self.cortex.mode != "off" and self.cortex.scopes.settings.conversation.automatic
        if self._budget is None or not wanted:
            return
        if self._compaction is None:
            from engramdown.conversation import CompactionBeside

            self._compaction = CompactionBeside(self.cortex.conversations, self.id)
        self._compaction.look(self._budget)

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until a summary that was begun is done; whether it is."""
        return self._compaction is None or self._compaction.wait(timeout)
