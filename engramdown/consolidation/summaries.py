"""Summaries: when a conversation needs one, of which part, written by whom, and how it is shown.

Nothing is written here. What is summarised is contiguous, lies before the fresh tail, and parts no
tool call from its results. A model is asked twice at most and sees what was said as data, without
its secrets and no more than a bound; an empty text is a failure and one that is far too long is
cut, which it says of itself. After failures and after many calls the answer is to wait. A summary
is shown as XML that no text can break out of. A session card is what a model says of a whole
session: each text cut to its length, on one line but for the details.
"""

from __future__ import annotations

import re
import unicodedata
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import accumulate, pairwise, takewhile
from typing import TYPE_CHECKING, Final, NamedTuple
from xml.sax.saxutils import escape, quoteattr

from engramdown.consolidation.extractive import Part
from engramdown.consolidation.prompts import OURS, render
from engramdown.errors import EngramdownError, ModelError
from engramdown.language.untrusted import inert, one_line
from engramdown.models.ledger import ASKED, FREE, Call
from engramdown.secrets.redaction import redact
from engramdown.tokens import estimate_tokens
from engramdown.transcripts.summary_log import Form, Gist, Level, Source

if TYPE_CHECKING:
    from engramdown.consolidation.actions import Line
    from engramdown.models.port import LanguageModel

# The prompt for each form of summary.
PROMPTS: Final[Mapping[Form, str]] = {"leaf": "gist", "condensed": "gist", "handoff": "handoff"}
# The last line of a summary that was cut.
CUT: Final = "[cut here: expand it for the rest]"

# A text may be so much longer than was asked for.
_TOO_LONG: Final = 1.5
_LONGEST_PART: Final = 40_000
_PER_TOKEN: Final = 4
_REASONING: Final = re.compile(
    r"<(think|thinking|reasoning|reflection)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE
)


class Request(NamedTuple):
    """What is to be summarised.

    Attributes:
        form: What becomes of it.
        parts: What it is made from, in order.
        depth: How deep it will be.
        target: How many tokens it should have at most.
        previous: The summary of what came before, or ``""``.
        notes: What the assistant noted for itself, or ``""``.
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
        level: How it came about.
        model: Which model wrote it, or ``""``.
    """

    text: str
    level: Level
    model: str = ""


def write_summary(
    request: Request,
    model: LanguageModel,
    templates: Mapping[str, str] = OURS,
    count: Callable[[str], int] = estimate_tokens,
) -> Written:
    """Return a summary by a model. No lock may be held meanwhile.

    Args:
        request: What is to be summarised.
        model: The language model.
        templates: A scope's own prompts.
        count: Says what a text costs.

    Raises:
        ModelError: If the model gives no answer of the form, or an empty one.
        StoreError: If a scope's own prompt is broken.
    """
    most = request.target * _TOO_LONG
    tries: tuple[tuple[Level, bool], ...] = (("normal", False), ("aggressive", True))
    text = ""
    for level, brief in tries:
        text = _asked(request, model, templates, brief=brief)
        if count(text) <= most:
            return Written(text, level, model.name)
    return Written(cut_to(text, request.target, count), "cut", model.name)


def write_without_model(
    request: Request, count: Callable[[str], int] = estimate_tokens
) -> Written | None:
    """Return a summary of what rules find in a part of a conversation; ``None`` if they do not."""
    # Imported here: its patterns take long to compile, and few summaries are made so.
    from engramdown.consolidation.extractive import extract, hand_over

    write = hand_over if request.form == "handoff" else extract
    text = write(request.parts, request.target)
    return Written(cut_to(text, request.target, count), "extractive") if text else None


def cut_to(text: str, target: int, count: Callable[[str], int] = estimate_tokens) -> str:
    r"""Return as much of a text as costs ``target`` tokens, cut behind a line or a sentence.

    >>> print(cut_to("It works.\nIt is slow.\n" * 9, 20))
    It works.
    It is slow.
    It works.
    [cut here: expand it for the rest]
    """
    if count(text) <= target:
        return text
    room = max(target - count(CUT) - 1, 1)
    length = min(room * _PER_TOKEN, len(text))
    while length > 1 and count(text[:length]) > room:
        length = length * 3 // 4
    kept = text[:length]
    end = max(kept.rfind("\n"), kept.rfind(". ") + 1)
    kept = kept[:end] if end > length // 2 else kept
    return f"{kept.rstrip()}\n{CUT}"


