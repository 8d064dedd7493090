"""The rules that no plan can override, and the judgement of a plan by them.

Pure and deterministic. Whatever the plan, no change to a memory that a person wrote, verified or
pinned is applied without a person, and every operation gets a ruling with its reason. Each rule is
a small function that returns its objection, or ``""``.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from itertools import combinations
from typing import TYPE_CHECKING, Final

from engramdown.consolidation.information_loss import (
    changed,
    differs,
    invented,
    is_near_exact,
    left_out,
)
from engramdown.consolidation.plan import GIVING_WAY, Judgement, Operation, Ruling
from engramdown.engram import Engram, fact_key, fold, slug
from engramdown.errors import InvalidEngramError
from engramdown.language.characters import hidden_characters

if TYPE_CHECKING:
    from engramdown.hippocampus.entry import Entry

# The greatest length of a merged text, in characters, unless its originals are longer together.
LONGEST_TEXT: Final = 2000

# Control characters, line and paragraph separators.
_UNSEEN: Final = frozenset({"Cc", "Zl", "Zp"})
_OTHER_TOPICS: Final = "they are about different topics"

_Known = Mapping[str, "Entry"]
_Rule = Callable[[Operation, _Known], str]


def judge(plan: Sequence[Operation], memories: Sequence[Entry], today: date) -> Judgement:
    """Return the judgement of ``plan``.

    Args:
        plan: The proposal of a job.
        memories: The memories of one scope; of several with the same id the first is meant.
        today: The day on which memories may have expired.
    """
    known = {memory.id: memory for memory in reversed(memories)}
    refusal = is_empty(plan) or names_unknown(plan, known) or drops_too_much(plan, memories, today)
    if refusal:
        return Judgement(tuple(Ruling(each, "refuse", refusal) for each in plan), refusal)
    taken = Counter(each for operation in plan for each in operation.ids)
    return Judgement(tuple(_ruling(each, known, taken, today) for each in plan))


def is_safe(operation: Operation, known: _Known, today: date) -> bool:
    """Whether an operation loses nothing and needs nobody's yes: a duplicate, or an expired memory.

    This is for operations that :func:`judge` lets apply.
    """
    if operation.name == "expire":
        return not misses_its_day(operation, known, today)
    if operation.name == "drop":
        return is_near_exact(known[operation.id].text, known[operation.stays].text)
    return False


# ---- a plan as a whole ----


def is_empty(plan: Sequence[Operation]) -> str:
    """Object to a plan without operations."""
    return "" if plan else "the plan is empty"


def names_unknown(plan: Sequence[Operation], known: _Known) -> str:
    """Object to ids that no memory has."""
    named = [each for operation in plan for each in _named(operation)]
    unknown = [each for each in dict.fromkeys(named) if each not in known]
    return f"the plan names unknown memories: {', '.join(map(repr, unknown))}" if unknown else ""


def drops_too_much(plan: Sequence[Operation], memories: Sequence[Entry], today: date) -> str:
    """Object if a file would lose more than half of its memories.

    Expired memories and exact repetitions do not count, as neither needs a judgement.
    """
    known = {memory.id: memory for memory in reversed(memories)}
    sizes = Counter(memory.file for memory in memories)
    judged_away = {
        each
        for operation in plan
        if not _is_proven(operation, known, today)
        for each in _gone(operation)
    }
    gone = Counter(known[each].file for each in judged_away)
    for file, count in sorted(gone.items()):
        if count * 2 > sizes[file]:
            return f"the plan drops {count} of {sizes[file]} memories of {file}, more than half"
    return ""


# ---- operations that are refused ----


def takes_twice(operation: Operation, taken: Mapping[str, int]) -> str:
    """Object if another operation takes the same memory, or the one that stays."""
    twice = next((each for each in operation.ids if taken[each] > 1), "")
    if twice:
        return f"{twice} is taken twice"
    stays = operation.stays
    return f"{stays} is to stay, and is taken itself" if stays and taken[stays] else ""


def needs_another(operation: Operation, known: _Known) -> str:
    """Object if a memory gives way to itself, or is merged alone."""
    del known
    if operation.stays in operation.ids:
        return f"{operation.stays} cannot give way to itself"
    if operation.name == "merge" and len(operation.ids) < 2:  # noqa: PLR2004 - a pair at least
        return "a merge needs two memories at least"
    return ""


def mixes(operation: Operation, known: _Known) -> str:
    """Object if memories differ in kind or scope; for a merge also in file, heading or last day."""
    together = [known[each] for each in _named(operation)]
    kinds: tuple[tuple[str, set[str]], ...] = (
        ("kinds", {each.kind for each in together}),
        ("scopes", {each.scope for each in together}),
    )
    if operation.name == "merge":
        kinds += (
            ("files", {each.file for each in together}),
            ("headings", {each.heading for each in together}),
            ("last days", {each.expires or "none" for each in together}),
        )
    what, values = next((each for each in kinds if len(each[1]) > 1), ("", set[str]()))
    return f"mixes {what} ({', '.join(sorted(values))})" if what else ""


def bad_text(operation: Operation, known: _Known) -> str:
    """Object to a merged text that is empty, too long, known already, or has hidden characters."""
    if operation.name != "merge":
        return ""
    text = operation.text
    originals = [known[each] for each in operation.ids]
    if len(text) > max(LONGEST_TEXT, sum(len(each.text) for each in originals)):
        return f"the text is too long ({len(text)} characters)"
    hidden = {text[offset] for offset, _ in hidden_characters(text)}
    seen = {char for char in text if char in "\n\t" or unicodedata.category(char) not in _UNSEEN}
    strange = sorted((hidden | (set(text) - seen)).difference(*(each.text for each in originals)))
    if strange:
        return f"the text holds a control character ({', '.join(map(ascii, strange))})"
    try:
        Engram(text, originals[0].kind, originals[0].scope)
    except InvalidEngramError as error:
        return f"the text cannot be kept: {error.reason}"
    kind, said = originals[0].kind, fold(text)
    others = (each for each in known.values() if each.id not in operation.ids)
    twin = next((each.id for each in others if each.kind == kind and fold(each.text) == said), "")
    return f"the text is what {twin} says already" if twin else ""


def bad_topic(operation: Operation, known: _Known) -> str:
    """Object to a move without a topic, of anything but a lesson, or to where it is already."""
    if operation.name != "move":
        return ""
    memory = known[operation.id]
    try:
        name = slug(operation.topic)
    except InvalidEngramError as error:
        return f"{error.reason}"
    if memory.kind != "lesson":
        return "only a lesson has a topic"
    return f"{memory.id} is under {name} already" if memory.topic == name else ""


def misses_its_day(operation: Operation, known: _Known, today: date) -> str:
    """Object if a memory has not expired, or if the one that stays expires sooner."""
    if operation.name == "expire":
        last = _day(known[operation.id].expires)
        return "" if last is not None and last < today else f"{operation.id} has not expired"
    if operation.name in GIVING_WAY:
        stays, goes = _day(known[operation.stays].expires), _day(known[operation.id].expires)
        if stays is not None and (goes is None or stays < goes):
            return f"{operation.stays} expires sooner than {operation.id}"
    return ""


def loses_its_place(operation: Operation, known: _Known) -> str:
    """Object if the memory that stays is older, or is read only on demand."""
    if operation.name not in GIVING_WAY:
        return ""
    goes, stays = known[operation.id], known[operation.stays]
    if stays.file.startswith("topics/") and not goes.file.startswith("topics/"):
        return f"{stays.id} stands only in {stays.file}, which is read on demand"
    if operation.name == "supersede" and stays.ts < goes.ts:
        return f"{stays.id} is older than {goes.id}"
    return ""


def corrupts(operation: Operation, known: _Known) -> str:
    """Object to a merged text that loses, adds or reverses something."""
    if operation.name != "merge":
        return ""
    return changed(operation.text, [known[each].text for each in operation.ids])


# ---- operations that only a person may decide ----


def is_by_person(operation: Operation, known: _Known) -> str:
    """Object if a person wrote, said, confirmed or pinned one of the memories."""
    found = next((each for each in operation.ids if known[each].by_person), "")
    return f"{found} is yours: you wrote, confirmed or pinned it" if found else ""


def says_otherwise(operation: Operation, known: _Known) -> str:
    """Object if memories that should become one differ."""
    if operation.name == "merge":
        return _merges_what_differs(operation, [known[each] for each in operation.ids])
    if operation.name == "supersede" and _is_newer_fact(operation, known):
        return ""
    if operation.name not in GIVING_WAY:
        return ""
    goes, stays = known[operation.id], known[operation.stays]
    found = differs(goes.text, stays.text)
    if found:
        return f"they differ in {found}"
    if goes.topic and stays.topic and goes.topic != stays.topic:
        return _OTHER_TOPICS
    apart = goes.heading != stays.heading and not goes.file.startswith("topics/")
    return left_out(goes.text, stays.text) or ("they stand under other headings" if apart else "")


def _merges_what_differs(operation: Operation, originals: Sequence[Entry]) -> str:
    for one, other in combinations(originals, 2):
        found = differs(one.text, other.text)
        if found:
            return f"{one.id} and {other.id} differ in {found}"
    text, texts = operation.text, [each.text for each in originals]
    if len({each.topic for each in originals if each.topic}) > 1:
        return _OTHER_TOPICS
    turned = next(filter(None, (differs(each, text) for each in texts)), "")
    if turned:
        return f"the text changes {turned}"
    lost = next(filter(None, (left_out(each, text) for each in texts)), "")
    found = lost or invented(text, texts)
    if not found and "\n" in text and not any("\n" in each for each in texts):
        found = "has several lines"  # A new line may become a list item, which says more.
    return f"the text {found}" if found else ""


def _is_newer_fact(operation: Operation, known: _Known) -> bool:
    """Whether a fact of the profile gives way to a newer one with the same key."""
    goes, stays = known[operation.id], known[operation.stays]
    key = fact_key(goes.text)
    return goes.kind == "profile" and bool(key) and key == fact_key(stays.text)


# ---- putting it together ----

_REFUSING: Final[tuple[_Rule, ...]] = (
    needs_another,
    mixes,
    bad_text,
    bad_topic,
    loses_its_place,
    corrupts,
)
_ASKING: Final[tuple[_Rule, ...]] = (is_by_person, says_otherwise)


def _ruling(operation: Operation, known: _Known, taken: Mapping[str, int], today: date) -> Ruling:
    refused = takes_twice(operation, taken) or misses_its_day(operation, known, today)
    refused = refused or _first(_REFUSING, operation, known)
    if refused:
        return Ruling(operation, "refuse", refused)
    asked = _first(_ASKING, operation, known)
    return Ruling(operation, "propose" if asked else "apply", asked)


def _first(rules: Sequence[_Rule], operation: Operation, known: _Known) -> str:
    return next(filter(None, (rule(operation, known) for rule in rules)), "")


def _named(operation: Operation) -> tuple[str, ...]:
    return (*operation.ids, operation.stays) if operation.stays else operation.ids


def _gone(operation: Operation) -> tuple[str, ...]:
    """Return the memories that a file loses: all but one of a merge."""
    if operation.name == "move":
        return ()
    return operation.ids[1:] if operation.name == "merge" else operation.ids


def _is_proven(operation: Operation, known: _Known, today: date) -> bool:
    if operation.name == "expire":
        return not misses_its_day(operation, known, today)
    if operation.name == "drop" and operation.id != operation.stays:
        goes, stays = known[operation.id], known[operation.stays]
        return (goes.kind, fold(goes.text)) == (stays.kind, fold(stays.text))
    return False


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:  # none, or one that a person mistyped
        return None
