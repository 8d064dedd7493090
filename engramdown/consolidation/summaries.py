"""Summaries: when a conversation needs one, of which part, who writes it, and how it is shown.

Nothing is written here. A summarised part is contiguous, lies before the fresh tail, and separates
no tool call from its results. A model is asked twice at most; it sees the messages as data, without
their secrets, up to a limit. An empty summary is a failure, and one that is far too long is cut and
says so. After failures and after many calls the answer is to wait. A summary is shown as XML that
no text can break out of. A session card is a model's description of a whole session, with each text
cut to its length.
"""

from __future__ import annotations

import re
import unicodedata
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import accumulate, pairwise, takewhile
from typing import TYPE_CHECKING, Final, NamedTuple
from xml.sax.saxutils import escape, quoteattr

from engramdown.consolidation.prompts import OURS, render
from engramdown.errors import EngramdownError, ModelError
from engramdown.language.untrusted import inert, one_line
from engramdown.models.ledger import ASKED, FREE, Call
from engramdown.secrets.redaction import redact
from engramdown.settings import ConversationSettings
from engramdown.tokens import estimate_tokens
from engramdown.transcripts.summary_log import Form, Gist, Level, Source

if TYPE_CHECKING:
    from engramdown.consolidation.actions import Line
    from engramdown.consolidation.extractive import Part
    from engramdown.models.port import LanguageModel

# The prompt for each form of summary.
PROMPTS: Final[Mapping[Form, str]] = {"leaf": "gist", "condensed": "gist", "handoff": "handoff"}
# The last line of a summary that was cut.
CUT: Final = "[cut here: expand it for the rest]"

# A summary may be this many times longer than asked for.
_TOO_LONG: Final = 1.5
_LONGEST_PART: Final = 40_000
_PER_TOKEN: Final = 4
_REASONING: Final = re.compile(
    r"<(think|thinking|reasoning|reflection)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE
)


class Request(NamedTuple):
    """A request for one summary.

    Attributes:
        form: The form of the summary.
        parts: What it summarises, in order.
        depth: The depth of the summary.
        target: How many tokens it should have at most.
        previous: The summary of what came before, or ``""``.
        notes: The assistant's notes for itself, or ``""``.
    """

    form: Form
    parts: tuple[Part, ...]
    depth: int
    target: int
    previous: str = ""
    notes: str = ""


class Written(NamedTuple):
    """A summary.

    Attributes:
        text: The text.
        level: How it was written.
        model: The model that wrote it, or ``""``.
    """

    text: str
    level: Level
    model: str = ""


def write_summary(
    request: Request, model: LanguageModel, templates: Mapping[str, str] = OURS
) -> Written:
    """Let a model write a summary. No lock may be held meanwhile.

    Args:
        request: What to summarise.
        model: The language model.
        templates: A scope's own prompts.

    Raises:
        ModelError: If the answer of the model is empty or has another form.
        StoreError: If a scope's own prompt is broken.
    """
    most = request.target * _TOO_LONG
    tries: tuple[tuple[Level, bool], ...] = (("normal", False), ("aggressive", True))
    text = ""
    for level, brief in tries:
        text = _ask(request, model, templates, brief=brief)
        if estimate_tokens(text) <= most:
            return Written(text, level, model.name)
    return Written(cut_to(text, request.target), "cut", model.name)


def write_without_model(request: Request) -> Written | None:
    """Return a summary written by rules, or ``None`` if they find nothing to say."""
    # Imported here: its patterns take long to compile, and few summaries need them.
    from engramdown.consolidation.extractive import extract, hand_over

    write = hand_over if request.form == "handoff" else extract
    text = write(request.parts, request.target)
    return Written(cut_to(text, request.target), "extractive") if text else None


def cut_to(text: str, target: int) -> str:
    r"""Return as much of a text as ``target`` tokens allow, cut after a line or a sentence.

    >>> print(cut_to("It works.\nIt is slow.\n" * 9, 20))
    It works.
    It is slow.
    It works.
    [cut here: expand it for the rest]
    """
    if estimate_tokens(text) <= target:
        return text
    room = max(target - estimate_tokens(CUT) - 1, 1)
    length = min(room * _PER_TOKEN, len(text))
    while length > 1 and estimate_tokens(text[:length]) > room:
        length = length * 3 // 4
    beginning = text[:length]
    end = max(beginning.rfind("\n"), beginning.rfind(". ") + 1)
    beginning = beginning[:end] if end > length // 2 else beginning
    return f"{beginning.rstrip()}\n{CUT}"


