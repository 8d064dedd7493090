"""What somebody states outright in a message: rules, facts about themselves, things to remember.

Pure, any string, linear time, no model. A statement is a piece of the message, tidied, behind at
most one word of ours (``Always``, ``Name:``); none comes out of code, a quotation, a question or a
story, and text that came through a tool or the web teaches nothing. What is learned is told by the
user and points at the line that taught it; ``docs/sleep.md`` says how much is missed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import chain
from typing import Final, NamedTuple

from engramdown.consolidation import statement_forms as forms
from engramdown.consolidation.utterances import mask_shown, sentences, small_letters
from engramdown.engram import Confidence, Engram, Kind, Scope, fold
from engramdown.language.characters import BLANK
from engramdown.language.words import word_set

LONGEST: Final = 300
"""A statement that is longer, in characters, is left out."""

MOST: Final = 20
"""So many memories one message may bring; who states more has pasted something."""

_ENGLISH: Final = tuple(chain.from_iterable(forms.FORMS.values()))
_STRIPS: Final = 6
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
        text: What shall be remembered.
        confidence: What the form of words deserves.
        scope: ``global`` for what is about the user or said to hold everywhere.
    """

    kind: Kind
    text: str
    confidence: Confidence
    scope: Scope


class Said(NamedTuple):
    """What a clause says, where that stands, and the label that is put before it."""

    kind: Kind
    confidence: Confidence
    start: int
    end: int
    label: str = ""


class _Clause(NamedTuple):
    """A sentence as it is written, and masked in small letters, with single spaces."""

    written: str
    words: str
    mark: str


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
    if via:
        return []
    found: dict[str, Engram] = {}
    for said in statements(text.encode(errors="ignore").decode()):
        engram = Engram(
            said.text, said.kind, said.scope, said.confidence, source="user", origin=origin
        )
        found.setdefault(fold(said.text), engram)
    return list(found.values())[:MOST]


def statements(text: str) -> Iterator[Statement]:
    """Yield what ``text`` states outright, in its order.

    >>> [(s.kind, s.text) for s in statements("Looks good. Never push to main, and call me Jo!")]
    [('never', 'Never push to main'), ('profile', 'Name: Jo')]
    """
    mask = mask_shown(text)
    skipped = -1
    for start, end, mark in sentences(mask):
        if start < skipped:
            continue
        spans = [found.span() for found in pattern(r"\S+").finditer(mask, start, end)]
        words = small_letters(" ".join(mask[first:last] for first, last in spans))
        clause = _Clause(" ".join(text[first:last] for first, last in spans), words, mark)
        after = text[end : end + 8]
        if _named("PRETENDS").match(words):
            # What follows in this paragraph belongs to the game.
            paragraph = mask.find("\n\n", end)
            skipped = paragraph if paragraph >= 0 else len(mask)
        elif not _named("SARCASM").search(words) and not pattern(r"\W*/s\b").match(after):
            yield from _stated(clause)


def _stated(clause: _Clause) -> Iterator[Statement]:
    words = clause.words
    told = words[: _cut(words, len(words), "COURTESY")]
    found = list(_found(told))
    for at, (_, said) in enumerate(found):
        end = found[at + 1][0] if at + 1 < len(found) else len(words)
        whole = len(words) if said.end == len(told) else said.end
        made = _statement(clause, said._replace(end=min(whole, end)))
        if made is not None:
            yield made


def _found(words: str) -> Iterator[tuple[int, Said]]:
    """Yield what each clause says, with where it begins; a case and a memory go to the end."""
    done = 0
    starts = (found.span() for found in _named("SEPARATOR").finditer(words))
    for start, at in ((0, 0), *starts):
        if at < done:
            continue
        if at and is_reported(words[:at]):
            return
        said = _read(words, at)
        if said is None:
            continue
        case = "" if done else words[:start]
        if _named("CASE").fullmatch(case):
            # An order or a preference belongs to the case that stands before it.
            if is_passing(case, firm=True) or _named("AT_HAND").search(case):
                return
            if said.kind in ("always", "never"):
                said = said._replace(kind="when", start=0, label="")
            elif said.kind == "profile" and said.confidence == "medium":
                said = said._replace(start=0)
        yield min(start, said.start), said
        if said.kind in ("when", "lesson"):
            return
        done = max(said.start + 1, said.end if said.end < len(words) else at + 1)


