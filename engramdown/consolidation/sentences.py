"""What a sentence is: a rule, a fact, a preference, something taken back or corrected, or nothing.

Pure, any string, linear time, no model. Each clause is looked at by itself. An order is found by
its shape, a bare verb first; it is a rule if it is about many things or about how, and a request if
it is about one thing at hand. A statement is a piece of the message, tidied, behind at most one
word of ours (``Always``, ``Name:``). What is asked, supposed, told of others or only shown is
nothing.

The words stand in tables, ``languages/<name>.txt``: entries, each a line that ends with a colon and
its text in indented lines, which are put together as they stand. ``{NAME}`` stands for the text of
an entry, ``{word~}`` for a word and its slips of the pen. A form says what it is before its colon:
its group, its kind, and what else differs from the usual.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Final, Literal, NamedTuple, cast

from engramdown.consolidation.classifier import Chances, chances
from engramdown.consolidation.utterances import entries, mask_shown, sentences, small_letters
from engramdown.engram import Confidence, Kind, Scope
from engramdown.language.characters import BLANK
from engramdown.language.words import word_set

# A statement that is longer, in characters, is left out.
LONGEST: Final = 300

Act = Literal["states", "corrects", "takes back", "insists"]

_STRIPS: Final = 8
_REDACTED: Final = "[redacted"
_WORD: Final = r"[^\s,;:.!?()]+"
_EDGE: Final = " ,;:-(\u2013\u2014"
# How far a clause goes of which only a piece is kept, or all but a question behind it.
_PIECE: Final = r"[^,;:(]*"
_CLAUSE: Final = (
    r".*?(?=,? (?:(?:and|but|so) )?(?:can|could|would|will|what|how|do|is|are|should) (?:you|i|we"
    r"|the|it)\b|, which\b|\Z)"
)


class Statement(NamedTuple):
    """What is stated.

    Attributes:
        kind: The kind of memory.
        text: What shall be remembered; of what is taken back, what it is about, maybe nothing.
        confidence: What the form of words deserves.
        scope: ``global`` for what is about the user or said to hold everywhere.
        is_sure: Whether it is surely meant to last; else a person is asked.
        act: ``states``, ``takes back`` something, ``insists`` that what stands before it is a rule,
            or ``corrects`` it: then ``instead`` is the word that was wrong, or ``""`` if it is not
            named.
        is_guess: Whether no form of words says that it is a fact, or a rule.
        instead: See ``act``.
    """

    kind: Kind
    text: str
    confidence: Confidence
    scope: Scope
    is_sure: bool = True
    act: Act = "states"
    instead: str = ""
    is_guess: bool = False


class Said(NamedTuple):
    """What a clause says, where that stands, and the label that is put before it."""

    kind: Kind
    confidence: Confidence
    start: int
    end: int
    label: str = ""
    is_sure: bool = True
    is_fact: bool = False


class Form(NamedTuple):
    """A form of words, and what a clause says that begins with it.

    What is kept begins with the group ``kept``, or where the clause does. A group ``no`` forbids.

    Attributes:
        pattern: What the clause begins with.
        kind: The kind of memory.
        confidence: What the form deserves.
        label: What is put before it: ``Always``; behind ``Name:`` only the group is kept.
        order: Whether an order must follow, is sure to, or stands behind the case.
        passing: What it may not hold: what is said for a while, the same but for what belongs to
            an *always* ("until"), or nothing.
        held: Whether a person is to be asked.
    """

    pattern: str
    kind: Kind
    confidence: Confidence = "high"
    label: str = ""
    order: Literal["", "follows", "surely", "behind"] = ""
    passing: Literal["soon", "firm", "lasting"] = "soon"
    held: str = ""


class _Clause(NamedTuple):
    """A sentence as it is written, and masked in small letters, with single spaces.

    ``around`` has signs of what stands around it, for the classifier.
    """

    written: str
    words: str
    mark: str
    around: tuple[str, ...] = ()


# ---- the tables ----

# The label of a name that is one only if each word of it has a capital letter.
CAPITAL: Final = "Name: "

# The languages of which the commonest forms are known, besides English.
LANGUAGES: Final = ("german", "french", "spanish", "italian", "portuguese", "dutch")


@cache
def forms(language: str = "english") -> tuple[Form, ...]:
    """Return the forms of a language, in the order in which they are tried."""
    found: list[Form] = []
    for head, text in entries(language):
        if " " in head:
            kind, *said = head.split()[1:]
            fields: dict[str, Any] = dict(each.split("=") for each in said)
            label = fields.pop("label", "").replace("_", " ")
            found.append(Form(text, cast("Kind", kind), label=label, **fields))
    return tuple(found)


@cache
def _texts(language: str) -> Mapping[str, str]:
    return dict(entries(language))


_APOSTROPHE: Final = re.compile(
    r"(?<=n)'(?=t)|'(?=ve)|(?<=\bi)'(?=d\b)|(?<=i)'(?=m\b)|(?<=let)'(?=s)"
)


@cache
def pattern(text: str) -> re.Pattern[str]:
    """Return a compiled pattern; "don't", "I've" and "I'd" may lack their apostrophe."""
    return re.compile(_APOSTROPHE.sub("'?", text))


@cache
def named(name: str, language: str = "english") -> re.Pattern[str]:
    """Return the pattern of an entry; one that a language lacks fits nothing."""
    return pattern(_texts(language).get(name, "(?!)"))


def text_of(name: str) -> str:
    """Return the text of an entry of the English table."""
    return _texts("english")[name]


@cache
def table(name: str, language: str = "english") -> frozenset[str]:
    """Return the words of an entry."""
    return word_set(_texts(language).get(name, ""))


def language_of(words: str) -> str:
    """Return the language of a sentence in small letters, of those that are known.

    >>> language_of("je pr\u00e9f\u00e8re le th\u00e9 sans sucre"), language_of("use uv")
    ('french', 'english')
    """
    said = re.findall(r"(?<![.@/])\b[^\W\d_]+'?(?![.@/]\w)", words)
    english = table("SMALL")
    known = english | table("VERBS")
    best, most = "english", 0.0
    if (len(said) == 1 or not english.isdisjoint(said)) and _foreign().isdisjoint(said):
        return best
    for name in LANGUAGES:
        own = table("SMALL", name)
        telling = sum(_weight(word) for word in said if word in own and word not in known)
        if len(said) > 1 and english.isdisjoint(said):
            telling += named("LETTERS", name).search(words) is not None
        against = sum(word in english and word not in own for word in said)
        if telling > most and telling > against:
            best, most = name, telling
    return best


@cache
def _foreign() -> frozenset[str]:
    """Return the small words of the other languages that are no English ones."""
    small = frozenset().union(*(table("SMALL", name) for name in LANGUAGES))
    return small - table("SMALL") - table("VERBS")


@cache
def _weight(word: str) -> float:
    """Return what a small word says about a language: less, if several have it."""
    return 1 / max(1, sum(word in table("SMALL", name) for name in LANGUAGES))


# ---- messages ----


class Heard(NamedTuple):
    """A sentence, or a part of one that stands alone.

    Attributes:
        written: As it is written.
        words: In small letters, without what is only shown.
        mark: What ends it.
        statements: What it states, corrects and takes back, in its order.
    """

    written: str
    words: str
    mark: str
    statements: tuple[Statement, ...]


def read(text: str, person: str = "", messages: int = 1) -> Iterator[Statement]:
    """Yield what ``text``, one message, states, corrects and takes back, in its order.

    Args:
        text: What somebody wrote.
        person: Whom "she" or "he" means at its beginning: "my daughter", of the message before.
        messages: How many messages they wrote in all: of many, less is meant to last.

    >>> [(s.kind, s.text) for s in read("Looks good. Never push to main, and call me Jo!")]
    [('never', 'Never push to main'), ('profile', 'Name: Jo')]
    """
    return (each for heard in hear(text, person, messages) for each in heard.statements)


def hear(text: str, person: str = "", messages: int = 1) -> Iterator[Heard]:
    """Yield the sentences of a message, each with what it says; see :func:`read`."""
    for clause in _clauses(text, person, messages):
        yield Heard(clause.written, clause.words, clause.mark, tuple(_read(clause)))


def weighed(text: str, messages: int = 1) -> Iterator[tuple[str, list[str]]]:
    """Yield what the classifier weighs of a message: each clause, and its signs."""
    for clause in _clauses(text, "", messages):
        plain = clause.words[: _cut(clause.words, len(clause.words), "COURTESY")]
        language = language_of(plain)
        if _is_weighed(clause, language):
            yield plain, _signs(list(_found(plain, language)), clause)


def _clauses(text: str, person: str, messages: int) -> Iterator[_Clause]:
    """Yield the clauses of a message that its writer means."""
    mask = mask_shown(text)
    trouble = named("IN_TROUBLE").search(small_letters(mask)) is not None
    skipped = -1
    noun = ""
    said = list(sentences(mask))
    size = _OF_FEW if messages <= _FEW_MESSAGES else _OF_MANY
    shared = (size, f"in {bisect(_FEW_SENTENCES, len(said))}", *(["trouble"] if trouble else []))
    for at, (start, end, mark) in enumerate(said):
        if start < skipped:
            continue
        spans = [found.span() for found in pattern(r"\S+").finditer(mask, start, end)]
        words = small_letters(" ".join(mask[first:last] for first, last in spans))
        place = f"at {min(at, 2)}{' last' if at + 1 == len(said) else ''}"
        written = " ".join(text[first:last] for first, last in spans)
        clause = _asked(_Clause(written, words, mark, (*shared, place)))
        after = text[end : end + 8]
        if named("PRETENDS").match(words):
            # What follows in this paragraph belongs to the game.
            paragraph = mask.find("\n\n", end)
            skipped = paragraph if paragraph >= 0 else len(mask)
        elif not named("SARCASM").search(words) and not pattern(r"\W*/s\b").match(after):
            clause = _with_noun(_with_person(clause, person), noun)
            person = person_in(clause.words) or person
            yield from _parts(clause)
            thing = named("NOUN").search(clause.words)
            noun = thing[thing.lastindex or 0] if thing else ""


def _asked(clause: _Clause) -> _Clause:
    """Return a clause with the mark that it should have: "No force pushes, clear?" asks nothing."""
    tag = named("TAG").match(clause.words) if clause.mark == "?" else None
    if tag is not None:
        return clause._replace(
            written=clause.written[: tag.end("said")], words=tag["said"], mark="."
        )
    asks = not clause.mark.strip(".") and named("NO_MARK_ASKS").match(clause.words)
    return clause._replace(mark="?") if asks else clause


# So many messages are few; of more, nobody wants to be asked many questions.
_FEW_MESSAGES: Final = 5
_OF_FEW: Final = "of few"
_OF_MANY: Final = "of many"
_ALONE: Final = (_OF_FEW, "in 0", "at 0 last")
# From how many sentences on a message is of another sort.
_FEW_SENTENCES: Final = (2, 3, 5)


def _begins_anew(before: str, after: str) -> bool:
    """Whether two parts of a sentence stand alone, each for itself."""
    if named("BEGINS").match(after):
        return True
    language = language_of(f"{before} {after}")
    return all(any(_found(part, language)) for part in (before, after))


def _parts(clause: _Clause) -> Iterator[_Clause]:
    """Yield the sentences that stand within one: "I'm deaf, and never call me"."""
    start = 0
    if not named("TOGETHER").match(clause.words):
        for found in named("BREAKS").finditer(clause.words):
            before, after = clause.words[start : found.start()], clause.words[found.end() :]
            is_short = found.start() < start or before.count(" ") < 1
            if is_short or is_reported(before) or not _begins_anew(before, after):
                continue
            part = clause.written[start : found.start()]
            yield clause._replace(written=part, words=before, mark=".")
            start = found.end()
    yield clause._replace(written=clause.written[start:], words=clause.words[start:])


def person_in(words: str) -> str:
    """Return who is spoken of in small letters: "my daughter"; the last one, or ``""``."""
    found = list(named("PERSON").finditer(words))
    return found[-1][0] if found else ""


def _with_person(clause: _Clause, person: str) -> _Clause:
    """Return a sentence in which the person that was spoken of stands for "she" or "he"."""
    found = named("SHE").match(clause.words) if person else None
    if found is None:
        return clause
    first, last = found.span("who")
    written, words = (f"{each[:first]}{person}{each[last:]}" for each in clause[:2])
    return clause._replace(written=written, words=words)


def _with_noun(clause: _Clause, noun: str) -> _Clause:
    """Return a sentence in which the noun of the sentence before stands for "them" or "it"."""
    many = noun.endswith("s")
    found = named("PRONOUN" if many else "PRONOUN_ONE").search(clause.words) if noun else None
    same = named("IT_IS").match(clause.words)
    if found is None and same is None:
        return clause
    first, last = found.span(found.lastindex or 0) if found else same.span("it") if same else (0, 0)
    noun = noun if found or same is None else same["noun"]
    written, words = (f"{each[:first]}{noun}{each[last:]}" for each in clause[:2])
    return clause._replace(written=written, words=words)


def statements(text: str) -> Iterator[Statement]:
    """Yield what ``text`` states outright, in its order."""
    return (each for each in read(text) if each.act == "states")


def kind_of(text: str) -> Kind:
    """Return the kind of what somebody hands over to be remembered: a statement already.

    So an order is a rule, whatever it is about, and anything else is a lesson.

    >>> kind_of("Use uv, never pip"), kind_of("My name is Ada"), kind_of("CI takes 9 minutes")
    ('always', 'profile', 'lesson')
    """
    head = text[:_BEGINNING].lstrip(_MARKS)
    words = f"{small_letters(' '.join(head.split()))} "
    for name, kind in _HANDED_OVER:
        if named(name).match(words):
            return kind
    # Whether it is asked, or about one thing at hand, does not matter here.
    first = next(statements(head.replace("?", ".")), None)
    if first is not None:
        return first.kind
    asked = named("ASKED").match(words)
    start = asked.end() if asked else 0
    rest = words[start:].removeprefix("please").strip()
    if named("ABOUT_THAT").match(rest):
        return "lesson"
    return "always" if is_order(rest, surely=start > 0 and " " in rest) else "lesson"


def reworded(text: str, kind: Kind) -> str:
    """Return what is handed over, as it reads where its kind stands; mostly as it is.

    A ban names what is banned, and a fact that has a key reads ``Key: value``. Nothing else of the
    words may be lost.

    >>> reworded("Stop using emojis", "never"), reworded("My name is Ada", "profile")
    ('Using emojis', 'Name: Ada')
    >>> reworded("Never push to main", "never"), reworded("--no-verify is never used", "never")
    ('Never push to main', '--no-verify is never used')
    """
    said = list(statements(text)) if len(text) <= LONGEST else []
    if len(said) != 1 or said[0].kind != kind or kind not in ("never", "profile"):
        return text
    value = said[0].text.partition(": ")[2] if kind == "profile" else said[0].text
    before, found, after = small_letters(text).partition(small_letters(value) or "\0")
    is_whole = (
        found
        and not named("UNSAID").sub("", after)
        and not named("SEPARATOR").search(before)
        and "--" not in before  # an option
    )
    is_ban = kind == "never" and before.strip() and not value.startswith("Never ")
    return said[0].text if is_whole and (is_ban or kind == "profile") else text


_BEGINNING: Final = 200
_MARKS: Final = "\"'*_-> \n\t"
_HANDED_OVER: Final[tuple[tuple[str, Kind], ...]] = (
    ("KIND_ALWAYS", "always"),
    ("KIND_NEVER", "never"),
    ("KIND_WHEN", "when"),
    ("KIND_PROFILE", "profile"),
)


def _read(clause: _Clause) -> Iterator[Statement]:
    """Yield what a sentence says: first whether it goes back to something before it."""
    words = clause.words
    language = language_of(words)
    asks = clause.mark == "?"
    taken = None if asks else _taken_back(words, language)
    if taken is not None:
        back, rest = taken
        piece = clause._replace(written=clause.written[-len(rest) :], words=rest)
        more = list(_read(piece)) if rest else []
        # "Scratch that, it's 8081": the last thing stays, with another value.
        is_value = not back.text and [each.act for each in more] == ["corrects"] and more[0].text
        yield from [more[0]._replace(confidence="high")] if is_value else [back, *more]
        if rest or not words.startswith("we "):
            return
    if not asks and named("INSISTS").fullmatch(words):
        yield Statement("always", "", "high", "project", act="insists")
        return
    swap = None if asks else _corrected(clause, language)
    is_swap = swap is not None and bool(swap.instead or swap.confidence != "low")
    found = list(_stated(clause, language, is_swap=is_swap))
    if swap is not None:
        # What is said instead stands beside it, or in the next sentence.
        is_piece = swap.text and all(
            each.is_guess and each.text.casefold().startswith(swap.text.casefold())
            for each in found
        )
        gone = swap.instead.casefold()
        is_named = gone and all(it.text.casefold().startswith(gone) for it in found)
        if is_named or (is_piece and swap.confidence != "low"):
            found = []  # "No, Ghent since May": a value, and no sentence.
        yield swap._replace(text="") if any(each.is_sure for each in found) else swap
    yield from found


def _taken_back(words: str, language: str) -> tuple[Statement, str] | None:
    """Return what a sentence takes back, and what it goes on to say.

    The statement holds words that it is about, or ``""`` for the last thing.
    """
    found = named("TAKES_THAT", language).match(words)
    found = found or named("TAKES_BACK", language).match(words)
    if found is None:
        return None
    groups = found.groupdict("")
    rest = (groups.pop("rest", "") or groups.pop("more", "")).lstrip(_EDGE + "\u2013")
    kind: Kind = "profile" if groups.get("mine") else "lesson"
    kind = "never" if groups.get("allowed") else kind
    subject = " ".join(filter(None, groups.values()))
    return Statement(kind, subject, "high", "project", act="takes back"), rest


def _corrected(clause: _Clause, language: str) -> Statement | None:
    """Return which words a sentence puts in the place of others: "I meant 8081, not 8080"."""
    words = clause.words
    cue = named("CORRECTS", language).match(words)
    no = named("OBJECTS", language).match(words)
    behind = named("CORRECTS_BEHIND", language).search(words)
    denied = named("NOT_THAT_THIS", language).fullmatch(words)
    if value := named("SAID_THAT", language).match(words):
        first, last = value.span("new")
        return _correction(clause.written[first:last], value["old"])
    if not (cue or no or behind or denied):
        value = named("VALUE_ONLY", language).match(words)
        value = value or named("VALUE_SORRY").fullmatch(f"{words}{clause.mark.strip('.?')}")
        if value is None:
            return None
        first, last = value.span("new")
        return _correction(clause.written[first:last], value["old"] or "", "low")
    start, end = max(each.end() if each else 0 for each in (cue, no)), len(words)
    end = behind.start() if behind else end
    if leads := named("LEADS_IN", language).match(words, start, end):
        start = leads.end()
    start = end - len(words[start:end].lstrip(_EDGE))
    left = words[start:end].rstrip(_EDGE)
    for name in ("NOT_THAT_THIS", "THIS_NOT_THAT"):
        if found := named(name, language).fullmatch(left):
            first, last = (start + at for at in found.span("new"))
            return _correction(clause.written[first:last], found["old"])
    # What stands behind a comma says why.
    brief, *_ = re.split(r"[,;(] ?| [-\u2013\u2014] | since | as of | now\Z", left, maxsplit=1)
    brief = brief.rstrip()
    is_short = brief.count(" ") < _SHORT
    new = clause.written[start : start + len(brief)] if is_short else ""
    if behind or cue:
        return _correction(new, "")
    denies = no is not None and named("DENIES").search(no[0]) is not None
    return _correction(new, "", "medium" if denies else "low")


def _correction(new: str, old: str, confidence: Confidence = "high") -> Statement:
    return Statement("lesson", new, confidence, "project", act="corrects", instead=old)


_SHORT: Final = 6


# ---- clauses ----


def _stated(clause: _Clause, language: str, *, is_swap: bool = False) -> Iterator[Statement]:
    words = clause.words
    plain = words[: _cut(words, len(words), "COURTESY")]
    found = list(_found(plain, language))
    if not found and (wish := _polite_wish(words)):
        found = [(0, wish)]
    if _is_weighed(clause, language):
        chance = chances(plain, _signs(found, clause))
        if not found and not is_swap:
            found = _likely(plain, chance) if chance.nothing <= _ASKED else []
        # What is quoted is blank to the classifier, so only a low score counts there.
        if BLANK not in plain or not found or chance.nothing > _ASKED:
            found = _weighed(found, chance, clause)
    for at, (_, said) in enumerate(found):
        end = found[at + 1][0] if at + 1 < len(found) else len(words)
        whole = len(words) if said.end == len(plain) else said.end
        made = _statement(clause, said._replace(end=min(whole, end)))
        if made is not None:
            yield made


# How likely a sentence may be nothing, and yet be learned, among few messages: also where its
# form leaves it open whether it is a rule or a request; or be asked about.
_LEARNED: Final = 0.15
_LEARNED_SURELY: Final = 0.1
_ASKED: Final = 0.5
# How likely what corrects or is corrected may be nothing, and yet wait.
_HELD: Final = 0.85
# The same of a sentence whose form says that it is to last: "always", "from now on".
_SAID_SO: Final = 0.9
# The same among many messages, where nothing is asked.
_LEARNED_OF_MANY: Final = 0.25


def _is_weighed(clause: _Clause, language: str) -> bool:
    """Whether a clause is of the sort that the classifier knows."""
    return language == "english" and clause.mark != "?"


def may_last(words: str) -> bool:
    """Whether a sentence in small letters that fits no form may be worth knowing by itself."""
    if language_of(words) != "english":
        return True
    return chances(words, _signs([], _Clause(words, words, "", _ALONE))).nothing <= _HELD


def _signs(found: list[tuple[int, Said]], clause: _Clause) -> list[str]:
    """Return what is known of a clause besides its words, above all what a form takes it for.

    A form proves less among many messages.
    """
    said = found[0][1] if found else None
    form = f"{said.kind} {said.confidence} {said.is_sure} {said.is_fact}" if said else "none"
    return [f"{form} {clause.around[0]}", *clause.around]


def _behind_openers(words: str) -> int:
    """Return where what is said begins; "no" without a comma belongs to it."""
    at = 0
    while not words.startswith("no ", at) and (end := _opener(words, at, "english")) > at:
        at = end
    return at


def _weighed(
    found: list[tuple[int, Said]], chance: Chances, clause: _Clause
) -> list[tuple[int, Said]]:
    """Return what is said as sure as the classifier leaves it; nothing if that doubts it."""
    is_of_many = clause.around[0] == _OF_MANY
    weighed = []
    for at, said in found:
        learned = asked = _LEARNED_OF_MANY
        if said.confidence == "high" and said.is_sure:
            learned = asked = _SAID_SO
        elif not is_of_many:
            learned, asked = _LEARNED if said.is_sure else _LEARNED_SURELY, _ASKED
        if chance.nothing <= asked:
            weighed.append((at, said._replace(is_sure=chance.nothing <= learned)))
    return weighed


def _found(words: str, language: str) -> Iterator[tuple[int, Said]]:
    """Yield what each clause says, with where it begins; a case and a memory go to the end."""
    done = last = 0
    before = None
    starts = (found.span() for found in named("SEPARATOR", language).finditer(words))
    for start, at in ((0, 0), *starts):
        if at < done:
            continue
        if at and _is_no_start(words, at, language, is_first=not done):
            return
        said = _clause(words, at, language, lead=words[last:at].rstrip())
        if said is not None and not done:
            said = _in_case(words[:start], said)
            if said is None:
                return
        if said is None or (before and _goes_on(words, at, said, before)):
            continue
        yield min(start, said.start), said
        yield from _beside_name(words, said)
        if said.kind == "when" or (said.kind == "lesson" and said.confidence == "high"):
            return
        before = said
        done = max(said.start + 1, said.end if said.end < len(words) else at + 1)
        last = len(words)


def _is_no_start(words: str, at: int, language: str, *, is_first: bool) -> bool:
    """Whether what stands before a clause makes it somebody else's, or nothing that lasts."""
    for_now = pattern(r"i(?:'m| am)\b").match(words) and named("NO_LIFE").match(words[:at])
    passes = is_first and (is_passing(words[:at], firm=True) or for_now)
    return bool(passes) or is_reported(words[:at], language)


