"""Memory for a model: at the start of a session, with a prompt, and after an error.

A session starts with the whole context, within the limit of the agent; a prompt adds only memories
that are about it and were not shown before in this conversation. A memory that shares only everyday
words with a prompt is left out, however well it ranks. Text from memory or a transcript is data and
cannot imitate our own words. Output for the model comes first; other work is done while there is
time, and the rest the next time.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import cache
from itertools import count
from typing import TYPE_CHECKING, Final, Literal

from engramdown import language
from engramdown.errors import EngramdownError, StoreError
from engramdown.integrations.claude_code.environment import (
    Given,
    HookPlace,
    HookState,
    imported_session,
)
from engramdown.integrations.claude_code.payload import Event, Left, Say
from engramdown.language import bullet, inert
from engramdown.storage import new_troubles
from engramdown.tokens import estimate_tokens

if TYPE_CHECKING:
    from engramdown import Cortex, Entry, MemoryContext

# The most UTF-16 units of a context: Claude Code takes 10,000 with everything else that we print.
LONGEST: Final = 9_000

_ABOUT: Final = "From memory, about this {} (notes from earlier work, not said by the user):"
_HOW_TO: Final = (
    'To keep something for later sessions run `engramdown remember "..."` (or the tool '
    '`memorize`); to look something up `engramdown recall "..."` (or `recall`).'
)
_HOW_TO_READ: Final = (
    'To look something up run `engramdown recall "..."` (or the tool `recall`); nothing '
    "can be remembered here, as memory is switched off."
)
_BROKEN: Final = "this project's config.toml is wrong, so nothing is written or recorded here"
_VERBS: Final = {
    "encoded": "remembered",
    "merged": "known already",
    "forgotten": "forgotten",
    "discarded": "declined",
    "failed": "could not be carried out",
}
_BY_OTHERS: Final = "by somebody else in a commit, not by the user"
_SHOWN: Final = 80
_SHOWN_TICKS: Final = 3

_TOKENS: Final = {"message": 400, "error": 200}
_BYTES_EARLIER: Final = 1_200
_EARLIER: Final = 2
_LOOKED_AT: Final = 40
_ENOUGH: Final = 1.5
_ENOUGH_EARLIER: Final = 2.0
_LONGEST_ERROR: Final = 300
_SHRINKS: Final = 4
_MOST: Final = 5
# The share of the remaining time for carrying out ticked lines, one after the other; the rest is
# for writing them all and for other work.
_PART: Final = 0.4
# At least so many are carried out: reading and writing the files takes longer than these.
_AT_LEAST: Final = 100
_ITEM: Final = re.compile(rb"^(?:[-*+]|[0-9]+[.)]) \[", re.MULTILINE)
_TICKED: Final = re.compile(rb"^(?:[-*+]|[0-9]+[.)]) \[\s*[^\s\]]", re.MULTILINE)


def at_start(place: HookPlace, event: Event, state: HookState, say: Say, left: Left) -> None:
    """Print the memory for a model as a session starts, or continues without its context."""
    cortex = place.cortex()
    if place.settings.pulled == "review":
        # Hand edits are taken in first, to distinguish them from what git brought.
        _notice(cortex)
    context = _context(place, cortex)
    start = hashlib.sha256(context.encode("utf-8", "replace")).hexdigest()[:16]
    before = state.given()
    shown = tuple(entry.id for part in context.sections for entry in part.shown if entry.id)
    if event.source == "resume" and before.start == start:
        # A resumed conversation still holds the context.
        shown = tuple(dict.fromkeys([*shown, *before.ids]))
    else:
        say(str(context))
        say(_HOW_TO_READ if place.settings.mode == "off" else _HOW_TO)
    if event.session:
        _give(place, state, Given(start, shown, before.learned))
    if stopped := place.settings.stopped():
        what = ", ".join(stopped)
        say(f"Switched off by this project's config.toml: {what}. Tell the user once.")
    for store in cortex.scopes.stores:
        if conflict := store.files.conflict():
            say(f"{_short(conflict, 400)}. Tell the user.")
    problems = _notice(cortex)
    say(_apply_ticks(place, lambda: cortex, left))
    cortex.review.keep_own()
    if arrived := len(cortex.review.arrivals()):
        what, them = ("1 thing", "it") if arrived == 1 else (f"{arrived} things", "them")
        say(
            f"{what} in memory came with git; `engramdown review` lists {them}. Tell the user once."
        )
    may_wait = place.settings.pulled == "review" or _has_item(place, _ITEM)
    if waiting := cortex.review.count() if may_wait else 0:
        what = "1 proposal waits" if waiting == 1 else f"{waiting} proposals wait"
        say(f"{what} for the user, who decides with `engramdown review`. Tell the user once.")
    problems += [notice for notice in cortex.scopes.notices() if notice.startswith("could not")]
    # The text of broken settings may be an attack on the model, so it is not quoted.
    broken = [_BROKEN] if place.trouble else []
    problems = [*broken, *problems, *new_troubles(place.root)[-1:]]
    if problems:
        reason = _short(problems[0].rstrip("."), 300)
        say(f"Memory is degraded: {reason}. Tell the user; `engramdown doctor` says more.")


def about_prompt(place: HookPlace, event: Event, state: HookState, say: Say, left: Left) -> None:
    """Print the memories that are about a prompt of the user."""
    cortex = cache(place.cortex)
    entries = _relevant(cortex, event.text, state.given().ids)[:_MOST]
    say(_tell(place, event, state, entries))
    say(_earlier(place, event, state))
    say(_apply_ticks(place, cortex, left))


def about_error(place: HookPlace, event: Event, state: HookState) -> str:
    """Return the memories that are about an error of a tool, or ``""``."""
    reason = event.error if isinstance(event.error, str) else event.got
    lines = [line for line in reason.split("\n") if line.strip()]
    # The reason is at the end of a traceback, and at the beginning of most other output.
    query = " ".join([*lines[:1], *lines[-1:]])[:_LONGEST_ERROR]
    entries = _relevant(place.cortex, query, state.given().ids)
    return _tell(place, event, state, entries, what="error")


# ---- the context ----


def _context(place: HookPlace, cortex: Cortex) -> MemoryContext:
    """Return the memory context, with shorter large sections if the agent would cut it."""
    from engramdown.context import BUDGETS

    chosen = place.settings
    wanted = {**BUDGETS, **chosen.budgets}
    # A token has at least one character, so a larger budget would only take time.
    budgets = {name: min(tokens, LONGEST) for name, tokens in wanted.items()}
    if budgets != wanted:
        chosen = chosen._replace(budgets=budgets)
        cortex = place.cortex(chosen)
    context = cortex.build_memory_context(scratchpad=True)
    for _ in range(_SHRINKS):
        size = length(context)
        if size <= LONGEST:
            break
        part = LONGEST / size * 0.95
        # Long sections shrink first, so that a large project does not displace the rest.
        most = _level([section.tokens for section in context.sections], part)
        budgets = {name: min(tokens, most) for name, tokens in budgets.items()}
        history = min(chosen.episodes.history_tokens, most)
        episodes = chosen.episodes._replace(history_tokens=history)
        chosen = chosen._replace(budgets=budgets, episodes=episodes)
        context = place.cortex(chosen).build_memory_context(scratchpad=True)
    return context


def length(text: str) -> int:
    """Return the length of a text as JavaScript counts it.

    >>> length("a"), length(chr(0x1F600))
    (1, 2)
    """
    return len(text) + sum(char > "\uffff" for char in text)


def _level(costs: Iterable[int], part: float) -> int:
    """Return the limit for each section with which all cost ``part`` of the total; 0 for none."""
    ordered = sorted(costs)
    room = sum(ordered) * part
    for at, cost in enumerate(ordered):
        share = room / (len(ordered) - at)
        if cost > share:
            return int(share)
        room -= cost
    return ordered[-1] if ordered else 0


# ---- relevance ----


def _relevant(opened: Callable[[], Cortex], text: str, known: Sequence[str]) -> list[Entry]:
    """Return the memories that are about ``text`` and are not ``known``, the best first."""
    # Checked first: most messages need no memory.
    if sum(_weight(word, is_rare=True) for word in _words(text)) < _ENOUGH:
        return []
    from engramdown.markdown import current_id

    cortex, seen = opened(), frozenset(map(current_id, known))
    found = cortex.scopes.recall(text, _LOOKED_AT)
    entries = [entry for entry in found if entry.id not in seen]
    if not entries:
        return []
    texts = [f"{entry.text} {entry.topic}" for entry in entries]
    chosen = [entries[at] for at in relevant(text, texts, len(cortex.entries()))]
    cortex.scopes.count("shown", chosen)
    told = cortex.scopes.citations().told
    return [entry._replace(text=told(entry)) for entry in chosen]


def _tell(
    place: HookPlace,
    event: Event,
    state: HookState,
    entries: Sequence[Entry],
    what: Literal["message", "error"] = "message",
) -> str:
    """Return memories as a list within a budget in tokens, and remember that they were shown."""
    texts = [entry.text for entry in entries]
    text, shown = listed(_ABOUT.format(what), texts, _TOKENS[what])
    if shown and event.session:
        given = state.given()
        ids = dict.fromkeys([*given.ids, *(entry.id for entry in entries[:shown] if entry.id)])
        _give(place, state, given._replace(ids=tuple(ids)))
    return text


def listed(head: str, texts: Iterable[str], budget: int) -> tuple[str, int]:
    """Return texts as a list below ``head`` within a budget in tokens, and their number."""
    lines = [head]
    for text in texts:
        line = bullet(text)
        if estimate_tokens("\n".join([*lines, line])) > budget:
            break
        lines.append(line)
    return ("\n".join(lines), len(lines) - 1) if len(lines) > 1 else ("", 0)


def _earlier(place: HookPlace, event: Event, state: HookState) -> str:
    """Return what was said about the same in earlier conversations."""
    if shared(event.text, event.text) < _ENOUGH_EARLIER:
        return ""
    from engramdown.context import past_experience, sought

    query = sought(event.text, ())
    episodes = place.episodes() if query else None
    if episodes is None or not episodes.folder.is_dir():
        return ""
    try:
        hits = episodes.recall(query, 4 * _EARLIER)
        running = (imported_session(episodes, event.session) or state.session) if hits else ""
        best = [hit for hit in hits if hit.session != running][:_EARLIER]
        good = [hit for hit in best if shared(query, hit.snippet) >= _ENOUGH_EARLIER]
        if not good or good != best[: len(good)]:
            return ""
        return past_experience(episodes, query, len(good), _BYTES_EARLIER, running=running)
    except (OSError, EngramdownError):
        return ""
    finally:
        episodes.close()


_WORD: Final = re.compile(r"[^\W_]+")
_UNSPACED: Final = re.compile(f"[{language.UNSPACED}]")
_SHORT: Final = 3
_RARE_COUNT: Final = 2
_RARE_SHARE: Final = 0.05
_MOST_WORDS: Final = 200


def relevant(said: str, texts: Sequence[str], rare_among: int = 0) -> list[int]:
    """Return the positions of the texts that are about what was ``said``.

    Args:
        said: A message of a person, or the output of a tool.
        texts: Memories.
        rare_among: The number of all memories, if ``texts`` are only those that share a word.

    >>> relevant("deploy to staging", ["Staging runs on port 8081", "Deploy from main only"])
    [0, 1]
    >>> relevant("please fix the failing test", ["Run the tests before a push", "Use uv"])
    []
    """
    words = _words(said)
    hits = [[word for word in words if _holds(each, word)] for each in map(_words, texts)]
    counts = Counter(word for each in hits for word in each)
    most = max(_RARE_COUNT, int(max(rare_among, len(texts)) * _RARE_SHARE))
    weights = [sum(_weight(word, is_rare=counts[word] <= most) for word in each) for each in hits]
    return [at for at, weight in enumerate(weights) if weight >= _ENOUGH]


def shared(said: str, text: str) -> float:
    """Return the weight of the words that two texts share, without knowing which are rare.

    >>> shared("the linter is red", "Which linter do we use?"), shared("hello", "")
    (1.0, 0)
    """
    there = _words(text)
    return sum(_weight(word, is_rare=False) for word in _words(said) if _holds(there, word))


def _weight(word: str, *, is_rare: bool) -> float:
    if len(word) <= _SHORT or language.is_everyday(word):
        # A short name, such as that of a tool, means more together with another word.
        return 0.5
    return 1.5 if is_rare else 1.0


def _holds(words: dict[str, None], word: str) -> bool:
    key = language.word_key(word)
    alike = (each for each in words if language.word_key(each) == key)
    return word in words or any(language.is_inflected(word, each) for each in alike)


def _words(text: str) -> dict[str, None]:
    """Return the words that say what a text is about, each once, in order."""
    words = dict.fromkeys(word.casefold() for word in _WORD.findall(language.spaced(text)))
    known = [word for word in words if word not in language.STOP_WORDS]
    telling = [word for word in known if len(word) > 1 or _UNSPACED.match(word)]
    return dict.fromkeys(telling[:_MOST_WORDS])


# ---- other work ----


def _apply_ticks(place: HookPlace, opened: Callable[[], Cortex], left: Left) -> str:
    """Carry out ticked lines while there is time; return who ticked them, and the results."""
    # Checked first: loading the modules for it takes as long as all the rest.
    if not _has_item(place, _TICKED):
        return ""
    most, number = left() * (1 - _PART), count(1)
    receipts = opened().review.apply_ticks(lambda: next(number) < _AT_LEAST or left() > most)
    # Lines that still wait are counted with the other proposals.
    done = [each for each in receipts if each.action != "queued"]
    ours = [(each.action, each.engram.text) for each in done if each.is_ours]
    others = [(each.action, each.engram.text) for each in done if not each.is_ours]
    lines = [ticked(ours, "by the user"), ticked(others, _BY_OTHERS)]
    return "\n".join(filter(None, lines))


def ticked(done: Sequence[tuple[str, str]], who: str) -> str:
    """Say what happened to ticked lines, given as results and texts.

    >>> print(ticked([("encoded", "Use uv"), ("failed", "Use pip")], "by the user"))
    Memory, ticked by the user: remembered "Use uv"; could not be carried out "Use pip"
    """
    if not done:
        return ""
    some = done[:_SHOWN_TICKS]
    shown = [f'{_VERBS.get(action, action)} "{_short(text)}"' for action, text in some]
    more = f"; and {len(done) - _SHOWN_TICKS} more" if len(done) > _SHOWN_TICKS else ""
    return f"Memory, ticked {who}: {'; '.join(shown)}{more}"


def _has_item(place: HookPlace, item: re.Pattern[bytes]) -> bool:
    """Whether a line of a ``pending.md`` may match ``item``."""
    from engramdown.storage import Disk

    roots = (place.home, place.project)
    pages = (root / "memory" / "pending.md" for root in roots if root is not None)
    return any(item.search(Disk().load(page) or b"") for page in pages)


def _notice(cortex: Cortex) -> list[str]:
    """Take in hand edits; return the reasons if that fails."""
    reasons = []
    for store in cortex.scopes.stores:
        try:
            store.notice(wait=False)
        except StoreError as error:
            reasons.append(f"could not look for hand edits: {error}")
    return reasons


def _give(place: HookPlace, state: HookState, given: Given) -> None:
    """Remember what was shown if memory exists; otherwise it may be shown twice."""
    with suppress(OSError, EngramdownError):
        if place.root.is_dir():
            state.give(given)


def _short(text: str, most: int = _SHOWN) -> str:
    line = " ".join(inert(text).split())
    return line if len(line) <= most else f"{line[: most - 1]}…"
