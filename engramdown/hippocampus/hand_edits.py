"""What a person changed in an editor: found, compared with what they had open, and answered.

An entry that a person changed is verified; one that they removed is not learned again. Their words
are never changed. An edit from an editor that did not know our latest lines takes none of them
away: what they had open is the journalled state that explains the saved text best, and what may
be a deletion waits in ``pending.md`` as a question. A save that git made is not an edit.

Nothing here writes a file: saves are handed out as steps of the person's own, and as a draft of
what follows from them.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple

from engramdown.engram import fold
from engramdown.hippocampus import changeset, entry, git_state
from engramdown.hippocampus.changeset import Act, Draft, OutOfStepError, Slot
from engramdown.hippocampus.entry import address, copies_of, entry_id, split_task, tombstones_of
from engramdown.hippocampus.history import CLONED, History, Part, Past, Step, digest
from engramdown.hippocampus.snapshot import Reader, decoded, encoded, states
from engramdown.hippocampus.transaction import Staging
from engramdown.kinds import ARCHIVE, ASIDE, LESSONS, PENDING, is_of_lessons, kind_in
from engramdown.markdown.blocks import marker
from engramdown.markdown.document import Document, Placed, parse
from engramdown.markdown.merge import compare, merge
from engramdown.markdown.metadata import KEPT, OPERATIONS, Metadata
from engramdown.storage.disk import Disk, wait_while

# How many changes of a person may be yet to be marked in a file; of more the oldest are not.
_MARKS: Final = 256


class Save(NamedTuple):
    """A person's save that is to be taken in.

    Attributes:
        file: The file, relative to the memory folder.
        base: What their editor held when they opened it, or saved last.
        seen: The newest text that they can have seen.
        head: What the journal says the file holds; ``None`` if it does not know.
        saved: What was saved; ``None`` if the file was removed.
        disk: What is on the disk: what was saved, unless that was displaced.
        displaced: The digest of what displaced it; ``""`` if it is on the disk.
        by_git: Whether git brought the file from another commit: then nobody deleted anything,
            and ``base`` is what git knew of it.
    """

    file: str
    base: str
    seen: str
    head: str | None
    saved: str | None = None
    disk: bytes | None = None
    displaced: str = ""
    by_git: bool = False


def respond(
    draft: Draft, save: Save, was_moved: Callable[[Placed], bool], marks: tuple[str, ...] = ()
) -> tuple[str, ...]:
    """Carry out what follows from a hand edit.

    Args:
        draft: The memory files; ``save.file`` reads as the person saved it.
        save: The save.
        was_moved: Whether an entry that is gone from this file is now in another one that did not
            hold it before: then it was moved, not deleted.
        marks: Which changed entries were not yet marked as verified in the file.

    Returns:
        Which changed entries are not marked now: an editor may hold the file open, so it is not
        written for that alone.
    """
    file, saved, head = save.file, draft.get(save.file), parse(save.head or "")
    base = head if save.base == save.head else parse(save.base)
    merged, changes = merge(base, head, saved), compare(base, saved)
    draft.put(file, merged.document)
    # What was there last: copies are as we left them, whatever the editor knew.
    last = {placed.id: placed for placed in reversed(head.placed()) if placed.id}
    for old, new in changes.kept if file == LESSONS else ():
        _refile(draft, old, new)
    reworded = [(old, new) for old, new in changes.reworded if new.id]
    if file != ARCHIVE:
        entries = {id(placed) for placed in entry.raw_entries(file, base)}
        gone = [each for each in changes.removed if file == PENDING or id(each) in entries]
        for old, new in reworded if file not in ASIDE else ():
            _reword_copies(draft, file, last.get(new.id, old), new)
        for placed in gone:
            before = last.get(placed.id, placed)
            known = before if before.text == placed.text else placed
            if not was_moved(known):
                _retire_removed(draft, file, known)
                _remove_copies(draft, file, before)
        _retire_lost(draft, file, merged.lost)
    if file in ASIDE:
        return marks
    for placed in changes.added:
        _let_back(draft, save, placed)
    if save.base != save.seen:
        texts = {placed.text for placed in saved.placed()}
        unknown = compare(base, parse(save.seen)).added
        left = [placed for placed in unknown if placed.text not in texts]
        _ask_about(draft, file, left)
    verified = tuple(new.id for _, new in reworded)
    marks = tuple(mark for mark in marks if not mark.startswith(verified))
    marks = (*marks, *(new.id + address(new.text) for _, new in reworded))[-_MARKS:]
    if draft.get(file).render() != saved.render():
        document, marks = changeset.verify(draft.get(file), marks)
        draft.put(file, document)
    return marks


def carry_over(draft: Draft, save: Save) -> None:
    """Carry what came after ``save.base`` over to a file that reads as git brought it.

    Nobody deleted anything, and nobody verified it.
    """
    merged = merge(parse(save.base), parse(save.head or ""), draft.get(save.file))
    draft.put(save.file, merged.document)
    _retire_lost(draft, save.file, merged.lost)


def _retire_lost(draft: Draft, file: str, lost: Iterable[Placed]) -> None:
    """Put words of ours that gave way to a person's into the archive."""
    for placed in lost:
        changeset.retire(draft, placed, file, "conflict", "engramdown")


