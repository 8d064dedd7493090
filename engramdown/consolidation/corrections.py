"""Reads the messages of a user to their end: what was corrected and taken back no longer counts.

Pure; takes any messages, in order. A correction replaces what it corrects, and what is taken back
is gone. What the user takes back from an earlier conversation is returned, so that the caller can
look for it in memory. Two statements are about the same thing if they have the same subject, or the
same words except for one value.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Final, NamedTuple, Protocol, TypeVar, cast

from engramdown.consolidation.sentences import Statement, person_in, read, verb_of
from engramdown.consolidation.utterances import small_letters
from engramdown.engram import CONFIDENCES, Engram, Kind, fact_key, fold
from engramdown.language.judge import judge, may_differ
from engramdown.language.meaning import contradict, sort_of
from engramdown.language.updates import says_change
from engramdown.language.words import NUMBERS, STOP_WORDS, is_inflected, word_set

# So many memories one message may bring; who states more has pasted something.
MOST: Final = 20

# So much of a message's end may say whom the next one means.
_TAIL: Final = 300

# So many words two statements may differ in, each, and be about the same thing.
_LIKE: Final = 2
_RULES: Final = frozenset({"always", "never", "when"})
_TOKEN: Final = re.compile(r"[^\W_][\w.@:/+#'-]*[\w+#]|[^\W_]")
_CLITIC: Final = re.compile(r"['\u2019](?:s|ve|re|m|d|ll)\Z")
_LIGHT: Final = word_set(
    "use used using now please name location called named new currently also really actually "
    "anymore longer want like would switched moved migrated changed let go it's"
)


class Text(Protocol):
    """A memory, as far as it is compared."""

    @property
    def text(self) -> str:
        """Its words."""

    @property
    def kind(self) -> str:
        """Its kind."""


T = TypeVar("T", bound=Text)


class TakenBack(NamedTuple):
    """What a user took back.

    Attributes:
        words: What it was about, in their words.
        kind: ``profile`` if it is about them, ``never`` for what is allowed now; anything for a
            ``lesson``.
        is_loose: Whether the words only say that something is over: then they have to speak of
            most of what a memory says.
        instead: What is said to have changed, and is worth knowing only if that was known before.
    """

    words: str
    kind: Kind = "lesson"
    is_loose: bool = False
    instead: Engram | None = None


class UserStatements(NamedTuple):
    """What messages of a user teach.

    Attributes:
        engrams: What still holds after the last message.
        taken_back: What the user took back without having said it in these messages.
    """

    engrams: tuple[Engram, ...] = ()
    taken_back: tuple[TakenBack, ...] = ()


class _Said(NamedTuple):
    """What was said, and in which message."""

    engram: Engram
    at: int


def extract(text: str, *, origin: str = "", via: str = "") -> list[Engram]:
    """Return what the user states in ``text``, one message, each thing once.

    Args:
        text: What the user wrote. Halves of surrogate pairs are left out.
        origin: Where it stands, ``<session>#<episode>``.
        via: ``tool`` or ``web`` if the text came from there: then nothing is learned.

    >>> [found] = extract("Thanks! From now on use uv, please.", origin="20260227-101500-4f2a#12")
    >>> found.kind, found.text, found.confidence, found.source, found.basis
    ('always', 'Use uv', 'high', 'user', 'told')
    """
    return [] if via else list(read_messages([(text, origin)]).engrams)


def read_messages(messages: Iterable[tuple[str, str]]) -> UserStatements:
    """Return what the messages of a user teach once all of them are read.

    Args:
        messages: Each text and where it stands, in order.

    >>> stated = read_messages([("Always use npm.", ""), ("Sorry, I meant pnpm.", "")])
    >>> stated.engrams[0].text
    'Always use pnpm'
    """
    reader = _Conversation()
    for at, (text, pointer) in enumerate(messages):
        reader.add_message(text.encode(errors="ignore").decode(), pointer, at)
    engrams = tuple(each.engram for each in reader.said)
    return UserStatements(engrams, tuple(dict.fromkeys(reader.back)))


class _Conversation:
    """What a user has said so far, and taken back of what they said before."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.said: list[_Said] = []
        self.back: list[TakenBack] = []
        self.person = ""

    def add_message(self, text: str, pointer: str, at: int) -> None:
        """Take in a message."""
        corrects = ""
        brought = 0
        unmended = False
        before = [each for each in self.said if each.at == at - 1]
        for each in read(text, self.person):
            if each.act == "takes back":
                self._take_back(TakenBack(each.text, each.kind, each.confidence == "low"), at)
                corrects = corrects if each.confidence == "low" else "high"
            elif each.act == "insists":
                self._insist(at)
            elif each.act == "updates":
                self._update(_engram(each, pointer), at)
            elif each.act == "corrects":
                corrects = min(each.confidence, corrects or "low", key=CONFIDENCES.index)
                if each.text and not self._swap(each, pointer, at):
                    unmended = unmended or each.confidence == "high"
            elif brought < MOST:
                brought += 1
                self._add(_engram(each, pointer), at, corrects)
        if unmended and len(before) == 1 and before[0] in self.said:
            # It was wrong, but not told how: a person is to say.
            doubted = before[0]._replace(engram=replace(before[0].engram, unsure=True))
            self.said[self.said.index(before[0])] = doubted
        self.person = person_in(small_letters(text[-_TAIL:])) or self.person

    def _add(self, engram: Engram, at: int, corrects: str) -> None:
        if any(fold(each.engram.text) == fold(engram.text) for each in self.said):
            return
        if corrects and engram.unsure:
            sure = [it for it in self.said if is_near(engram, it.engram) and not it.engram.unsure]
            engram = replace(engram, unsure=not sure)
        older = [
            each
            for each in self.said
            if ((each.at < at or corrects) and supersedes(engram, each.engram))
            or (each.at < at and is_restated(engram, each.engram))
            or (
                corrects
                and each.at < at
                and is_near(engram, each.engram, surely=corrects == "high")
            )
        ]
        last = [each for each in self.said if each.at == at - 1]
        if not older and corrects and len(last) == 1:
            # "No, use local time": it is said instead of the one thing before it.
            is_sure = corrects != "low" or _verb(last[0].engram) == _verb(engram)
            older = [each for each in last if is_sure and _sphere(each.engram) == _sphere(engram)]
        self.said = [each for each in self.said if each not in older]
        self.said.append(_Said(engram, at))

    def _take_back(self, back: TakenBack, at: int) -> None:
        if all(word in _ABOUT for word in _content(back.words)):
            # The last thing, if it was said just now.
            if self.said and at - self.said[-1].at <= 1:
                last = self.said[-1].at
                self.said = [each for each in self.said if each.at != last]
            return
        gone = about(back, [each.engram for each in self.said])
        self.said = [each for each in self.said if each.engram not in gone]
        if not gone:
            self.back.append(back)

    def _update(self, engram: Engram, at: int) -> None:
        """Put what is said to have changed in the place of what it outdates."""
        older = outdated(engram, [each.engram for each in self.said])
        if older:
            self.said = [each for each in self.said if each.engram not in older]
            self.said.append(_Said(in_place_of(engram, older[0]), at))
        else:
            self.back.append(TakenBack(engram.text, instead=engram))

    def _insist(self, at: int) -> None:
        """Make a rule of the last thing that was said."""
        if self.said and at - self.said[-1].at <= 1 and self.said[-1].engram.kind != "profile":
            last = self.said.pop()
            kind = last.engram.kind if last.engram.kind in _RULES else "always"
            self.said.append(_Said(replace(last.engram, kind=kind, unsure=False), at))

    def _swap(self, correction: Statement, pointer: str, at: int) -> bool:
        """Put the right word in the place of the wrong one, in what was said last with it."""
        for place in reversed(range(len(self.said))):
            said = self.said[place]
            text = _swapped(said.engram.text, correction)
            if text and (correction.instead or at - said.at <= 1):
                mended = replace(said.engram, text=text, origin=pointer or said.engram.origin)
                self.said[place] = _Said(mended, said.at)
                return True
        return False