def _ask(
    request: Request, model: LanguageModel, templates: Mapping[str, str], *, brief: bool
) -> str:
    from engramdown.consolidation.forms import Summary

    half = _LONGEST_PART // 2
    shown = []
    for part in request.parts:
        text = redact(part.text)
        cut = text if len(text) <= _LONGEST_PART else f"{text[:half]} […] {text[-half:]}"
        shown.append(part._replace(text=cut))
    prompt = render(
        PROMPTS[request.form],
        templates,
        parts=shown,
        previous=redact(request.previous),
        notes=redact(request.notes),
        depth=request.depth,
        target=request.target,
        brief=brief,
    )
    try:
        answer = model.ask(Summary, prompt.system, prompt.user)
    except EngramdownError:
        raise
    except Exception as error:  # a model of the caller's raises whatever its client does
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise ModelError(f"{model.name}: {reason}") from error
    text = redact(_REASONING.sub("", answer.text)).strip()
    # Format characters, such as those of zero width, say nothing.
    if all(char.isspace() or unicodedata.category(char) in ("Cf", "Cc") for char in text):
        raise ModelError(f"{model.name}: gave an empty summary", "malformed")
    left_out = " ".join(redact(answer.left_out).split())
    return f"{text}\nExpand for: {left_out}" if left_out else text


# ---- as XML ----


def format_summary(gist: Gist, session: str) -> str:
    """Return a gist of a session as XML.

    Args:
        gist: The gist.
        session: The id of the session; its messages are named ``<session>#<number>``.

    >>> said = Gist("g1", "", "leaf", 0, (1, 2), "a </content> & b", 4, messages=2)
    >>> print(format_summary(said, "s"))
    <summary id="g1" kind="leaf" depth="0" messages="2" status="historical" trust="untrusted">
    <sources><messages from="s#1" to="s#2"/></sources>
    <content>
    a &lt;/content&gt; &amp; b
    </content>
    </summary>
    """
    attributes = {
        "id": gist.id,
        "kind": gist.form,
        "depth": gist.depth,
        "earliest_at": gist.earliest,
        "latest_at": gist.latest,
        "messages": gist.messages,
        "level": "" if gist.level == "normal" else gist.level,
    }
    said = " ".join(f"{name}={_value(value)}" for name, value in attributes.items() if value != "")
    sources = ""
    for run in gist.runs:
        if isinstance(run, str):
            sources += f"<summary id={_value(run)}/>"
        else:
            first, last = (_value(f"{session}#{seq}") for seq in run)
            sources += f"<messages from={first} to={last}/>"
    text = escape(_legal(gist.text).strip())
    return (
        f'<summary {said} status="historical" trust="untrusted">\n<sources>{sources}</sources>\n'
        f"<content>\n{text}\n</content>\n</summary>"
    )


def _value(value: object) -> str:
    return quoteattr(_legal(str(value)).replace('"', "'"))


def _legal(text: str) -> str:
    # XML forbids two more code points, which are not characters.
    return inert(text).replace("\ufffe", "\ufffd").replace("\uffff", "\ufffd")


# ---- where a view may be cut ----


# How many of the newest messages are never summarised, and always shown.
FRESH_TAIL: Final = 20
# How many of them there are at most, however long a turn is.
MOST_FRESH: Final = 120


class Item(NamedTuple):
    """A message or a gist, with what decides whether it is summarised or shown.

    Attributes:
        source: The number of the message, or the id of the gist.
        tokens: What it costs to show it to a model.
        role: The role of a message, as in its line; the form of a gist.
        name: The tool.
        call: The id that a tool call shares with its results, or ``""``.
        depth: The depth of a gist; -1 for a message.
    """

    source: Source
    tokens: int
    role: str = ""
    name: str = ""
    call: str = ""
    depth: int = -1

    @property
    def is_message(self) -> bool:
        """Whether it is a message, not a gist."""
        return self.depth < 0


