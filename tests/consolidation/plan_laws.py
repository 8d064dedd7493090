"""What holds for every plan and what is made of it, as functions that a mutant breaks."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Final

from engramdown.consolidation.information_loss import changed, differs, is_near_exact, left_out
from engramdown.consolidation.plan import Operation, Search, merged_memory, no_longer_found
from engramdown.consolidation.plan_rules import is_safe, judge
from engramdown.engram import BASES, CONFIDENCES, SOURCES
from engramdown.errors import StoreError
from engramdown.gate.pending_file import question, revision, settle
from engramdown.hippocampus.changeset import Act, Draft
from engramdown.hippocampus.entry import Entry, as_entry, raw_entries
from tests.consolidation.memories import drop, known, learned, merge, supersede
from tests.hippocampus.shelf import Shelf

__all__ = [
    "accepting_does_what_was_asked",
    "accepting_leaves_what_changed",
    "changes_are_told",
    "differences_are_told",
    "drops_of_two_say",
    "is_refused_as_a_whole",
    "lost_words_are_taken_out",
    "merging_makes_nothing_surer",
    "nobody_is_asked",
    "nobody_is_passed_over",
    "nothing_gives_way",
    "only_what_says_the_same_is_safe",
    "what_is_left_out_is_told",
]

TODAY: Final = date(2026, 3, 15)
_MORE: Final = [known(f"more{at}", f"filler number {at}") for at in range(9)]
_SLOW: Final = (
    "alpha beta gamma",
    "alpha beta delta",
    *(f"alpha beta crowd {at}" for at in "pqrstu"),
)


def nothing_gives_way(operations: Sequence[Operation], memories: Sequence[Entry]) -> None:
    """None of these operations is applied without a person."""
    found = judge(operations, [*memories, *_MORE], TODAY)
    assert found.apply == ()


def changes_are_told(text: str, originals: Sequence[str]) -> None:
    """What a merged text loses, adds or turns around is told."""
    assert changed(text, originals)


def what_is_left_out_is_told(text: str, kept: str) -> None:
    """It is told that a good part of a text is missing."""
    assert left_out(text, kept)


def differences_are_told(one: str, other: str, what: str) -> None:
    """It is told in what two texts differ."""
    assert differs(one, other).startswith(what)
    assert differs(other, one).startswith(what)


def drops_of_two_say(one: str, other: str) -> None:
    """Of two texts that differ in substance neither gives way, whatever the operation."""
    memories = learned(one, other)
    for text in (one, other, f"{one}, {other}"):
        nothing_gives_way([merge(("a", "b"), text)], memories)
    for operation in (drop("a", "b"), drop("b", "a"), supersede("a", "b")):
        nothing_gives_way([operation], memories)
    only_what_says_the_same_is_safe(one, other)


def is_refused_as_a_whole(plan: list[Operation], memories: Sequence[Entry]) -> None:
    """Nothing of this plan is done or asked."""
    try:
        found = judge(plan, memories, TODAY)
    except KeyError as error:
        raise AssertionError("it was judged") from error
    assert found.refusal
    assert found.apply == ()
    assert found.propose == ()


def nobody_is_asked(operation: Operation, memories: Sequence[Entry]) -> None:
    """An operation is refused: not even a person is asked."""
    found = judge(
        [
            operation,
        ],
        [*memories, *_MORE],
        TODAY,
    )
    assert [each.operation for each in found.refused] == [operation]


def nobody_is_passed_over(operation: Operation, memories: Sequence[Entry]) -> None:
    """A person is asked, and told why."""
    found = judge(
        [
            operation,
        ],
        [*memories, *_MORE],
        TODAY,
    )
    assert found.apply == ()
    assert [each.operation for each in found.propose] == [operation]
    assert found.propose[0].why


def only_what_says_the_same_is_safe(one: str, other: str) -> None:
    """What differs is not near exact, and not safe."""
    assert not is_near_exact(one, other)
    memories = {memory.id: memory for memory in learned(one, other)}
    assert not is_safe(drop("a", "b"), memories, TODAY)


def merging_makes_nothing_surer(*originals: Entry) -> None:
    """A merged memory is no surer than its weakest original, and has every pointer."""
    new = merged_memory(originals, "text")
    for each in originals:
        assert CONFIDENCES.index(new.confidence) >= CONFIDENCES.index(each.confidence)
        assert SOURCES.index(new.source) >= SOURCES.index(each.source)
        assert set(each.origin.split(",")) - {""} <= set(new.origin.split(","))
        assert new.pin >= each.pin
        assert not each.expires or new.expires <= each.expires
    assert new.basis == BASES[2] == "inferred"


def lost_words_are_taken_out(text: str, crowd: int = 6, *, is_lost: bool) -> None:
    """A merge after which an original is not found by its own words is taken out of the plan."""
    memories = learned(*_SLOW[: 2 + crowd])
    merged = merge(("a", "b"), text)
    found = no_longer_found([merged], memories, _by_words)
    assert [each.operation for each in found] == ([merged] if is_lost else [])


def _by_words(memories: Sequence[Entry]) -> Search:
    """Return a search by the number of words in common; of equals the last one is first."""
    texts = {memory.id: set(memory.text.split()) for memory in reversed(memories)}

    def search(query: str) -> Sequence[str]:
        words = set(query.split())
        ranked = sorted(texts, key=lambda each: -len(texts[each] & words))
        return [each for each in ranked if texts[each] & words]

    return search


_LESSONS: Final = (
    "# Lessons\n\n- slow <!-- id:aaaaaaaa source:llm from:s1#1 ts:2026-01-01 -->\n"
    "- is slow <!-- id:bbbbbbbb source:llm from:s2#2 ts:2026-01-02 -->\n"
)


def _entries(shelf: Shelf) -> dict[str, Entry]:
    placed = raw_entries("lessons.md", shelf.document("lessons.md"))
    return {it.id: it for it in (as_entry("lessons.md", "project", each) for each in placed)}


def _settled(shelf: Shelf, operation: Operation, meanwhile: tuple[str, str] = ("", "")) -> None:
    item = question(operation, _entries(shelf), "why", "")
    shelf.texts["lessons.md"] = shelf.texts["lessons.md"].replace(*meanwhile)
    text = operation.text if operation.name == "merge" else ""
    act = Act("resolve", "user")

    def edit(draft: Draft) -> None:
        (done,) = settle(draft, [(item, text)], "project", sorted(shelf.texts), "user")
        if isinstance(done, StoreError):
            raise done

    shelf.change(act, edit)


def accepting_does_what_was_asked(operation: Operation) -> None:
    """What a person accepts is done: what goes is archived with its reason, pointers are kept."""
    shelf = Shelf({"lessons.md": _LESSONS})
    before = _entries(shelf)
    reason = revision(operation, before).reason
    _settled(shelf, operation)
    after, archive = _entries(shelf), shelf.texts.get("archive.md", "")
    if operation.name == "move":
        assert after[operation.id].topic == operation.topic
        return
    assert reason in ("duplicate", "merged", "replaced")
    assert not after.keys() & set(operation.ids)
    assert archive.count(f" reason:{reason} ") == len(operation.ids)
    (stays,) = after.values()
    assert {"s1#1", "s2#2"} == set(stays.origin.split(","))
    assert stays.basis == ("verified" if operation.name == "merge" else before[stays.id].basis)


def accepting_leaves_what_changed(operation: Operation, old: str, new: str) -> None:
    """What is not as it was when it was asked about is left as it is."""
    shelf = Shelf({"lessons.md": _LESSONS})
    wanted = _LESSONS.replace(old, new)
    assert wanted != _LESSONS
    try:
        _settled(shelf, operation, (old, new))
    except StoreError:
        pass
    else:
        raise AssertionError("it was carried out")
    assert shelf.texts["lessons.md"] == wanted