def _verb(engram: Text) -> str:
    return re.sub(r"(?:always|never) ", "", engram.text.casefold()).split()[0]


def _sphere(engram: Text) -> str:
    is_rule = engram.kind in _RULES and not engram.text.casefold().startswith("we ")
    return "rule" if is_rule else "lesson" if engram.kind in _RULES else engram.kind


def _engram(said: Statement, pointer: str) -> Engram:
    return Engram(
        said.text,
        said.kind,
        said.scope,
        said.confidence,
        source="user",
        origin=pointer,
        unsure=not said.is_sure,
    )


def _swapped(text: str, correction: Statement) -> str:
    """Return a text with one word for another, or ``""`` if it has none that fits."""
    new, old = correction.text.strip(" ,.;:"), correction.instead.strip(" ,.;:")
    if not old:
        # "Every 90 days": only what is not in it anyway is new.
        known = {word.casefold() for word in _TOKEN.findall(text)}
        words = [word for word in _TOKEN.findall(new) if word.casefold() not in known]
        words = [word for word in words if word.casefold() not in STOP_WORDS]
        if len(words) != 1:
            return ""
        new, old = words[0], _counterpart(text, words[0], surely=correction.confidence != "low")
    found = re.search(rf"(?<!\w){re.escape(old)}(?!\w)", text, re.IGNORECASE) if old else None
    return text[: found.start()] + new + text[found.end() :] if found else ""


