"""Which tools a session called with which results, and the steps in which its assistant went on.

The same lines give the same calls and steps, and nothing of this is stored. An answer follows its
call and answers no other. A line that was excluded or redacted leaves nothing, and moves no
call into another step.

A step is what an assistant said, with the calls up to its next line or the user's; calls right
behind a user's line are a step of their own.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from engramdown.transcripts.episode import Episode, Pointer
from engramdown.transcripts.visibility import visible

# So many calls are returned at once.
MOST: Final = 1_000

_SECOND_MS: Final = 1_000

_SPOKEN: Final = frozenset({"user", "assistant"})
_STEP: Final = frozenset({"assistant", "tool_call"})
# What providers call them.
_IN: Final = ("input_tokens", "prompt_tokens")
_OUT: Final = ("output_tokens", "completion_tokens")
_REASONS: Final = ("break_reason", "stop_reason", "finish_reason")

# A line, and the result that answers it.
_Answered = tuple[Episode, Episode | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A call of a tool.

    Attributes:
        pointer: Where it is.
        name: The tool.
        arguments: What it was given, as its line shows it.
        result: What it gave back, as its line shows it; ``None`` if that has not come, or was
            taken back.
        answer: Where the result stands, or ``None``.
        error: ``True`` or a reason, if it failed.
        started: When it was called, as in a line.
        ended: When the result came, or ``""``.
        ms: How long it took: what the result says, or else the time between the two lines.
        turn: The turn in which it was called, if a line says so.
    """

    pointer: Pointer
    name: str
    arguments: str
    result: str | None
    answer: Pointer | None
    error: bool | str
    started: str
    ended: str
    ms: float | None
    turn: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Iteration:
    """A step of an assistant.

    Attributes:
        index: Its number in the session, from 0.
        pointer: Where its first line stands.
        model: The model that spoke, or ``""``.
        turn: The turn, if a line says so.
        calls: The tools that it called.
        started: When its first line was recorded.
        ms: How long it was from there to the last call or result; without calls what the
            assistant's line says.
        tokens_in: What the model read, if ``usage`` in ``meta`` says so.
        tokens_out: What it wrote.
        reason: Why it ended, as ``meta`` says or the end of the session, or ``""``.
        tools_offered: The names of the tools that the model could call, if ``tools_offered`` in
            ``meta`` says so.
    """

    index: int
    pointer: Pointer
    model: str
    turn: int | None
    calls: tuple[ToolCall, ...]
    started: str
    ms: float | None
    tokens_in: int | None
    tokens_out: int | None
    reason: str
    tools_offered: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSum:
    """The calls of one tool.

    Attributes:
        name: The tool.
        calls: How many there were.
        failed: How many of them failed.
        mean_ms: How long one took, on average of those of which it is known.
        total_ms: How long they took together.
        longest_ms: How long the longest took.
        errors: How often they failed with which reason, the most frequent first; ``""`` where none
            was given.
        sessions: In how many sessions it was called.
        first: When it was called first, as in a line.
        last: When it was called last.
    """

    name: str
    calls: int
    failed: int
    mean_ms: float | None
    total_ms: float = 0.0
    longest_ms: float | None = None
    errors: Mapping[str, int] = field(default_factory=dict)
    sessions: int = 1
    first: str = ""
    last: str = ""

    @property
    def error_rate(self) -> float:
        """Which share of the calls failed, from 0 to 1."""
        return self.failed / self.calls


def took(milliseconds: float) -> str:
    """Return a duration in the unit that a person would use.

    >>> took(812), took(1250)
    ('812 ms', '1.25 s')
    """
    is_short = milliseconds < _SECOND_MS
    return f"{milliseconds:.0f} ms" if is_short else f"{milliseconds / _SECOND_MS:.2f} s"


def find_tool_calls(session: str, episodes: Iterable[Episode]) -> list[ToolCall]:
    """Return the calls among the lines of ``session``, in order.

    A result that answers no call is left out; :func:`paired` says which answers which.
    """
    return [call for lines, _ in _steps(episodes) for call in _calls(session, lines)]


def iterations(session: str, episodes: Iterable[Episode]) -> list[Iteration]:
    """Return the steps among the lines of ``session``, in order."""
    found = []
    for index, (lines, reason) in enumerate(_steps(episodes)):
        said = [episode for episode, _ in lines]
        answers = [answer for _, answer in lines if answer is not None]
        last = max((*said, *answers), key=lambda each: each.ts)
        calls = tuple(_calls(session, lines))
        reasons = (_text(each.meta, _REASONS) for each in said)
        step = Iteration(
            index=index,
            pointer=Pointer(session, said[0].seq),
            model=next((each.model for each in said if each.model), ""),
            turn=next((each.turn for each in said if each.turn is not None), None),
            calls=calls,
            started=said[0].ts,
            ms=_between(said[0], last) if calls else said[0].ms,
            tokens_in=_tokens(said, _IN),
            tokens_out=_tokens(said, _OUT),
            reason=next(filter(None, reasons), reason),
            tools_offered=next(filter(None, (_offered(each.meta) for each in said)), ()),
        )
        found.append(step)
    return found


