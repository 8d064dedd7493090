"""How a clause goes back to a statement before it: with another value, or to take it back.

Pure, any strings, linear time. It is seen by what the two share, by the values of one sort that
they have (a number for a number, a name for a name, a day for a day), and by how little the clause
says besides. A clause that says much else is about something else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Final, NamedTuple

from engramdown.consolidation.sentences import is_order, is_passing, named, table, text_of
from engramdown.consolidation.utterances import small_letters
from engramdown.language.meaning import sort_of
from engramdown.language.updates import says_change
from engramdown.language.words import NUMBERS, STOP_WORDS, is_inflected, word_key, word_set

_TOKEN: Final = re.compile(r"\w[\w.@:/+#'\u2019-]*[\w+#/]|\w")
_CLITIC: Final = re.compile(r"['\u2019](?:s|ve|re|m|d|ll)\Z")
_NOT: Final = ("n't", "n\u2019t")
_LIGHT: Final = word_set(
    "use used using now please name location called named new currently also really actually "
    "anymore longer want like would switched moved migrated changed let go it's"
)
# Words that say little; a letter alone may be a name: "team b".
_SMALL: Final = {word for word in STOP_WORDS if len(word) > 1 or word in "ai"} | _LIGHT


# Cached, as each statement is compared with every one before it.
@lru_cache(4096)
def content(text: str) -> tuple[str, ...]:
    """Return the words that say what a text is about, in small letters."""
    words = [_CLITIC.sub("", word.casefold()) for word in _TOKEN.findall(text)]
    return tuple(word for word in words if word not in _SMALL and not word.endswith(_NOT))


same = lru_cache(65_536)(is_inflected)


def shared(mine: Sequence[str], theirs: Sequence[str]) -> list[str]:
    """Return those of the first words that stand among the others, too."""
    return [word for word in mine if any(same(word, other) for other in theirs)]


# ---- values ----


class Value(NamedTuple):
    """A value in a text: its words, where it stands, and its sort."""

    text: str
    start: int
    end: int
    sort: str


_NUMBER_WORD: Final = rf"(?:{'|'.join(sorted(NUMBERS, key=len, reverse=True))})"
_VALUE: Final = re.compile(
    rf"(?:half|quarter) (?:past|to) [\w:]+"
    rf"|\b{_NUMBER_WORD}(?:[ -](?:and a )?{_NUMBER_WORD})*\b"
    rf"|{_TOKEN.pattern}",
    re.IGNORECASE,
)
_NUMBER: Final = re.compile(
    r"\W?\d[\d.,:]*(?:[%°]|am|pm|h|ms|s|m|[kmgt]i?b|px|k)?\W?|(?:half|quarter) .*"
    rf"|{_NUMBER_WORD}\b.*",
    re.IGNORECASE,
)
_ORDINAL: Final = re.compile(r"\d+(?:st|nd|rd|th)|first|second|third|fourth|fifth|last")
_HOW_OFTEN: Final = word_set(
    "hourly daily nightly weekly fortnightly biweekly monthly quarterly yearly annually"
)
_CODE: Final = re.compile(r"[._/@:#\\]|\d")


def sort(word: str) -> str:
    """Return what sort of value a word is: a number, a day, a package manager; or ``""``."""
    folded = word.casefold()
    if _ORDINAL.fullmatch(folded):
        return "ordinal"
    if _NUMBER.fullmatch(folded):
        return "number"
    if word == "May":
        return "MONTH"
    if folded in _HOW_OFTEN:
        return "how often"
    return sort_of(word) or ("code" if _CODE.search(word) else "")


@lru_cache(8192)
def values(text: str, *, alone: bool = False) -> tuple[Value, ...]:
    """Return the values of a text, in order.

    Args:
        text: A clause as it is written.
        alone: Whether a capital letter at its beginning may be that of a name.

    >>> [(each.text, each.sort) for each in values("Ask Ann Lee at half past nine on Friday")]
    [('Ann Lee', 'name'), ('half past nine', 'number'), ('Friday', 'WEEKDAY')]
    """
    found: list[Value] = []
    for match in _VALUE.finditer(text):
        word = _CLITIC.sub("", match[0])
        kind = sort(word)
        is_name = word[:1].isupper() and (match.start() > 0 or alone)
        if not kind and is_name and word.casefold() not in STOP_WORDS and "'" not in word:
            kind = "name"
        if not kind:
            continue
        end = match.start() + len(word)
        last = found[-1] if found else None
        if last and kind == last.sort == "name" and text[last.end : match.start()] in (" ", ". "):
            found[-1] = Value(text[last.start : end], last.start, end, kind)
        else:
            found.append(Value(word, match.start(), end, kind))
    return tuple(found)


# ---- with another value ----


class Amended(NamedTuple):
    """A statement with another value in it.

    Attributes:
        text: Its words.
        is_sure: Whether it is surely meant.
        shared: How much of it is said again.
    """

    text: str
    is_sure: bool = True
    shared: int = 0


_PIECES: Final = re.compile(
    r"[,;:()!?*]+(?= |\Z)|(?:\A|(?<= ))[(]+| [-\u2013\u2014]+ | (?:but|because|since|as) "
)


def pieces(clause: str) -> Iterator[str]:
    """Yield the pieces of a clause, of which one may hold a value and the next says why."""
    return (piece for each in _PIECES.split(clause) if (piece := each.strip(" .\"'")))


def amended(clause: str, old: str, *, is_cued: bool, before: str = "") -> Amended | None:
    """Return ``old`` with the value that a clause gives instead, if it is about that.

    Args:
        clause: What is said, as it is written.
        old: A statement that was made before.
        is_cued: Whether something says that it was wrong: "wait", "I meant".
        before: What else the message says.

    >>> amended("ten, long day", "The canary gets 5 parts", is_cued=False).text
    'The canary gets ten parts'
    >>> amended("I have ten more questions", "The canary gets 5 parts", is_cued=False)
    """
    said = f"{before} {clause}"
    return next(
        (
            found
            for find in (_by_value, _by_slip, *((_by_place, _by_denial) if is_cued else ()))
            for piece in pieces(clause)
            if (found := _amended(piece, old, find(piece, old, said), is_cued=is_cued))
        ),
        None,
    )


Swaps = Sequence[tuple[Value, Value]]


def _amended(piece: str, old: str, swaps: Swaps, *, is_cued: bool) -> Amended | None:
    words = small_letters(piece)
    given = {word for new, _ in swaps for word in content(new.text)}
    rest = [word for word in _rest(words) if word not in given]
    both = shared(rest, content(old))
    # "Great" alone is no other name, nor is "Lisbon".
    is_odd = any(new.sort == "name" or new.sort != gone.sort for new, gone in swaps)
    is_bare = not rest and len(piece.split()) <= _BRIEF and not is_odd
    # What is asked for is no correction.
    is_asked = is_order(words) and not named("DOUBTS").search(words)
    is_about_it = len(rest) - len(both) <= len(both) + is_cued and not is_asked
    if swaps and is_about_it and (is_bare or is_cued):
        return Amended(_with(swaps, old), shared=len(both))
    return None


def _rest(words: str) -> list[str]:
    """Return the words of a piece that say more than that something was wrong."""
    return [
        it for it in _about(words) if it not in table("_BESIDE") and (len(it) > 1 or it.isdigit())
    ]


def _with(swaps: Swaps, old: str) -> str:
    for new, gone in sorted(swaps, key=lambda each: -each[1].start):
        old = old[: gone.start] + new.text + old[gone.end :]
    return old


def renewed(said: str, old: str, context: str = "") -> Amended | None:
    """Return ``old`` with the value that a sentence says it has by now, if it says so.

    Args:
        said: A sentence as it is written.
        old: A statement of an earlier conversation.
        context: What the sentence answers: who names the old value there speaks of it.

    >>> renewed("he's retired, Ms. Ito took over", "Mr. Lee signs", "Ask Mr. Lee?").text
    'Ms. Ito signs'
    >>> renewed("the search service listens on 9200 now", "The mail service listens on 8025")
    """
    whole = f"{said} {context}"
    given = _given(said)
    if not given or _beginnings(whole).isdisjoint(_telling(old)):
        return None
    theirs = _values_of(old, whole)
    is_changed = _is_changed(said)
    known = content(old)
    for piece, its_values in given:
        mine = _new(its_values, old)
        swaps = _swaps(piece, mine, old, theirs, whole)
        gone = [word for _, value in swaps for word in content(value.text)]
        is_named = any(_holds(whole, it.text) for _, it in swaps if not it.text[0].isdigit())
        both = [word for word in shared(content(said), known) if word not in gone]
        is_same = len(both) > 1 and len(both) * 2 > len(known) - len(gone)
        if swaps and (is_same or (is_changed and (both or is_named))):
            used = {new for new, _ in swaps}
            strange = any(it.sort == "name" and it not in used for it in mine)
            if not is_named and (strange or _is_another(said, old)):
                return None
            is_sure = bool(both) or swaps[0][0].sort not in ("name", "number", "code")
            return Amended(_with(swaps, old), is_sure, len(both) + is_named)
    return None


# What follows is asked of a sentence and a memory, for each memory, and so kept.


@lru_cache(64)
def _given(said: str) -> Sequence[tuple[str, Sequence[Value]]]:
    """Return the pieces of a sentence that have values, each with these."""
    found = ((piece, values(piece, alone=not said.startswith(piece))) for piece in pieces(said))
    return [(piece, its_values) for piece, its_values in found if its_values]


@lru_cache(64)
def _is_changed(said: str) -> bool:
    words = small_letters(said)
    cues = ("DOUBTS", "WITHDRAWS", "FORMERLY")
    return says_change(said) or any(named(cue).search(words) for cue in cues)


@lru_cache(64)
def _beginnings(text: str) -> frozenset[str]:
    """Return how the words of a text begin."""
    return frozenset(map(word_key, re.findall(r"\w+", text.casefold())))


@lru_cache(8192)
def _telling(old: str) -> frozenset[str]:
    """Return how the words and values of a statement begin: who speaks of it says one of them."""
    its_values = (value.text.casefold() for value in values(old, alone=True))
    return frozenset(
        word_key(re.split(r"\W", it, maxsplit=1)[0]) for it in (*content(old), *its_values)
    )


def _values_of(old: str, said: str) -> list[Value]:
    # A capital letter at the beginning may be that of a name, if it is written so elsewhere.
    return [
        it
        for it in values(old, alone=True)
        if it.start
        or it.sort != "name"
        or re.search(rf"[a-z,] {re.escape(it.text)}\b|\b{re.escape(it.text)}'s", said)
    ]


def _is_another(said: str, old: str) -> bool:
    """Whether two are about two things of a kind: the search service, the mail service."""
    both = shared(content(said), content(old))
    kin, others = (
        {it[0] for it in re.finditer(rf"\b(?:{text_of('KIN')})(?=s?\b)", small_letters(each))}
        for each in (said, old)
    )
    mine, theirs = _beside(said), _beside(old)
    names = {value.text.casefold() for value in values(old) if value.sort == "name"}
    return (kin != others and names.isdisjoint(both)) or any(
        not shared(mine[word], theirs[word]) for word in both if word in mine and word in theirs
    )


def _beside(text: str) -> dict[str, tuple[str, ...]]:
    """Return the word that says which one a word is about: "search" of "the search service"."""
    words = [_CLITIC.sub("", word.casefold()) for word in _TOKEN.findall(text)]
    return {
        word: content(before)
        for before, word in pairwise(words)
        if content(before) and not sort(before)
    }


_BRIEF: Final = 4
# From so many letters on two words may be alike, and how much they have to be.
_LONG: Final = 4
_ALIKE: Final = 0.65


def _new(mine: Sequence[Value], old: str) -> list[Value]:
    """Return the values that a statement does not hold, in whatever form."""
    known = content(old)
    return [it for it in mine if not (_holds(old, it.text) or shared([it.text.casefold()], known))]


def _holds(text: str, value: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(value)}(?!\w)", text, re.IGNORECASE) is not None


def _swaps(
    piece: str, mine: Sequence[Value], old: str, theirs: Sequence[Value], said: str
) -> Swaps:
    """Return which values of a piece stand for which of a statement."""
    found: list[tuple[Value, Value]] = []
    for kind in dict.fromkeys(each.sort for each in mine):
        new = [each for each in mine if each.sort == kind]
        gone = [each for each in theirs if each.sort == kind]
        if kind == "name":
            gone = [it for it in gone if not _holds(piece, it.text)] or gone
        if not gone and kind not in _PLAIN and new[0].text[0].isupper():
            gone = [it for it in theirs if it.text[0].isupper() and it.sort not in _PLAIN]
        if len(new) == len(gone):
            found += zip(new, gone, strict=True)
        elif gone:
            found.append((new[-1], max(gone, key=lambda it: _fits(piece, new[-1], old, it, said))))
    return found


# Sorts of which a name can be no value.
_PLAIN: Final = word_set("number ordinal WEEKDAY MONTH TONGUE")


def _by_value(piece: str, old: str, said: str) -> Swaps:
    mine = values(piece, alone=len(_rest(small_letters(piece))) == 1)
    return _swaps(piece, _new(mine, old), old, _values_of(old, said), said)


def _by_slip(piece: str, old: str, _: str) -> Swaps:
    """Return what the one word of a piece is a slip of the pen for: "jobs-inbox", "jobs-in"."""
    new, tokens = _only_word(piece), _tokens(old)
    return [(new, gone) for gone in tokens if new and _is_alike(new.text, gone.text)][-1:]


def _by_denial(piece: str, old: str, said: str) -> Swaps:
    """Return the word that is said elsewhere: "badger! falcon was the old printer"."""
    new = _only_word(piece)
    stands_alone = re.search(rf"(?:\A|[,;:!?.]) *{re.escape(piece)}(?=[,;:!?.]|\Z)", said.strip())
    if new is None or not stands_alone or " " in piece or new.text.casefold() in table("VERBS"):
        return []
    others = content(said.replace(piece, " "))
    denied = [
        it for it in _tokens(old) if len(it.text) >= _LONG and shared(content(it.text), others)
    ]
    return [(new, denied[0])] if len(denied) == 1 and not _holds(old, new.text) else []


def _only_word(piece: str) -> Value | None:
    rest = _rest(small_letters(piece))
    at = small_letters(piece).find(rest[0]) if len(rest) == 1 else -1
    return Value(piece[at : at + len(rest[0])], at, at + len(rest[0]), "") if at >= 0 else None


def _tokens(text: str) -> list[Value]:
    return [Value(it[0], *it.span(), "") for it in _TOKEN.finditer(text)]


def _by_place(piece: str, old: str, _: str) -> Swaps:
    """Return what stands behind the same small word in both: "in the gym", "in the hall"."""
    ends = _PLACE.search(piece)
    if ends is None or not ends["end"]:
        return []
    new = Value(ends["what"], *ends.span("what"), "")
    return [
        (new, Value(it["what"], *it.span("what"), ""))
        for it in _PLACE.finditer(old)
        if it["at"] == ends["at"] and it["what"] != new.text
    ][:1]


_SMALL_WORD: Final = r"(?:in|on|at|to|with|from|under|as|by|via|after|before|for)"
_PLACE: Final = re.compile(
    rf"\b(?P<at>{_SMALL_WORD}) "
    rf"(?P<what>(?:the |an? |our |my )?(?:(?!{_SMALL_WORD}\b)[\w'-]+ ?){{1,3}}?)"
    rf"(?= {_SMALL_WORD}\b|[.,;]|(?P<end>\Z))"
)


def _fits(piece: str, new: Value, old: str, gone: Value, said: str) -> tuple[bool, int, int]:
    """Return how well a value may be the one that another stands for."""
    beside = [piece[: new.start].split()[-1:], piece[new.end :].split()[:1]]
    there = [old[: gone.start].split()[-1:], old[gone.end :].split()[:1]]
    alike = sum(bool(one) and one == other for one, other in zip(beside, there, strict=True))
    return gone.text.casefold() in said.casefold(), alike, gone.start


def _is_alike(one: str, other: str) -> bool:
    from difflib import SequenceMatcher

    one, other = one.casefold(), other.casefold()
    return (
        min(len(one), len(other)) >= _LONG
        and one != other
        and not same(one, other)
        and SequenceMatcher(None, one, other).ratio() >= _ALIKE
    )


# ---- taken back ----


def taken(clause: str) -> list[str]:
    """Return what a clause that takes something back is about."""
    return [word for word in _about(clause) if word not in table("_TAKEN")]


def _about(words: str) -> tuple[str, ...]:
    return content(named("DOUBTS").sub(" ", named("WITHDRAWS").sub(" ", words)))


def withdrawn(words: str, statements: Sequence[str]) -> list[int]:
    """Return the places of the statements that somebody takes back in small letters.

    >>> withdrawn("you can take the vegetarian thing off", ["I'm vegetarian", "I like tea"])
    [0]
    >>> withdrawn("stop the redis container", ["We use Redis"])
    []
    """
    counts: dict[int, int] = {}
    for clause in over(words):
        wanted = taken(clause)
        is_clear = named("CLEARLY_OVER").search(clause) is not None
        for at, statement in enumerate(statements):
            known = content(statement)
            both = shared(wanted, known)
            rest = len(wanted) - len(both)
            is_one = len(both) == 1 and not any(map(sort, both)) and not is_clear
            is_about_it = rest < len(both) + is_clear or not rest
            if both and is_about_it and not (is_one and len(known) > 1):
                counts[at] = max(len(both), counts.get(at, 0))
    most = max(counts.values(), default=0)
    return [at for at, count in counts.items() if count == most]


def over(words: str) -> list[str]:
    """Return the pieces that say that something is over."""
    parts = pieces(words.replace("-", " "))
    return [it for it in parts if named("WITHDRAWS").search(it) and not is_passing(it, firm=True)]