def answers(items: Sequence[Item]) -> dict[int, int]:
    """Return the place of the call of each result, by the place of the result.

    A result belongs to the oldest open call of its id; without an id, to the oldest open call of
    the same tool that has none either. Calls of the newest turn come first, as those that an
    earlier turn left open were interrupted. If no call is open, the result is a second one of the
    call that was answered last. A result without a call is left out.

    >>> call, result = Item(1, 9, "tool_call", "sh", "c1"), Item(2, 9, "tool_result", "sh", "c1")
    >>> answers([call, result, Item(3, 9, "user"), result])
    {1: 0, 3: 0}
    """
    calls_of: dict[int, int] = {}
    calls: dict[tuple[str, str], _Calls] = {}
    turn = 0
    for at, item in enumerate(items):
        turn += item.role == "user"
        if item.role not in ("tool_call", "tool_result"):
            continue
        mine = calls.setdefault((item.call, "" if item.call else item.name), _Calls())
        if item.role == "tool_call":
            mine.begin(at, turn)
        elif (call := mine.answer()) is not None:
            calls_of[at] = call
    return calls_of


def cuts(items: Sequence[Item]) -> list[bool]:
    """Return for each place whether the items may be cut before it; one place more than items.

    A cut must not separate a call from its results.

    >>> call, result = Item(1, 9, "tool_call", "sh", "c1"), Item(2, 9, "tool_result", "sh", "c1")
    >>> cuts([call, result, Item(3, 9, "user")])
    [True, False, True, True]
    """
    free = [True] * (len(items) + 1)
    reach = [0] * len(items)
    for result, call in answers(items).items():
        reach[call] = result
    last = 0
    for at, end in enumerate(reach):
        free[at] = not at or at > last
        last = max(last, end)
    return free


class _Calls:
    """The calls that a result may belong to.

    Attributes:
        open: The calls without a result, by turn.
        answered: The call that was answered last.
    """

    def __init__(self) -> None:
        self.open: list[tuple[int, deque[int]]] = []
        self.answered: int | None = None

    def begin(self, at: int, turn: int) -> None:
        """Note a call."""
        if not self.open or self.open[-1][0] < turn:
            self.open.append((turn, deque()))
        self.open[-1][1].append(at)

    def answer(self) -> int | None:
        """Return the call that the next result belongs to."""
        if self.open:
            _, newest = self.open[-1]
            self.answered = newest.popleft()
            if not newest:
                self.open.pop()
        return self.answered


def fresh_tail(items: Sequence[Item], count: int = FRESH_TAIL, most: int = MOST_FRESH) -> int:
    """Return where the tail begins that is never summarised.

    Args:
        items: The view.
        count: How many messages it holds at least, if there are as many. It reaches further back to
            the beginning of a turn that it would cut.
        most: How many messages it holds at most to keep a turn whole.

    >>> said = [Item("g1", 9, depth=0), *(Item(seq, 9, "user") for seq in range(5))]
    >>> fresh_tail(said), fresh_tail(said, 2)
    (1, 4)
    """
    free = cuts(items)
    messages = [at for at, item in enumerate(items) if item.is_message]
    users = [at for at in messages if items[at].role == "user"]
    newest = messages[-count:] if count > 0 else []
    least = min([*newest[:1], *users[-1:]], default=len(items))
    start = _back(free, max((at for at in users if at <= least and free[at]), default=least))
    if len(messages) > most and start < messages[-most]:
        # The turn is longer than what is always shown: only its end is shown.
        start = _back(free, min(_on(free, messages[-most]), least))
    return start


def _back(free: Sequence[bool], at: int) -> int:
    """Return the last place up to ``at`` that may be cut."""
    while not free[at]:
        at -= 1
    return at


def _on(free: Sequence[bool], at: int) -> int:
    """Return the first place from ``at`` on that may be cut."""
    while not free[at]:
        at += 1
    return at


# ---- which part comes next ----

# How many messages a leaf covers at least, unless no more can be read with them.
LEAF_MESSAGES: Final = 10
# How many tokens a summary covers at most, unless a single tool call has more.
SOURCE_TOKENS: Final = 20_000
# How many gists of one depth are condensed at least; 2 when there is no room left.
FAN_IN: Final = 4
# How many tokens every summary may have.
LEAST_TARGET: Final = 10