def _asked(
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
        told = " ".join(f"{type(error).__name__}: {error}".split())
        raise ModelError(f"{model.name}: {told}") from error
    text = redact(_REASONING.sub("", answer.text)).strip()
    # Format characters, as of zero width, say nothing.
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
    told = {
        "id": gist.id,
        "kind": gist.form,
        "depth": gist.depth,
        "earliest_at": gist.earliest,
        "latest_at": gist.latest,
        "messages": gist.messages,
        "level": "" if gist.level == "normal" else gist.level,
    }
    said = " ".join(f"{name}={_value(value)}" for name, value in told.items() if value != "")
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
    # XML forbids two more characters, which are none.
    return inert(text).replace("\ufffe", "\ufffd").replace("\uffff", "\ufffd")


# ---- where a view may be cut ----


# So many of the newest messages are never summarised, and always shown.
FRESH_TAIL: Final = 20
# More than these are not, though a turn be longer.
MOST_FRESH: Final = 120


class Item(NamedTuple):
    """A message or a gist, as far as it matters for what becomes of it.

    Attributes:
        source: Which.
        tokens: What a model is shown of it costs.
        role: Of a message, as in its line; the form of a gist.
        name: The tool.
        call: What a tool call and its results have in common, or ``""``.
        depth: Of a gist; -1 for a message.
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
    """Return for the place of each result the place of its call; one that has none is left out.

    A result goes with the oldest open call of its id; one without an id, with the oldest open call
    without one of the same tool. Calls of the newest turn come first: what an earlier turn left
    open was interrupted. If none is open, it is a second result of the call answered last.

    >>> call, result = Item(1, 9, "tool_call", "sh", "c1"), Item(2, 9, "tool_result", "sh", "c1")
    >>> answers([call, result, Item(3, 9, "user"), result])
    {1: 0, 3: 0}
    """
    found: dict[int, int] = {}
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
            found[at] = call
    return found


def cuts(items: Sequence[Item]) -> list[bool]:
    """Return for each place whether a cut before it parts nothing; one place more than items.

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
        open: Those without a result, by turn.
        answered: The one that was answered last.
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
        count: How many messages it holds at least, if there are as many; it then reaches back to
            the beginning of the turn that it would cut.
        most: How many messages it reaches back to at most for the sake of a turn.

    >>> said = [Item("g1", 9, depth=0), *(Item(seq, 9, "user") for seq in range(5))]
    >>> fresh_tail(said), fresh_tail(said, 2)
    (1, 4)
    """
    free = cuts(items)
    messages = [at for at, item in enumerate(items) if item.is_message]
    users = [at for at in messages if items[at].role == "user"]
    kept = messages[-count:] if count > 0 else []
    least = min([*kept[:1], *users[-1:]], default=len(items))
    start = _back(free, max((at for at in users if at <= least and free[at]), default=least))
    if len(messages) > most and start < messages[-most]:
        # A turn is longer than what is always shown: only its end is.
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

# Fewer messages than this are no leaf, unless no more can be read with them.
LEAF_MESSAGES: Final = 10
# So many tokens a summary is made from at most, unless one tool call has more.
SOURCE_TOKENS: Final = 20_000
# So many gists of one depth are condensed at least; 2 when there is no room left.
FAN_IN: Final = 4
# A summary may always have so many tokens.
LEAST_TARGET: Final = 10

_LEAF_SHARE: Final = 3
_CONDENSED_SHARE: Final = 2
_HANDOFF: Final = 2_000
# One gist alone is not condensed.
_FEWEST: Final = 2


class Chunk(NamedTuple):
    """A part of the view.

    Attributes:
        start: Where it begins.
        end: Where it ends, exclusive.
        tokens: What it costs.
        target: What a summary of it should cost at most.
        depth: Of that summary.
    """

    start: int
    end: int
    tokens: int
    target: int
    depth: int


def leaf_chunks(
    items: Sequence[Item],
    end: int,
    least: int = LEAF_MESSAGES,
    most: int = SOURCE_TOKENS,
) -> list[Chunk]:
    """Return the runs of messages before ``end`` that become a leaf each.

    Args:
        items: The view.
        end: Where the fresh tail begins.
        least: How many messages a leaf has, unless the next ones are too long to be read with
            them; then they may be fewer, but for the last few of a conversation and for a trifle.
        most: How many tokens it is made from at most, unless one tool call has more.

    >>> found = leaf_chunks([Item(seq, 30, "user") for seq in range(12)], 11)
    >>> [(chunk.start, chunk.end, chunk.target) for chunk in found]
    [(0, 11, 110)]
    """
    free = cuts(items)
    found = []
    for start, stop in _runs(items[:end], messages=True):
        for first, last, tokens, is_full in _pieces(items, free, (start, stop), (least, most)):
            if last - first >= least or is_full:
                found.append(_chunk(first, last, tokens, _LEAF_SHARE, 0))
    return found


def condensed_chunks(
    items: Sequence[Item], end: int, fan_in: int = FAN_IN, most: int = SOURCE_TOKENS
) -> list[Chunk]:
    """Return the runs of gists of one depth before ``end`` that become a deeper one each.

    >>> gists = [Item(f"g{at}", 30, depth=0) for at in range(9)]
    >>> [(chunk.start, chunk.end, chunk.depth) for chunk in condensed_chunks(gists, 9)]
    [(0, 5, 1), (5, 9, 1)]
    """
    found = []
    for start, stop in _runs(items[:end], messages=False):
        for first, end_of in _shares(start, stop, max(fan_in, _FEWEST)):
            last = end_of
            tokens = sum(item.tokens for item in items[first:last])
            while tokens > most and last - first > _FEWEST:
                last -= 1
                tokens -= items[last].tokens
            found.append(_chunk(first, last, tokens, _CONDENSED_SHARE, items[first].depth + 1))
    return found


def handoff_chunk(items: Sequence[Item], end: int) -> Chunk | None:
    """Return all that stands before ``end``; ``None`` if that is nothing, or one handoff."""
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
    """Yield the pieces of a run that are read at once, their tokens, and whether no more fit."""
    least, most = size
    trifle = most // max(least, 1)
    # A run may begin and end within a tool call: what was cut off there stays where it is.
    places = [place for place in range(run[0], run[1] + 1) if free[place]]
    first, tokens = places[0] if places else 0, 0
    for start, stop in pairwise(places):
        cost = sum(item.tokens for item in items[start:stop])
        is_small = start - first < least and tokens < trifle
        # A trifle is read with what is too long anyway.
        if start > first and tokens + cost > most and not (is_small and cost > most):
            yield first, start, tokens, not is_small
            first, tokens = start, 0
        tokens += cost
    if len(places) > 1:
        yield first, places[-1], tokens, tokens >= most


def _shares(start: int, stop: int, fan_in: int) -> Iterator[tuple[int, int]]:
    """Yield the parts of a run of gists, about as long as each other."""
    count = (stop - start) // fan_in
    for nth in range(count):
        length, more = divmod(stop - start, count - nth)
        end = start + length + bool(more)
        yield start, end
        start = end


# ---- when it is time ----

# So many tokens a conversation may have, unless it is set.
MAX_TOKENS: Final = 80_000
# As a number of tokens: nothing is summarised unless somebody asks.
MANUAL: Final = -1

# So many calls in so many minutes, and the rest that follows; after so many failures, too.
_CALLS: Final = 24
_WINDOW: Final = timedelta(minutes=10)
_REST: Final = timedelta(minutes=30)
_BREAKS: Final = 5
# After the first failure so long, then twice as long each time.
_FIRST_PAUSE: Final = timedelta(minutes=1)


class Thresholds(NamedTuple):
    """What a conversation may grow to before it is summarised.

    Attributes:
        max_tokens: Tokens; 0 for :data:`MAX_TOKENS`, :data:`MANUAL` for no limit of either kind.
        share: Of a budget, if there is one, what may be filled; the lower of both counts.
        max_messages: Messages that no summary covers, the fresh tail included; 0 for any number.
        ceiling: How many times as much may not be passed, whatever fails.
    """

    max_tokens: int = MAX_TOKENS
    share: float = 0.75
    max_messages: int = 30
    ceiling: int = 2


class Pressure(NamedTuple):
    """How full a conversation is; true when it is time to summarise.

    Attributes:
        tokens: What the view costs.
        limit: What it may cost; :data:`MANUAL` for anything.
        messages: How many messages no summary covers.
        most: How many that may be; 0 for any number.
        due: Whether it is time to summarise.
        over: Whether it cannot wait: more than the ceiling.
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
    items: Sequence[Item], thresholds: Thresholds | None = None, budget: int | None = None
) -> Pressure:
    """Return how full a view is.

    Args:
        items: The view.
        thresholds: What it may grow to.
        budget: What a prompt may cost, in tokens, if that is known.

    Raises:
        ValueError: If a threshold makes no sense.

    >>> pressure([Item(1, 90_000, "user")]).reason
    '90,000 tokens are more than 80,000'
    >>> pressure([Item(1, 90_000, "user")], Thresholds(max_tokens=MANUAL)).due
    False
    """
    known = thresholds or Thresholds()
    for name, good, allowed in (
        ("max_tokens", known.max_tokens >= MANUAL, "-1 (manual only), 0 (the default), or more"),
        ("share", 0 < known.share <= 1, "more than 0 and at most 1"),
        ("max_messages", known.max_messages >= 0, "0 for any number, or more"),
        ("ceiling", known.ceiling >= 1, "1 or more"),
    ):
        if not good:
            raise ValueError(f"{name} is {getattr(known, name)!r}; allowed is {allowed}")
    tokens = sum(item.tokens for item in items)
    messages = sum(item.is_message for item in items)
    if known.max_tokens == MANUAL:
        return Pressure(tokens, MANUAL, messages, 0, due=False, over=False, reason="")
    limit = known.max_tokens or MAX_TOKENS
    if budget is not None:
        limit = min(limit, int(known.share * budget))
    many = bool(known.max_messages) and messages >= known.max_messages
    reason = f"{tokens:,} tokens are more than {limit:,}" if tokens > limit else ""
    if many and not reason:
        reason = f"{messages:,} messages are not summarised; {known.max_messages:,} are enough"
    over = tokens > known.ceiling * limit
    due = bool(reason)
    return Pressure(tokens, limit, messages, known.max_messages, due=due, over=over, reason=reason)


