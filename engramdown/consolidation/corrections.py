"""Reads the messages of a user to their end: what was corrected and taken back no longer counts.

Pure; takes any messages, in order. A correction replaces what it corrects, and what is taken back
is gone. What the user takes back from an earlier conversation is returned, so that the caller can
look for it in memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Final, NamedTuple, Protocol, TypeVar, cast

from engramdown.consolidation.revisions import (
    Amended,
    amended,
    content,
    over,
    pieces,
    renewed,
    shared,
    taken,
    values,
    withdrawn,
)
from engramdown.consolidation.sentences import (
    LONGEST,
    Heard,
    Statement,
    hear,
    is_order,
    may_last,
    named,
    person_in,
)
from engramdown.consolidation.utterances import small_letters
from engramdown.engram import CONFIDENCES, Engram, Kind, fact_key, fold
from engramdown.language.judge import judge, may_differ
from engramdown.language.meaning import contradict
from engramdown.language.updates import says_change
from engramdown.language.words import word_set

# So many memories one message may bring; who states more has pasted something.
MOST: Final = 20

# So much of a message is searched for what a sentence of it goes back to, and of what it answers.
_LONGEST: Final = 2000

# So much of a message's end may say whom the next one means.
_TAIL: Final = 300

# So many words a question has at most that only names something.
_BRIEF: Final = 5
_RULES: Final = frozenset({"always", "never", "when"})


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
    """What a user took back, or said to be another way by now.

    Attributes:
        words: What it was about, in their words, or the whole sentence.
        kind: ``profile`` if it is about them, ``never`` for what is allowed now; anything for a
            ``lesson``.
        is_loose: Whether the words only say that something is over.
        instead: What is said to have changed, and is worth knowing only if that was known before.
        context: What they answer.
    """

    words: str
    kind: Kind = "lesson"
    is_loose: bool = False
    instead: Engram | None = None
    context: str = ""


class UserStatements(NamedTuple):
    """What messages of a user teach.

    Attributes:
        engrams: What still holds after the last message.
        taken_back: What the user took back, or changed, without having said it in these messages.
    """

    engrams: tuple[Engram, ...] = ()
    taken_back: tuple[TakenBack, ...] = ()


class _Said(NamedTuple):
    """What was said, and in which message."""

    engram: Engram
    at: int


class Message(NamedTuple):
    """A message of a user: its words, where it stands, and what it answers."""

    text: str
    pointer: str = ""
    answers: str = ""


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


def read_messages(messages: Iterable[tuple[str, ...]]) -> UserStatements:
    """Return what the messages of a user teach once all of them are read.

    Args:
        messages: Each text, where it stands, and what the assistant said before it, in order.

    >>> stated = read_messages([("Always use npm.", ""), ("Sorry, I meant pnpm.", "")])
    >>> stated.engrams[0].text
    'Always use pnpm'
    """
    reader = _Conversation()
    given = [Message(*each) for each in messages]
    for at, message in enumerate(given):
        reader.add_message(message, at, len(given))
    engrams = tuple(each.engram for each in reader.said)
    return UserStatements(engrams, tuple(dict.fromkeys(reader.back)))


def _may_be_corrected(heard: Heard) -> bool:
    """Whether a sentence says something of something: a value alone does not."""
    if heard.mark == "?" or is_order(heard.words) or len(heard.written) > LONGEST:
        return False
    return len(content(heard.words)) > 1


class _Conversation:
    """What a user has said so far, and taken back of what they said before."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.said: list[_Said] = []
        self.back: list[TakenBack] = []
        # What was heard and is no statement by itself.
        self.unread: list[_Said] = []
        # In the message at hand: how surely something is said instead, how much was brought, what
        # is wrong, and a short question before: "The freeze? It's gone."
        self.corrects = ""
        self.brought = 0
        self.wrong: list[_Said] = []
        self.asked = ""
        self.is_cued = False
        self.person = ""

    def add_message(self, message: Message, at: int, messages: int) -> None:
        """Take in a message, one of so many."""
        text = message.text.encode(errors="ignore").decode()
        self.corrects, self.brought, self.wrong, self.asked, self.is_cued = "", 0, [], "", False
        message = message._replace(text=text[:_LONGEST], answers=message.answers[:_LONGEST])
        self.unread = [each for each in self.unread if each.at == at - 1]
        for place, heard in enumerate(hear(text, self.person, messages)):
            # Who writes more than a few sentences corrects nothing with the last ones.
            is_first = place < MOST
            if not (is_first and self._goes_back(heard, message, at)):
                self._take_in(heard, message, at, is_first=is_first)
        for said in self.wrong:
            # It was wrong, but not told how: a person is to say.
            if said in self.said:
                doubted = said._replace(engram=replace(said.engram, unsure=True))
                self.said[self.said.index(said)] = doubted
        self.person = person_in(small_letters(text[-_TAIL:])) or self.person

    def _take_in(self, heard: Heard, message: Message, at: int, *, is_first: bool) -> None:
        """Take in what a sentence states by itself."""
        before = [each for each in self.said if each.at == at - 1]
        stated = _stated(heard)
        if is_first and not stated and self._objects(heard, message):
            self._add(_engram(_plain(heard.written), message.pointer), at)
        elif is_first and not stated and _may_be_corrected(heard):
            self.unread.append(_Said(_engram(_plain(heard.written), message.pointer), at))
        for each in heard.statements:
            if each.act == "takes back":
                self._take_back(TakenBack(each.text, each.kind), at)
                self.corrects = "high"
            elif each.act == "insists":
                self._insist(at)
            elif each.act == "corrects":
                sure = min(each.confidence, self.corrects or "low", key=CONFIDENCES.index)
                self.corrects = sure
                is_mended = not each.text or self._swap(each, message.pointer, at)
                if not is_mended and each.confidence == "high" and len(before) == 1:
                    self.wrong += before
            elif self.brought < MOST:
                self.brought += 1
                # That something is over is worth little by itself.
                is_sure = each.is_sure and not (each.is_guess and over(heard.words))
                self._add(_engram(each._replace(is_sure=is_sure), message.pointer), at)

    def _objects(self, heard: Heard, message: Message) -> bool:
        """Whether a sentence says otherwise than the assistant did, with a value of its own."""
        if not message.answers or self._is_reply(message) or not _may_be_corrected(heard):
            return False
        mine, theirs = values(heard.written, alone=True), values(message.answers, alone=True)
        new = [it for it in mine if not shared(content(it.text), content(message.answers))]
        if not new:
            return False
        both = shared(content(message.text), content(message.answers))
        is_other = any(it.sort == each.sort for it in new for each in theirs)
        is_denied = named("OBJECTION").search(small_letters(message.text)) is not None
        is_meant = (is_other and bool(both or self.is_cued)) or (is_denied and bool(both))
        return is_meant and may_last(heard.words)

    def _is_reply(self, message: Message) -> bool:
        """Whether a message answers a question: then it neither objects nor corrects."""
        return message.answers.rstrip().endswith("?") and not self.is_cued

    def _goes_back(self, heard: Heard, message: Message, at: int) -> bool:
        """Take in a sentence that goes back to something before it, and say whether it does."""
        self.is_cued = self.is_cued or named("DOUBTS").search(heard.words) is not None
        if heard.mark == "?":
            self.asked = heard.written if len(heard.words.split()) <= _BRIEF else ""
            return False
        engrams = [_engram(it, message.pointer) for it in _stated(heard)]
        is_newer = any(supersedes(new, it.engram) for new in engrams for it in self.said)
        if not (is_newer or self._is_reply(message)) and self._amend(heard, message, at):
            return True
        if over(heard.words) and self._withdraw(heard, at):
            self._go_on(heard, message, at)
            return True
        return not is_newer and self._reconsider(heard, message, at)

    def _reconsider(self, heard: Heard, message: Message, at: int) -> bool:
        """Doubt what a sentence says was wrong, and hand on what it may say of earlier sessions."""
        is_plain = all(it.is_guess or not it.is_sure for it in _stated(heard))
        if is_plain and named("DOUBTS").search(heard.words):
            names = {each.text for each in values(heard.written, alone=True)}
            last = [it for it in self.said if it.at == at - 1]
            wrong = [it for it in last if any(name in it.engram.text for name in names)]
            self.wrong += wrong
            if wrong:
                self.corrects = "high"
                return True
        is_over = bool(over(heard.words))
        is_handled = any(each.act == "takes back" for each in heard.statements)
        if not is_handled and content(heard.words) and len(heard.written) <= LONGEST:
            instead = _engram(_plain(heard.written), message.pointer)
            said = f"{self.asked} {heard.written}".strip() if is_over else heard.written
            self._take_back(TakenBack(said, "lesson", is_over, instead, message.answers), at)
        return False

    def _go_on(self, heard: Heard, message: Message, at: int) -> None:
        """Take in what else is said in a sentence that takes something back."""
        ended = [*map(fold, over(heard.words))]
        stated = _stated(heard)
        # "Strike that, use the present tense."
        orders = [it for it in pieces(heard.written) if is_order(small_letters(it))]
        orders = [it for it in orders if fold(it) not in ended and not stated]
        for each in (*stated, *(_plain(it, "always") for it in orders)):
            if not any(fold(each.text).removeprefix("never ") in it for it in ended):
                self.corrects = "high" if stated else ""
                self._add(_engram(each, message.pointer), at)

    def _amend(self, heard: Heard, message: Message, at: int) -> bool:
        """Put the value that a sentence gives in the place of one that was said just before."""
        before = message.text.replace(heard.written, " ")
        found: list[tuple[tuple[int, bool, bool], _Said, Amended]] = []
        for said in (*self.said, *(self.unread if self.is_cued else ())):
            if said.at == at - 1 or (said.at == at and self.is_cued):
                text = said.engram.text
                mended = amended(heard.written, text, is_cued=self.is_cued, before=before)
                rank = (mended.shared if mended else 0, said in self.said, said.at < at)
                found += [(rank, said, mended)] if mended and len(mended.text) <= LONGEST else []
        if not found:
            return False
        (_, is_read, _), said, mended = max(reversed(found), key=lambda each: each[0])
        origin = message.pointer or said.engram.origin
        engram = replace(said.engram, text=mended.text, origin=origin)
        if not is_read:
            if not may_last(small_letters(mended.text)):
                return False
            self.unread.remove(said)
            self.said.append(_Said(engram, at))
            return True
        place = self.said.index(said)
        self.said[place] = said._replace(engram=engram)
        return True

    def _withdraw(self, heard: Heard, at: int) -> bool:
        """Let go what a sentence takes back of these messages."""
        gone = withdrawn(heard.words, [each.engram.text for each in self.said])
        if not gone and self.said and not all(map(taken, over(heard.words))):
            # The last thing, if it was said just now.
            last = self.said[-1].at
            gone = [place for place, it in enumerate(self.said) if it.at == last >= at - 2]
        self.said = [each for place, each in enumerate(self.said) if place not in gone]
        return bool(gone)

    def _add(self, engram: Engram, at: int) -> None:
        corrects = self.corrects
        if any(fold(each.engram.text) == fold(engram.text) for each in self.said):
            return
        if corrects and engram.unsure:
            sure = [it for it in self.said if is_near(engram, it.engram) and not it.engram.unsure]
            engram = replace(engram, unsure=not sure)
        older = [
            each
            for each in self.said
            if ((each.at < at or corrects) and supersedes(engram, each.engram))
            or (
                corrects
                and each.at < at
                and is_near(engram, each.engram, surely=corrects == "high")
            )
        ]
        last = [each for each in self.said if each.at == at - 1]
        if not older and corrects not in ("", "low") and len(last) == 1:
            # "No, use local time": it is said instead of the one thing before it.
            older = [each for each in last if _sphere(each.engram) == _sphere(engram)]
        self.said = [each for each in self.said if each not in older]
        self.said.append(_Said(engram, at))

    def _take_back(self, back: TakenBack, at: int) -> None:
        if not back.instead and all(word in _ABOUT for word in content(back.words)):
            # The last thing, if it was said just now.
            if self.said and at - self.said[-1].at <= 1:
                last = self.said[-1].at
                self.said = [each for each in self.said if each.at != last]
            return
        older = [each.engram for each in self.said if each.at < at or not back.instead]
        gone = revised(back, older)
        self.said = [each for each in self.said if all(each.engram is not it for it, _ in gone)]
        self.said += [_Said(engram, at) for _, engram in gone if engram]
        if not gone:
            self.back.append(back)

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
            mended = _swapped(said.engram.text, correction)
            if mended and (correction.instead or at - said.at <= 1):
                origin = pointer or said.engram.origin
                engram = replace(said.engram, text=mended, origin=origin)
                self.said[place] = said._replace(engram=engram)
                return True
        return False


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