_LEAF_SHARE: Final = 3
_CONDENSED_SHARE: Final = 2
_HANDOFF: Final = 2_000
# How many gists can be condensed: not one alone.
_FEWEST: Final = 2


class Chunk(NamedTuple):
    """A part of the view.

    Attributes:
        start: Where it begins.
        end: Where it ends, exclusive.
        tokens: What it costs.
        target: What a summary of it should cost at most.
        depth: The depth of that summary.
    """

    start: int
    end: int
    tokens: int
    target: int
    depth: int


def leaf_chunks(
    items: Sequence[Item], end: int, least: int = LEAF_MESSAGES, most: int = SOURCE_TOKENS
) -> list[Chunk]:
    """Return the runs of messages before ``end`` that become a leaf each.

    Args:
        items: The view.
        end: Where the fresh tail begins.
        least: How many messages a leaf covers. It may cover fewer if the next ones are too long to
            be read with them; the last few of a conversation, and short ones, have to wait.
        most: How many tokens a leaf covers at most, unless a single tool call has more.

    >>> found = leaf_chunks([Item(seq, 30, "user") for seq in range(12)], 11)
    >>> [(chunk.start, chunk.end, chunk.target) for chunk in found]
    [(0, 11, 110)]
    """
    free = cuts(items)
    chunks = []
    for start, stop in _runs(items[:end], messages=True):
        for first, last, tokens, is_full in _pieces(items, free, (start, stop), (least, most)):
            if last - first >= least or is_full:
                chunks.append(_chunk(first, last, tokens, _LEAF_SHARE, 0))
    return chunks


def condensed_chunks(
    items: Sequence[Item], end: int, fan_in: int = FAN_IN, most: int = SOURCE_TOKENS
) -> list[Chunk]:
    """Return the runs of gists of one depth before ``end`` that become a deeper one each.

    >>> gists = [Item(f"g{at}", 30, depth=0) for at in range(9)]
    >>> [(chunk.start, chunk.end, chunk.depth) for chunk in condensed_chunks(gists, 9)]
    [(0, 5, 1), (5, 9, 1)]
    """
    chunks = []
    for start, stop in _runs(items[:end], messages=False):
        for first, end_of in _shares(start, stop, max(fan_in, _FEWEST)):
            last = end_of
            tokens = sum(item.tokens for item in items[first:last])
            while tokens > most and last - first > _FEWEST:
                last -= 1
                tokens -= items[last].tokens
            chunks.append(_chunk(first, last, tokens, _CONDENSED_SHARE, items[first].depth + 1))
    return chunks


def handoff_chunk(items: Sequence[Item], end: int) -> Chunk | None:
    """Return everything before ``end``, or ``None`` if that is nothing or a single handoff."""
    before = items[:end]
    if not before or (len(before) == 1 and before[0].role == "handoff"):
        return None
    tokens = sum(item.tokens for item in before)
    depth = max(item.depth for item in before) + 1
    return Chunk(0, end, tokens, min(_HANDOFF, max(tokens, LEAST_TARGET)), depth)