def _read(words: str, at: int) -> Said | None:
    """Return what a clause says, whatever opens it."""
    for _ in range(_STRIPS):
        told = remembered(words, at)
        if told >= 0:
            said = _read(words, told)
            if said is None and not is_passing(words[told:], firm=True):
                about_me = pattern(r"i(?:'m|'ve)? (?!told|said|mentioned)").match(words, told)
                kind: Kind = "profile" if about_me else "lesson"
                said = Said(kind, "high", told, len(words))
            return said._replace(confidence="high") if said else None
        foreign = forms.FOREIGN if at == 0 or words[at - 2 : at - 1] in ",:;" else ()
        said = first_said((*_ENGLISH, *foreign), words, at)
        opener = _named("OPENERS").match(words, at)
        if said is not None or opener is None:
            return said
        at = opener.end()
    return None


def remembered(words: str, at: int) -> int:
    """Return where that begins which shall be remembered, or -1.

    >>> remembered("remember that ci is slow", 0), remembered("remember the milk", 0)
    (14, -1)
    """
    found = _named("REMEMBER").match(words, at)
    if found is None:
        return -1
    rest = words[found.end() :]
    if _named("TO_DO").match(rest) or _named("PEP_TALK").match(rest):
        return -1
    asked = found[0].rstrip()
    told = asked.endswith((" that", ":", ",")) and pattern(r"\S+ \S+ \S+ \S").match(rest)
    if _named("NO_FACT").match(rest) and not told:
        return -1
    clear = _named("CLEARLY").match(asked) and " " in rest
    verb = _named("HAS_VERB").search(rest) and rest.count(" ") > 1
    return found.end() if clear or verb else -1


# ---- what a form says ----


@cache
def pattern(text: str) -> re.Pattern[str]:
    """Return a compiled pattern; "don't" and "I've" may lack their apostrophe."""
    return re.compile(text.replace("n't", "n'?t").replace("'ve", "'?ve"))


def _named(name: str) -> re.Pattern[str]:
    return pattern(forms.NAMED[name])


@cache
def _words(name: str) -> frozenset[str]:
    return word_set(forms.NAMED[name])


def first_said(table: tuple[forms.Form, ...], words: str, at: int) -> Said | None:
    """Return what the first form that fits says of a sentence, from a clause of it on."""
    return next((said for form in table if (said := _said(form, words, at))), None)


def _said(form: forms.Form, words: str, at: int) -> Said | None:
    found = pattern(form.pattern).match(words, at)
    if found is None:
        return None
    groups = found.groupdict()
    label = form.label
    start = found.start("kept") if "kept" in groups else found.end() if label else at
    end = found.end("kept") if ":" in label else len(words)
    kept = pattern(_PIECE if ":" in label else _CLAUSE).match(words, start)
    if not words[start:] or (
        form.passing != "lasting" and kept and is_passing(kept[0], firm=form.passing == "firm")
    ):
        return None
    order = found.start("order") if "order" in groups else start
    if form.order == "behind":
        order = _order_behind(words, found.end())
        if order < 0 or _named("THIS").search(words, at, order):
            return None
    elif form.order and not is_order(words[order:], surely=form.order == "surely"):
        return None
    if "key" in groups:
        key = {"email": "e-mail", "timezone": "time zone"}.get(groups["key"], groups["key"])
        own = groups["own"] or ""
        own = "" if own in ("own ", "full ", "current ") else own
        label = f"{own}{key}:".capitalize()
    kind = "never" if groups.get("no") is not None else form.kind
    return Said(kind, form.confidence, start, end, label)


def is_order(words: str, *, surely: bool = False) -> bool:
    """Whether the small letters of ``words`` begin as an order does.

    Args:
        words: What is said, in small letters.
        surely: Whether what stands before says already that an order follows ("you must always"),
            so that an unknown word is a verb.

    >>> is_order("push to main"), is_order("pushes to main"), is_order("mind")
    (True, False, False)
    """
    skipped = _named("SKIPPED").match(words)
    rest = words[skipped.end() if skipped else 0 :]
    found = pattern(_WORD).match(rest)
    if not found or _named("HAPPENS").match(rest) or _named("SAYINGS").match(rest):
        return False
    verb = found[0]
    if verb in _words("VERBS") or verb.partition("-")[0] in _words("VERBS"):
        return True
    inflected = _named("INFLECTED").fullmatch(verb) and verb not in _words("PLAIN_S")
    if verb in _words("NO_ORDER") or inflected:
        return False
    after = pattern(_WORD).match(rest, found.end() + 1)
    return surely or (after is not None and after[0] in _words("AFTER_A_VERB"))


