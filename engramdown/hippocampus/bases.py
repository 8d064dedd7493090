"""What a person had open in their editor when they saved: the base of the merge of a hand edit.

Promises: pure; the base is the journalled state that explains the saved text best, however many
steps ago it was; a line of ours is taken for deleted only if no editor that was merely old explains
its absence as well. The cost is that of the splices between the states, not of their texts.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from engramdown.hippocampus.history import Part, Past
from engramdown.markdown.blocks import marker
from engramdown.markdown.document import parse

__all__ = ["Base", "find_base"]

# One entry is one difference, however many lines it has.
_UNIT: Final = re.compile(r"\n(?!(?:\r?\n)?[ \t])")
# As many characters behind a line end tell whether the line goes on.
_AHEAD: Final = 3
_META: Final = " <!-- "
_BULLET: Final = re.compile(r"^[*+](?= )")
_ID: Final = re.compile(r"\bid:([0-9a-z]{8})\b")
# How far back states lie that come before one of these: git brought the file, and whoever had it
# open may have it still; the person saved it, and goes on from that.
_BEFORE: Final = 2
_AGES: Final = {"brought": 1, "saved": _BEFORE}
# How many lines and ids, and how many ids alone, such a state has to explain more than any since. A
# second editor: two entries of ours (their words, their metadata and their ids) and something else.
_NEEDED: Final = ((0, 0), (1, 1), (7, 2))
# Lines do not come back: behind so many states that lack something, none is looked at.
_IN_VAIN: Final = 256


class Base(NamedTuple):
    """The state that a person had open.

    Attributes:
        text: The text of the file then.
        back: How many steps before the newest state that was.
    """

    text: str
    back: int


class _State(NamedTuple):
    """A state of the file.

    Attributes:
        text: The text.
        how: How it came about, see :class:`engramdown.hippocampus.history.Past`.
        way: The splices that lead to the state before it; none if that is not known.
    """

    text: str
    how: str = ""
    way: tuple[Part, ...] = ()


class _Found(NamedTuple):
    """A state that may be the base.

    Attributes:
        base: The state.
        edits: How many lines a person wrote, changed or took out, if this is what they had open.
        cost: How many lines and ids differ from what was saved.
        gone: How many of its ids are not in what was saved.
    """

    base: Base
    edits: int
    cost: int
    gone: int


def find_base(seen: str, past: Iterable[Past], saved: str) -> Base:
    """Return the state that a person had open when they saved ``saved``.

    Args:
        seen: The newest state that they can have seen.
        past: How it came about, how the one before it did, and so on; as far as it is told.
        saved: What stands in the file now.

    Returns:
        The state that the fewest edits lead from to ``saved``; of equals the one that was saved
        last, or else the one that differs in the fewest lines and ids, or else the newest.

        A line or an id that ``saved`` shares with the newest state was there when the editor read
        the file, so no state without it comes into question; nor does one from before a line that
        ``saved`` shares with a state since, and that we took out. Where no id is shared, nor does
        one of whose lines ``saved`` has less than half: that is a file written anew, which says
        nothing about what it was written over. What a person saved last is what their editor holds,
        so a state before that has to explain clearly more: then somebody has two editors. A buffer
        that is saved as it was opened changes nothing; but if all that came since is one line, or
        if nothing is left, it is a person who deleted that. How an editor lays out the lines does
        not count.
    """
    search = _Search(seen, saved)
    for at, state in enumerate(_states(seen, past)):
        search.look(Base(state.text, at), state)
        if search.in_vain > _IN_VAIN:
            break
    return search.chosen()


def _states(seen: str, past: Iterable[Past]) -> Iterator[_State]:
    """Yield the states in the order in which they stood on the disk, the newest first."""
    text = seen
    for how, way in _ways_back(past):
        yield _State(text, how, way)
        for part in way:
            if not text.startswith(part.new, part.at):
                return  # Somebody wrote into the journal.
            text = part.backward(text)
    yield _State(text)


def _ways_back(past: Iterable[Past]) -> Iterator[tuple[str, tuple[Part, ...]]]:
    """Yield how each state came about, and the splices that lead to the one before it.

    A save that was displaced is in the journal behind the state that displaced it; on the disk it
    stood before that, and whoever saved it may not have seen what came then.
    """
    steps = iter(past)
    newer: tuple[str, tuple[Part, ...]] | None = None
    for each in steps:
        if newer is None or each.how != "displaced":
            if newer is not None:
                yield newer
            newer = each.how, (each.part,)
            continue
        yield newer[0], (*newer[1], each.part)
        yield "followed", (each.part.reversed(),)
        before = next(steps, None)
        newer = ("saved", (each.part, before.part)) if before is not None else None
    if newer is not None:
        yield newer


def _explains_more(older: _Found, best: _Found, age: int) -> bool:
    """Whether an editor of that age explains what is missing, and a deletion does not."""
    lines, ids = _NEEDED[age]
    return best.cost - older.cost >= lines and best.gone - older.gone >= ids


class _Search:
    """Looks at one state after the other, from the newest on.

    Attributes:
        in_vain: How many in a row did not come into question.
    """

    def __init__(self, seen: str, saved: str) -> None:
        self.in_vain = 0
        self._saved, self._said = saved, _said(saved)
        self._own = _Compared(seen, saved)
        self._newest = Base(seen, 0)
        self._is_one_less = self._own.is_one_less()
        self._best: dict[int, _Found] = {}  # By age, the newest first.
        self._age = 0
        self._followed = False
        self._is_ours = True  # All that came since, and no save of a person's.
        # The newest state that reads as what was saved; whether it is their own last save, and
        # whether our lines went into the file behind that.
        self._equal: tuple[int, bool, bool] | None = None

    def look(self, base: Base, state: _State) -> None:
        """Take a state into account, and go on to the one before it."""
        own, how = self._own, state.how
        if own.comes_into_question():
            self.in_vain = 0
            self._consider(_Found(base, own.edits, own.cost, own.gone), how)
            if self._equal is None and not own.cost and _said(base.text) == self._said:
                last = how == "saved" and self._age < _BEFORE
                self._equal = base.back, last, last and self._followed
        else:
            self.in_vain += 1
        self._age = max(self._age, _AGES.get(how, 0))
        self._followed = how == "followed"
        text = state.text
        self._is_ours = self._is_ours and not how and len(state.way) == 1
        for part in state.way:
            own.go_back(text, part, is_ours=self._is_ours)
            text = part.backward(text)

    def chosen(self) -> Base:
        """Return the base."""
        best: _Found | None = None
        for age, found in self._best.items():
            if best is None or _explains_more(found, best, age):
                best = found
        only_older = self._best.keys() == {_BEFORE}
        if best is None or (not only_older and self._is_taken_back(best.base)):
            return self._newest
        return best.base

    def _consider(self, found: _Found, how: str) -> None:
        best = self._best.get(self._age)
        # What they saved last is what their editor holds, if no state since explains more.
        last = how == "saved" and self._age < _BEFORE
        rank = (found.edits, not last, found.cost)
        if best is None or rank < (best.edits, True, best.cost):
            self._best[self._age] = found

    def _is_taken_back(self, base: Base) -> bool:
        """Whether somebody made the file as it was in ``base``, and knew what came after it."""
        back, last, again = self._equal or (0, False, False)
        if base.back != back or again:
            # They saved once more what they saved last.
            return False
        return self._is_one_less or not (last or parse(self._saved).placed())


class _Overlap:
    """Which things one side has that are wanted, while it gains and loses some.

    Attributes:
        has: How often the side has each.
        missing: How many that are wanted it has not.
        extra: How many it has that are not wanted.
    """

    def __init__(self, wanted: Iterable[str], has: Iterable[str]) -> None:
        self._wanted = {*wanted}
        self.has: Counter[str] = Counter()
        self.missing = len(self._wanted)
        self.extra = 0
        for each in has:
            self.count(each, 1)

    @property
    def difference(self) -> int:
        """How many only one of both is or has."""
        return self.missing + self.extra

    def want(self, thing: str) -> None:
        """Want a thing from now on that the side has not."""
        if thing not in self._wanted and not self.has[thing]:
            self._wanted.add(thing)
            self.missing += 1

    def count(self, thing: str, by: int) -> None:
        """Have one more (``by`` is 1) or one less (-1) of a thing."""
        before = self.has[thing]
        self.has[thing] += by
        if before and self.has[thing]:
            return
        if not self.has[thing]:
            del self.has[thing]
        if thing in self._wanted:
            self.missing -= by
        else:
            self.extra += by


class _Compared:
    """The lines and ids of one state beside what was saved."""

    def __init__(self, seen: str, saved: str) -> None:
        lines, ids = _said(seen), _ID.findall(seen)
        saved_lines, self._saved_ids = {*_said(saved)}, {*_ID.findall(saved)}
        self._saved_lines = saved_lines
        told, saved_told = [*map(_split, lines)], [*map(_split, saved_lines)]
        self._saved_words = {words for words, _ in saved_told}
        self._words = _Overlap(self._saved_words, (words for words, _ in told))
        self._metas = _Overlap(*((meta for _, meta in each if meta) for each in (saved_told, told)))
        self._entries = _Overlap(_entries(saved_told), _entries(told))
        self._ids = _Overlap(self._saved_ids, ids)
        # What an editor knows it has read: no state without it comes into question.
        self._read_lines = _Overlap(saved_lines.intersection(lines), lines)
        self._read_ids = _Overlap(self._saved_ids.intersection(ids), ids)
        self._knows_ours = not self._saved_ids.isdisjoint(ids)

    @property
    def cost(self) -> int:
        """How many lines and ids only one of the two has."""
        return self._words.difference + self._metas.difference + self._ids.difference

    @property
    def edits(self) -> int:
        """How many lines only one of the two has, or has in other words."""
        reworded = self._entries.missing - self._ids.missing
        return max(self._words.difference - reworded, 0)

    @property
    def gone(self) -> int:
        """How many ids the state has and what was saved has not."""
        return self._ids.extra

    def comes_into_question(self) -> bool:
        """Whether an editor that held this state may have saved what was saved."""
        if self._read_lines.missing or self._read_ids.missing:
            return False
        return self._knows_ours or self._is_half_kept()

    def is_one_less(self) -> bool:
        """Whether nothing but one entry, at most, is in the state alone."""
        missing = self._words.missing + self._metas.missing + self._ids.missing
        entries = [each for each in self._words.has if marker(each)]
        return not missing and len({*entries} - self._saved_words) <= 1 >= self._ids.extra

    def go_back(self, text: str, part: Part, *, is_ours: bool = False) -> None:
        """Go from ``text``, which ``part`` made, to the state before it.

        What we took out (``is_ours``) was read before, as nobody types it, metadata and all. What
        a person took out they may put back: an editor keeps it for them.
        """
        start, end = _around(text, part.at, part.at + len(part.new))
        before = text[start : part.at] + part.old + text[part.at + len(part.new) : end]
        if is_ours:
            for line in self._saved_lines.intersection(_said(before)):
                self._read_lines.want(line)
        self._count(before, 1)
        self._count(text[start:end], -1)

    def _count(self, text: str, by: int) -> None:
        for line in _said(text):
            self._read_lines.count(line, by)
            words, meta = _split(line)
            self._words.count(words, by)
            if meta:
                self._metas.count(meta, by)
            for entry in _entries([(words, meta)]):
                self._entries.count(entry, by)
        for each in _ID.findall(text):
            self._ids.count(each, by)
            self._read_ids.count(each, by)

    def _is_half_kept(self) -> bool:
        # An entry counts once: whoever takes it out takes its metadata out with it.
        said = self._words.has.keys()
        return 2 * len(self._saved_words & said) >= len(said)


def _said(text: str) -> list[str]:
    """Return the lines of a text that are not blank, each with those indented below it.

    How they are laid out does not count: an editor may change bullets, line ends and indentation.
    """
    units = (" ".join(unit.split()).removeprefix("\ufeff") for unit in _UNIT.split(text))
    return [_BULLET.sub("-", unit) for unit in units if unit]


def _split(line: str) -> tuple[str, str]:
    """Return the words of a line, and our metadata at its end or ``""``."""
    words, mark, meta = line.rpartition(_META)
    return (words, mark + meta) if mark and _ID.search(meta) else (line, "")


def _entries(told: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield what we know of by its id: the id and the words."""
    for words, meta in told:
        if meta:
            yield f"{_ID.findall(meta)[0]} {words}"


def _around(text: str, start: int, end: int) -> tuple[int, int]:
    """Return from where to where the lines reach that a splice from ``start`` to ``end`` touches.

    Whether a line goes on depends on the first characters of the two after it.
    """
    first = text.rfind("\n", 0, max(start - _AHEAD, 0))
    while first >= 0 and not _UNIT.match(text, first):
        first = text.rfind("\n", 0, first)
    last = _UNIT.search(text, end)
    return first + 1, last.start() if last else len(text)