def _in_case(case: str, said: Said) -> Said | None:
    """Return an order or a preference with the case that it belongs to and stands before it."""
    if not named("CASE").fullmatch(case):
        return said
    if is_passing(case, firm=True) or named("AT_HAND").search(case):
        return None
    if said.kind in ("always", "never"):
        return said._replace(kind="when", start=0, label="")
    is_wish = said.kind == "profile" and said.confidence == "medium"
    return said._replace(start=0) if is_wish else said


def _goes_on(words: str, at: int, said: Said, before: Said) -> bool:
    """Whether a clause only goes on with the one before: "… and work there", "…, so it is late"."""
    is_about_me = before.kind == "profile"
    says_habit = is_about_me and not before.label
    if said.is_fact or named("GOES_ON").search(words[:at]):
        return True
    # "A managed box, no admin": what somebody lacks is no ban.
    brief = " " in words[at:] and words[at:].partition(",")[0].count(" ") < _FEWEST - 1
    lacks = is_about_me and brief and named("NO").match(words, at)
    elided = says_habit and not named("POLITE").match(words, at)
    return bool(lacks) or (elided and named("AND").search(words[:at]) is not None)


def _beside_name(words: str, said: Said) -> Iterator[tuple[int, Said]]:
    """Yield what somebody is who says their name: "I'm Edda, a florist"."""
    more = named("APPOSITION").match(words, said.end) if said.label.startswith("Name:") else None
    if more is not None:
        yield more.start(), Said("profile", "high", more.end(), len(words), "I'm")