def _order_behind(words: str, case: int) -> int:
    """Return where the order begins behind a case, or -1."""
    for comma in _named("COMMA").finditer(words, case):
        at = comma.end()
        polite = _named("PLEASE").match(words, at)
        start = polite.end() if polite else at
        if is_order(words[start:], surely=start > at) or _named("SHALL").match(words, at):
            return at
    for bare in pattern(rf"(?<= ){forms.NAMED['BARE']}\b (?=\S)").finditer(words, case):
        before = words[case : bare.start()].split()
        told = len(before) > 1 or words[case : bare.start() - 1].endswith("ing")
        if told and not pattern(rf"{forms.NAMED['BEFORE_A_NOUN']}\Z").match(before[-1]):
            return bare.start()
    return -1


def is_passing(words: str, *, firm: bool = False) -> bool:
    """Whether something is said for a while or for one thing.

    Args:
        words: What is said, in small letters.
        firm: Whether it is said as *always* or *never* say it, so that "until" and "on Sunday"
            belong to it.

    >>> is_passing("skip the linter this time"), is_passing("merge until it is green", firm=True)
    (True, False)
    """
    passes = _named("PASSING").search(words)
    return passes is not None or (not firm and _named("SOON").search(words) is not None)


def is_reported(lead: str) -> bool:
    """Whether what stands before a clause makes it somebody else's words, a thought or a task.

    >>> is_reported("she said: "), is_reported("good, but "), is_reported("example: ")
    (True, False, True)
    """
    if lead.rstrip().endswith(":") and not _named("ANNOUNCES").search(lead):
        return True
    return bool(_named("REPORTED").search(lead))


# ---- the text of a statement ----


def _statement(clause: _Clause, said: Said) -> Statement | None:
    """Return what is kept of a clause, if it is none of a question or of somebody else's."""
    words = clause.words
    if clause.mark == "?" and not _named("TAG").match(words):
        # "I'm a nurse, what is my shift?"
        said = _before("ASKS", words, said)
        asks = _named("REQUEST").match(words)
        request = asks and (asks["please"] or asks["polite"] or said.kind == "lesson")
        beside = said.kind == "profile" and words[said.end :].strip()
        if said.confidence == "low" or not (request or beside):
            return None
    said = _before("WANTS", words, said)
    kept = words[said.start : said.end]
    polite = None if said.label else pattern(r"(?:(?:please|pls|plz|just) )+").match(kept)
    end = _cut(kept, len(kept.rstrip(_EDGE)), "FILLERS")
    end = _cut(kept, end, "AGAIN") if said.label == "Never" else end
    start = said.start + (polite.end() if polite else 0)
    text = clause.written[start : said.start + len(kept[:end].rstrip(_EDGE))]
    if (
        _says_nothing(kept, said)
        or not _looks_right(text, said)
        or len(text) > LONGEST
        or _named("SAYS_ANOTHER").match(words, said.start)
    ):
        return None
    everywhere = _named("EVERYWHERE").search(words) is not None
    mine = said.kind == "profile" or _named("MY_LIFE").match(kept) is not None
    # A capital letter in front, where that changes nothing else.
    first = text[0].upper()
    capital = first + text[1:] if first.lower() == text[0] else text
    whole = f"{said.label.strip()} {text}" if said.label else capital
    return Statement(
        said.kind, whole, said.confidence, "global" if mine or everywhere else "project"
    )


def _says_nothing(words: str, said: Said) -> bool:
    """Whether what is kept cannot be understood alone: "never do that", "I love to"."""
    return (
        not words.strip(BLANK + _EDGE)
        or _named("UNFINISHED").match(words) is not None
        or pattern(rf"(?:{forms.NAMED['OPENERS']})+\Z").match(f"{words.strip(_EDGE)} ") is not None
        or (said.kind in ("always", "never") and _named("ABOUT_THAT").match(words) is not None)
    )


def _looks_right(text: str, said: Said) -> bool:
    """Whether capital letters stand where they should: in a name, and not in an order.

    "Never Let Me Go" is a book.
    """
    if said.label == forms.CAPITAL:
        return all(
            word.istitle() or (word[:1].isupper() and any(map(str.isdigit, word)))
            for word in text.split()
        )
    is_title = text[:1].isupper() and text[1:2].islower()
    return said.label not in ("Always", "Never") or not is_title


def _cut(words: str, end: int, what: str) -> int:
    found = _named(what).search(words[:end])
    return found.start() if found else end


def _before(what: str, words: str, said: Said) -> Said:
    """Return a fact that goes to the end without what begins with ``what``."""
    if said.kind != "profile" or said.end < len(words):
        return said
    behind = _named(what).search(words, said.start)
    return said._replace(end=behind.start()) if behind else said