def newest(calls: Sequence[ToolCall], name: str = "", limit: int = 100) -> list[ToolCall]:
    """Return the last ``limit`` calls, of the tool ``name`` if given; :data:`MOST` at most."""
    found = [call for call in calls if name in ("", call.name)]
    return found[max(len(found) - min(max(limit, 0), MOST), 0) :]


def sums(calls: Iterable[ToolCall]) -> list[ToolSum]:
    """Return the sums of ``calls`` for each tool, the one that was called most first."""
    of: dict[str, list[ToolCall]] = {}
    for call in calls:
        of.setdefault(call.name, []).append(call)
    found = [
        ToolSum(
            name=name,
            calls=len(each),
            failed=sum(bool(call.error) for call in each),
            mean_ms=sum(times) / len(times) if times else None,
            total_ms=sum(times),
            longest_ms=max(times, default=None),
            errors=dict(sorted(reasons.items(), key=lambda pair: (-pair[1], pair[0]))),
            sessions=len({call.pointer.session for call in each}),
            first=min(call.started for call in each),
            last=max(call.started for call in each),
        )
        for name, each in of.items()
        for times in [[call.ms for call in each if call.ms is not None]]
        for reasons in [Counter("" if c.error is True else str(c.error) for c in each if c.error)]
    ]
    return sorted(found, key=lambda each: (-each.calls, each.name))


# The lines of a step that may be shown, and why it ended.
_Step = tuple[list[_Answered], str]


def _steps(episodes: Iterable[Episode]) -> list[_Step]:
    """Return the steps; lines that may not be shown still answer, and still part two steps."""
    found = list(episodes)
    shown = {id(each) for each in visible(found)}
    steps: list[_Step] = []
    lines: list[_Answered] = []
    for episode, answer in paired(found):
        if episode.role in _SPOKEN or episode.event == "end":
            steps.append((lines, _text(episode.more, ("reason",)) if episode.event else ""))
            lines = []
        if episode.role in _STEP and id(episode) in shown:
            lines.append((episode, answer if id(answer) in shown else None))
    return [step for step in (*steps, (lines, "")) if step[0]]


def _calls(session: str, lines: Iterable[_Answered]) -> Iterator[ToolCall]:
    for call, answer in lines:
        if call.role == "tool_call":
            ms = None if answer is None else answer.ms
            if answer is not None and ms is None:
                # A clock that was put right in between took no time away.
                ms = max(_between(call, answer), 0.0)
            yield ToolCall(
                pointer=Pointer(session, call.seq),
                name=call.name,
                arguments=call.text,
                result=None if answer is None else answer.text,
                answer=None if answer is None else Pointer(session, answer.seq),
                error=(answer or call).error,
                started=call.ts,
                ended="" if answer is None else answer.ts,
                ms=ms,
                turn=call.turn,
            )


def _between(first: Episode, last: Episode) -> float:
    return (last.at - first.at).total_seconds() * 1_000


def _offered(meta: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names of the tools that were offered, as names or as definitions."""
    offered = meta.get("tools_offered")
    found = []
    for tool in offered if isinstance(offered, list | tuple) else ():
        inner = tool.get("function", tool) if isinstance(tool, Mapping) else {"name": tool}
        found.append(_text(inner, ("name",)) if isinstance(inner, Mapping) else "")
    return tuple(filter(None, found))


def _tokens(episodes: Iterable[Episode], names: Iterable[str]) -> int | None:
    """Return how many tokens the lines report together, or ``None``."""
    usages = [each.meta.get("usage") for each in episodes]
    said = [[usage.get(name) for name in names] for usage in usages if isinstance(usage, Mapping)]
    # Of each line the first number that is one.
    counts = [next((n for n in each if type(n) is int and n >= 0), None) for each in said]
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def _text(said: Mapping[str, Any], names: Iterable[str]) -> str:
    """Return the first text under one of ``names``, or ``""``."""
    return next((said[name] for name in names if isinstance(said.get(name), str)), "")


def paired(episodes: Iterable[Episode]) -> Iterator[tuple[Episode, Episode | None]]:
    """Yield each episode that answers none, and its answer if there is one.

    A result answers the oldest open call of its id; one without an id, the oldest open call
    without one of the same tool. An id may come up again.
    """
    waiting: defaultdict[tuple[str, str], deque[list[Episode]]] = defaultdict(deque)
    # Each an episode, and its answer if it came already.
    places: deque[tuple[Episode, list[Episode]]] = deque()
    for episode in episodes:
        key = (episode.call, "" if episode.call else episode.name)
        if episode.role == "tool_result" and waiting[key]:
            waiting[key].popleft().append(episode)
        else:
            places.append((episode, []))
        if episode.role == "tool_call":
            waiting[key].append(places[-1][1])
        while places and (places[0][1] or places[0][0].role != "tool_call"):
            place, answers = places.popleft()
            yield place, answers[0] if answers else None
    for place, answers in places:
        yield place, answers[0] if answers else None