def _plain(written: str, kind: Kind = "lesson") -> Statement:
    text = written.strip(" .,;:") or "-"
    return Statement(kind, text[:1].upper() + text[1:], "low", "project", is_sure=False)


def _stated(heard: Heard) -> list[Statement]:
    return [each for each in heard.statements if each.act == "states"]


def _swapped(text: str, correction: Statement) -> str:
    """Return a text with one word for another, or ``""`` if it has none that fits."""
    new, old = correction.text.strip(" ,.;:"), correction.instead.strip(" ,.;:")
    if not old:
        mended = amended(new, text, is_cued=True)
        return mended.text if mended else ""
    found = re.search(rf"(?<!\w){re.escape(old)}(?!\w)", text, re.IGNORECASE)
    return text[: found.start()] + new + text[found.end() :] if found else ""


# ---- whether two are about the same thing ----


def is_near(one: Text, other: Text, *, surely: bool = True) -> bool:
    """Whether two statements share enough that one may be said instead of the other.

    Args:
        one: The newer one.
        other: The older one.
        surely: Whether it is certain that something is said instead.
    """
    mine, theirs = content(one.text), content(other.text)
    both = shared(mine, theirs)
    fits = (one.kind == "profile") == (other.kind == "profile") or len(both) > 1
    few = 1 if surely else max(1, (min(len(mine), len(theirs)) + 1) // 2)
    return fits and len(both) >= few


def about(back: TakenBack, memories: Iterable[T]) -> list[T]:
    """Return the memories that somebody takes back: those of which their words speak best.

    >>> back = TakenBack("the formal tone")
    >>> about(back, [Engram("Speak to me formally", "always", "global")])[0].text
    'Speak to me formally'
    """
    known = list(memories)
    if back.is_loose:
        places = withdrawn(small_letters(back.words), [memory.text for memory in known])
        return [known[place] for place in places]
    wanted = [word for word in content(back.words) if word not in _ABOUT]
    counts: list[tuple[int, T]] = []
    for memory in known:
        said = content(memory.text)
        both = len(shared(wanted, said)) if wanted else 0
        fits = back.kind != "profile" or (memory.kind == "profile" and both == len(wanted))
        fits = fits and (back.kind != "never" or memory.kind == "never")
        if fits and both and both * 2 >= min(len(wanted), len(said)):
            counts.append((both, memory))
    best = max((count for count, _ in counts), default=0)
    return [memory for count, memory in counts if count == best]


def revised(back: TakenBack, memories: Iterable[T]) -> list[tuple[T, Engram | None]]:
    """Return the memories that somebody takes back or changes, and what takes the place of each.

    >>> old = Engram("The rate limit is 100 a minute", "lesson", "project")
    >>> new = Engram("They raised the rate limit to 300", "lesson", "project")
    >>> [(older, newer)] = revised(TakenBack(new.text, instead=new), [old])
    >>> newer.text
    'The rate limit is 300 a minute'
    """
    known = list(memories)
    if back.instead is None:
        return [(memory, None) for memory in about(back, known)]
    renewals = [(memory, renewed(back.words, memory.text, back.context)) for memory in known]
    found: list[tuple[float, T, Amended]] = [
        (it.shared, memory, it) for memory, it in renewals if it and memory.kind != "never"
    ]
    ended = [] if found or not back.is_loose else about(back, known)
    if ended:
        return [(memory, None) for memory in ended]
    for memory in known if not found and says_change(back.words) else ():
        if memory.kind != "never" and may_differ(memory.text, back.words):
            chance = judge(memory.text, back.words).differ
            sure = Amended(back.instead.text, memory.kind not in _RULES)
            found += [(chance, memory, sure)] if chance >= _OUTDATED else []
    if not found:
        return []
    _, older, new = max(found, key=lambda each: each[0])
    kind = cast("Kind", older.kind)
    return [(older, replace(back.instead, text=new.text, kind=kind, unsure=not new.is_sure))]


# How likely what is said to have changed must give another value; and what looks like that.
_OUTDATED: Final = 0.5
_PLAUSIBLE: Final = 0.3

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
    mine, theirs = content(new.text), content(old.text)
    if "never" in (new.kind, old.kind):
        # A ban of what was wanted, or the other way round.
        less = mine if new.kind == "never" else theirs
        more = theirs if new.kind == "never" else mine
        is_rule = {new.kind, old.kind} <= _RULES
        return (
            is_rule and new.kind != old.kind and bool(less) and len(shared(less, more)) == len(less)
        )
    if _IS_NOW.match(new.text.casefold()) and _IS.match(old.text.casefold()):
        return True
    return _sphere(new) == _sphere(old) and (
        contradict(new.text, old.text) or _is_newer(new.text, old.text)
    )


def _is_newer(new: str, old: str) -> bool:
    """Whether a text says that something is another way now, and that of what the other says."""
    mine, theirs = content(new), content(old)
    both = shared(mine, theirs)
    return (
        says_change(new)
        and 0 < len(both) * 2 >= min(len(mine), len(theirs))
        and may_differ(old, new)
        and judge(old, new).differ >= _PLAUSIBLE
    )


# What somebody is by now, and what they were.
_JOINED: Final = r"i(?:'ve| have)? (?:now )?(?:joined|started at)\b"
_IS_NOW: Final = re.compile(rf"i'm (?:now )?an? .*(?<= )now\Z|i'm now an? |{_JOINED}")
_IS: Final = re.compile(
    r"i'm an? (?!.*\b(?:mother|father|mum|mom|dad|parent|twin|native|fan)\b)"
    rf"|i(?: now)? work (?:at|for)\b|{_JOINED}"
)