def _counterpart(text: str, new: str, *, surely: bool) -> str:
    """Return the word of a text that another one of its sort would stand for."""
    words = _TOKEN.findall(text)
    sort = _sort(new)
    if sort:
        return next((word for word in reversed(words) if _sort(word) == sort), "")
    alike = (word for word in reversed(words) if _is_alike(word, new))
    # A name stands for a name, else for what is said last.
    names = (word for word in words[:0:-1] if new[:1].isupper() and word[:1].isupper())
    is_value = surely and words and new.casefold() not in _NO_VALUE and "'" not in new
    return next(alike, next(names, words[-1]) if is_value else "")


def _is_alike(one: str, other: str) -> bool:
    """Whether one word may be a slip for another: "orders-in", "orders-inbound"."""
    from difflib import SequenceMatcher

    return min(len(one), len(other)) >= _LONG and (
        SequenceMatcher(None, one.casefold(), other.casefold()).ratio() >= _ALIKE
    )


# From so many letters on two words may be alike, and how much they have to be.
_LONG: Final = 4
_ALIKE: Final = 0.7


_NO_VALUE: Final = word_set(
    "thanks thank yes yep ok okay please sorry fine great it that this wait stop wrong problem "
    "idea worries need way good true right not never always nothing chat mind done"
)


def _sort(word: str) -> str:
    """Return what sort of value a word is: a number, a day, a package manager; or ``""``."""
    if word.casefold() in NUMBERS:
        return "number"
    if any(map(str.isdigit, word)):
        return "number" if re.fullmatch(r"\W?[\d.,:]+\W?", word) else "name with a number"
    return sort_of(word)


# ---- whether two are about the same thing ----

_NOT: Final = ("n't", "n\u2019t")


# Cached, as each statement is compared with every one before it.
@lru_cache(4096)
def _content(text: str) -> tuple[str, ...]:
    """Return the words that say what a text is about, in small letters."""
    words = [_CLITIC.sub("", word.casefold()) for word in _TOKEN.findall(text)]
    return tuple(word for word in words if word not in _SMALL and not word.endswith(_NOT))


# Words that say little; a letter alone may be a name: "team b".
_SMALL: Final = {word for word in STOP_WORDS if len(word) > 1 or word in "ai"} | _LIGHT


@lru_cache(65_536)
def _same(one: str, other: str) -> bool:
    return one == other or is_inflected(one, other)


def _shared(mine: Sequence[str], theirs: Sequence[str]) -> list[str]:
    return [word for word in mine if any(_same(word, other) for other in theirs)]


