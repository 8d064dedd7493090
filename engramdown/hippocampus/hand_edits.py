"""What a person changed in an editor: found, compared with what they had open, and answered.

An entry that a person changed is verified; one that they removed is not learned again. Their words
are never changed. An edit from an editor that did not know our latest lines takes none of them
away: what they had open is the journalled state that explains the saved text best, and what cannot
be told from a deletion waits in ``pending.md`` as a question. A save that git made is no edit.

Nothing here writes a file: saves are handed out as steps of the person's own, and as a draft of
what follows from them.
"""

from __future__ import annotations

import re
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple

from engramdown.clock import today
from engramdown.engram import fold
from engramdown.hippocampus import placement
from engramdown.hippocampus.changeset import (
    Act,
    Draft,
    OutOfStepError,
    Slot,
    entry_changes,
    lift_tombstones,
    new_id,
    new_step,
    retire,
    verify,
)
from engramdown.hippocampus.entry import address, entry_id
from engramdown.hippocampus.git_state import (
    committed_lately,
    is_at_work,
    is_kept,
    is_merging,
    is_restored,
    known_to_git,
    moved_since,
    raced,
    raced_since,
    standing,
)
from engramdown.hippocampus.history import CLONED, History, Part, Past, Step, digest
from engramdown.hippocampus.placement import copies_of, raw_entries, split_task, tombstones_of
from engramdown.hippocampus.snapshot import Reader, decoded, encoded, states
from engramdown.hippocampus.transaction import Staging
from engramdown.kinds import ARCHIVE, ASIDE, LESSONS, PENDING, is_of_lessons, kind_in
from engramdown.markdown.blocks import marker
from engramdown.markdown.document import Document, Placed, parse
from engramdown.markdown.merge import Changes, compare, merge
from engramdown.markdown.metadata import KEPT, OPERATIONS, Metadata
from engramdown.storage.disk import Disk

_MARKS: Final = 256
"""How many changes of a person may be yet to be marked in a file; of more the oldest are not."""


@dataclass(frozen=True, slots=True)
class HandEdit:
    """A save of a person that we did not make.

    Attributes:
        file: The file, relative to the memory folder.
        base: What their editor held when they opened it, or saved last.
        seen: The newest text that they can have seen.
        head: What the journal says the file holds.
    """

    file: str
    base: str
    seen: str
    head: str


@dataclass(frozen=True, slots=True)
class Response:
    """What follows from a hand edit, apart from what it says itself.

    Attributes:
        stale: Whether the editor did not know our latest lines.
        verified: Ids of the entries that the person changed.
        removed: Texts of the entries that the person took out.
        marks: What is yet to be marked as verified in the file: an editor may hold it open, so it
            is not written for that alone.
    """

    stale: bool
    verified: tuple[str, ...]
    removed: tuple[str, ...]
    marks: tuple[str, ...] = ()


