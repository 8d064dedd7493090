"""A conversation that another library runs: its values as lines of a transcript, and a session.

Values come back equal, as JSON sees them, except for hidden secrets and for parts deeper than
:data:`LEVELS`; ids and data that only a provider can read never count as secrets. The text that a
line shows is not stored a second time beside it.

No error of the disk is raised here. A line that could not be written yet is still there for this
process, after the others, even if the session is opened again. Removed items are out of the
session, of recall and of summaries, but stay in the file, which is only ever appended to; two
programs that remove the last item at the same time each get another one. Reading again costs only
what was added since.

Only one call at a time reaches a cortex, from whichever library, and no event loop waits for a
disk. A call that has begun is always finished, even if its caller is cancelled, so that nobody
finds half of it. Errors of memory are raised only where a person decides. The results of our own
tools are marked as recalled on their line, which is written later, when the library keeps it. Older
lines are summarised in the background; summaries that cannot be read are left out.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar, Unpack
from weakref import WeakKeyDictionary

from engramdown import Cortex, EngramdownError, EpisodicMemory, Hippocampus, transcripts
from engramdown.clock import nanoseconds, today
from engramdown.context import degraded, left_out
from engramdown.cortex import TOOLS, Answer
from engramdown.engram import Engram, Scope
from engramdown.episodes import Said
from engramdown.errors import StoreError
from engramdown.forks import Lock, RLock
from engramdown.gate import Operation, Pending, without_secrets
from engramdown.hippocampus import new_id
from engramdown.secrets import redact
from engramdown.settings import EpisodeSettings
from engramdown.storage import Disk
from engramdown.transcripts import Episode, Pointer, Tail

if TYPE_CHECKING:
    from engramdown import Proposal, Session
    from engramdown.conversation import CompactionBeside

T = TypeVar("T")

# Deeper levels of a value are left out: readers of JSON fail from about 200 on.
LEVELS: Final = 150
LEFT_OUT: Final = f"[left out: more than {LEVELS} levels deep]"

JSON = Any
# The keys and indexes that lead to a text in a value; none for the whole value.
Place = tuple[str | int, ...]
# Writes a line, given its ``meta``; returns its place, or ``None`` if it must wait.
Write = Callable[[dict[str, Any]], Pointer | None]

# Values with more parts are stored as a text: transcripts limit the depth of their lines.
_MOST_PARTS: Final = 60
_MOST_WAITING: Final = 1_000
_BY: Final = "by"
# Members that hold ids, or data that only a provider can read.
_OPAQUE: Final = re.compile(
    r"(?:(?:approval_request|call|conversation|file|run|tool_call)_|(?:previous|provider)_response_)?id"
    r"|encrypted_content|kind|name|namespace|part_kind|role|server_label|signature|status|timestamp"
    r"|tool_name|type"
)


class Line(NamedTuple):
    """A line of a transcript that holds a value.

    Attributes:
        role: See :class:`engramdown.transcripts.episode.Episode`, as for the name and the call.
        text: The text that it shows.
        rest: The value, without the text if that was lifted out of it.
        place: The place of the text in the value, or ``None`` if nothing was lifted.
        is_json: Whether the text is the JSON of what was lifted.
        name: The tool.
        call: The id that a call and its result share.
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
        call: The id that a call and its result share, or ``""``.
        is_gone: Whether a person removed it; it is listed so that items that need it can go, too.
        seq: The number of its line, or -1 if it waits to be written.
        json: The value as JSON.
    """

    value: JSON
    call: str = ""
    is_gone: bool = False
    seq: int = -1
    json: str = "null"


class Summary(NamedTuple):
    """A summary of a range of lines.

    Attributes:
        first: The number of the first line.
        last: The number of the last line.
        text: The text for a model.
    """

    first: int
    last: int
    text: str


def copies(items: Iterable[Item]) -> list[Any]:
    """Return copies of the values of items, which may be changed."""
    values: list[Any] = json.loads(f"[{','.join(item.json for item in items)}]")
    return values


def with_summaries(
    items: list[Item], summaries: list[Summary], made: Callable[[str], Any]
) -> list[Item]:
    """Return items with each summary in the place of the items that it covers.

    Args:
        items: The items of a session, in order.
        summaries: In order, without overlap.
        made: Returns the value of a summary.
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
        other: Returns a text for anything that JSON cannot express.

    Raises:
        TypeError: If it cannot be expressed as JSON.
        ValueError: If it contains itself.

    >>> as_json({1: ("a",)})
    {'1': ['a']}
    """
    with contextlib.suppress(RecursionError):  # Deeper than Python can go, it is cut off below.
        text = json.dumps(value, default=other)
        if _size(text) <= LEVELS:
            return json.loads(text)
    return json.loads(json.dumps(cut_off(value), default=other))


def cut_off(value: object, levels: int = LEVELS) -> Any:  # noqa: ANN401 - JSON, if the value is
    """Return a copy of a value with at most so many levels."""
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


def lifted(role: str, value: JSON, place: Place) -> Line:
    """Return a line that shows the part of a value at ``place``: a text, or its JSON.

    >>> lifted("user", {"content": [{"text": "Hello"}]}, ("content", 0, "text"))[1:3]
    ('Hello', {'content': [{'text': None}]})
    """
    part, rest = value, _put(value, place, None)
    for key in place:
        part = part[key]
    is_text = isinstance(part, str)
    return Line(role, part if is_text else readable(part), rest, place, is_json=not is_text)


def as_meta(line: Line, hide: Callable[[str], str]) -> dict[str, Any]:
    """Return what is stored beside the text of a line.

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
    """Return the value of a line; the reverse of :func:`as_meta`.

    Args:
        kept: What is stored beside the text; bad JSON in it raises ``ValueError``.
        text: The text of the line.
        is_whole: Whether the text is complete; otherwise arguments become an object with its
            beginning.
    """
    rest = _loaded(kept["json"]) if "json" in kept else kept.get("item")
    place = kept.get("text")
    if not isinstance(place, list):
        return rest
    part: Any = text
    if kept.get("read") == "json":
        with contextlib.suppress(ValueError):  # A hidden secret broke it; it stays a text.
            part = _loaded(text)
    elif not is_whole and place[-1:] in (["arguments"], ["args"]):
        part = readable({"beginning": text})
    return _put(rest, place, part)


