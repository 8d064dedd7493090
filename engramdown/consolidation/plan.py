"""Plans: proposed changes to memories, the rulings on them, and a preview of their effect.

Pure. A plan is a value that changes nothing by itself. An operation names memories by their ids
only, so that it always applies to the memory as it is in the store. The properties of a merged
memory follow from its originals: it is never surer or better founded than the weakest of them, and
has all their pointers. The diff that a person sees shows every memory that an operation takes, with
its id, and nothing that would not happen.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from engramdown.consolidation.information_loss import is_duplicate
from engramdown.engram import CONFIDENCES, SOURCES, fold, pointers, slug
from engramdown.errors import InvalidEngramError
from engramdown.language.claims import read
from engramdown.language.words import same_word, word_key

if TYPE_CHECKING:
    from engramdown.hippocampus.entry import Entry

Verdict = Literal["apply", "propose", "refuse"]
# The name of an operation, in pending.md and for programs.
Name = Literal["drop", "merge", "supersede", "move", "expire"]
# The operations by which a memory gives way to one that stays.
GIVING_WAY: Final = ("drop", "supersede")


class Operation(NamedTuple):
    """A proposed change to memories.

    Attributes:
        name: ``drop`` (another memory says the same), ``supersede`` (a newer one has replaced it),
            ``expire`` (its last day has passed), ``merge`` (several memories become one, whose
            properties follow from theirs) or ``move`` (a lesson gets another topic).
        ids: The memories that it takes: one, or several to merge.
        stays: The memory that stays in their place, or ``""``.
        text: The text of the merged memory, or ``""``.
        topic: Any words for the topic of a lesson that moves, see :func:`engramdown.engram.slug`.
        reason: The reason in words.
    """

    name: Name
    ids: tuple[str, ...]
    stays: str = ""
    text: str = ""
    topic: str = ""
    reason: str = ""

    @property
    def id(self) -> str:
        """The memory that it takes, or the first of several."""
        return self.ids[0]


def operation_of(
    name: Name, ids: Sequence[str], stays: str, text: str, topic: str, *, reason: str = ""
) -> Operation:
    """Return an operation, given more than counts for it: only a merge takes several memories."""
    return Operation(
        name,
        tuple(ids if name == "merge" else ids[:1]),
        stays if name in GIVING_WAY else "",
        text if name == "merge" else "",
        topic if name == "move" else "",
        reason,
    )


class Ruling(NamedTuple):
    """The decision on one operation.

    Attributes:
        operation: The operation.
        verdict: ``apply``, ``propose`` (a person decides) or ``refuse``.
        why: Why it is not simply applied, or ``""``.
    """

    operation: Operation
    verdict: Verdict
    why: str = ""


class Judgement(NamedTuple):
    """The decision on a plan.

    Attributes:
        rulings: One for each operation, in the order of the plan.
        refusal: Why the plan is refused as a whole, in which case every ruling refuses; or ``""``.
    """

    rulings: tuple[Ruling, ...] = ()
    refusal: str = ""

    @property
    def apply(self) -> tuple[Operation, ...]:
        """The operations that may be applied."""
        return tuple(each.operation for each in self.rulings if each.verdict == "apply")

    @property
    def propose(self) -> tuple[Ruling, ...]:
        """The rulings that leave the decision to a person."""
        return tuple(each for each in self.rulings if each.verdict == "propose")

    @property
    def refused(self) -> tuple[Ruling, ...]:
        """The rulings that refuse."""
        return tuple(each for each in self.rulings if each.verdict == "refuse")


# ---- what a plan would do ----

# The replacement of a memory has to be among this many first results.
FIRST: Final = 5

# Returns the ids of the memories that match a query, the best first.
Search = Callable[[str], Sequence[str]]


def merged_memory(originals: Sequence[Entry], text: str, new_id: str = "") -> Entry:
    """Return the memory that says ``text`` in place of ``originals``.

    Its source is the weakest of theirs, as none of them said these words.
    """
    return originals[0]._replace(
        id=new_id,
        text=text,
        confidence=max((each.confidence for each in originals), key=CONFIDENCES.index),
        topic=next((each.topic for each in originals if each.topic), ""),
        source=max((each.source for each in originals), key=SOURCES.index),
        basis="inferred",
        ts=max(each.ts for each in originals),
        origin=origins(originals),
        cites=pointers(*(each.cites for each in originals)),
        expires=min((each.expires for each in originals if each.expires), default=""),
        pin=any(each.pin for each in originals),
        line=0,
        spelled="",
        comments="",
    )


def origins(memories: Iterable[Entry]) -> str:
    """Return every pointer of ``memories`` once, separated by commas.

    >>> from engramdown.consolidation.plan import origins
    >>> origins([])
    ''
    """
    return pointers(*(memory.origin for memory in memories))


def memory_after(operations: Iterable[Operation], memories: Sequence[Entry]) -> list[Entry]:
    """Return the memories after ``operations``; a merged one has the first id that it replaces."""
    known = {memory.id: memory for memory in reversed(memories)}
    taken: dict[str, Operation] = {}
    for operation in operations:
        if operation.name != "move":
            taken |= dict.fromkeys(operation.ids, operation)
    after: list[Entry] = []
    for memory in memories:
        taking = taken.get(memory.id)
        if taking is None:
            after.append(memory)
        elif taking.name == "merge" and memory.id == taking.id:
            originals = [known[each] for each in taking.ids]
            after.append(merged_memory(originals, taking.text, memory.id))
    return after


def no_longer_found(
    operations: Sequence[Operation],
    memories: Sequence[Entry],
    searching: Callable[[Sequence[Entry]], Search],
) -> list[Ruling]:
    """Return the operations after which a memory would not be found any more, with the reason.

    Each memory that goes is searched for with its own key words, and with those of them that few
    others have; its replacement has to be among the first results.

    Args:
        operations: The operations to apply.
        memories: The memories as they are now.
        searching: Returns a search through given memories.
    """
    known = {memory.id: memory for memory in reversed(memories)}
    holders = _Holders(memories)
    out: list[Ruling] = []
    left = list(operations)
    # Preparing a search costs more than seeing that there is nothing to search for.
    while any(_rewords(each, known) for each in left):
        search = searching(memory_after(left, memories))
        lost = {each: why for each in left if (why := _lost(each, known, search, holders))}
        if not lost:
            break
        # The rest is checked again: the originals that stay now compete with replacements.
        out += [Ruling(operation, "refuse", why) for operation, why in lost.items()]
        left = [each for each in left if each not in lost]
    return out


def _rewords(operation: Operation, known: Mapping[str, Entry]) -> bool:
    """Whether a memory that goes is replaced by other words than its own."""
    said = _said(operation, known)
    return said != "" and any(fold(known[each].text) != fold(said) for each in operation.ids)


def _said(operation: Operation, known: Mapping[str, Entry]) -> str:
    """Return the words that replace the memories that go, or ``""``."""
    if operation.name == "merge":
        return operation.text
    return known[operation.stays].text if operation.stays else ""


def _lost(
    operation: Operation, known: Mapping[str, Entry], search: Search, holders: _Holders
) -> str:
    """Return why a memory would not be found any more, or ``""``."""
    stays = operation.id if operation.name == "merge" else operation.stays
    said = _said(operation, known)
    for each in operation.ids if said else ():
        text = known[each].text
        if fold(text) == fold(said):
            continue  # What finds the one finds the other.
        words = _key_words(text)
        queries = [" ".join(words) or text]
        # A newer fact does not repeat the old one, and a duplicate has its own words.
        if operation.name != "supersede" and not is_duplicate(text, said):
            queries += holders.rare(words, {*operation.ids, operation.stays})
        if any(stays not in search(query)[:FIRST] for query in queries):
            return f"a search for {each} would not find its replacement"
    return ""


def _key_words(text: str) -> list[str]:
    """Return the words to search for a memory; numbers may be all that distinguishes it."""
    claim = read(text)
    numbers = claim.marks.get("number", set()) | claim.marks.get("version", set())
    return [*claim.words, *sorted(numbers)]


class _Holders:
    """Which memories hold a word."""

    def __init__(self, memories: Iterable[Entry]) -> None:
        self._memories = memories
        self._alike: dict[str, dict[str, set[str]]] = {}

    def rare(self, words: Sequence[str], ids: Collection[str]) -> list[str]:
        """Return a query of the rarest words, if few memories other than ``ids`` hold them."""
        held = {word: len(self._holding(word).difference(ids)) for word in words}
        fewest = min(held.values(), default=FIRST)
        rare = [word for word in held if held[word] == fewest]
        # With more memories, one that holds the word need not be among the first results.
        return [" ".join(rare)] if fewest < FIRST else []

    def _holding(self, word: str) -> set[str]:
        if not self._alike:
            for memory in self._memories:
                for each in _key_words(memory.text):
                    alike = self._alike.setdefault(word_key(each), {})
                    alike.setdefault(each, set()).add(memory.id)
        alike = self._alike.get(word_key(word), {})
        return {each for form in alike if same_word(form, word) for each in alike[form]}


# ---- the diff ----

Mark = Literal["", "-", "+", "=", "?"]


class Row(NamedTuple):
    """One row of the diff.

    Attributes:
        mark: ``""`` for the name of a file, ``-`` for a memory that goes, ``+`` for one that comes,
            ``=`` for one that stays as it is, ``?`` for a remark.
        text: The text of the row.
        id: The memory that it is about, or ``""``.
    """

    mark: Mark
    text: str
    id: str = ""

    def __str__(self) -> str:
        """Return the row as one line."""
        said = f"{self.mark} {self.text}" if self.mark else self.text
        return f"{said}  ({self.id})" if self.id else said


def diff(operations: Iterable[Operation], memories: Sequence[Entry]) -> list[Row]:
    """Return the rows of the files that ``operations`` change, in the order of ``memories``.

    Args:
        operations: The operations; none may name an unknown id.
        memories: The memories as they are now.
    """
    known = {memory.id: memory for memory in reversed(memories)}
    places = {memory.id: place for place, memory in reversed([*enumerate(memories)])}
    some = (operation for operation in operations if operation.ids)
    ordered = sorted(some, key=lambda each: min(places[item] for item in each.ids))
    rows: list[Row] = []
    file = None
    for operation in ordered:
        first = known[min(operation.ids, key=places.__getitem__)]
        if first.file != file:
            file = first.file
            rows.append(Row("", file))
        rows += _rows(operation, known)
    return rows


def headline(operation: Operation) -> str:
    """Return an operation in words."""
    match operation.name:
        case "drop":
            return f"a duplicate of {operation.stays}"
        case "merge":
            return f"{len(operation.ids)} become one"
        case "supersede":
            return f"replaced by {operation.stays}"
        case "expire":
            return "expired"
        case "move":
            try:
                return f"moves to the topic {slug(operation.topic)}"
            except InvalidEngramError:
                return f"moves to the topic {operation.topic!r}"


def _rows(operation: Operation, known: dict[str, Entry]) -> list[Row]:
    taken = [known[each] for each in operation.ids]
    mark: Mark = "=" if operation.name == "move" else "-"
    rows = [row for memory in taken for row in _text(mark, memory.text, memory.id)]
    if operation.name == "merge":
        rows += _text("+", operation.text, "")
        new = merged_memory(taken, operation.text)
        facts = f"the new one: {new.confidence} confidence, {new.basis}"
        rows.append(Row("?", f"{facts}, learned in {new.origin}" if new.origin else facts))
    elif operation.stays:
        rows += _text("=", known[operation.stays].text, operation.stays)
    why = " ".join(operation.reason.split())
    said = headline(operation)
    return [*rows, Row("?", f"why: {said}: {why}" if why and why != said else f"why: {said}")]


def _text(mark: Mark, text: str, memory_id: str) -> list[Row]:
    first, *more = text.split("\n")
    return [Row(mark, first, memory_id), *(Row(mark, f"  {line}") for line in more)]