def respond(
    draft: Draft,
    edit: HandEdit,
    stands_elsewhere: Callable[[Placed], bool],
    new_id: Callable[[], str],
    today: str,
    *,
    marks: tuple[str, ...] = (),
) -> Response:
    """Carry out what follows from a hand edit.

    Args:
        draft: The memory files; ``edit.file`` reads as the person saved it.
        edit: The save.
        stands_elsewhere: Whether an entry that is gone from this file now stands in another one
            where it did not stand before: then it was moved, not deleted.
        new_id: Gives the id of a new line.
        today: ``YYYY-MM-DD``.
        marks: What was yet to be marked as verified in the file before.
    """
    saved, stale = draft.get(edit.file), edit.base != edit.seen
    head = parse(edit.head)
    base = head if edit.base == edit.head else parse(edit.base)
    merged = merge(base, head, saved)
    changes = compare(base, saved)
    draft.put(edit.file, merged.document)
    # What stood there last: copies are as we left them, whatever the editor knew.
    now = {_id(placed): placed for placed in reversed(head.placed()) if _has_id(placed)}
    verified = _follow(draft, edit.file, changes, now)
    removed = []
    if edit.file != ARCHIVE:
        kinds = {id(placed) for placed in raw_entries(edit.file, base)}
        for placed in changes.removed:
            counts = id(placed) in kinds or edit.file == PENDING
            last = now.get(_id(placed), placed)
            known = last if last.block.text == placed.block.text else placed
            if counts and not stands_elsewhere(known):
                removed += _retire_removed(draft, edit.file, known, new_id(), today)
                _remove_copies(draft, edit.file, last)
        for lost in merged.lost:
            record = _record(edit.file, lost, "conflict", "engramdown")
            retire(draft, lost, record, new_id(), today)
    if edit.file not in ASIDE:
        for placed in changes.added:
            _let_back(draft, edit, placed)
        if stale:
            said = {placed.block.text for placed in saved.placed()}
            unknown = compare(base, parse(edit.seen)).added
            left = [placed for placed in unknown if placed.block.text not in said]
            _ask_about(draft, edit.file, left, new_id, today)
    ids = tuple(_id(placed) for placed in verified)
    if edit.file not in ASIDE:
        new = (_id(placed) + address(placed.block.text) for placed in verified)
        marks = (*(mark for mark in marks if not mark.startswith(ids)), *new)[-_MARKS:]
        if draft.get(edit.file).render() != saved.render():
            document, marks = verify(draft.get(edit.file), marks)
            draft.put(edit.file, document)
    return Response(stale, ids, tuple(removed), marks)


def carry_over(draft: Draft, edit: HandEdit, new_id: Callable[[], str], today: str) -> None:
    """Carry what came after ``edit.base`` over to a file that reads as git brought it.

    Nobody deleted anything, and nobody verified it.
    """
    merged = merge(parse(edit.base), parse(edit.head), draft.get(edit.file))
    draft.put(edit.file, merged.document)
    for lost in merged.lost:
        retire(draft, lost, _record(edit.file, lost, "conflict", "engramdown"), new_id(), today)


def _follow(draft: Draft, file: str, changes: Changes, now: Mapping[str, Placed]) -> list[Placed]:
    """Let copies follow what was changed; return what was reworded."""
    for old, new in changes.kept:
        _refile(draft, file, old, new)
    reworded = [(old, new) for old, new in changes.reworded if _has_id(new)]
    for old, new in reworded:
        _reword_copies(draft, file, now.get(_id(new), old), new)
    return [new for _, new in reworded]


def _reword_copies(draft: Draft, file: str, old: Placed, new: Placed) -> None:
    """Let the copies of a changed entry under a topic follow, marked as verified."""
    if file in ASIDE:
        return
    meta = new.block.meta or Metadata()
    block = _find(draft.get(file), meta.get("id"), new.block.text)
    # What an assistant noted of it meanwhile is in the merged line alone.
    meta = (block.block.meta if block else None) or meta
    verified = meta.update({"basis": "verified"})
    names = [*copies_of(file, old.block.meta or Metadata()), *copies_of(file, meta)]
    for name in dict.fromkeys(names):
        copies = draft.get(name)
        copy = _find(copies, meta.get("id"), old.block.text)
        if copy is not None:
            draft.put(name, copies.replace(copy.block, new.block.text, verified))


def _remove_copies(draft: Draft, file: str, placed: Placed) -> list[tuple[str, Placed]]:
    """Take out the copies of an entry that a person took out; return them, with their files."""
    if draft.get(file).same(placed.block.text):
        return []
    names = copies_of(file, placed.block.meta or Metadata())
    found = [(name, _find(draft.get(name), _id(placed), placed.block.text)) for name in names]
    copies = [(name, copy) for name, copy in found if copy is not None]
    for name, copy in copies:
        draft.remove(name, copy.block)
    return copies