def _without_secrets(value: JSON, hide: Callable[[str], str], key: str = "") -> JSON:
    """Return a value with ``hide`` applied to its texts, except ids and encrypted data."""
    if isinstance(value, str):
        is_opaque = _OPAQUE.fullmatch(key) or value.startswith("data:")
        return value if is_opaque else hide(value)
    if isinstance(value, list):
        return [_without_secrets(each, hide, key) for each in value]
    if isinstance(value, dict):
        return {name: _without_secrets(each, hide, name) for name, each in value.items()}
    return value


def _put(value: JSON, place: Sequence[Any], new: object) -> JSON:
    """Return a copy with ``new`` at ``place``; a missing place raises ``ValueError``."""
    if not place:
        return new
    key, *deeper = place
    try:
        inner = _put(value[key], deeper, new)
        if not isinstance(value, list):
            return {**value, key: inner}
        return [*value[:key], inner, *value[key + 1 :]]
    except (TypeError, LookupError) as error:
        raise ValueError(f"there is nothing at {key!r}") from error


def _size(text: str) -> int:
    """Return an upper limit for the number of lists and objects in JSON."""
    return text.count("[") + text.count("{")


def _loaded(text: Any) -> JSON:  # noqa: ANN401 - an edited file may hold anything
    """Read JSON; anything unreadable raises ``ValueError``."""
    try:
        return json.loads(text)
    except (TypeError, RecursionError) as error:
        raise ValueError(str(error)) from error


# ---- lines that wait to be written ----


@dataclass(slots=True)
class _Waiting:
    """A line that is not in the file yet.

    Attributes:
        line: Its role, its text and its ``meta``.
        item: The value.
        times: The times before and after the attempt to write it.
        is_taken: Whether it was removed meanwhile.
    """

    line: tuple[str, str, dict[str, Any]]
    item: Item
    times: tuple[str, str]
    is_taken: bool = False


@dataclass(slots=True)
class _Unwritten:
    """The waiting changes of one session.

    Attributes:
        lines: The lines, in order.
        popped: The numbers of lines whose removal is not written yet.
    """

    lines: list[_Waiting] = field(default_factory=list)
    popped: set[int] = field(default_factory=set)