def _clause(words: str, at: int, language: str, lead: str = "") -> Said | None:
    """Return what a clause says, whatever opens it.

    Args:
        words: The sentence.
        at: Where the clause begins.
        language: Its language.
        lead: What stands before the clause and says nothing that is known.
    """
    standing = is_rule = objects = False
    for _ in range(_STRIPS):
        if polite := named("OPENS_ORDER").match(words, at):
            at = polite.end()
        fact = remembered(words, at, language)
        if fact >= 0:
            return _memory(words, fact, language)
        rule = named("RULE_IS").match(words, at)
        lasts = rule or named("LASTS", language).match(words, at)
        if lasts is not None:
            standing, is_rule, at = True, rule is not None, lasts.end()
        opener = _opener(words, at, language)
        opens = opener > at
        how = _How(language, lead, standing=standing, objects=objects, may_tell=not opens)
        if said := _classified(words, at, how):
            return said
        if not opens:
            return Said("always", "high", at, len(words)) if is_rule and words[at:] else None
        objects = objects or named("OBJECTS", language).match(words, at) is not None
        at = opener
    return None


def _opener(words: str, at: int, language: str) -> int:
    """Return where that ends which opens a clause and says nothing: "well", "no", "I meant"."""
    found = (named(name, language).match(words, at) for name in ("OPENERS", "CORRECTS", "OBJECTS"))
    end = next((each.end() for each in found if each and each.end() > at), at)
    return end + len(words[end:]) - len(words[end:].lstrip(_EDGE)) if end > at else at