def _refile(draft: Draft, old: Placed, new: Placed) -> None:
    """Let the copy under a topic follow a lesson that got another one."""
    was, now = copies_of(LESSONS, old.metadata), copies_of(LESSONS, new.metadata)
    for name in was if was != now else ():
        copy = _find(draft.get(name), old.id, old.text)
        if copy is not None:
            draft.remove(name, copy.block)
    for name in now if was != now else ():
        if not draft.get(name).same(new.text):
            # In the old words: a change of the words follows, as in every copy.
            draft.add(name, old.text, new.metadata)


def _reword_copies(draft: Draft, file: str, old: Placed, new: Placed) -> None:
    """Let the copies of a changed entry under a topic follow, marked as verified."""
    # What an assistant noted of it meanwhile is in the merged line alone.
    meta = (_find(draft.get(file), new.id, new.text) or new).block.meta or new.metadata
    verified = meta.update({"basis": "verified"})
    for name in dict.fromkeys([*copies_of(file, old.metadata), *copies_of(file, meta)]):
        copies = draft.get(name)
        copy = _find(copies, meta.get("id"), old.text)
        if copy is not None:
            draft.put(name, copies.replace(copy.block, new.text, verified))


def _remove_copies(draft: Draft, file: str, placed: Placed) -> list[tuple[str, Placed]]:
    """Take out the copies of an entry that a person took out; return them, with their files."""
    copies = []
    if not draft.get(file).same(placed.text):
        for name in copies_of(file, placed.metadata):
            copy = _find(draft.get(name), placed.id, placed.text)
            if copy is not None:
                draft.remove(name, copy.block)
                copies.append((name, copy))
    return copies


def _retire_removed(draft: Draft, file: str, placed: Placed) -> None:
    """Leave a tombstone for an entry that a person took out, and take out its copies."""
    if draft.get(file).same(placed.text):
        return
    plain, reason = placed.text, "deleted"
    if file == PENDING:
        operation = placed.metadata.get("op")
        tick, plain = split_task(placed.text)
        # A note, or our question, says no to nothing when it is taken out. A question about
        # memories that stand was answered; its words are nothing to be kept out.
        if not tick or operation == "forget":
            return
        reason = KEPT if operation in OPERATIONS else "declined"
    for name, copy in _remove_copies(draft, file, placed):
        # From there it comes back to both places.
        placed, file = (copy, name) if name == LESSONS else (placed, file)
    if not tombstones_of(draft.get(ARCHIVE), plain):
        changeset.retire(draft, placed, file, reason, "person")


def _let_back(draft: Draft, save: Save, placed: Placed) -> None:
    """What a person writes again is not kept out; with its topic's file a lesson is back whole."""
    meta, text = placed.metadata, placed.text
    graves = tombstones_of(draft.get(ARCHIVE), text)
    went = {grave.value("was") for grave in graves if grave.value("id") == placed.id}
    changeset.lift_tombstones(draft, text, _kind(save.file, placed))
    is_copy = not save.head and save.file in copies_of(LESSONS, meta)
    if is_copy and LESSONS in went and not draft.get(LESSONS).same(text):
        draft.add(LESSONS, text, meta)


def _ask_about(draft: Draft, file: str, left: Iterable[Placed]) -> None:
    """Ask, once about each, whether lines that a stale editor did not know were to be deleted."""
    stands = draft.get(file)
    waiting = [placed.metadata for placed in draft.get(PENDING).placed()]
    questions = {meta.get("of") for meta in waiting if meta.get("op") == "forget"}
    for placed in left:
        if stands.same(placed.text) and entry_id(placed) not in questions:
            questions.add(entry_id(placed))
            values = {
                "id": draft.new_id(),
                "kind": _kind(file, placed),
                "source": "consolidation",
                "op": "forget",
                "of": entry_id(placed),
                "reason": "saved from an editor that was opened before this line was written",
                "ts": draft.day,
            }
            draft.add(PENDING, f"[ ] Delete: {placed.text}", Metadata().update(values))