def is_near(one: Text, other: Text, *, surely: bool = True) -> bool:
    """Whether two statements share enough that one may be said instead of the other.

    Args:
        one: The newer one.
        other: The older one.
        surely: Whether it is certain that something is said instead.
    """
    mine, theirs = _content(one.text), _content(other.text)
    shared = _shared(mine, theirs)
    fits = (one.kind == "profile") == (other.kind == "profile") or len(shared) > 1
    few = 1 if surely else max(1, (min(len(mine), len(theirs)) + 1) // 2)
    return fits and len(shared) >= few


def is_restated(one: Text, other: Text) -> bool:
    """Whether one statement says another again, with a word or two more or less.

    Another word in the place of one may be another subject: "team north", "team south".

    >>> old = Engram("The team meets on Monday", "lesson", "project")
    >>> is_restated(Engram("The web team meets on Monday", "lesson", "project"), old)
    True
    >>> is_restated(Engram("The team eats on Monday", "lesson", "project"), old)
    False
    """
    mine, theirs = _content(one.text), _content(other.text)
    if len(mine) < len(theirs):
        mine, theirs = theirs, mine
    shared = _shared(theirs, mine)
    more = [word for word in mine if not any(_same(word, each) for each in theirs)]
    is_more = len(shared) == len(theirs) and all(len(word) > 1 for word in more)
    return (
        one.kind == other.kind != "never" and len(shared) > 1 and is_more and 0 < len(more) <= _LIKE
    )


def about(back: TakenBack, memories: Iterable[T]) -> list[T]:
    """Return the memories that somebody takes back: those of which their words speak best.

    >>> back = TakenBack("the formal tone")
    >>> about(back, [Engram("Speak to me formally", "always", "global")])[0].text
    'Speak to me formally'
    """
    wanted = [word for word in _content(back.words) if word not in _ABOUT]
    counts: list[tuple[int, T]] = []
    for memory in memories:
        said = _content(memory.text)
        shared = len(_shared(wanted, said)) if wanted else 0
        fits = back.kind != "profile" or (memory.kind == "profile" and shared == len(wanted))
        fits = fits and (back.kind != "never" or memory.kind == "never")
        least = len(said) if back.is_loose else min(len(wanted), len(said))
        if (
            fits
            and shared
            and shared * 2 >= least
            and (shared > 1 or not back.is_loose or least < _LIKE + 1)
        ):
            counts.append((shared, memory))
    best = max((count for count, _ in counts), default=0)
    return [memory for count, memory in counts if count == best]


def outdated(change: Engram, memories: Iterable[T]) -> list[T]:
    """Return the memory of which something is said to have changed, if there is one.

    >>> old = Engram("The rate limit is 100 a minute", "lesson", "project")
    >>> outdated(Engram("They raised the rate limit to 300", "lesson", "project"), [old]) == [old]
    True
    """
    near = (it for it in memories if it.kind != "never" and may_differ(it.text, change.text))
    sure = [(judge(it.text, change.text).differ, it) for it in near]
    best = max(sure, key=lambda each: each[0], default=None)
    return [best[1]] if best and best[0] >= _OUTDATED else []


def in_place_of(change: Engram, older: Text) -> Engram:
    """Return what is said to have changed, of the kind of the memory whose place it takes."""
    kind = cast("Kind", older.kind)
    return replace(change, kind=kind, unsure=kind in _RULES)


# How likely what is said to have changed must give another value.
_OUTDATED: Final = 0.5

_ABOUT: Final = word_set(
    "rule rules reminder preference instruction note fact thing bit part request said told asked "
    "wrote memory last latest previous one tone style habit policy convention need wish about more"
)


def supersedes(new: Text, old: Text) -> bool:
    """Whether ``new`` says another value of what ``old`` says, so that both cannot hold.

    >>> old = Engram("Our wiki is MediaWiki 1.39", "lesson", "project")
    >>> supersedes(Engram("Our wiki is MediaWiki 1.43 now", "lesson", "project"), old)
    True
    >>> supersedes(Engram("Our cache is Redis 7", "lesson", "project"), old)
    False
    """
    if fold(new.text) == fold(old.text):
        return False
    if new.kind == old.kind == "profile" and (key := fact_key(new.text)):
        return key == fact_key(old.text)
    mine, theirs = _content(new.text), _content(old.text)
    if "never" in (new.kind, old.kind):
        # A ban of what was wanted, or the other way round.
        less = mine if new.kind == "never" else theirs
        more = theirs if new.kind == "never" else mine
        is_rule = {new.kind, old.kind} <= _RULES
        return (
            is_rule
            and new.kind != old.kind
            and bool(less)
            and len(_shared(less, more)) == len(less)
        )
    if mine == theirs and _negated(new.text) != _negated(old.text):
        return True
    is_now = _I_AM_NOW.match(new.text.casefold()) and (
        _I_AM.match(old.text.casefold()) or _JOB.match(old.text.casefold())
    )
    return bool(
        is_now
        or _is_newer(new, old)
        or _denies(new.text, old.text)
        or (_sphere(new) == _sphere(old) and contradict(new.text, old.text))
        or _same_frame(new.text, old.text)
        or _same_habit(new.text, old.text)
    )


def _is_newer(new: Text, old: Text) -> bool:
    """Whether a text that says that something is new differs from the other in a word or two."""
    if not says_change(new.text) or _sphere(new) != _sphere(old):
        return False
    mine, theirs = _content(new.text), _content(old.text)
    shared = _shared(mine, theirs)
    differ = max(len(mine), len(theirs)) - len(shared)
    if len(shared) > 1 and {*filter(None, map(_sort, mine))} & {*filter(None, map(_sort, theirs))}:
        differ = min(differ, _LIKE)
    return bool(shared) and len(shared) * 2 >= min(len(mine), len(theirs)) and 0 < differ <= _LIKE


_I_AM_NOW: Final = re.compile(r"i'm (?:now )?an? .*(?<= )now\Z|i'm now an? ")
_I_AM: Final = re.compile(r"i'm an? (?!.*\b(?:mother|father|mum|mom|dad|parent|twin|native|fan)\b)")


@lru_cache(4096)
def _negated(text: str) -> bool:
    return re.search(r"\b(?:not|no|never)\b|n['\u2019]t\b", text.casefold()) is not None


def _denies(new: str, old: str) -> bool:
    """Whether a text says itself that a value of the other no longer holds: "not npm"."""
    found = _INSTEAD.search(new)
    if found is None:
        return False
    gone = _content(next(filter(None, found.groups())))
    theirs = _content(old)
    return (
        bool(gone)
        and len(_shared(gone, theirs)) == len(gone)
        and (len(_shared(_content(new), theirs)) > len(gone) or len(theirs) <= len(gone) + 1)
    )


_INSTEAD: Final = re.compile(
    r"(?:\bnot|\binstead of|\brather than|\bno longer|\bfrom) (?:the |in |on |at |with )?"
    r"([\w.:/@-]+(?: [\w.:/@-]+)?)(?=\Z|[,.;]| to )",
    re.IGNORECASE,
)


def _same_frame(new: str, old: str) -> bool:
    """Whether two say of one subject, with one verb, what it is or has."""
    mine, theirs = _frame(new), _frame(old)
    if mine is None or theirs is None:
        return False
    # "The channel was renamed", of what was called "our team channel" before.
    is_named = mine[1] == theirs[1] == "called" or re.search(r"\b(?:renamed|moved)\b", new)
    if mine[0] != theirs[0] and not (is_named and mine[0] < theirs[0]):
        return False
    return (
        bool(is_named) or mine[1] == theirs[1] or (mine[1] == "is " and theirs[1].startswith("is "))
    )


_HABIT: Final = re.compile(
    r"(?P<head>i (?:now )?(?:use|drive|play|drink)\b"
    r"|i (?:now )?\w+ (?:in|at|for|as|on|with|to|a|an|my)\b|i'm (?=\d)"
    r"|.+ (?:with|via|through|using|as))"
    r" ?[\w.+#'-]+(?: (?!now\b|these\b|currently\b)[\w.+#'-]+)?"
    r"(?P<now> now| these days| currently)?[.!]?\Z"
)


def _same_habit(new: str, old: str) -> bool:
    """Whether two say with the same words how or what one does, but for the last one."""
    mine, theirs = (_HABIT.match(" ".join(each.casefold().split())) for each in (new, old))
    if mine is None or theirs is None:
        return False
    heads = [_content(each["head"]) for each in (mine, theirs)]
    by_now = mine["now"] or not mine["head"].startswith("i ") or mine["head"] == "i'm "
    return bool(by_now) and heads[0] == heads[1] and mine["head"][:2] == theirs["head"][:2]


@lru_cache(4096)
def _frame(text: str) -> tuple[frozenset[str], str] | None:
    """Return the subject of a text and its verb with the word behind it, if it has a value."""
    words = " ".join(text.casefold().replace("\u2019", "'").split())
    own = _own_frame(words)
    if own is not None:
        return own
    verb = verb_of(words)
    subject = frozenset(_content(words[: verb.start()])) if verb else frozenset[str]()
    said = words[verb.start() :] if verb else ""
    rest = re.sub(r"\b(?:now|currently|from now on|is|are|has been|have been)\b ?", "", said)
    if not subject or not rest or len(rest.split()) > _VALUE or _MANY_VERB.match(words):
        return None
    if re.match(r"(?:called|named|renamed)\b", rest):
        return subject, "called"
    place = _PLACE.match(rest)
    is_state = said.startswith(("is ", "are ", "'s "))
    return subject, f"{'is' if is_state else rest.split()[0]} {place[1] if place else ''}"


def _own_frame(words: str) -> tuple[frozenset[str], str] | None:
    """Return the same of what is said of oneself, or of what was set anew."""
    if _JOB.match(words):
        return frozenset({"i"}), "work"
    if found := _ROLE.match(words):
        role = (found["role"] or "role").replace("'m at", " work at")
        return frozenset({"i"}), role.removeprefix("i ").removeprefix("now ").strip()
    if found := _SET.match(words) or _NEW_ONE.match(words):
        what = next(filter(None, found.groupdict().values()))
        return frozenset(_content(what)), "is "
    found = _WE.match(words)
    is_one = found is not None and not _MANY_VERB.match(words)
    return (
        (frozenset({"we"}), f"{found['verb']} {found['place'] or ''}") if found and is_one else None
    )


_VALUE: Final = 7
_NEW_ONE: Final = re.compile(
    r"(?:the |our )?new (?P<what>[\w -]{2,30}): "
    r"|[\w.]+(?: [\w.]+)? is (?:our|my|the) (?:new |current )(?P<whose>[\w -]{2,40})\Z"
)
# What one may do with several things: another one does not replace the first.
_MANY_VERB: Final = re.compile(
    r"we (?:now |only |always |usually )*(?:use|have|need|write|do|support|can|must|will)\b"
)
_PLACE: Final = re.compile(
    r"(?:\w+ )?(in|on|at|by|for|with|to|from|through|via|until|after|before)\b"
)
_WE: Final = re.compile(
    r"we (?:now |only |always |usually )*(?P<verb>\w+)"
    r" (?P<place>in|on|at|by|for|with|to|from|via|every)?\b"
)
_ROLE: Final = re.compile(
    r"i(?:'m| am) (?:now )?(?:an?|the)"
    r" (?:(?:junior|senior|lead|head|chief|staff|principal)\b|[\w ]*(?:engineer"
    r"|developer|manager|analyst|designer|consultant|teacher|nurse|doctor|student|director)\b)"
    r"|(?P<role>i'm at(?=.* now)"
    r"|(?:i )(?:now )?(?:work (?:at|for|as|in)|live in|study|teach|live|drive))\b"
)
_JOB: Final = re.compile(r"i(?:'ve| have)? (?:now )?(?:work (?:at|for)|joined|started at)\b")
_SET: Final = re.compile(
    r"(?:they|we|it|somebody|the \w+)(?:'ve| have| has)? (?:just |now )?"
    r"(?:raised|lowered|changed|increased|reduced|extended|renamed|shortened|cut|postponed|moved"
    r"|bumped|switched|upped|set) (?:the|our) (?P<what>.+?) (?:from .+? )?to \S"
)