def _memory(words: str, at: int, language: str) -> Said | None:
    """Return what somebody wants to be remembered; by default it is a fact."""
    said = _clause(words, at, language)
    if said is None and not is_passing(words[at:], firm=True):
        about_me = pattern(r"i(?:'m|'ve)? (?!told|said|mentioned)").match(words, at)
        kind: Kind = "profile" if about_me else "lesson"
        said = Said(kind, "high", at, len(words))
    return said._replace(confidence="high", is_sure=True) if said else None


class _How(NamedTuple):
    """What stands before a clause.

    Attributes:
        language: The language of the sentence.
        lead: What stands between it and the clause before, and says nothing that is known.
        standing: Whether it was said that the clause holds from now on.
        objects: Whether a "no" stands before it.
        may_tell: Whether no opener stands there that is still to be taken away.
    """

    language: str
    lead: str
    standing: bool
    objects: bool
    may_tell: bool


def _classified(words: str, at: int, how: _How) -> Said | None:
    """Return what a clause says."""
    said = first_said(how.language, words, at)
    if said is not None:
        is_other = how.language != "english" and said.kind == "lesson"
        is_wish = how.standing and (
            is_other or (said.kind == "profile" and said.confidence != "high")
        )
        said = said._replace(kind="always", confidence="high") if is_wish else said
        return said._replace(is_sure=said.is_sure or how.standing)
    if how.language != "english":
        # "Ab jetzt kürzere Antworten": what is so from now on is a rule, whatever it is.
        is_rule = how.standing and " " in words[at:]
        return Said("always", "high", at, len(words)) if is_rule else None
    return (
        _banned(words, at, standing=how.standing)
        or _ordered(words, at, standing=how.standing, objects=how.objects)
        or (_fact(words, at, how.lead) if how.may_tell and not how.standing else None)
    )


