"""What a model is told of memory as a session starts, with a prompt, and after an error.

Promises: as a session starts the whole context, within what an agent takes; with a prompt only what
is about it and was not told before in this conversation, and nothing if that is nothing. What a
model is told goes first: however much is due besides, it is said; what there is no time for is due
the next time.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import count
from typing import TYPE_CHECKING, Final

from engramdown.errors import EngramdownError, StoreError
from engramdown.integrations.claude_code import said
from engramdown.integrations.claude_code.environment import Given, HookPlace, Kept, untold
from engramdown.integrations.claude_code.payload import Event

if TYPE_CHECKING:
    from engramdown import Cortex, MemoryContext
    from engramdown.hippocampus.entry import Entry

__all__ = ["about_error", "about_prompt", "at_start"]

Say = Callable[[str], object]
"""Is given a part of what to print; ``""`` for nothing."""
Left = Callable[[], float]
"""Returns how many seconds are left."""

_TOKENS: Final = 400
_TOKENS_ERROR: Final = 200
_BYTES_EARLIER: Final = 1_200
_EARLIER: Final = 2
_LOOKED_AT: Final = 40
_SAME: Final = frozenset({"resume"})
_ENOUGH_EARLIER: Final = 2.0
_LONGEST_ERROR: Final = 300
_SHRINKS: Final = 4
_MOST: Final = 5
# The part of the time that is left for which ticked lines are carried out, one after the other; in
# the rest all of them are written, and what else is due is done.
_PART: Final = 0.4
# So many are carried out at least: to read and write the files takes longer than these.
_AT_LEAST: Final = 100
_BROKEN: Final = "this project's config.toml is wrong, so that nothing is written or recorded here"
_ITEM: Final = re.compile(rb"^(?:[-*+]|[0-9]+[.)]) \[", re.MULTILINE)
_TICKED: Final = re.compile(rb"^(?:[-*+]|[0-9]+[.)]) \[\s*[^\s\]]", re.MULTILINE)


def at_start(place: HookPlace, event: Event, kept: Kept, say: Say, left: Left) -> None:
    """Say what a model is told as a session starts, or goes on without what it was told."""
    cortex = place.cortex()
    if place.settings.pulled == "review":
        # What a person wrote by hand is told from what git brought when it was taken in.
        _noticed(cortex)
    context = _context(place, cortex)
    start = hashlib.sha256(context.encode("utf-8", "replace")).hexdigest()[:16]
    before = kept.given()
    shown = tuple(entry.id for part in context.sections for entry in part.shown if entry.id)
    if event.source in _SAME and before.start == start:
        # A conversation that is taken up again still holds it.
        shown = tuple(dict.fromkeys([*shown, *before.ids]))
    else:
        say(str(context))
        say(said.how_to(writes=place.settings.mode != "off"))
    if event.session:
        _give(place, kept, Given(start, shown, before.learned))
    say(said.switched_off(place.settings.stopped()))
    for conflict in filter(None, (store.files.conflict() for store in cortex.stores)):
        say(said.unmerged(conflict))
    troubled = _noticed(cortex)
    say(_carried_out(place, lambda: cortex, left))
    cortex.keep_own()
    say(said.news(len(cortex.arrivals())))
    say(said.waiting(_waiting(place, cortex)))
    say(_trouble(place, [*troubled, *cortex.notices()]))


def about_prompt(place: HookPlace, event: Event, kept: Kept, say: Say, left: Left) -> None:
    """Say what a model is told beside what the user wrote, if there is anything."""
    opened = cache(place.cortex)
    given = kept.given()
    entries = _fitting(opened, event.text, given.ids)
    told, count = said.relevant([entry.text for entry in entries[:_MOST]], _TOKENS)
    say(told)
    _remember(place, event, kept, entries[:count])
    say(_earlier(place, event, kept))
    say(_carried_out(place, opened, left))


def about_error(place: HookPlace, event: Event, kept: Kept) -> str:
    """Return what memory knows of the error with which a tool failed; ``""`` for nothing."""
    reason = event.error if isinstance(event.error, str) else event.got
    lines = [line for line in reason.split("\n") if line.strip()]
    # What went wrong stands at the end of a traceback, and at the beginning of most else.
    asked = " ".join([*lines[:1], *lines[-1:]])[:_LONGEST_ERROR]
    entries = _fitting(place.cortex, asked, kept.given().ids)
    told, count = said.relevant([entry.text for entry in entries], _TOKENS_ERROR, failed=True)
    _remember(place, event, kept, entries[:count])
    return told


def _context(place: HookPlace, cortex: Cortex) -> MemoryContext:
    """Return the memory context; with less in the largest sections if the agent would cut it."""
    from engramdown.cortex.context import BUDGETS

    chosen = place.settings
    wanted = {**BUDGETS, **chosen.budgets}
    # A token is a character at least: more than that nobody is shown, and to choose it takes long.
    budgets = {name: min(tokens, said.LONGEST) for name, tokens in wanted.items()}
    if budgets != wanted:
        chosen = chosen._replace(budgets=budgets)
        cortex = place.cortex(chosen)
    context = cortex.build_memory_context(scratchpad=True)
    for _ in range(_SHRINKS):
        size = said.length(context)
        if size <= said.LONGEST:
            break
        part = said.LONGEST / size * 0.95
        # What is long makes room first: a project that says much is not to displace the rest.
        most = _level([section.tokens for section in context.sections], part)
        budgets = {name: min(tokens, most) for name, tokens in budgets.items()}
        history = min(chosen.episodes.history_tokens, most)
        episodes = chosen.episodes._replace(history_tokens=history)
        chosen = chosen._replace(budgets=budgets, episodes=episodes)
        context = place.cortex(chosen).build_memory_context(scratchpad=True)
    return context


def _level(costs: Iterable[int], part: float) -> int:
    """Return what no section may exceed so that all cost ``part`` of what they do; 0 for none."""
    ordered = sorted(costs)
    room = sum(ordered) * part
    for at, cost in enumerate(ordered):
        share = room / (len(ordered) - at)
        if cost > share:
            return int(share)
        room -= cost
    return ordered[-1] if ordered else 0


def _fitting(opened: Callable[[], Cortex], text: str, known: Sequence[str]) -> list[Entry]:
    """Return the memories that are about ``text`` and are not ``known``, the best first."""
    from engramdown.integrations.claude_code.fitting import fitting, is_telling

    # Asked first: what most people say most of the time needs no memory to be opened.
    if not is_telling(text):
        return []
    from engramdown.markdown.metadata import current_id

    cortex, seen = opened(), frozenset(map(current_id, known))
    found = [entry for entry in cortex.recall(text, _LOOKED_AT) if entry.id not in seen]
    if not found:
        return []
    everything = len(cortex.entries())
    said_of = [f"{entry.text} {entry.topic}" for entry in found]
    return [found[at] for at in fitting(text, said_of, everything)]


def _earlier(place: HookPlace, event: Event, kept: Kept) -> str:
    """Return what was said earlier about the same, in other conversations."""
    from engramdown.integrations.claude_code.fitting import shared

    if shared(event.text, event.text) < _ENOUGH_EARLIER:
        return ""
    from engramdown.cortex.experience import past_experience, sought
    from engramdown.integrations.claude_code.recording import known_as

    query = sought(event.text, ())
    episodes = place.episodes() if query else None
    if episodes is None or not episodes.folder.is_dir():
        return ""
    try:
        found = episodes.recall(query, 4 * _EARLIER)
        running = (known_as(episodes, event.session) or kept.session) if found else ""
        best = [hit for hit in found if hit.session != running][:_EARLIER]
        good = [hit for hit in best if shared(query, hit.snippet) >= _ENOUGH_EARLIER]
        if not good or good != best[: len(good)]:
            return ""
        return past_experience(episodes, query, len(good), _BYTES_EARLIER, running=running)
    except (OSError, EngramdownError):
        return ""
    finally:
        episodes.close()


def _carried_out(place: HookPlace, opened: Callable[[], Cortex], left: Left) -> str:
    """Carry out what was ticked, as far as there is time; say by whom, and what became of it."""
    # Looked for first: what carries it out takes as long to load as all the rest.
    if not _has_item(place, _TICKED):
        return ""
    most, asked = left() * (1 - _PART), count(1)
    receipts = opened().apply_ticks(lambda: next(asked) < _AT_LEAST or left() > most)
    told = (
        said.carried_out(
            # What still waits is counted with the rest that does.
            [
                (it.action, it.engram.text)
                for it in receipts
                if it.is_ours == by_user and it.action != "queued"
            ],
            by_user=by_user,
        )
        for by_user in (True, False)
    )
    return "\n".join(filter(None, told))


def _waiting(place: HookPlace, cortex: Cortex) -> int:
    """Return how many proposals wait."""
    if place.settings.pulled == "review" or _has_item(place, _ITEM):
        return cortex.count_pending()
    return 0


def _has_item(place: HookPlace, item: re.Pattern[bytes]) -> bool:
    """Whether a line of a ``pending.md`` may be such an item."""
    from engramdown.storage.disk import EpisodeDisk

    roots = (place.home, place.project)
    pages = (root / "memory" / "pending.md" for root in roots if root is not None)
    return any(item.search(EpisodeDisk().load(page) or b"") for page in pages)


def _noticed(cortex: Cortex) -> list[str]:
    """Take in what a person changed by hand; return why that could not be."""
    reasons = []
    for store in cortex.stores:
        try:
            store.notice(wait=False)
        except StoreError as error:
            reasons.append(f"could not look for hand edits: {error}")
    return reasons


def _trouble(place: HookPlace, reasons: Sequence[str]) -> str:
    """Say what went wrong, now or since it was told last; ``doctor`` has all of it."""
    # What stands in the file is somebody else's, and may be meant for a model.
    found = [_BROKEN] if place.trouble else []
    found += [reason for reason in reasons if reason.startswith("could not")]
    found += untold(place.root)[-1:]
    return said.troubled(found[0]) if found else ""


def _remember(place: HookPlace, event: Event, kept: Kept, entries: Sequence[Entry]) -> None:
    if entries and event.session:
        given = kept.given()
        ids = dict.fromkeys([*given.ids, *(entry.id for entry in entries if entry.id)])
        _give(place, kept, given._replace(ids=tuple(ids)))


def _give(place: HookPlace, kept: Kept, given: Given) -> None:
    """Keep what was given where there is a place for it; without, it is told twice at worst."""
    try:
        if place.root.is_dir():
            kept.give(given)
    except (OSError, EngramdownError):
        return
