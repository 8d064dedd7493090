"""The words in which hooks speak to a model. No I/O.

Promises: what comes from memory or from a transcript stands there as data that can forge nothing;
what is returned is no longer than an agent takes whole.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import count
from typing import TYPE_CHECKING, Final

from engramdown.errors import EngramdownError, StoreError
from engramdown.integrations.claude_code.environment import Given, HookPlace, Kept, untold
from engramdown.integrations.claude_code.payload import Event
from engramdown.language.untrusted import bullet, inert
from engramdown.language.words import STOP_WORDS, UNSPACED, is_inflected, spaced, word_key, word_set
from engramdown.tokens import estimate_tokens

if TYPE_CHECKING:
    from engramdown import Cortex, MemoryContext
    from engramdown.hippocampus.entry import Entry

__all__ = [
    "LONGEST",
    "about_error",
    "about_prompt",
    "at_start",
    "carried_out",
    "fitting",
    "how_to",
    "length",
    "news",
    "relevant",
    "shared",
    "switched_off",
    "troubled",
    "unmerged",
    "waiting",
]

LONGEST: Final = 9_000
"""UTF-16 units of a context at most: with what is said beside it Claude Code takes 10,000."""

_RELEVANT: Final = (
    "From memory, about this message (notes from earlier work, not said by the user):"
)
_FAILED: Final = "From memory, about this error (notes from earlier work, not said by the user):"
_SHOWN: Final = 80
_VERBS: Final = {
    "encoded": "remembered",
    "merged": "known already",
    "forgotten": "forgotten",
    "discarded": "declined",
    "failed": "could not be carried out",
}


def length(text: str) -> int:
    """Return how long a text is for a program that counts as JavaScript does.

    >>> length("a"), length(chr(0x1F600))
    (1, 2)
    """
    return len(text) + sum(char > "\uffff" for char in text)


def relevant(texts: Iterable[str], budget: int, *, failed: bool = False) -> tuple[str, int]:
    """Return memories as a list within a budget in tokens, and how many of them it holds.

    Args:
        texts: The memories, the best first.
        budget: What the list may cost.
        failed: Whether they are about a tool that failed, not about what the user wrote.
    """
    head = _FAILED if failed else _RELEVANT
    lines = [head]
    for text in texts:
        line = bullet(text)
        if estimate_tokens("\n".join([*lines, line])) > budget:
            break
        lines.append(line)
    return ("\n".join(lines), len(lines) - 1) if len(lines) > 1 else ("", 0)


def carried_out(done: Sequence[tuple[str, str]], *, by_user: bool = True) -> str:
    """Say what became of lines that were ticked: what happened to each, and its text.

    Args:
        done: What happened to each, and its text.
        by_user: Whether the user ticked them; else the ticks came with git.

    >>> print(carried_out([("encoded", "Use uv"), ("failed", "Use pip")]))
    Memory, ticked by the user: remembered "Use uv"; could not be carried out "Use pip"
    """
    if not done:
        return ""
    who = "by the user" if by_user else "by somebody else in a commit, not by the user"
    said = [f'{_VERBS.get(action, action)} "{_short(text)}"' for action, text in done[:_FEW]]
    more = f"; and {len(done) - _FEW} more" if len(done) > _FEW else ""
    return f"Memory, ticked {who}: {'; '.join(said)}{more}"


def waiting(count: int) -> str:
    """Say that proposals wait for a person."""
    if not count:
        return ""
    what = "1 proposal waits" if count == 1 else f"{count} proposals wait"
    return f"{what} for the user, who decides with `engramdown review`. Tell the user once."


def news(count: int) -> str:
    """Say that git brought something of somebody else's."""
    if not count:
        return ""
    what, them = ("1 thing", "it") if count == 1 else (f"{count} things", "them")
    return (
        f"{what} in memory came with git and nobody here wrote {them}; `engramdown review` lists "
        f"{them}. Tell the user once."
    )


def switched_off(what: Sequence[str]) -> str:
    """Say what the settings of a project switch off.

    >>> print(switched_off(["recording (episodes.enabled)"]))
    Switched off by this project's config.toml: recording (episodes.enabled). Tell the user once.
    """
    if not what:
        return ""
    return f"Switched off by this project's config.toml: {', '.join(what)}. Tell the user once."


def troubled(reason: str) -> str:
    """Say that memory does not work as it should."""
    return (
        f"Memory is degraded: {_short(reason.rstrip('.'), 300)}. "
        "Tell the user; `engramdown doctor` says more."
    )


def how_to(*, writes: bool = True) -> str:
    """Say how to remember, unless memory is switched off, and how to look something up."""
    if not writes:
        return (
            'To look something up run `engramdown recall "..."` (or the tool `recall`); nothing '
            "can be remembered here, as memory is switched off."
        )
    return (
        'To keep something for later sessions run `engramdown remember "..."` (or the tool '
        '`memorize`); to look something up `engramdown recall "..."` (or `recall`).'
    )


def unmerged(left: str) -> str:
    """Say in which file git left a merge of memory to the user."""
    return f"{_short(left, 400)}. Tell the user."


_FEW: Final = 3