def _chunk(first: int, last: int, tokens: int, share: int, depth: int) -> Chunk:
    return Chunk(first, last, tokens, max(tokens // share, LEAST_TARGET), depth)


def _runs(items: Sequence[Item], *, messages: bool) -> Iterator[tuple[int, int]]:
    """Yield where runs of messages, or of gists of one depth, begin and end."""
    start = 0
    for at in range(1, len(items) + 1):
        if at < len(items) and items[at].depth == items[start].depth:
            continue
        if items[start].is_message == messages:
            yield start, at
        start = at


def _pieces(
    items: Sequence[Item], free: Sequence[bool], run: tuple[int, int], size: tuple[int, int]
) -> Iterator[tuple[int, int, int, bool]]:
    """Yield the pieces of a run to read at once, their tokens, and whether each one is full."""
    least, most = size
    trifle = most // max(least, 1)
    # A run may begin and end within a tool call: what is cut off there stays in the view.
    places = [place for place in range(run[0], run[1] + 1) if free[place]]
    first, tokens = places[0] if places else 0, 0
    for start, stop in pairwise(places):
        cost = sum(item.tokens for item in items[start:stop])
        is_small = start - first < least and tokens < trifle
        # A few short messages are read together with one that is too long anyway.
        if start > first and tokens + cost > most and not (is_small and cost > most):
            yield first, start, tokens, not is_small
            first, tokens = start, 0
        tokens += cost
    if len(places) > 1:
        yield first, places[-1], tokens, tokens >= most


def _shares(start: int, stop: int, fan_in: int) -> Iterator[tuple[int, int]]:
    """Yield the parts of a run of gists, of about the same length."""
    count = (stop - start) // fan_in
    for nth in range(count):
        length, more = divmod(stop - start, count - nth)
        end = start + length + bool(more)
        yield start, end
        start = end


# ---- when it is time ----

# How many tokens a conversation may have where the setting is 0.
MAX_TOKENS: Final = 80_000
# As a number of tokens: nothing is summarised unless somebody asks.
MANUAL: Final = -1

# A conversation of this many times the limit cannot wait, whatever fails.
_CEILING: Final = 2
# So many calls within so many minutes cause a rest, and so do so many failures.
_CALLS: Final = 24
_WINDOW: Final = timedelta(minutes=10)
_REST: Final = timedelta(minutes=30)
_BREAKS: Final = 5
# The pause after the first failure; it doubles each time.
_FIRST_PAUSE: Final = timedelta(minutes=1)


class Pressure(NamedTuple):
    """How full a conversation is; true when it is time to summarise.

    Attributes:
        tokens: What the view costs.
        limit: What it may cost; :data:`MANUAL` for any cost.
        messages: How many messages no summary covers.
        most: How many such messages there may be; 0 for any number.
        due: Whether it is time to summarise.
        over: Whether it cannot wait, because the view is far over the limit.
        reason: Why it is due, or ``""``.
    """

    tokens: int
    limit: int
    messages: int
    most: int
    due: bool
    over: bool
    reason: str

    def __bool__(self) -> bool:
        """Whether it is time to summarise."""
        return self.due


def pressure(
    items: Sequence[Item], settings: ConversationSettings, budget: int | None = None
) -> Pressure:
    """Return how full a view is.

    Args:
        items: The view.
        settings: What it may grow to.
        budget: What a prompt may cost, in tokens, if that is known.

    >>> pressure([Item(1, 90_000, "user")], ConversationSettings()).reason
    '90,000 tokens are more than 80,000'
    >>> pressure([Item(1, 90_000, "user")], ConversationSettings(max_tokens=MANUAL)).due
    False
    """
    tokens = sum(item.tokens for item in items)
    messages = sum(item.is_message for item in items)
    if settings.max_tokens == MANUAL:
        return Pressure(tokens, MANUAL, messages, 0, due=False, over=False, reason="")
    limit, most = settings.max_tokens or MAX_TOKENS, settings.max_messages
    if budget is not None:
        limit = min(limit, int(settings.share * budget))
    reason = ""
    if tokens > limit:
        reason = f"{tokens:,} tokens are more than {limit:,}"
    elif most and messages >= most:
        reason = f"{messages:,} messages are not summarised; {most:,} are enough"
    over = tokens > _CEILING * limit
    return Pressure(tokens, limit, messages, most, due=bool(reason), over=over, reason=reason)


def rests_until(calls: Iterable[Call], now: str) -> str:
    """Return until when no model is asked for a summary that nobody requested, or ``""``.

    Args:
        calls: The calls for summaries so far, in order.
        now: The time, like all times in UTC, ISO 8601.
    """
    asked = [call for call in calls if call.outcome not in FREE and call.ts <= now]
    # Rests that follow a full window of calls.
    spans = zip(asked, asked[_CALLS - 1 :], strict=False)
    ends = [_later(end.ts, _REST) for first, end in spans if end.ts < _later(first.ts, _WINDOW)]
    # The calls that failed since the last success, newest first.
    ended = (call for call in reversed(asked) if call.outcome != ASKED)
    failed = list(takewhile(lambda call: call.outcome != "ok", ended))
    if failed:
        pause = _REST if len(failed) >= _BREAKS else _FIRST_PAUSE * 2 ** (len(failed) - 1)
        ends.append(_later(failed[0].ts, pause))
    last = max(ends, default="")
    return last if last > now else ""


def _later(moment: str, by: timedelta) -> str:
    later = datetime.fromisoformat(moment.removesuffix("Z")).replace(tzinfo=UTC) + by
    return later.isoformat(timespec="microseconds").replace("+00:00", "Z")


# ---- session cards ----

# How many characters of a session a model is shown: its beginning and its end.
MOST_CHARACTERS: Final = 40_000

_SAID: Final = 2_000
_TOOL: Final = 200
_SPOKEN: Final = frozenset({"user", "assistant"})
_SHOWN: Final = _SPOKEN | {"tool_call", "scratchpad"}


class Description(NamedTuple):
    """A model's description of a session; a part that it left out is empty.

    Attributes:
        title: A title of at most 60 characters.
        one_liner: What the session was about, in at most 100 characters.
        paragraph: The same in at most 600.
        decisions: What was decided, at most 10 texts of 200.
        tags: Words to find it by, at most 7 of 30.
        detailed: What happened, in some paragraphs, at most 4,000.
    """

    title: str = ""
    one_liner: str = ""
    paragraph: str = ""
    decisions: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    detailed: str = ""


class Shown(NamedTuple):
    """A line as a prompt shows it."""

    role: str
    name: str
    text: str


def describe(
    lines: Iterable[Line], model: LanguageModel, templates: Mapping[str, str] = OURS
) -> Description:
    """Ask ``model`` what a session was about. No lock may be held meanwhile.

    Args:
        lines: The lines that may be shown, in order.
        model: The language model.
        templates: A scope's own prompts.

    Raises:
        ModelError: If the model's answer has another form.
        StoreError: If a scope's own prompt is broken.
    """
    from engramdown.consolidation.forms import Card

    prompt = render("card", templates, lines=lines_to_show(lines))
    said = model.ask(Card, prompt.system, prompt.user)
    tags = (_clip(each, 30) for each in said.tags)
    return Description(
        _clip(said.title, 60),
        _clip(said.one_liner, 100),
        _clip(said.paragraph, 600),
        tuple(filter(None, (_clip(each, 200) for each in said.decisions)))[:10],
        tuple(dict.fromkeys(filter(None, tags)))[:7],
        _clip_lines(said.detailed, 4_000),
    )


def lines_to_show(lines: Iterable[Line], most: int = MOST_CHARACTERS) -> list[Shown]:
    """Return the lines that a model is shown: as many of the beginning and of the end as fit.

    Args:
        lines: The lines that may be shown, in order.
        most: How many characters they may have together.
    """
    shown = [
        # Redacted before it is cut: half a secret would not be recognised.
        Shown(
            line.role,
            redact(line.name)[:_TOOL],
            redact(line.text)[: _SAID if line.role in _SPOKEN else _TOOL],
        )
        for line in lines
        if line.role in _SHOWN and line.text.strip()
    ]
    begin = _fitting(shown, most // 2)
    rest = shown[begin:]
    end = _fitting(rest[::-1], most - sum(len(line.text) for line in shown[:begin]))
    return [*shown[:begin], *rest[len(rest) - end :]]


def _fitting(lines: Sequence[Shown], room: int) -> int:
    """Return how many of the first lines fit."""
    sizes = accumulate(len(line.text) for line in lines)
    return sum(size <= room for size in sizes)


def _clip(text: str, limit: int) -> str:
    """Return a model's text in one line, without secrets, cut between words."""
    flat = one_line(redact(text))
    if len(flat) <= limit:
        return flat
    return (flat[: limit - 1].rpartition(" ")[0] or flat[: limit - 1]) + "…"


def _clip_lines(text: str, limit: int) -> str:
    """Return as many lines of a model's text as fit, without secrets."""
    lines: list[str] = []
    # Redacted as a whole: a secret may continue in the next line.
    for line in redact(text).strip().split("\n"):
        clipped = _clip(line, limit)
        limit -= len(clipped) + 1
        if limit < 0:
            break
        lines.append(clipped)
    return "\n".join(lines).strip()