def remembered(words: str, at: int, language: str = "english") -> int:
    """Return where that begins which shall be remembered, or -1.

    >>> remembered("remember that ci is slow", 0), remembered("remember the milk", 0)
    (14, -1)
    """
    found = named("REMEMBER", language).match(words, at)
    if found is None or language != "english":
        return found.end() if found else -1
    rest = words[found.end() :]
    if named("TO_DO").match(rest) or named("PEP_TALK").match(rest):
        return -1
    asked = found[0].rstrip()
    is_clause = asked.endswith((" that", ":", ",")) and pattern(r"\S+ \S+ \S+ \S").match(rest)
    if named("NO_FACT").match(rest) and not is_clause:
        return -1
    clear = named("CLEARLY").match(asked) and " " in rest
    verb = named("HAS_VERB").search(rest) and rest.count(" ") > 1
    return found.end() if clear or verb else -1


# ---- orders ----


def _banned(words: str, at: int, *, standing: bool) -> Said | None:
    """Return what a clause prohibits: "don't use tabs", "no emojis, ever"."""
    if found := named("NO").match(words, at):
        sure = standing or named("NO_MARK").search(words, at) is not None
        if is_passing(words[at:]) or (not sure and named("ONCE").search(words, at)):
            return None
        return Said("never", "medium", found.start("kept"), len(words), is_sure=sure)
    found = named("DONT").match(words, at)
    start = found.end() if found else at
    rest = words[start:]
    if (
        found is None
        or named("NO_BAN").match(rest)
        or not is_order(rest, surely=True)
        or is_passing(rest)
    ):
        return None
    sure = (
        standing
        or named("EVER").search(found[0]) is not None
        or named("STANDING").search(rest) is not None
        or named("FOR_GOOD").search(rest) is not None
    )
    if not sure and named("ONCE").search(rest):
        return None
    if not sure and " " not in re.split("[,;:]", rest)[0].strip():
        return None  # "Don't move."
    sure = sure or named("IN_GENERAL").search(rest) is not None or not _is_definite(rest)
    return Said("never", "medium", start, len(words), "Never", is_sure=sure)


