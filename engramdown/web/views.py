"""What a page shows: pure functions from what the API answers to what a template draws.

Every text of memory passes :func:`shown`, which makes invisible characters visible, and is escaped
by the template. Nothing here reads a file or a clock.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from engramdown.language import on_screen
from engramdown.serializers import BY_NAMES, SCOPE_NAMES

if TYPE_CHECKING:
    from engramdown.git import Word

Data = Mapping[str, Any]

WHO: Final = {**BY_NAMES, "": "somebody"}
_DID: Final = {
    "accept": "accepted a proposal",
    "checkout": "brought another version",
    "compact": "compacted memory",
    "decline": "declined a proposal",
    "edit": "edited the file",
    "encode": "remembered",
    "erase": "erased for good",
    "forget": "forgot",
    "found": "brought the file",
    "init": "set this up",
    "late": "edited the file some time before",
    "meanwhile": "edited the file while a memory was written",
    "migrate": "brought in older notes",
    "notice": "took in what follows from a hand edit",
    "propose": "proposed",
    "restore": "restored",
    "rewrite": "mended the file",
    "sleep": "learned from a session",
    "undo": "undid a step",
    "update": "changed",
}
# What accepting a proposal does.
_ASKS: Final = {
    "replace": "replaces",
    "forget": "forgets",
    "drop": "removes",
    "merge": "merges",
    "supersede": "retires",
    "expire": "retires",
    "move": "moves",
    "skill": "writes a skill",
    "load": "came with git",
}
# Why a line stands in a section of what a model sees.
_BY_RANK: Final = (
    "As many as the budget holds: first what always holds or is pinned, then what is nearest to "
    "the message; between equals the surer, then the newer."
)
_BECAUSE: Final = {
    "relevant": "They match the message, and do not stand above.",
    "scratchpad": "They are about the scratchpad.",
    "soul": "They say who the assistant is.",
}
_ARCHIVE: Final = "archive.md"
_PENDING: Final = "pending.md"
# In minutes.
_LONGEST_TURN: Final = 10
# Nothing that these sources write was typed by a person.
_LEARNERS: Final = frozenset({"llm", "consolidation", "git", "engramdown", ""})
_LEARNING: Final = frozenset({"encode", "sleep", "migrate", "checkout", "found", "compact"})


def shown(text: object) -> str:
    r"""Return a text as a person should see it, with invisible characters in a visible form.

    >>> ascii(shown("pay" + chr(0x202E)))
    "'pay\\u2039U+202E\\u203a'"
    """
    return on_screen(str(text))


def diff(before: str, after: str) -> list[Word]:
    """Return both texts as one, word by word, ready to be shown."""
    from engramdown.git import words

    return words(shown(before), shown(after))


# ---- proposals ----


class Compared(NamedTuple):
    """A memory beside a proposal.

    Attributes:
        entry: The memory.
        how: ``replaces``, ``removes``, … or ``resembles``.
        words: What would change, word by word.
    """

    entry: Data
    how: str
    words: Sequence[Word]


def verb(proposal: Data) -> str:
    """Return what accepting a proposal does, if it is not to remember it."""
    return _ASKS.get(proposal["op"], "")


def compared(proposal: Data) -> list[Compared]:
    """Return the memories that a proposal would change, then those that it resembles."""
    op, text = proposal["op"], "" if proposal["op"] in ("forget", "drop") else proposal["text"]
    gone = [proposal["replaces"], *proposal["takes"]]
    found = [Compared(it, _ASKS.get(op, "replaces"), diff(it["text"], text)) for it in gone if it]
    known = {each.entry["id"] for each in found}
    like = [each for each in proposal["similar"] if each["id"] not in known]
    return [*found, *(Compared(each, "resembles", diff(each["text"], text)) for each in like)]


def has_words(proposal: Data) -> bool:
    """Whether a proposal brings words, which can be changed before they are accepted."""
    brings = proposal["op"] in ("encode", "replace", "merge", "skill")
    return brings or (proposal["op"] == "load" and bool(proposal["line"]))


def decided(steps: Iterable[Data], op: str) -> list[str]:
    """Return when proposals were decided on, or steps taken back: a time for each of them."""
    return [
        step["at"]
        for step in steps
        if step["op"] == op
        for _ in (_taken(step) if op != "undo" else (step,))
    ]


def _taken(step: Data) -> set[str]:
    """Return the proposals that a step took out of ``pending.md``."""
    return {it["id"] for it in step["changes"] if it["file"] == _PENDING and not it["after"]}


def steps_of(ids: Iterable[str], steps: Sequence[Data]) -> list[Data]:
    """Return the steps that took the proposals ``ids`` out of ``pending.md``, one a scope."""
    wanted = set(ids)
    found = []
    for step in steps:
        taken = _taken(step)
        if step["op"] in ("accept", "decline") and taken & wanted:
            found.append(step)
            wanted -= taken
    return found


# ---- steps ----


class Line(NamedTuple):
    """What a step did to one line of a file.

    Attributes:
        id: The id of the memory.
        file: Its file.
        words: The text, word by word.
        notes: What the line says about the memory, word by word.
        erased: Whether the words were erased for good.
    """

    id: str
    file: str
    words: Sequence[Word]
    notes: Sequence[Word]
    erased: bool = False


def split(raw: str | None) -> tuple[str, str]:
    """Return the text of a line, and the comment with what is known about it.

    >>> split("- Use uv <!-- id:k3v9q2ht -->"), split(None)
    (('- Use uv', '<!-- id:k3v9q2ht -->'), ('', ''))
    """
    text, mark, notes = (raw or "").rstrip().rpartition(" <!-- ")
    return (text, "<!-- " + notes) if mark else (notes, "")


def lines(step: Data) -> list[Line]:
    """Return what a step did, line by line; a lesson that also stands in its topic comes once."""
    changes = step["changes"]
    gone = {
        it["id"]: it
        for it in changes
        if it["file"] != _ARCHIVE and it["before"] and not it["after"]
    }
    filed = {it["id"]: it for it in changes if it["file"] == _ARCHIVE and it["after"]}
    moved = gone.keys() & filed.keys()
    found: dict[tuple[str, str | None, str | None], Line] = {}
    for change in changes:
        key, file, before, after = (change[name] for name in ("id", "file", "before", "after"))
        if key in moved and file == _ARCHIVE:
            continue
        (old, was), (new, now) = split(before), split(after)
        if key in moved:
            # What retired it stands in the archive; the line that went says nothing more.
            file, now = f"{file} → {_ARCHIVE}", split(filed[key]["after"])[1]
        line = Line(key, file, _pair(old, new), _pair(was, now), "erased" in change)
        found.setdefault((key, before, after), line)
    return [each for each in found.values() if each.words or each.notes or each.erased]


def _pair(before: str, after: str) -> list[Word]:
    from engramdown.git import Word

    if before and after:
        return [Word(shown(after))] if before == after else diff(before, after)
    return [Word(shown(before or after), "-" if before else "+")] if before or after else []


def title(step: Data) -> str:
    """Return who did what.

    >>> title({"by": "llm", "op": "encode", "of": ""})
    'The assistant remembered'
    """
    who = WHO.get(step["by"]) or str(step["by"])
    return f"{who[:1].upper()}{who[1:]} {_DID.get(step['op'], step['op'])}"


def learned(steps: Iterable[Data]) -> list[Data]:
    """Return the steps in which something was learned without a person."""
    return [
        step
        for step in steps
        if step["by"] in _LEARNERS
        and step["op"] in _LEARNING
        and any(
            each["after"] and each["file"] not in (_PENDING, _ARCHIVE) for each in step["changes"]
        )
    ]


class Changed(NamedTuple):
    """What became of a memory since a commit."""

    verb: str
    id: str
    file: str
    words: Sequence[Word]

    @classmethod
    def of(cls, change: Data) -> Changed:
        """Return what a difference says."""
        before, after = ((change[name] or {}).get("text", "") for name in ("before", "after"))
        return cls(change["verb"], change["id"], change["file"], _pair(before, after))


# ---- transcripts ----


class Turn(NamedTuple):
    """A line of a transcript, with the answer to it if it calls a tool."""

    line: Data
    answer: Data | None = None


def paired(episodes: Sequence[Data]) -> list[Turn]:
    """Return the lines of a transcript, each result with its call if both are there."""
    answers = {
        each["call"]: each
        for each in episodes
        if each["role"] == "tool_result" and each.get("call")
    }
    calls = {each.get("call") for each in episodes if each["role"] == "tool_call"}
    return [
        Turn(each, answers.get(each.get("call", "")) if each["role"] == "tool_call" else None)
        for each in episodes
        if not (each["role"] == "tool_result" and each.get("call") in calls)
        and not (each["role"] == "event" and each.get("event") in ("start", "end"))
    ]


def hidden(line: Data, excluded: Data) -> str:
    """Return why models do not see a line: ``redacted`` or ``excluded``; ``""`` if they do.

    >>> hidden({"seq": 3}, {"whole": False, "lines": {3}})
    'excluded'
    """
    if "redacted" in line:
        return "redacted"
    return "excluded" if excluded["whole"] or line["seq"] in excluded["lines"] else ""


def is_in_turn(lines: Sequence[Data], now: str) -> bool:
    """Whether a session whose last lines these are waits for its assistant.

    A turn that said nothing for some minutes was broken off. What memory notes of itself may stand
    behind the end of a turn, and is none.

    >>> is_in_turn([{"role": "user", "ts": "2026-02-27T10:15:00Z"}], "2026-02-27T10:16:00Z")
    True
    """
    said = (each for each in reversed(lines) if not each["role"].startswith("memory_"))
    last = next(said, {"role": "event", "ts": ""})
    if last["role"] in ("assistant", "event"):
        return False
    passed = datetime.fromisoformat(now) - datetime.fromisoformat(last["ts"])
    return passed < timedelta(minutes=_LONGEST_TURN)


# ---- what a model sees ----


def because(section: str) -> str:
    """Return why the lines of a section are shown, and others are not."""
    return _BECAUSE.get(section, _BY_RANK)


# ---- charts ----


class Bar(NamedTuple):
    """A bar of a chart, in the units of its picture."""

    label: str
    value: int
    x: float
    y: float
    width: float
    height: float


def rows_of(counts: Mapping[str, int], names: Mapping[str, str] | None = None) -> list[Bar]:
    """Return the bars of a table: each number against the largest, in hundredths."""
    most = max(counts.values(), default=0) or 1
    known = names or {}
    return [
        Bar(known.get(name, name), value, 0, 0, round(100 * value / most, 1), 1)
        for name, value in counts.items()
    ]


def columns(
    counts: Mapping[str, int], width: float = 600, height: float = 90, *, most: int = 0
) -> list[Bar]:
    """Return the bars of a picture from left to right; ``most`` is as high as it is."""
    most = most or max(counts.values(), default=0) or 1
    step = width / max(len(counts), 1)
    return [
        Bar(
            name,
            value,
            round(at * step, 2),
            round(height - height * value / most, 2),
            round(max(step - 2, 1), 2),
            round(height * value / most, 2),
        )
        for at, (name, value) in enumerate(counts.items())
    ]


def weekly(days: Iterable[str], today: date, weeks: int = 26) -> dict[str, int]:
    """Return how many of some days, or times, are in each of the last weeks, the oldest first."""
    monday = today - timedelta(days=today.weekday())
    first = monday - timedelta(weeks=weeks - 1)
    counts: Counter[str] = Counter()
    for text in days:
        try:
            day = date.fromisoformat(text[:10])
        except ValueError:
            continue
        if first <= day <= today:
            counts[str(day - timedelta(days=day.weekday()))] += 1
    mondays = [str(first + timedelta(weeks=at)) for at in range(weeks)]
    return {each: counts[each] for each in mondays}


def grown(days: Sequence[str], today: date, weeks: int = 26) -> dict[str, int]:
    """Return how many memories there were at the end of each of the last weeks."""
    added = weekly(days, today, weeks)
    total = len(days) - sum(added.values())
    result = {}
    for week, count in added.items():
        total += count
        result[week] = total
    return result


def growth(entries: Iterable[Data], name: str, today: date) -> list[tuple[str, list[Bar]]]:
    """Return how many memories there were each week, by a field: each value on top of the last."""
    days: dict[str, list[str]] = {}
    for entry in entries:
        value = str(entry[name])
        days.setdefault(WHO.get(value, value), []).append(entry["ts"])
    grew = {value: grown(each, today) for value, each in days.items()}
    # At the end there are most.
    most = sum(map(len, days.values()))
    tops: Counter[str] = Counter()
    found = []
    for value, counts in grew.items():
        tops.update(counts)
        bars = zip(columns(counts, most=most), columns(tops, most=most), strict=True)
        found.append((value, [bar._replace(y=top.y) for bar, top in bars]))
    return found


def by_place(entries: Iterable[Data]) -> Iterator[tuple[str, list[Data]]]:
    """Yield the memories of each file and heading, in their order."""
    place, members = "", list[Data]()
    for entry in entries:
        name = " · ".join(
            filter(None, (entry["file"], entry["heading"], SCOPE_NAMES[entry["scope"]]))
        )
        if name != place and members:
            yield place, members
            members = []
        place = name
        members.append(entry)
    if members:
        yield place, members