def _refile(draft: Draft, file: str, old: Placed, new: Placed) -> None:
    """Let the copy under a topic follow a lesson that got another one."""
    meta = new.block.meta or Metadata()
    was, now = copies_of(file, old.block.meta or Metadata()), copies_of(file, meta)
    if file != LESSONS or was == now:
        return
    for name in was:
        copy = _find(draft.get(name), _id(old), old.block.text)
        if copy is not None:
            draft.remove(name, copy.block)
    for name in now:
        if not draft.get(name).same(new.block.text):
            # In the old words: a change of the words follows, as in every copy.
            draft.add(name, old.block.text, meta)


def _retire_removed(
    draft: Draft, file: str, placed: Placed, entry_id: str, today: str
) -> list[str]:
    """Leave a tombstone for an entry that a person took out, and take out its copies."""
    text = placed.block.text
    if draft.get(file).same(text) or not _is_proposed(file, placed):
        return []
    plain = split_task(text)[1] if file == PENDING else text
    meta = placed.block.meta or Metadata()
    # A question about memories that stand was answered; its words are nothing to be kept out.
    asked = KEPT if meta.get("op") in OPERATIONS else "declined"
    reason = asked if file == PENDING else "deleted"
    for name, copy in _remove_copies(draft, file, placed):
        # From there it comes back to both places.
        placed, file = (copy, name) if name == LESSONS else (placed, file)
    if not tombstones_of(draft.get(ARCHIVE), plain):
        retire(draft, placed, _record(file, placed, reason, "person"), entry_id, today)
    return [plain]


def _let_back(draft: Draft, edit: HandEdit, placed: Placed) -> None:
    """What a person writes again is not kept out; with its topic's file a lesson is back whole."""
    meta, text = placed.block.meta or Metadata(), placed.block.text
    graves = [block.meta or Metadata() for block in tombstones_of(draft.get(ARCHIVE), text)]
    went = {grave.get("was") for grave in graves if grave.get("id") == meta.get("id")}
    lift_tombstones(draft, text, _kind(edit.file, placed))
    is_copy = not edit.head and edit.file in copies_of(LESSONS, meta)
    if is_copy and LESSONS in went and not draft.get(LESSONS).same(text):
        draft.add(LESSONS, text, meta)


def _is_proposed(file: str, placed: Placed) -> bool:
    """Whether taking the line out says no to its words: not for a note, nor for our question."""
    if file != PENDING:
        return True
    meta = placed.block.meta or Metadata()
    return bool(split_task(placed.block.text)[0]) and meta.get("op") != "forget"


def _ask_about(
    draft: Draft, file: str, left: Iterable[Placed], new_id: Callable[[], str], today: str
) -> None:
    """Ask, once about each, whether lines that a stale editor did not know were to be deleted."""
    stands, asked = draft.get(file), _asked(draft)
    for placed in left:
        if stands.same(placed.block.text) and entry_id(placed) not in asked:
            asked.add(entry_id(placed))
            _ask(draft, file, placed, new_id(), today)


def _ask(draft: Draft, file: str, placed: Placed, question_id: str, today: str) -> None:
    """Ask whether a line was meant to be deleted."""
    question = Metadata().update(
        {
            "id": question_id,
            "kind": _kind(file, placed),
            "source": "consolidation",
            "op": "forget",
            "of": entry_id(placed),
            "reason": "saved from an editor that was opened before this line was written",
            "ts": today,
        }
    )
    draft.add(PENDING, f"[ ] Delete: {placed.block.text}", question)


def _asked(draft: Draft) -> set[str]:
    """Return the ids of the lines that a question of :func:`_ask` waits about."""
    metas = [placed.block.meta or Metadata() for placed in draft.get(PENDING).placed()]
    return {meta.get("of") for meta in metas if meta.get("op") == "forget"}


def _record(file: str, placed: Placed, reason: str, by: str) -> dict[str, str]:
    return {"kind": _kind(file, placed), "was": file, "reason": reason, "by": by}


def _kind(file: str, placed: Placed) -> str:
    return kind_in(file, placed.kind, (placed.block.meta or Metadata()).get("kind"))