def _ordered(words: str, at: int, *, standing: bool, objects: bool) -> Said | None:
    """Return the rule that an order is, if it is one, and whether that is sure."""
    asked = named("ASKED").match(words, at)
    start = asked.end() if asked else at
    # Why it shall be so, and what is quoted behind a colon, does not say how long.
    main = pattern(r".*?(?= because |[:;] |\Z)").match(words, start)
    rest = main[0] if main else ""
    if standing and (state := _state(rest, start, len(words))):
        return state
    if not is_order(rest, surely=standing) or is_passing(rest, firm=standing):
        return None
    if named("WHENEVER").match(rest) and not named("ONCE").search(rest):
        return Said("when", "medium", start, len(words))
    if standing:
        return Said("always", "high", start, len(words))
    if named("INSTEAD").match(rest):
        return Said("always", "low", start, len(words) - len(" instead"), is_sure=False)
    lead = words[at:start]
    sure = _certainty(rest, lead, must=named("YOU_MUST").match(words, at) is not None)
    if sure is None and objects and named("STYLE").match(rest):
        # "No, use two spaces": it is said instead of something, which it may be like.
        sure = False if _is_lasting(rest, lead) else None
    return None if sure is None else Said("always", "medium", start, len(words), is_sure=sure)


def _state(rest: str, start: int, end: int) -> Said | None:
    """Return how things shall be from now on, where no order says it: "keywords go uppercase"."""
    is_verb = rest.partition(" ")[0] in table("VERBS")
    tells = named("SUBJECT").match(rest) or (verb_of(rest) and not is_verb)
    if not named("STATE").match(rest) or is_order(rest, surely=not tells):
        return None
    is_fact = pattern(r"[^,]+? (?:is|are) (?:at|in|on|now)\b").match(rest)
    return Said("lesson" if is_fact else "always", "high", start, end)


def _is_lasting(rest: str, lead: str) -> bool:
    """Whether an order may be about more than what is at hand."""
    is_brief = " " not in rest or named("TO_ME").match(rest)
    return not is_brief and not named("ONCE").search(lead + rest)


def _certainty(rest: str, lead: str, *, must: bool) -> bool | None:
    """Return whether an order is surely a rule, maybe, or (``None``) hardly."""
    stands = named("STANDING").search(rest) is not None
    if not _is_lasting(rest, lead):
        # "Send nothing to her without my approval": it lasts, but who is it?
        return False if stands and named("SOMEBODY").search(rest) else None
    definite = _is_definite(rest)
    if must or lead.endswith("only "):
        return None if definite else True
    style = named("STYLE").match(rest) is not None
    if not style and not named("MANNER").match(rest):
        return False if stands else None
    contrast = named("CONTRAST").search(rest) and not named("THE").match(rest)
    return True if stands or contrast else _manner(rest, definite=definite, style=style)


def _manner(rest: str, *, definite: bool, style: bool) -> bool | None:
    """Return the same of an order that says how to do something."""
    if definite:
        general = named("IN_GENERAL").search(rest) is not None
        return style if general and (style or named("THE").match(rest)) else None
    if named("ONE_PLACE").search(rest):
        return False if style else None
    return style or named("PLURAL").match(rest) is not None


def _is_definite(rest: str) -> bool:
    """Whether an order is about one thing: "rename the class", "write a poem"."""
    return named("DEFINITE").match(rest) is not None


def is_order(words: str, *, surely: bool = False) -> bool:
    """Whether the small letters of ``words`` begin as an order does.

    Args:
        words: What is said, in small letters.
        surely: Whether what stands before says already that an order follows ("you must always"),
            so that an unknown word is a verb.

    >>> is_order("push to main"), is_order("pushes to main"), is_order("mind")
    (True, False, False)
    """
    skipped = named("SKIPPED").match(words)
    rest = words[skipped.end() if skipped else 0 :]
    found = pattern(_WORD).match(rest)
    if not found or named("HAPPENS").match(rest) or named("SAYINGS").match(rest):
        return False
    verb = found[0]
    if named("NOT_A_VERB").match(rest, min(found.end() + 1, len(rest))):
        return False
    if verb in table("VERBS") or verb.partition("-")[0] in table("VERBS"):
        return surely or not (_has_subject(rest) or named("DECLARES").match(rest))
    inflected = named("INFLECTED").fullmatch(verb) and verb not in table("PLAIN_S")
    if verb in table("NO_ORDER") or inflected or not verb[0].isalpha():
        return False
    after = pattern(_WORD).match(rest, found.end() + 1)
    return surely or (after is not None and after[0] in table("AFTER_A_VERB"))


def _has_subject(rest: str) -> bool:
    """Whether the verb stands behind who does something: "file names end in a number"."""
    found = pattern(r"\S+ (?:[\w-]+ )?[\w-]*[^s\W]s ([\w']+) \S").match(rest)
    return found is not None and found[1] in table("PLURAL_VERBS")


def _order_behind(words: str, case: int) -> int:
    """Return where the order begins behind a case, or -1."""
    for comma in named("COMMA").finditer(words, case):
        at = comma.end()
        polite = named("PLEASE").match(words, at)
        start = polite.end() if polite else at
        if is_order(words[start:], surely=start > at) or named("SHALL").match(words, at):
            return at
    for bare in pattern(rf"(?<= ){_texts('english')['BARE']}\b (?=\S)").finditer(words, case):
        before = words[case : bare.start()].split()
        is_longer = len(before) > 1 or words[case : bare.start() - 1].endswith("ing")
        if is_longer and not named("BEFORE_A_NOUN").fullmatch(before[-1]):
            return bare.start()
    return -1