def _short(text: str, most: int = _SHOWN) -> str:
    line = " ".join(inert(text).split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


# Which memories are about what was said, so that a prompt is given no junk. No I/O.
#
# Promises: any text may be passed; the order is kept; a memory that shares only everyday words with
# what was said is left out, however well it ranks.

ENOUGH: Final = 1.5
"""What the words that two texts share have to weigh."""

_WORD: Final = re.compile(r"[^\W_]+")
_LONE: Final = re.compile(f"[{UNSPACED}]")
_SHORT: Final = 3
_LITTLE: Final = 0.5
_FULL: Final = 1.0
_RARE: Final = 1.5
_RARE_COUNT: Final = 2
_RARE_SHARE: Final = 0.05
_MOST_WORDS: Final = 200
# What people say to a coding agent whatever it is about.
_EVERYDAY: Final = word_set(
    "add adding another bug build call change check code create day delete do done edit error "
    "everything explain fail fails failing file files find first fix following function get give "
    "go good handle help implement improve issue keep know last let like line lines list look "
    "make method module name need new next ok old one open part problem project put read refactor "
    "remove rename repo result return review right run running second see set show simple sorry "
    "start stop sure task tell test tests text thank thanks thing things time today try two type "
    "update use used using value version want way word work works write writing wrong yes you"
)


def fitting(said: str, texts: Sequence[str], rare_among: int = 0) -> list[int]:
    """Return the positions of the texts that are about what was ``said``.

    Args:
        said: What a person wrote, or what a tool said.
        texts: Memories.
        rare_among: How many memories there are, if ``texts`` are only those that hold a word of it.

    >>> fitting("deploy to staging", ["Staging runs on port 8081", "Deploy from main only"])
    [0, 1]
    >>> fitting("please fix the failing test", ["Run the tests before a push", "Use uv"])
    []
    """
    words = _words(said)
    there = [frozenset(_words(text)) for text in texts]
    hits = [[word for word in words if _holds(each, word)] for each in there]
    counts = Counter(word for each in hits for word in each)
    most = max(_RARE_COUNT, int(max(rare_among, len(texts)) * _RARE_SHARE))
    return [
        at
        for at, each in enumerate(hits)
        if sum(_weight(word, counts[word] <= most) for word in each) >= ENOUGH
    ]


def is_telling(said: str) -> bool:
    """Whether any memory could be about what was ``said``.

    >>> is_telling("thanks, go on"), is_telling("staging?")
    (False, True)
    """
    return sum(_weight(word, is_rare=True) for word in _words(said)) >= ENOUGH


def shared(said: str, text: str) -> float:
    """Return what the words weigh that two texts share, where nothing tells what is rare.

    >>> shared("the linter is red", "Which linter do we use?"), shared("hello", "")
    (1.0, 0)
    """
    there = frozenset(_words(text))
    return sum(_weight(word, is_rare=False) for word in _words(said) if _holds(there, word))


def _weight(word: str, is_rare: bool) -> float:  # noqa: FBT001 - one of two kinds of word
    everyday = word in _EVERYDAY or any(is_inflected(word, each) for each in _near(word))
    if len(word) <= _SHORT or everyday:
        # A short name, such as of a tool, tells more together with another word.
        return _LITTLE
    return _RARE if is_rare else _FULL


def _near(word: str) -> Iterable[str]:
    return _BY_KEY.get(word_key(word), ())


def _holds(words: frozenset[str], word: str) -> bool:
    return word in words or any(
        word_key(each) == word_key(word) and is_inflected(word, each) for each in words
    )


def _words(text: str) -> list[str]:
    """Return the words that say what a text is about, each once."""
    found = (word.casefold() for word in _WORD.findall(spaced(text)))
    told = dict.fromkeys(word for word in found if _tells(word))
    return list(told)[:_MOST_WORDS]


def _tells(word: str) -> bool:
    return word not in STOP_WORDS and (len(word) > 1 or bool(_LONE.match(word)))


_BY_KEY: Final = {
    key: [word for word in sorted(_EVERYDAY) if word_key(word) == key]
    for key in {word_key(word) for word in _EVERYDAY}
}


# What a model is told of memory as a session starts, with a prompt, and after an error.
#
# Promises: as a session starts the whole context, within what an agent takes; with a prompt only
# what is about it and was not told before in this conversation, and nothing if that is nothing.
# What a model is told goes first: however much is due besides, it is said; what there is no time
# for is due the next time.

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
        say(how_to(writes=place.settings.mode != "off"))
    if event.session:
        _give(place, kept, Given(start, shown, before.learned))
    say(switched_off(place.settings.stopped()))
    for conflict in filter(None, (store.files.conflict() for store in cortex.stores)):
        say(unmerged(conflict))
    troubled = _noticed(cortex)
    say(_carried_out(place, lambda: cortex, left))
    cortex.keep_own()
    say(news(len(cortex.arrivals())))
    say(waiting(_waiting(place, cortex)))
    say(_trouble(place, [*troubled, *cortex.notices()]))


def about_prompt(place: HookPlace, event: Event, kept: Kept, say: Say, left: Left) -> None:
    """Say what a model is told beside what the user wrote, if there is anything."""
    opened = cache(place.cortex)
    given = kept.given()
    entries = _fitting(opened, event.text, given.ids)
    told, count = relevant([entry.text for entry in entries[:_MOST]], _TOKENS)
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
    told, count = relevant([entry.text for entry in entries], _TOKENS_ERROR, failed=True)
    _remember(place, event, kept, entries[:count])
    return told


def _context(place: HookPlace, cortex: Cortex) -> MemoryContext:
    """Return the memory context; with less in the largest sections if the agent would cut it."""
    from engramdown.cortex.context import BUDGETS

    chosen = place.settings
    wanted = {**BUDGETS, **chosen.budgets}
    # A token is a character at least: more than that nobody is shown, and to choose it takes long.
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
    if shared(event.text, event.text) < _ENOUGH_EARLIER:
        return ""
    from engramdown.cortex.experience import past_experience, sought
    from engramdown.integrations.claude_code.capture import known_as

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
        carried_out(
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
    return troubled(found[0]) if found else ""


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
