"""The laws of steps over memory files: filing, hand edits, undo; see :mod:`tests.laws`.

Promises: every law works on a :class:`tests.hippocampus.shelf.Shelf`, without a disk.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Final, Literal, NamedTuple

from engramdown.engram import Engram, fact_key, fold
from engramdown.errors import UndoRefusedError
from engramdown.hippocampus.changeset import Act, Draft, retire, unretire
from engramdown.hippocampus.entry import as_entry, entry_id, raw_entries, split_task, tombstones
from engramdown.kinds import ARCHIVE, LESSONS, PENDING, PROFILE, RULES, is_name, topic_file
from engramdown.markdown.document import Document, Placed, parse
from engramdown.markdown.merge import compare
from tests.hippocampus.shelf import Shelf, base_among

__all__ = [
    "FILES",
    "Action",
    "act",
    "filing_is_found_and_done_once",
    "hand_edits_keep_the_words_of_both",
    "restoring_loses_and_doubles_nothing",
    "undo_of_one_step_leaves_the_others",
    "undo_takes_every_step_back",
]

FILES: Final = (RULES, LESSONS, PROFILE, "topics/ci.md", ARCHIVE, PENDING)

_MEMORY: Final = FILES[:4]


class Action(NamedTuple):
    """One step: forget, update, restore a memory, or encode one.

    Attributes:
        name: What is done.
        number: To which memory, counted round and round.
        engram: What is encoded; its text is the new one of an update.
    """

    name: Literal["encode", "forget", "update", "restore"]
    number: int
    engram: Engram


def act(shelf: Shelf, action: Action) -> None:
    """Carry out an action, if there is anything to do it to."""
    if action.name == "encode":
        shelf.encode(action.engram)
        return
    files = (ARCHIVE,) if action.name == "restore" else _MEMORY
    found = [(name, p) for name in files for p in raw_entries(name, shelf.document(name))]
    if not found:
        return
    name, placed = found[action.number % len(found)]
    edits: dict[str, Callable[[Draft, Placed], object]] = {
        "forget": lambda draft, now: _forget(draft, name, now),
        "update": lambda draft, now: draft.put(
            name, draft.get(name).replace(now.block, action.engram.text, now.block.meta)
        ),
        "restore": unretire,
    }

    def edit(draft: Draft) -> None:
        # The step has read the file itself, so its blocks are others.
        now = next(each for each in draft.get(name).placed() if each.at == placed.at)
        edits[action.name](draft, now)

    shelf.change(Act(action.name, "user"), edit)


def filing_is_found_and_done_once(shelf: Shelf, engram: Engram) -> None:
    filed = shelf.encode(engram)
    twins = [
        placed
        for placed in raw_entries(filed.file, shelf.document(filed.file))
        if entry_id(placed) == filed.id and fold(placed.block.text) == fold(engram.text)
    ]
    assert twins
    found = twins[0]
    entry = as_entry(filed.file, engram.scope, found)
    assert entry.kind == engram.kind
    assert found.block.text == engram.text or not filed.added
    assert all(map(is_name, shelf.texts))
    if filed.added and engram.topic:
        assert fold(engram.text) in map(fold, shelf.said(topic_file(engram.topic)))
    assert fold(engram.text) not in map(fold, _buried(shelf))
    before = dict(shelf.texts)
    again = shelf.encode(engram)
    assert (again.id, again.file, again.added) == (filed.id, filed.file, False)
    assert shelf.texts == before


def undo_takes_every_step_back(shelf: Shelf, actions: Sequence[Action]) -> None:
    states = [dict(shelf.texts)]
    for action in actions:
        steps = len(shelf.steps)
        act(shelf, action)
        if len(shelf.steps) > steps:
            states.append(dict(shelf.texts))
    while len(states) > 1:
        states.pop()
        shelf.undo()
        assert _filled(shelf.texts) == _filled(states[-1])


def undo_of_one_step_leaves_the_others(
    shelf: Shelf, action: Action, later: Sequence[Engram]
) -> None:
    before = _said(shelf)
    act(shelf, action)
    if not shelf.steps:
        return
    middle = _said(shelf)
    step = shelf.steps[-1]
    for engram in later:
        shelf.encode(engram)
    after = dict(shelf.texts)
    said = _said(shelf)
    try:
        shelf.undo(step.id)
    except UndoRefusedError:
        assert shelf.texts == after
        return
    now = _said(shelf)
    # Of two facts of one key a person wrote one.
    assert _keys(now) <= _keys(before) | _keys(said)
    for name in FILES:
        assert not (said[name] - middle[name]).keys() - now[name].keys()
        still = before[name] - (middle[name] - said[name])
        assert not still.keys() - now[name].keys()


def restoring_loses_and_doubles_nothing(shelf: Shelf, number: int) -> None:
    archived = raw_entries(ARCHIVE, shelf.document(ARCHIVE))
    if not archived:
        return
    back = as_entry(ARCHIVE, "project", archived[number % len(archived)])
    before = _folds(shelf, FILES)
    same_key = _count_key(shelf, back.text)
    act(shelf, Action("restore", number, Engram("not used", "lesson", "project")))
    assert before.keys() == _folds(shelf, FILES).keys()
    assert back.fold in _folds(shelf, [name for name in shelf.texts if name != ARCHIVE])
    if back.kind == "profile" and fact_key(back.text):
        assert _count_key(shelf, back.text) <= max(same_key, 1)


def hand_edits_keep_the_words_of_both(
    shelf: Shelf, file: str, states: tuple[str, ...], saved: str
) -> None:
    base = base_among(states, saved)
    shelf.texts[file] = states[-1]
    head = shelf.document(file)
    ours, theirs = _given_up(parse(base), head), _given_up(parse(base), parse(saved))
    removed = _removed(file, parse(base), parse(saved))
    shelf.save(file, saved, states)
    texts = set(_texts(shelf.document(file).placed()))
    assert not {*_texts(parse(saved).placed())} - texts - ours
    archived = {fold(text) for text in _texts(shelf.document(ARCHIVE).placed())}
    for text in _texts(head.placed()):
        # A task is archived without its box.
        told = {fold(text), fold(split_task(text)[1])} & archived
        assert text in texts or text in theirs or told or file == ARCHIVE
    gone = {fold(text) for text in removed if not shelf.document(file).same(text)}
    assert not gone - {*map(fold, _buried(shelf))}
    before = dict(shelf.texts)
    shelf.save(file, shelf.texts[file])
    assert shelf.texts == before


def _forget(draft: Draft, name: str, placed: Placed) -> None:
    retire(draft, placed, name, "forgotten", "user")
    draft.put(name, draft.get(name).remove(placed.block))


def _removed(file: str, before: Document, after: Document) -> list[str]:
    """Return what a person took out that is not to be learned again."""
    memories = {id(placed) for placed in raw_entries(file, before)}
    gone = compare(before, after).removed
    if file == PENDING:
        tasks = (split_task(each.text) for each in gone if not each.metadata.get("op"))
        return [text for tick, text in tasks if tick]
    return [each.text for each in gone if id(each) in memories and file != ARCHIVE]


def _given_up(before: Document, after: Document) -> set[str]:
    """Return what one side took out, said in other words or wrapped otherwise."""
    changes = compare(before, after)
    said = [old for old, new in changes.kept if old.block.text != new.block.text]
    return {*_texts(changes.removed), *_texts(said)}


def _said(shelf: Shelf) -> dict[str, Counter[str]]:
    return {name: Counter(shelf.said(name)) for name in FILES}


def _keys(said: dict[str, Counter[str]]) -> Counter[str]:
    return Counter(filter(None, map(fact_key, said[PROFILE].elements())))


def _folds(shelf: Shelf, files: Iterable[str]) -> Counter[str]:
    return Counter(fold(text) for name in files for text in shelf.said(name))


def _count_key(shelf: Shelf, text: str) -> int:
    return [fact_key(fact) for fact in shelf.said(PROFILE)].count(fact_key(text))


def _buried(shelf: Shelf) -> list[str]:
    return [placed.block.text for placed in tombstones(shelf.document(ARCHIVE))]


def _filled(texts: dict[str, str]) -> dict[str, str]:
    """Return the files that hold something; an undone first step leaves an empty one."""
    return {name: text for name, text in texts.items() if text}


def _texts(entries: Iterable[Placed]) -> Iterable[str]:
    return (placed.block.text for placed in entries)