# ---- what is the case ----

_LATER_WORD: Final = r"(?<=\S )(?<!\bthe )(?<!\bour )(?<!\ban )(?<!\ba )(?<!\bmy )\S+|(?<=\w)'s\b"
_FEWEST: Final = 3
_LONGEST_SUBJECT: Final = 9


def _fact(words: str, at: int, lead: str) -> Said | None:
    """Return a plain fact about the world: "our badges last for two years"."""
    rest = words[at:]
    now = named("FROM_NOW").sub("", rest)
    if (
        (lead and not lead.endswith(":") and not named("ANNOUNCED").search(lead))
        or rest.count(" ") < _FEWEST - 1
        or named("NO_SUBJECT").match(rest)
        or named("TASK").match(rest)
        or is_order(rest)
        or named("NARRATIVE").search(now)
        or (named("EVENT").search(rest) and not named("OF_MANY").search(rest))
    ):
        return None
    found = verb_of(rest)
    subject = rest[: found.start()] if found else ""
    if (
        found is None
        or subject.count(" ") > _LONGEST_SUBJECT
        or named("NO_NOUN").search(subject)
        or named("TRANSIENT").match(rest, found.start())
    ):
        return None
    if named("MY_LIFE").match(rest):
        return Said("profile", "medium", at, len(words))
    is_sure = not (named("MODAL").match(rest, found.start()) or named("SOFT_SUBJECT").match(rest))
    return Said("lesson", "medium", at, len(words), is_sure=is_sure, is_fact=True)


def _likely(words: str, chance: Chances) -> list[tuple[int, Said]]:
    """Return what a sentence is likely to say that fits no form, by the classifier."""
    at = _behind_openers(words)
    rest = words[at:]
    if rest.count(" ") < _FEWEST - 1 or _ROLE.match(rest):
        return []
    said = Said("lesson", "medium", at, len(words))
    if chance.rule > max(chance.lesson, chance.profile):
        return [(0, _as_rule(rest, said, is_maybe_fact=chance.rule < 2 * chance.lesson))]
    is_fact = chance.lesson > chance.profile or _ME.search(rest) is None
    return [(0, said._replace(kind="lesson" if is_fact else "profile", is_fact=is_fact))]


def _as_rule(rest: str, said: Said, *, is_maybe_fact: bool) -> Said:
    """Return what a likely rule says: a ban, one for a case; or how things are after all."""
    if named("TELLS_OF_ME").match(rest):
        return said._replace(kind="profile")
    shall = named("STANDING").search(rest) or named("OBLIGES").search(rest)
    if (is_maybe_fact or named("STATES_IT").match(rest)) and not shall:
        return said._replace(is_fact=True)
    if forbids := named("FORBIDS").search(rest):
        skipped = forbids.end("no") if forbids["no"] else 0
        return said._replace(kind="never", start=said.start + skipped)
    return said._replace(kind="when" if named("CASE_BEGINS").match(rest) else "always")


# Who speaks of themselves.
_ME: Final = re.compile(r"\b(?:i|my|me|mine|we|our|us)\b")
# Whose words follow.
_ROLE: Final = re.compile(r"(?:system|user|assistant|human|ai|bot|developer): ")


def _polite_wish(words: str) -> Said | None:
    """Return the wish that a sentence without a verb is, if it is one: "German, please"."""
    polite = named("POLITELY").search(words)
    if polite:
        wish = _wished(words[: polite.start()].rstrip(_EDGE))
        lasts = named("FROM_NOW").search(polite[0]) is not None
        return wish._replace(is_sure=wish.is_sure or lasts, end=polite.end()) if wish else None
    is_choice = named("CONTRAST").search(words) or named("RATHER").search(words)
    return _wished(words) if is_choice else None


def _wished(words: str) -> Said | None:
    """Return the wish that a sentence without a verb is: "German, please"."""
    if is_passing(words) or is_order(words) or verb_of(words) or named("ONCE").search(words):
        return None
    if not named("FRAGMENT").match(words):
        return None
    # "Short answers": how somebody shall always speak.
    sure = named("TALK").search(words) is not None and named("MANY").search(words) is not None
    return Said("always", "low", 0, len(words), is_sure=sure)


def verb_of(rest: str) -> re.Match[str] | None:
    """Return the verb of a clause, behind its subject."""
    for found in pattern(_LATER_WORD).finditer(rest):
        for name in ("FINITE", "CHANGES"):
            if verb := named(name).match(rest, found.start()):
                return verb
        plain = re.sub(r"(?<=ch|sh|ss|.x|.o)es\Z|s\Z", "", found[0])
        if plain != found[0] and plain in table("VERBS") and not named("MOMENT").match(found[0]):
            return found
        # "Customers pay by invoice."
        many = rest[: found.start()].rstrip().endswith("s") and found[0] not in table("NO_ORDER")
        if many and found[0] in table("VERBS") | table("MANY_DO"):
            return found
    return None


# ---- what a form says ----


def first_said(language: str, words: str, at: int) -> Said | None:
    """Return what the first form that fits says of a sentence, from a clause of it on."""
    # Most patterns are about oneself: they need not be compiled for anything else.
    begun = (form for begins, form in _by_beginning(language) if words.startswith(begins, at))
    return next((said for form in begun if (said := _said(form, words, at))), None)


@cache
def _by_beginning(language: str) -> tuple[tuple[tuple[str, ...], Form], ...]:
    return tuple((_begins(form.pattern), form) for form in forms(language))


def _begins(text: str) -> tuple[str, ...]:
    """Return with what a clause begins that a pattern may fit: "i", "my"; ``""`` for anything."""
    found = re.match(r"(i|we|my)(?=[ (])|\(\?:((?:i|we|my)(?:\|(?:i|we|my))*)\)", text)
    if found is None or _has_choice(text):
        return ("",)
    return tuple((found[1] or found[2]).split("|"))


