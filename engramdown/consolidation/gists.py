"""Summaries that stand for parts of a conversation, and the view that they leave of it.

Promises: pure; what a model sees is a fold of the transcript and the log of gists, so nothing can
get out of step with them. A gist applies only if its sources are a contiguous run of the view as
it is then; otherwise it is stale and changes nothing. So every message is covered exactly once and
in order, whatever order gists come in, however many compete, and wherever the log was cut short.
One line of the log is one compaction. To apply a gist costs as much as it has sources.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final, Literal, NamedTuple, Self, get_args

__all__ = [
    "FORMS",
    "KIND",
    "LEVELS",
    "Fold",
    "Form",
    "Gist",
    "Level",
    "Source",
    "fold",
    "read_gist",
    "read_gists",
    "write_gist",
]

Source = int | str
"""A message, by its number in the transcript, or a gist, by its id."""
Form = Literal["leaf", "condensed", "handoff"]
Level = Literal["normal", "aggressive", "cut", "extractive"]

KIND: Final = "gist"
"""What the key ``kind`` of a line says: the log has lines of other kinds, too."""
FORMS: Final[tuple[Form, ...]] = get_args(Form)
"""Of messages; of gists; of everything before, for a reader who knows nothing of it."""
LEVELS: Final[tuple[Level, ...]] = get_args(Level)
"""How a text came about: as asked for; asked for again, shorter; cut; without a model."""


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
            stand in this one; or ``""``.
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
        return list(_runs(self.sources))


# ---- the line of a gist ----


def write_gist(gist: Gist) -> bytes:
    r"""Return a gist as a line of the log, with its ``\n``.

    Two halves of a surrogate pair that meet are read as the character that they mean: JSON cannot
    tell the two apart.
    """
    told = {"kind": KIND, **gist._asdict(), "sources": gist.runs}
    text = json.dumps(told, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "backslashreplace") + b"\n"


def read_gist(line: bytes) -> Gist | None:
    """Return the gist of a line; ``None`` if it is something else, or damaged."""
    if _MARK not in line:
        return None
    try:
        told = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(told, dict) or told.get("kind") != KIND:
        return None
    sources = _sources(told.get("sources"))
    fields = {name: told.get(name, _DEFAULTS.get(name)) for name in Gist._fields}
    if sources is None or not all(_FITS[name](fields[name]) for name in _FITS):
        return None
    return Gist(**{**fields, "sources": sources})


def read_gists(data: bytes) -> list[Gist]:
    """Return the gists of a log, in order; a last line without its end is none yet."""
    return [gist for line in data.split(b"\n")[:-1] if (gist := read_gist(line)) is not None]


# ---- the view ----


class Fold:
    """What a model sees of a conversation: messages, and gists in the place of what they cover.

    Attributes:
        gists: Every gist that applied, by its id, covered ones included.
        derived: The gist that covers a gist, by the id of the latter.
        stale: The ids of gists that did not apply.
    """

    def __init__(self) -> None:
        """Begin with an empty view."""
        self.gists: dict[str, Gist] = {}
        self.derived: dict[str, str] = {}
        self.stale: list[str] = []
        self._added: set[int] = set()
        self._newest = -1  # Of a view that was resumed: what is older was added before.
        # The view as a list that is linked both ways; "" is the end that closes the ring.
        self._next: dict[Source, Source] = {"": ""}
        self._before: dict[Source, Source] = {"": ""}

    @classmethod
    def resumed(cls, view: Iterable[Source], gists: Iterable[Gist]) -> Self:
        """Return a view as it was, with the gists in it; what they cover is not known here.

        Args:
            view: The view; its last message, if there is one, is the newest that is known.
            gists: The gists in it.

        >>> seen = Fold.resumed(["g1", 3], [Gist("g1", "", "leaf", 0, (1, 2), "said", 1)])
        >>> seen.add(4), list(seen)
        (True, ['g1', 3, 4])
        """
        seen = cls()
        seen.gists.update((gist.id, gist) for gist in gists)
        for source in view:
            seen._link(seen._before[""], source)
            seen._link(source, "")
            if isinstance(source, int):
                seen._newest = source
        return seen

    def add(self, seq: int) -> bool:
        """Append a message; ``False`` if one of that number is there, which only damage makes."""
        if seq in self._added or seq <= self._newest:
            return False
        self._added.add(seq)
        last = self._before[""]
        self._link(last, seq)
        self._link(seq, "")
        return True

    def apply(self, gist: Gist) -> bool:
        """Put a gist in the place of its sources; ``False`` if it is stale."""
        known = gist.id in self.gists or not gist.id
        if known or not self.covers_a_run(gist.sources):
            self.stale.append(gist.id)
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
        """Whether sources stand in the view, one right after the other."""
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
        """Whether a message or a gist stands in the view."""
        return source != "" and source in self._next

    def __len__(self) -> int:
        """How many stand in the view."""
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

    def _link(self, one: Source, other: Source) -> None:
        self._next[one], self._before[other] = other, one


def fold(messages: Iterable[int], gists: Iterable[Gist]) -> Fold:
    """Return the view that gists leave of messages.

    >>> seen = fold([1, 2, 3], [Gist("g1", "", "leaf", 0, (1, 2), "said", 1)])
    >>> list(seen), list(seen.messages("g1"))
    (['g1', 3], [1, 2])
    """
    seen = Fold()
    for seq in messages:
        seen.add(seq)
    for gist in gists:
        seen.apply(gist)
    return seen


# ---- what may stand in a line ----

_MARK: Final = b'"gist"'
_DEFAULTS: Final[Mapping[str, object]] = dict(Gist._field_defaults)
_LARGEST: Final = 0xFFFFFFFF


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _LARGEST


_TEXTS: Final = ("ts", "text", "model", "earliest", "latest", "first", "last", "previous")
_FITS: Final[Mapping[str, Any]] = {
    "id": lambda value: isinstance(value, str) and value != "",
    "form": lambda value: value in FORMS,
    "level": lambda value: value in LEVELS,
    **dict.fromkeys(_TEXTS, _is_text),
    **dict.fromkeys(("depth", "tokens", "messages", "source_tokens"), _is_count),
}


def _sources(value: object) -> tuple[Source, ...] | None:
    """Return the sources of a line; ``None`` if they are no sources, or more than there can be."""
    if not isinstance(value, list) or not value:
        return None
    found: list[Source] = []
    for each in value:
        if isinstance(each, str):
            found.append(each)
            continue
        if not (isinstance(each, list) and len(each) == len(("first", "last"))):
            return None
        first, last = each
        if not (_is_count(first) and _is_count(last)) or not 0 <= last - first < _MOST - len(found):
            return None
        found.extend(range(first, last + 1))
    return tuple(found)


# A forged line shall not fill the memory of whoever reads it.
_MOST: Final = 1_000_000


def _runs(sources: Iterable[Source]) -> Iterator[tuple[int, int] | str]:
    first = last = -1
    for source in sources:
        if isinstance(source, int) and first >= 0 and source == last + 1:
            last = source
            continue
        if first >= 0:
            yield first, last
        first = last = source if isinstance(source, int) else -1
        if isinstance(source, str):
            yield source
    if first >= 0:
        yield first, last