_GUARD: Final = Lock()
_OPEN: Final[WeakKeyDictionary[EpisodicMemory, dict[tuple[str, str], _Unwritten]]] = (
    WeakKeyDictionary()
)


def unwritten_of(episodes: EpisodicMemory | None, session: str, key: str) -> _Unwritten:
    """Return the waiting changes of a session, shared by all who open it for one library.

    They are kept for a limited number of sessions, even if nobody has them open any more.

    Args:
        episodes: The transcripts; if nothing is recorded, nothing is shared.
        session: The id of the session.
        key: The name of the library.
    """
    if episodes is None or not episodes.settings.enabled:
        return _Unwritten()
    with _GUARD:
        known = _OPEN.setdefault(episodes, {})
        waiting = known.pop((session, key), None) or _Unwritten()
        if len(known) >= _MOST_WAITING:
            # The oldest for which nothing waits, if there is one.
            del known[min(known, key=lambda each: bool(known[each].lines or known[each].popped))]
        known[session, key] = waiting
        return waiting


# ---- the items of a session ----


@dataclass(eq=False)
class History:
    """The values that a session keeps for one library.

    Attributes:
        episodes: The transcripts, or ``None`` if there are none.
        session: The id of the session.
        key: The key of the values in ``meta``.
        plain: Returns the value of a line that something else recorded, or ``None``.
    """

    episodes: EpisodicMemory | None
    session: str
    key: str
    plain: Callable[[Episode], Any]

    def __post_init__(self) -> None:
        """Read nothing yet."""
        self._unwritten = unwritten_of(self.episodes, self.session, self.key)
        self._written_late: list[int] = []
        self._forget()

    def _forget(self) -> None:
        if self.episodes is not None:
            path = self.episodes.folder / f"{self.session}{transcripts.SUFFIX}"
            self._tail = Tail(Disk(), path)
        self._items: dict[int, Item] = {}
        self._marks: list[Episode] = []

    # ---- writing ----

    def add(self, line: Line, write: Write) -> None:
        """Keep a value.

        Args:
            line: Its line.
            write: Writes it, given the ``meta`` of the line; returns its place, or ``None`` if it
                must wait.
        """
        settings = EpisodeSettings() if self.episodes is None else self.episodes.settings
        stored = as_meta(line, lambda text: transcripts.redact_for_role(line.role, text, settings))
        begun = transcripts.stamp_of(nanoseconds())
        if write({self.key: stored}) is not None:
            return
        text = transcripts.redact_for_role(line.role, line.text, settings)
        value = as_value(stored, transcripts.join_surrogates(text))
        item = Item(value, line.call, json=readable(value))
        view = transcripts.shorten_for_line(line.role, line.text, settings).text
        times = (begun, transcripts.stamp_of(nanoseconds()))
        self._unwritten.lines.append(_Waiting((line.role, view, stored), item, times))

    def pop(self, whole: Callable[[list[Item]], list[Item]]) -> Item | None:
        """Remove the last of the items that ``whole`` returns; return it, or ``None``.

        If somebody else removes the same one, the order of the lines in the file decides.
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
        """Remove everything."""
        seqs = [item.seq for item in self.items() if item.seq >= 0 and not item.is_gone]
        for each in self._unwritten.lines:
            each.is_taken = True
        if seqs:
            self._take_back(seqs, "clear")

    def _take_back(self, seqs: list[int], by: str) -> bool:
        """Exclude lines; return whether nobody else excluded one of them just before."""
        said = {"of": seqs, _BY: f"{self.key} {by}"}
        at = None
        if self.episodes is not None:
            at = self.episodes.mark(self.session, "exclude", **said)
        if at is None:
            self._unwritten.popped.update(seqs)
            return True
        self._refresh()
        holders = _holders(self._marks)
        return all(seq in holders and holders[seq].seq == at.seq for seq in seqs)

    # ---- reading ----

    def items(self) -> list[Item]:
        """Return the items, in order; those that a person removed are marked as gone."""
        self._refresh()
        whole, seqs = transcripts.excluded(self._marks)
        by_program = {seq for seq, event in _holders(self._marks).items() if _BY in event.more}
        self._unwritten.popped -= by_program
        popped = self._unwritten.popped | by_program
        items = [(seq, item) for seq, item in self._items.items() if seq not in popped]
        marked = [
            item._replace(is_gone=True) if whole or seq in seqs else item for seq, item in items
        ]
        return marked + [each.item for each in self._unwritten.lines if not each.is_taken]

    def _refresh(self) -> None:
        """Read what was added to the file; what cannot be read now is left for later."""
        if self.episodes is None:
            return
        known = (self._tail, self._items, self._marks)
        try:
            if self._tail.is_gone():
                self._forget()
            for line in self._tail.new():
                if episode := transcripts.read_line(line):
                    self._take(episode)
        except (OSError, StoreError):
            self._tail, self._items, self._marks = known
        late, self._written_late = self._written_late, []
        if late:
            self._take_back(late, "pop")

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
                value = self.plain(episode)
                if value is None:
                    return
            self._items[seq] = Item(value, episode.call, seq=seq, json=readable(value))

    def _value(self, episode: Episode) -> JSON:
        """Return the value of a line of ours; raises ``ValueError`` if somebody changed it."""
        stored = episode.meta.get(self.key)
        if not isinstance(stored, dict) or self.episodes is None:
            raise ValueError(self.key)
        for number, each in enumerate(self._unwritten.lines):
            begun, ended = each.times
            is_it = each.line == (episode.role, episode.text, stored)
            if is_it and begun <= episode.ts <= ended:
                # It waited and is written now; the same words at another time are not it.
                del self._unwritten.lines[number]
                if each.is_taken:
                    self._written_late.append(episode.seq)
                break
        text = self.episodes.whole(episode)
        return as_value(stored, text, is_whole=episode.cut is None or len(text) == episode.cut)


def _holders(marks: Iterable[Episode]) -> dict[int, Episode]:
    """Return the event that excludes each line: the first one since it was last included."""
    holders: dict[int, Episode] = {}
    for event in marks:
        away, of = transcripts.read_mark(event)
        if away:
            for seq in of or ():
                holders.setdefault(seq, event)
        else:
            for seq in [*holders] if of is None else of:
                holders.pop(seq, None)
    return holders


# ---- a session ----

_MOST_ANSWERS: Final = 100
_LONGEST_TITLE: Final = 100
_Failure = (EngramdownError, OSError)
_LOCKS: Final[WeakKeyDictionary[Cortex, RLock]] = WeakKeyDictionary()


def lock_of(cortex: Cortex) -> RLock:
    """Return the lock to hold while calling ``cortex``."""
    with _GUARD:
        return _LOCKS.setdefault(cortex, RLock())


async def in_thread(cortex: Cortex, act: Callable[[], T]) -> T:
    """Call ``act`` in a thread, with the lock of ``cortex``, and return its result.

    A cancellation takes effect after that.
    """
    # Imported here: the callers have loaded it already.
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
        # Its own exception is dropped.
        running.exception()
        raise cancelled
    return running.result()


def memory_context(cortex: Cortex, asked: str, session: Session | None = None) -> str:
    """Return the memory context for a model, with a note about unreadable parts."""
    try:
        context = str(cortex.build_memory_context(asked, session, scratchpad=True))
        lost = [left_out(reason) for reason in cortex.scopes.unreadable()[:1]]
        return "\n\n".join(filter(None, [context, *lost]))
    except _Failure as error:
        return degraded(str(error))


def answer_call(
    cortex: Cortex, session: ExternalSession | None, name: str, arguments: object, call: str = ""
) -> Answer:
    """Answer a call of one of our tools, in the session if it has the same memory."""
    if session is None or session.cortex is not cortex:
        return cortex.use_tool(name, arguments)
    return session.use_tool(name, arguments, call)


def store_with_files(cortex: Cortex, scope: Scope, purpose: str) -> Hippocampus:
    """Return the store of a scope, if another program can read and write its files.

    Raises:
        StoreError: If it has none.
    """
    store = cortex.scopes.global_hc if scope == "global" else cortex.scopes.project_hc
    if not isinstance(store, Hippocampus):
        raise StoreError(f"{type(store).__name__}: has no files {purpose}")
    return store


def ask_user(cortex: Cortex, engram: Engram, op: Operation, of: str, code: str) -> Pending:
    """Return the proposal that asks the user to allow a change by a program.

    Args:
        cortex: In its mode autopilot nobody is prompted.
        engram: The memory to write.
        op: The change.
        of: The memory to change, or ``""``.
        code: The code of the reason for asking.
    """
    hold, day = code if cortex.mode == "autopilot" else "", today().isoformat()
    return Pending(new_id(), without_secrets(engram), hold=hold, reason=code, op=op, of=of, ts=day)


def title_of(name: str) -> str:
    """Return the title of a session whose name cannot be that of a file, else ``""``."""
    return "" if transcripts.is_session_id(name) else redact(name)[:_LONGEST_TITLE]


def check_budget(budget: int | None) -> int | None:
    """Return the limit for a history, in tokens, or ``None``.

    Raises:
        ValueError: If it is not above 0.
    """
    if budget is not None and budget <= 0:
        raise ValueError(f"budget is {budget}; give a number of tokens above 0, or None")
    return budget


class ExternalSession:
    """A conversation.

    Attributes:
        id: The id of its transcript.
        cortex: The memory.
        history: The values that the library keeps.
        runs: The number of its current runs, if the library reports them.
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
        """Prepare to begin or continue a conversation.

        Args:
            cortex: The memory.
            history: The values that the library keeps.
            parent: The session that started it.
            title: Its title.
            budget: The limit for its history in tokens, or ``None``: older lines are summarised
                when it comes close to that.

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
        """The session, which begins at the first access."""
        if self._session is None:
            self._session = self._begin()
        return self._session

    @property
    def in_turn(self) -> bool:
        """Whether a turn is running."""
        return self._session is not None and self._session.in_turn

    def add(self, line: Line, **said: Unpack[Said]) -> None:
        """Keep a value; ``said`` holds further fields of its line."""
        answer = self._answers.pop(line.call, None) if line.role == "tool_result" else None
        fields: Said = {"name": line.name, "call": line.call, "error": line.error}
        if answer is not None:
            fields |= {"error": line.error or answer.is_error, "recalled": answer.recalled}
        fields.update(said)
        write = partial(self.session.record, line.role, line.text, **fields)
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
            return  # Ticked and learned memories wait for the next turn.
        self.summarize()

    def context(self, asked: str) -> str:
        """Return the memory context for a model, the same throughout a turn.

        Args:
            asked: The question, if no turn runs: a run may continue without new words.
        """
        return self._context if self.in_turn else memory_context(self.cortex, asked, self.session)

    def use_tool(self, name: str, arguments: object, call: str) -> Answer:
        """Answer a call of one of our tools."""
        self.session.attend()
        answer = TOOLS[name](self.cortex, arguments, self.session)
        self._answers[call] = answer
        while len(self._answers) > _MOST_ANSWERS:  # Runs may end before their results are kept.
            self._answers.pop(next(iter(self._answers)))
        return answer

    def confirmations(self) -> list[Proposal]:
        """Return the proposals to ask the user about now; none during a turn.

        Raises:
            StoreError: If they cannot be read.
        """
        return self.session.confirmations()

    def end(self, reason: str) -> None:
        """End the transcript; using it again continues it."""
        self.end_turn()
        session, self._session = self._session, None
        if session is not None:
            session.end(reason)

    # ---- summaries ----

    def summaries(self) -> list[Summary]:
        """Return the summaries of its older part; none without a budget."""
        if self._budget is None:
            return []
        from engramdown.consolidation import format_summary
        from engramdown.conversation import ends

        try:
            track = self.cortex.conversations.get(self.id).track
            with track.guard:
                track.refresh()
                gists = track.fold.gists
                names = [each.source for each in track.items() if isinstance(each.source, str)]
                texts = {name: format_summary(gists[name], self.id) for name in names}
                return [Summary(*ends(gists, name), text) for name, text in texts.items()]
        except _Failure:
            return []

    def summarize(self) -> None:
        """Begin to summarise in the background if it is time; never raises."""
        wanted = self.cortex.mode != "off" and self.cortex.scopes.settings.conversation.automatic
        if self._budget is None or not wanted:
            return
        if self._compaction is None:
            from engramdown.conversation import CompactionBeside

            self._compaction = CompactionBeside(self.cortex.conversations, self.id)
        self._compaction.look(self._budget)