def _has_choice(text: str) -> bool:
    """Whether a pattern is a choice between several, outside of any group."""
    depth = 0
    for found in re.finditer(r"\\.|\[(?:\\.|[^\]])*\]|[()|]", text):
        depth += {"(": 1, ")": -1}.get(found[0], 0)
        if found[0] == "|" and depth == 0:
            return True
    return False


def _said(form: Form, words: str, at: int) -> Said | None:
    found = pattern(form.pattern).match(words, at)
    if found is None:
        return None
    groups = found.groupdict()
    label = form.label
    start = found.start("kept") if "kept" in groups else found.end() if label else at
    end = found.end("kept") if ":" in label else len(words)
    timeless = words.removesuffix(" now") if form.kind in ("profile", "lesson") else words
    kept = pattern(_PIECE if ":" in label else _CLAUSE).match(timeless, start)
    if not words[start:] or (
        form.passing != "lasting" and kept and is_passing(kept[0], firm=form.passing == "firm")
    ):
        return None
    order = found.start("order") if "order" in groups else start
    if form.order == "behind":
        order = _order_behind(words, found.end())
        if order < 0 or named("THIS").search(words, at, order):
            return None
    elif form.order and not is_order(words[order:], surely=form.order == "surely"):
        return None
    if "key" in groups:
        key = {"email": "e-mail", "timezone": "time zone"}.get(groups["key"], groups["key"])
        own = groups["own"] or ""
        own = "" if own in ("own ", "full ", "current ") else own
        label = f"{own}{key}:".capitalize()
    kind = "never" if groups.get("no") is not None else form.kind
    return Said(kind, form.confidence, start, end, label, not form.held)


def is_passing(words: str, *, firm: bool = False) -> bool:
    """Whether something is said for a while or for one thing.

    Args:
        words: What is said, in small letters.
        firm: Whether it is said as *always* or *never* say it, so that "until" and "on Sunday"
            belong to it.

    >>> is_passing("skip the linter this time"), is_passing("merge until it is green", firm=True)
    (True, False)
    """
    words = named("FROM_NOW").sub("", words)
    passes = named("PASSING").search(words)
    return passes is not None or (not firm and named("SOON").search(words) is not None)


def is_reported(lead: str, language: str = "english") -> bool:
    """Whether what stands before a clause makes it somebody else's words, a thought or a task.

    >>> is_reported("she said: "), is_reported("good, but "), is_reported("example: ")
    (True, False, True)
    """
    if lead.rstrip().endswith(":"):
        own = (named("COLON_OK").match(lead), named("CORRECTS", language).match(lead))
        about = named("ABOUT").fullmatch(lead) and not is_order(lead)
        if not (named("ANNOUNCES").search(lead) or any(own) or about):
            return True
    return bool(named("REPORTED").search(lead))


# ---- the text of a statement ----


def _statement(clause: _Clause, said: Said) -> Statement | None:
    """Return what is kept of a clause, unless it is a question or somebody else's words."""
    words = clause.words
    if clause.mark == "?":
        # "I'm a nurse, what is my shift?"
        said = _before("ASKS", words, said)
        asks = named("REQUEST").match(words)
        request = asks and (asks["please"] or asks["polite"] or said.kind == "lesson")
        beside = said.kind == "profile" and words[said.end :].strip()
        if said.confidence == "low" or not said.is_sure or not (request or beside):
            return None
    said = _before("WANTS", words, said)
    kept = words[said.start : said.end]
    polite = None if said.label else pattern(r"(?:(?:please|pls|plz|just) )+").match(kept)
    end = _cut(kept, len(kept.rstrip(_EDGE)), "FILLERS")
    end = _cut(kept, end, "AGAIN") if said.kind == "never" else end
    start = said.start + (polite.end() if polite else 0)
    text = clause.written[start : said.start + len(kept[:end].rstrip(_EDGE))]
    if (
        _says_nothing(kept, said)
        or not _looks_right(text, said)
        or len(text) > LONGEST
        or _REDACTED in text
        or named("SAYS_ANOTHER").match(words, said.start)
    ):
        return None
    # A capital letter in front, where that changes nothing else.
    first = text[0].upper()
    capital = first + text[1:] if first.lower() == text[0] else text
    whole = f"{said.label.strip()} {text}" if said.label else capital
    scope = _scope(words, kept, said)
    return Statement(said.kind, whole, said.confidence, scope, said.is_sure, is_guess=said.is_fact)


def _scope(words: str, kept: str, said: Said) -> Scope:
    """Return ``global`` for what is about the user, or how to talk to them, in all projects."""
    mine = said.kind == "profile" or named("MY_LIFE").match(kept) is not None
    talk = said.kind != "lesson" and named("TALK").search(kept) is not None
    here = named("HERE").search(words) is not None
    everywhere = named("EVERYWHERE").search(words) is not None
    return "global" if mine or everywhere or (talk and not here) else "project"


def _says_nothing(words: str, said: Said) -> bool:
    """Whether what is kept cannot be understood alone: "never do that", "I love to"."""
    return (
        not words.strip(BLANK + _EDGE)
        or named("UNFINISHED").match(words) is not None
        or pattern(rf"(?:{_texts('english')['OPENERS']})+\Z").match(f"{words.strip(_EDGE)} ")
        is not None
        or (said.kind in ("always", "never") and named("ABOUT_THAT").match(words) is not None)
    )


def _looks_right(text: str, said: Said) -> bool:
    """Whether capital letters stand where they should: in a name, and not in an order.

    "Never Let Me Go" is a book.
    """
    if said.label == CAPITAL:
        return all(
            word.istitle() or (word[:1].isupper() and any(map(str.isdigit, word)))
            for word in text.split()
        )
    is_title = text[:1].isupper() and text[1:2].islower()
    return said.label not in ("Always", "Never") or not is_title


def _cut(words: str, end: int, what: str) -> int:
    found = named(what).search(words[:end])
    return found.start() if found else end


def _before(what: str, words: str, said: Said) -> Said:
    """Return a fact that goes to the end without what begins with ``what``."""
    if said.kind != "profile" or said.end < len(words):
        return said
    behind = named(what).search(words, said.start)
    return said._replace(end=behind.start()) if behind else said