def rests_until(calls: Iterable[Call], now: str) -> str:
    """Return until when no model is asked of its own accord, or ``""``.

    Args:
        calls: What was asked for summaries so far, in order.
        now: This moment; like all moments UTC, ISO 8601.
    """
    asked = [call for call in calls if call.outcome not in FREE and call.ts <= now]
    # When calls were as many in a row as are allowed.
    spans = zip(asked, asked[_CALLS - 1 :], strict=False)
    ends = [_later(end.ts, _REST) for first, end in spans if end.ts < _later(first.ts, _WINDOW)]
    # The calls that failed since one gave something, newest first.
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

# So much of a session a model is shown: its beginning and its end.
MOST_CHARACTERS: Final = 40_000

_SAID: Final = 2_000
_TOOL: Final = 200
_SPOKEN: Final = frozenset({"user", "assistant"})
_SHOWN: Final = _SPOKEN | {"tool_call", "scratchpad"}


class Description(NamedTuple):
    """What a model said of a session; what it did not say is empty.

    Attributes:
        title: What to call it, at most 60 characters.
        one_liner: What it was about, at most 100.
        paragraph: The same in some more, at most 600.
        decisions: What was decided, at most 10 of 200.
        tags: A few words under which it is looked for, at most 7 of 30.
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
        lines: What may be shown of it, in order.
        model: The language model.
        templates: A scope's own prompts.

    Raises:
        ModelError: If the model gives no answer of the form.
        StoreError: If a scope's own prompt is broken.
    """
    from engramdown.consolidation.forms import Card

    prompt = render("card", templates, lines=lines_to_show(lines))
    said = model.ask(Card, prompt.system, prompt.user)
    tags = (_kept(each, 30) for each in said.tags)
    return Description(
        _kept(said.title, 60),
        _kept(said.one_liner, 100),
        _kept(said.paragraph, 600),
        tuple(filter(None, (_kept(each, 200) for each in said.decisions)))[:10],
        tuple(dict.fromkeys(filter(None, tags)))[:7],
        _kept_lines(said.detailed, 4_000),
    )


def lines_to_show(lines: Iterable[Line], most: int = MOST_CHARACTERS) -> list[Shown]:
    """Return the lines that a model is shown: those of the beginning and of the end that fit.

    Args:
        lines: What may be shown, in order.
        most: How many characters they may have together.
    """
    shown = [
        # Hidden before it is cut: half a secret is not seen to be one.
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


def _kept(text: str, limit: int) -> str:
    """Return a model's words in one line without a secret, cut between words."""
    flat = " ".join(one_line(redact(text)).split())
    if len(flat) <= limit:
        return flat
    return (flat[: limit - 1].rpartition(" ")[0] or flat[: limit - 1]) + "…"


def _kept_lines(text: str, limit: int) -> str:
    """Return a model's words line by line, without a secret, as many lines as fit."""
    found: list[str] = []
    # Hidden as a whole: a secret may go on in the next line.
    for line in redact(text).strip().split("\n"):
        kept = _kept(line, limit)
        limit -= len(kept) + 1
        if limit < 0:
            break
        found.append(kept)
    return "\n".join(found).strip()