def _find(document: Document, entry_id: str, text: str) -> Placed | None:
    same = [placed for placed in document.placed() if _id(placed) == entry_id]
    exact = (placed for placed in same if fold(placed.block.text) == fold(text))
    return next(exact, None)


def _id(placed: Placed) -> str:
    return placed.block.meta.get("id") if placed.block.meta else ""


def _has_id(placed: Placed) -> bool:
    return bool(_id(placed))


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


_BY_HAND: Final = Act("edit", "person", "by hand")
_MEANWHILE: Final = Act("meanwhile", "person", "by hand, while a memory was written")
_LATE: Final = Act("late", "person", "by hand, some time ago")
_FOUND: Final = Act("found", "person")
_CLONED: Final = Act("found", "person", CLONED)
_BY_GIT: Final = Act("checkout", "person", "git moved to another commit")
# How long git is waited for when it is in the middle of bringing files, in seconds.
_GIT_AT_WORK: Final = 2.0
_POLL: Final = 0.005
# How a save came about that was displaced, and what follows from it; the newest first.
_MERGED: Final = ("followed", "displaced")
# How often we look again at files that change while we ask git about them.
_LOOKS: Final = 5


@dataclass(frozen=True, slots=True)
class Save:
    """A person's save that is to be taken in.

    Attributes:
        edit: What was saved over what.
        head: What the journal says the file holds; ``None`` if it cannot tell.
        saved: What was saved; ``None`` if the file was removed.
        disk: What stands on the disk: what was saved, unless that was displaced.
        displaced: The digest of what displaced it; ``""`` if it stands on the disk.
        by_git: Whether git brought the file from another commit: then nobody deleted anything,
            and ``edit.base`` is what git knew of it.
    """

    edit: HandEdit
    head: str | None
    saved: str | None
    disk: bytes | None
    displaced: str = ""
    by_git: bool = False