def _kind(file: str, placed: Placed) -> str:
    return kind_in(file, placed.kind, placed.metadata.get("kind"))


def _find(document: Document, entry_id: str, text: str) -> Placed | None:
    """Return the entry with this id that says the same."""
    same = (placed for placed in document.placed() if placed.id == entry_id)
    return next((placed for placed in same if fold(placed.text) == fold(text)), None)


# One entry is one difference, however many lines it has.
_UNIT: Final = re.compile(r"\n(?!(?:\r?\n)?[ \t])")
# So many characters behind a line end show whether the line goes on.
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
# Lines do not come back: after so many states that lack something, the search ends.
_IN_VAIN: Final = 256


class Base(NamedTuple):
    """A state that a person may have had open.

    Attributes:
        text: The text of the file then.
        back: How many steps before the newest state that was.
        edits: How many lines the person wrote, changed or took out, if this is what they had open.
        cost: How many lines and ids differ from what was saved.
        gone: How many of its ids are not in what was saved.
    """

    text: str
    back: int = 0
    edits: int = 0
    cost: int = 0
    gone: int = 0


def find_base(seen: str, past: Iterable[Past], saved: str) -> Base:
    """Return the state that a person had open when they saved ``saved``.

    Args:
        seen: The newest state that they can have seen.
        past: How it came about, how the one before it did, and so on, as far as known.
        saved: What the file holds now.

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
    compared, lines = _Comparison(seen, saved), _lines(saved)
    is_one_less = compared.is_one_less()
    best: dict[int, Base] = {}  # By age, the newest first.
    age = in_vain = 0
    is_followed, is_ours = False, True  # Ours: all that came since, and no save of a person's.
    # The newest state that reads as what was saved; whether it is their own last save, and
    # whether our lines went into the file behind that.
    equal: tuple[int, bool, bool] | None = None
    for back, (text, how, way) in enumerate(_states(seen, past)):
        if compared.is_possible():
            in_vain = 0
            # What they saved last is what their editor holds, if no state since explains more.
            is_last = how == "saved" and age < _BEFORE
            state = Base(text, back, *compared.figures())
            known = best.get(age)
            rank = (state.edits, not is_last, state.cost)
            if known is None or rank < (known.edits, True, known.cost):
                best[age] = state
            if equal is None and not state.cost and _lines(text) == lines:
                equal = back, is_last, is_last and is_followed
        elif (in_vain := in_vain + 1) > _IN_VAIN:
            break
        age, is_followed = max(age, _AGES.get(how, 0)), how == "followed"
        is_ours = is_ours and not how and len(way) == 1
        for part in way:
            compared.go_back(text, part, is_ours=is_ours)
            text = part.backward(text)  # noqa: PLW2901 - the state before it
    chosen = _best(best)
    back, is_last, is_again = equal or (0, False, False)
    # Somebody made the file as it was then, and knew what came after it; unless they saved once
    # more what they saved last.
    is_taken_back = chosen is not None and chosen.back == back and not is_again
    is_taken_back = is_taken_back and (is_one_less or not (is_last or parse(saved).placed()))
    if chosen is None or (is_taken_back and best.keys() != {_BEFORE}):
        return Base(seen)
    return chosen


def _best(best: Mapping[int, Base]) -> Base | None:
    """Return the newest state, or an older one that explains more than any since."""
    chosen: Base | None = None
    for age, each in best.items():
        lines, ids = _NEEDED[age]
        # What is missing an editor of that age explains, and a deletion does not.
        if chosen is None or (chosen.cost - each.cost >= lines and chosen.gone - each.gone >= ids):
            chosen = each
    return chosen


def _states(seen: str, past: Iterable[Past]) -> Iterator[tuple[str, str, tuple[Part, ...]]]:
    """Yield the states in the order in which they were on the disk, the newest first.

    Each comes with how it came about, see :class:`engramdown.hippocampus.history.Past`, and the
    splices that lead to the state before it; none if that is not known.
    """
    text = seen
    for how, way in _ways_back(past):
        yield text, how, way
        for part in way:
            if not text.startswith(part.new, part.at):
                return  # Somebody wrote into the journal.
            text = part.backward(text)
    yield text, "", ()


def _ways_back(past: Iterable[Past]) -> Iterator[tuple[str, tuple[Part, ...]]]:
    """Yield how each state came about, and the splices that lead to the one before it.

    A save that was displaced is in the journal behind the state that displaced it; on the disk it
    was before that, and the person who saved it may not have seen what came then.
    """
    steps = iter(past)
    newer: tuple[str, tuple[Part, ...]] | None = None
    for each in steps:
        if newer is not None and each.how == "displaced":
            yield newer[0], (*newer[1], each.part)
            yield "followed", (each.part.reversed(),)
            before = next(steps, None)
            newer = ("saved", (each.part, before.part)) if before is not None else None
            continue
        if newer is not None:
            yield newer
        newer = each.how, (each.part,)
    if newer is not None:
        yield newer


# What sort of thing it is, and the thing.
_Feature = tuple[str, str]


class _Overlap:
    """Which things one side has that are wanted, while it gains and loses some.

    Attributes:
        has: How often the side has each.
        missing: How many that are wanted it has not.
        extra: How many it has that are not wanted.
    """

    def __init__(self, wanted: Iterable[_Feature]) -> None:
        self._wanted = {*wanted}
        self.has: Counter[_Feature] = Counter()
        self.missing, self.extra = len(self._wanted), 0

    def want(self, thing: _Feature) -> None:
        """Want a thing from now on that the side has not."""
        if thing not in self._wanted and not self.has[thing]:
            self._wanted.add(thing)
            self.missing += 1

    def count(self, thing: _Feature, by: int) -> None:
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


class _Comparison:
    """The lines and ids of one state beside what was saved."""

    def __init__(self, seen: str, saved: str) -> None:
        self._saved, there = {*_features(saved)}, [*_features(seen)]
        shared = self._saved.intersection(there)
        self._of = {
            sort: _Overlap(thing for thing in self._saved if thing[0] == sort)
            for sort in ("words", "metadata", "entry", "id")
        }
        # What an editor knows it has read: no state without it comes into question.
        self._read = _Overlap(thing for thing in shared if thing[0] in ("line", "id"))
        self._knows_ours = any(sort == "id" for sort, _ in shared)
        self._count(there, 1)

    def figures(self) -> tuple[int, int, int]:
        """Return how many edits there would be, how many lines and ids differ, and what is gone."""
        words, metas, entries, ids = self._of.values()
        differing = words.missing + words.extra
        others = (metas.missing, metas.extra, ids.missing, ids.extra)
        reworded = entries.missing - ids.missing
        return max(differing - reworded, 0), differing + sum(others), ids.extra

    def is_possible(self) -> bool:
        """Whether an editor that held this state may have saved what was saved."""
        if self._read.missing or self._knows_ours:
            return not self._read.missing
        # Half of it is kept. An entry counts once: its metadata goes with it.
        words = self._of["words"].has.keys()
        return 2 * len(self._saved & words) >= len(words)

    def is_one_less(self) -> bool:
        """Whether nothing but one entry, at most, is in the state alone."""
        words, metas, _, ids = self._of.values()
        entries = {thing for thing in words.has if marker(thing[1])}
        is_more = words.missing or metas.missing or ids.missing
        return not is_more and len(entries - self._saved) <= 1 >= ids.extra

    def go_back(self, text: str, part: Part, *, is_ours: bool = False) -> None:
        """Go from ``text``, which ``part`` made, to the state before it.

        What we took out (``is_ours``) was read before, as nobody types it, metadata and all. What
        a person took out they may put back: an editor keeps it for them.
        """
        end = part.at + len(part.new)
        # The lines that the splice touches: whether one goes on depends on the first characters
        # of the two after it.
        first = text.rfind("\n", 0, max(part.at - _AHEAD, 0))
        while first >= 0 and not _UNIT.match(text, first):
            first = text.rfind("\n", 0, first)
        last = _UNIT.search(text, end)
        stop = last.start() if last else len(text)
        before = [*_features(text[first + 1 : part.at] + part.old + text[end:stop])]
        for thing in self._saved.intersection(before) if is_ours else ():
            if thing[0] == "line":
                self._read.want(thing)
        self._count(before, 1)
        self._count(_features(text[first + 1 : stop]), -1)

    def _count(self, things: Iterable[_Feature], by: int) -> None:
        for thing in things:
            if thing[0] in self._of:
                self._of[thing[0]].count(thing, by)
            if thing[0] in ("line", "id"):
                self._read.count(thing, by)


def _lines(text: str) -> list[str]:
    """Return the lines of a text that are not blank, each with those indented below it.

    How they are laid out does not count: an editor may change bullets, line ends and indentation.
    """
    units = (" ".join(unit.split()).removeprefix("\ufeff") for unit in _UNIT.split(text))
    return [_BULLET.sub("-", unit) for unit in units if unit]


def _features(text: str) -> Iterator[_Feature]:
    """Yield what two texts are compared by.

    That is their lines, the words and our metadata in each, the words with the id, and all ids.
    """
    for line in _lines(text):
        words, mark, meta = line.rpartition(_META)
        ids = _ID.findall(meta) if mark else []
        yield "line", line
        yield "words", words if ids else line
        if ids:
            yield "metadata", meta
            yield "entry", f"{ids[0]} {words}"
    for each in _ID.findall(text):
        yield "id", each


_BY_HAND: Final = Act("edit", "person", "by hand")
_MEANWHILE: Final = Act("meanwhile", "person", "by hand, while a memory was written")
_LATE: Final = Act("late", "person", "by hand, some time ago")
_FOUND: Final = Act("found", "person")
_CLONED: Final = Act("found", "person", CLONED)
_BY_GIT: Final = Act("checkout", "person", "git moved to another commit")
# How long git is waited for when it is in the middle of bringing files, in seconds.
_GIT_AT_WORK: Final = 2.0
# How a save came about that was displaced, and what follows from it; the newest first.
_MERGED: Final = ("followed", "displaced")
# How often we look again at files that change while we ask git about them.
_LOOKS: Final = 5


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
        # One that is away for a moment may be spelled otherwise.
        places = [partial(self._reader.path, name) for name in heads]
        files = [(place, head or "") for place, head in zip(places, heads.values(), strict=True)]
        saves: list[Save] = []
        for _ in range(_LOOKS):
            # While git brings files it has not said yet why they differ.
            wait_while(partial(self._is_git_at_work, places), _GIT_AT_WORK)
            data = self._staging.settled(files)
            before = {git_state.standing(place(), self._disk) for place in places}
            texts = zip(heads.items(), data, strict=True)
            saves = [self._save(name, head, each) for (name, head), each in texts]
            # What git says of a file that came meanwhile says nothing of the one that we read; it
            # may also have gone to another branch and come back.
            is_same = [self._disk.read(place()) for place in places] == data
            after = {git_state.standing(place(), self._disk) for place in places}
            if is_same and after == before:
                break
        known = self._history.head
        return [save for save in saves if digest(save.saved) != (known(save.file) or "")]

    def _is_git_at_work(self, places: Iterable[Callable[[], Path]]) -> bool:
        return any(git_state.is_at_work(place(), self._disk) for place in places)

    def let_finish(self, name: str) -> None:
        """Wait until a file looks whole again that an editor moved away for a moment."""
        place = partial(self._reader.path, name)
        self._staging.settled([(place, self._head_text(name) or "")])

    def displaced(self, name: str, saved: str, source: str, by: str, where: Path) -> Save | None:
        """Return a save that our own file displaced; ``None`` if it was taken in already.

        Args:
            name: The file.
            saved: What was saved.
            source: The digest of the newest state that the person can have seen.
            by: The digest of what displaced it.
            where: Where it is now.
        """
        head = self._head_text(name)
        since = self._history.since(name, source)[:-1]
        if digest(saved) in {self._history.head(name), *(part.target for part in since)}:
            return None
        disk = None if head is None else encoded(head)
        path, system = self._reader.path(name), self._disk
        wait_while(partial(git_state.is_at_work, path, system, where), _GIT_AT_WORK)
        is_merging = git_state.is_merging(path, system, head, saved)
        if is_merging or git_state.is_brought(path, system, where):
            if not is_merging and git_state.has_gone_on(path, system, where):
                return None
            base = self._known_to_git(name, head or "", path, where, len(since))
            return Save(name, base, base, head, saved, disk, displaced=by, by_git=True)
        states = deque([head or ""], maxlen=1 + len(_MERGED))
        for part in since:
            states.append(part.backward(states[-1]))
        # Where the oldest of them merged the save before this one, their editor holds that.
        oldest = since[-len(_MERGED) :]
        past = self._history.past(name, oldest[0].target) if oldest else ()
        is_merged = tuple(each.how for each in islice(past, len(oldest))) == _MERGED
        newest = states[-1 - len(oldest)] if is_merged else states[-1]
        base = self._base(name, head, saved, newest)
        return Save(name, base, states[-1], head, saved, disk, displaced=by)

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
            slot.marks = self._history.marks(save.file)
            draft.preset(save.file, slot)
        for save, slot in zip(saves, slots, strict=True):
            # One that was removed and is back says as much as one that was changed.
            known = save.head is not None or self._history.head(save.file) == ""
            if save.by_git and save.base != (save.head or ""):
                carry_over(draft, save)
            elif known and not save.by_git:
                moved = self._moved(save.file, draft)
                slot.marks = respond(draft, save, moved, slot.marks)
        return draft

    def step(self, save: Save, marks: tuple[str, ...]) -> Step:
        """Return a save as a step of the journal, by the person; ``marks`` are yet to be set."""
        file = save.file
        part = self._history.part(file, save.head, save.saved)._replace(marks=marks)
        if save.head is None:
            came = git_state.known_to_git([self._reader.path(file)], self._disk)
            return changeset.new_step(_CLONED if came else _FOUND, (part,), ())
        act = _LATE
        if save.by_git or not save.displaced:
            act = _BY_GIT if save.by_git else _BY_HAND
        elif save.displaced == digest(save.head):
            act = _MEANWHILE
        changes = changeset.entry_changes(file, parse(save.head), parse(save.saved or ""))
        return changeset.new_step(act, (part,), tuple(changes))

    def _save(self, name: str, head: str | None, data: bytes | None) -> Save:
        saved, path, disk = decoded(data), self._reader.path(name), self._disk
        moment = self._history.last_at(name)
        moved = git_state.moved_since(path, moment, disk, head or "")
        by_git = moved or git_state.is_merging(path, disk, head, saved)
        restored = git_state.is_restored(path, disk)
        if by_git or restored:
            # git brought other lines, or took ours back for somebody; no editor is old.
            race = moved or (restored and (by_git or git_state.follows_attempt(path, disk)))
            base = seen = self._known_to_git(name, head or "", path) if race else head or ""
        elif (
            saved
            and git_state.is_kept(path, moment, disk)
            and self._stood_lately(name, head, saved, path)
        ):
            base, seen, by_git = saved, saved, True
        else:
            base, seen = self._base(name, head, saved or "", head or ""), head or ""
        return Save(name, base, seen, head, saved, data, by_git=by_git)

    def _known_to_git(
        self, name: str, head: str, path: Path, where: Path | None = None, ours: int = 0
    ) -> str:
        """Return the text of a file that git, or who uses it, knew when it wrote another one.

        git refuses to replace what is not committed. What was written in the moment before it
        wrote the file, and is in no commit, nobody took away: git had looked before that. If ours
        displaced it since, it is at ``where``, and what the last ``ours`` steps wrote came later.
        """
        is_raced, known = git_state.raced(where or path, self._disk), head
        is_known: Callable[[bytes], bool] | None = None
        for back, (step, after, before) in enumerate(self._history.backwards(name, head)):
            if back >= ours:
                if step.op == _BY_GIT.op or not is_raced(step.at):
                    break
                is_known = is_known or git_state.committed_lately(path, self._disk)
                if is_known(encoded(after)):
                    break
            known = before
        return known

    def _stood_lately(self, name: str, head: str | None, saved: str, path: Path) -> bool:
        """Whether a file held what it holds until we wrote a moment ago: git put it back."""
        since = git_state.raced_since(path, self._disk)
        for step, _, before in self._history.backwards(name, head or ""):
            if step.at < since or step.by == "person":
                return False
            if before == saved:
                return True
        return False

    def _base(self, name: str, head: str | None, saved: str, newest: str) -> str:
        """Return what a person had open who saved ``saved``.

        Args:
            name: The file.
            head: What the journal says it holds.
            saved: What was saved.
            newest: The newest state that holds their own saves.
        """
        past = () if head is None else self._history.past(name, digest(newest))
        return find_base(newest, past, saved).text

    def _moved(self, file: str, draft: Draft) -> Callable[[Placed], bool]:
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
            text = split_task(placed.text)[1] if file == PENDING else placed.text
            copies = copies_of(file, placed.metadata)
            return any(
                not stood(name, text)
                or (name not in copies and is_of_lessons(name) and is_of_lessons(file))
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