class Saves:
    """Finds what a person saved since the last step of the journal."""

    def __init__(self, disk: Disk, reader: Reader, history: History, staging: Staging) -> None:
        """Compare what ``reader`` reads with what ``history`` says."""
        self._disk = disk
        self._reader = reader
        self._history = history
        self._staging = staging

    def load(self, name: str) -> Slot:
        """Read a file for a step.

        Raises:
            OutOfStepError: If a person saved it since the last one.
        """
        read = self._reader.read(name)
        if read.digest != (self._history.head(name) or ""):
            raise OutOfStepError(name)
        return read.slot().marked(self._history.marks(name))

    def journalled(self, name: str) -> Slot:
        """Return a file as its last step left it, whatever was saved since: that is displaced."""
        text = self._head_text(name)
        slot = Slot(text, None if text is None else encoded(text), parse(text or ""))
        slot.marks = self._history.marks(name)
        return slot

    def strangers(self) -> bool:
        """Whether there is a file that the journal does not know: hand-written, or pulled."""
        return not self._history.heads().keys() >= {*self._reader.names()}

    def found(self, also: Iterable[str]) -> list[Save]:
        """Return what a person saved, strangers included, once it looks whole.

        Args:
            also: Files that are known to be out of step.
        """
        now = states(self._reader, self._history)
        names = [name for name, head, state in now if (head or "") != state]
        heads = {name: self._head_text(name) for name in dict.fromkeys([*names, *also])}
        files = [(self._where(name), head or "") for name, head in heads.items()]
        saves: list[Save] = []
        for _ in range(_LOOKS):
            self._let_git_finish(where() for where, _ in files)
            data = self._staging.settled(files)
            before = self._git(files)
            texts = zip(heads, data, strict=True)
            saves = [self._save(name, heads[name], found) for name, found in texts]
            # What git says of a file that came meanwhile says nothing of the one that we read; it
            # may also have gone to another branch and come back.
            now_there = [self._disk.read(where()) for where, _ in files]
            if now_there == data and self._git(files) == before:
                break
        return [save for save in saves if self._is_news(save)]

    def _git(self, files: Iterable[tuple[Callable[[], Path], str]]) -> set[tuple[object, ...]]:
        """Return what tells whether git did something meanwhile."""
        return {standing(where(), self._disk) for where, _ in files}

    def let_finish(self, name: str) -> None:
        """Wait until a file looks whole again that an editor moved away for a moment."""
        self._staging.settled([(self._where(name), self._head_text(name) or "")])

    def displaced(self, name: str, saved: str, source: str, by: str) -> Save | None:
        """Return a save that our own file displaced; ``None`` if it was taken in already.

        Args:
            name: The file.
            saved: What was saved.
            source: The digest of the newest state that the person can have seen.
            by: The digest of what displaced it.
        """
        head = self._head_text(name)
        since = self._history.since(name, source)[:-1]
        if digest(saved) in {self._history.head(name), *(part.target for part in since)}:
            return None
        disk = None if head is None else encoded(head)
        states = deque([head or ""], maxlen=1 + len(_MERGED))
        for part in since:
            states.append(part.backward(states[-1]))
        seen, newest = states[-1], states[-1 - self._merged(name, since)]
        edit = self._edit(name, head, saved, seen, newest)
        return Save(edit, head, saved, disk, displaced=by)

    def draft(self, saves: Sequence[Save], *, insist: bool = False) -> Draft:
        """Return the files as they are to be after ``saves``.

        Args:
            saves: What was saved.
            insist: Go on from the journal where another file is needed and was saved as well.

        Raises:
            OutOfStepError: If one was, and we do not insist.
        """
        draft = Draft(self.journalled if insist else self.load)
        slots = [Slot(save.saved, save.disk, parse(save.saved or "")) for save in saves]
        for save, slot in zip(saves, slots, strict=True):
            slot.marks = self._history.marks(save.edit.file)
            draft.preset(save.edit.file, slot)
        for save, slot in zip(saves, slots, strict=True):
            # One that was removed and is back says as much as one that was changed.
            known = save.head is not None or self._history.head(save.edit.file) == ""
            if save.by_git and save.edit.base != save.edit.head:
                carry_over(draft, save.edit, new_id, today().isoformat())
            elif known and not save.by_git:
                moved = self._stands_elsewhere(save.edit.file, draft)
                day = today().isoformat()
                done = respond(draft, save.edit, moved, new_id, day, marks=slot.marks)
                slot.marks = done.marks
        return draft

    def step(self, save: Save, marks: tuple[str, ...]) -> Step:
        """Return a save as a step of the journal, by the person; ``marks`` are yet to be set."""
        file = save.edit.file
        part = self._history.part(file, save.head, save.saved)._replace(marks=marks)
        if save.head is None:
            came = known_to_git([self._reader.path(file)], self._disk)
            return new_step(_CLONED if came else _FOUND, (part,), ())
        changes = entry_changes(file, parse(save.head), parse(save.saved or ""))
        return new_step(_act(save), (part,), tuple(changes))

    def _where(self, name: str) -> Callable[[], Path]:
        """Return what says where a file is; one that is away for a moment may be an alias."""
        return partial(self._reader.path, name)

    def _save(self, name: str, head: str | None, data: bytes | None) -> Save:

        saved = decoded(data)
        path = self._reader.path(name)
        moment = self._history.last_at(name)
        moved = moved_since(path, moment, self._disk, head or "")
        by_git = moved or is_merging(path, self._disk, head, saved)
        restored = is_restored(path, self._disk)
        if by_git or restored:
            # git brought other lines, or took ours back for somebody; no editor is old.
            race = moved or (by_git and restored)
            known = self._known_to_git(name, head or "", path) if race else head or ""
            edit = HandEdit(name, known, known, head or "")
        elif (
            saved
            and is_kept(path, moment, self._disk)
            and self._stood_lately(name, head, saved, path)
        ):
            edit, by_git = HandEdit(name, saved, saved, head or ""), True
        else:
            edit = self._edit(name, head, saved or "", head or "", head or "")
        return Save(edit, head, saved, data, by_git=by_git)

    def _let_git_finish(self, paths: Iterable[Path]) -> None:
        """Wait while git brings files: why they differ it says behind them."""
        files, waited = [*paths], 0.0
        while waited < _GIT_AT_WORK and any(is_at_work(path, self._disk) for path in files):
            time.sleep(_POLL)
            waited += _POLL

    def _known_to_git(self, name: str, head: str, path: Path) -> str:
        """Return the text of a file that git, or who uses it, knew when it wrote another one.

        git refuses to replace what is not committed. What was written in the moment before it
        wrote the file, and is in no commit, nobody took away: git had looked before that.
        """
        is_raced, known = raced(path, self._disk), head
        late: list[tuple[Step, str, str]] = []
        for step, after, before in self._history.backwards(name, head):
            if step.op == _BY_GIT.op or not is_raced(step.at):
                break
            late.append((step, after, before))
        is_known = committed_lately(path, self._disk) if late else None
        for _, after, before in late:
            if is_known is None or is_known(encoded(after)):
                break
            known = before
        return known

    def _stood_lately(self, name: str, head: str | None, saved: str, path: Path) -> bool:
        """Whether a file held what it holds until we wrote a moment ago: git put it back."""
        since = raced_since(path, self._disk)
        for step, _, before in self._history.backwards(name, head or ""):
            if step.at < since or step.by == "person":
                return False
            if before == saved:
                return True
        return False

    def _edit(self, name: str, head: str | None, saved: str, seen: str, newest: str) -> HandEdit:
        """Return what a person did, whose editor may be older than ``seen``.

        Args:
            name: The file.
            head: What the journal says it holds.
            saved: What was saved.
            seen: The newest state that they can have seen.
            newest: The newest state that holds their own saves.
        """
        past = () if head is None else self._history.past(name, digest(newest))
        return HandEdit(name, find_base(newest, past, saved).text, seen, head or "")

    def _merged(self, name: str, since: Sequence[Part]) -> int:
        """Return how many of the oldest of ``since`` merged the save before one."""
        before = since[-len(_MERGED) :]
        past = self._history.past(name, before[0].target) if before else ()
        how = tuple(each.how for each in islice(past, len(before)))
        return len(before) if how == _MERGED else 0

    def _is_news(self, save: Save) -> bool:
        return digest(save.saved) != (self._history.head(save.edit.file) or "")

    def _stands_elsewhere(self, file: str, draft: Draft) -> Callable[[Placed], bool]:
        """Return a test: does an entry stand in another file now, where it did not before?

        A lesson that is filed under another topic, too, was moved there in an earlier save. A rule
        with the words of a lesson is another memory, which stays while the lesson is deleted.
        """
        heads: dict[str, Document] = {}

        def stood(name: str, text: str) -> bool:
            if name not in heads:
                heads[name] = parse(self._head_text(name) or "")
            return bool(heads[name].same(text))

        others = [name for name in self._reader.names() if name not in ASIDE | {file}]

        def moved(placed: Placed) -> bool:
            said = placed.block.text
            text = placement.split_task(said)[1] if file == PENDING else said
            copies = placement.copies_of(file, placed.block.meta or Metadata())
            return any(
                not stood(name, text) or (name not in copies and _both_lessons(name, file))
                for name in others
                if draft.get(name).same(text)
            )

        return moved

    def _head_text(self, name: str) -> str | None:
        """Return the text of a file after its last step."""
        head = self._history.head(name)
        if not head:
            return None
        known = self._reader.known(name, head)
        return self._history.text(name) if known is None else known


def _act(save: Save) -> Act:
    if save.by_git:
        return _BY_GIT
    if not save.displaced:
        return _BY_HAND
    return _MEANWHILE if save.displaced == digest(save.head) else _LATE


def _both_lessons(*names: str) -> bool:
    return all(map(is_of_lessons, names))
