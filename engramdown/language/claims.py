"""Reads the claim of a short text without a model: words, numbers, names, and what they govern.

Any string may be read, in linear time; the same text always gives the same claim.

English comes first; in other languages only the commonest words for *not*, *without* and *only*
are known, because missing one of those would equate a rule with its opposite.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, Literal

from engramdown.language.words import NEGATIONS, NUMBERS, STOP_WORDS, spaced, word_key, word_set

Mark = Literal["number", "version", "path", "name"]

# Words that add little to a claim, except by their place: "use uv", "prefer uv".
_LIGHT: Final = word_set(
    "instead rather use uses used using prefer prefers preferred preferring run runs ran running "
    "execute executes executed executing need needs needed require requires required make makes "
    "made making give gives given giving write writes written writing keep keeps kept keeping "
    "live lives lived living store stores stored storing choose chooses chosen choosing allowed "
    "remember please ensure sure ever well user one per approximately around roughly"
)
_WITHOUT: Final = word_set("without except unless ohne außer sans sin sem senza zonder без")
_ONLY: Final = word_set(
    "only nur seulement solo apenas alleen только tylko almost nearly mostly partly usually "
    "sometimes"
)
_DIRECTIONS: Final = {
    "before": "before", "until": "before", "after": "after", "then": "after", "since": "after",
    "once": "after", "from": "from", "to": "to", "into": "to", "onto": "to",
}  # fmt: skip
_CLAUSES: Final = word_set("but when if while because whenever wenn falls quand si cuando")
_PREPOSITIONS: Final = word_set(
    "in on at with for of by via over under as per within during about between against"
)

# How much of a text is read, in characters: a longer one is a document rather than a claim.
LONGEST: Final = 4000
_STOPS: Final = frozenset(",;:.!?()\u2013\u2014\u3002\uff0c\uff1b\uff1a\u3001")
_EDGES: Final = "\"'`*~&<>[]{}-\u00ab\u00bb\u2018\u2019\u201c\u201d\u2026" + "".join(_STOPS)
_WORD: Final = re.compile(r"[^\W_]+(?:'[^\W_]+)?")
_NUMBER: Final = re.compile(r"[$€£#+-]?[0-9].*", re.DOTALL)
_VERSION: Final = re.compile(r"v?[0-9]++(?:\.[0-9]++){1,9}+\S*|v[0-9]++")
_CODE: Final = re.compile(r"[_.:@=#+&$%^|0-9]|[a-z][A-Z]|\A--")
_JAPANESE_NOT: Final = re.compile("ない|なく|なかっ|ません|なし")
_CONTRACTED: Final = "n't"


@dataclass(slots=True)
class Claim:
    """The claim of a text.

    Attributes:
        words: Its folded words and names, without stop words, in order.
        forms: Those whose order in a clause matters, as ``(word, clause)``: no preposition governs
            them, so that one may be the subject and another the object.
        places: The words, also those that add little, as ``(word, clause)``.
        every: All its words, stop words too.
        marks: The parts that must agree exactly, by kind: numbers, versions, paths and names.
        code: The names that are code or a symbol, so that another form is another name.
        negations: Its kinds of negation: ``not``, ``without``, ``instead``.
        only: Whether it is limited to something (*only*).
        scopes: The words behind a word that gives a role: ``not``, ``before``, ``from``, or ``of``
            for any other preposition.
        counts: The number before a word, by the word.
        by_key: Its words by what all forms of a word share, in alphabetical order.
    """

    words: list[str] = field(default_factory=list)
    forms: list[tuple[str, int]] = field(default_factory=list)
    places: list[tuple[str, int]] = field(default_factory=list)
    every: set[str] = field(default_factory=set)
    marks: dict[Mark, set[str]] = field(default_factory=dict)
    code: set[str] = field(default_factory=set)
    negations: set[str] = field(default_factory=set)
    only: bool = False
    scopes: dict[str, set[str]] = field(default_factory=dict)
    counts: dict[str, str] = field(default_factory=dict)
    by_key: dict[str, list[str]] = field(default_factory=dict)

    def marked(self, kind: Mark) -> set[str]:
        """Return the marks of a kind."""
        return self.marks.get(kind, set())


def read(text: str) -> Claim:
    """Return the claim of the first 4,000 characters of ``text``; it is shared, do not change it.

    >>> claim = read("Never use pip, use uv 0.5.1")
    >>> claim.words, claim.negations, claim.marks
    (['pip', 'uv'], {'not'}, {'version': {'0.5.1'}})
    """
    return _read(text[:LONGEST])


@lru_cache(maxsize=1024)
def _read(text: str) -> Claim:
    reader = _Reader(Claim())
    plain = text if text.isascii() else unicodedata.normalize("NFC", text).replace("\u2019", "'")
    for line in spaced(_JAPANESE_NOT.sub(" 不 ", plain)).split("\n"):
        reader.end_clause()
        for chunk in line.split():
            reader.chunk(chunk)
    if not reader.claim.words:
        reader.claim.words.extend(sorted(reader.claim.every))
    for word in sorted(set(reader.claim.words)):
        reader.claim.by_key.setdefault(word_key(word), []).append(word)
    return reader.claim


@dataclass(slots=True)
class _Reader:
    """The place of the reader in a text, and what it has understood so far."""

    claim: Claim
    clause: int = 0
    first: bool = True
    negated: bool = False
    governed: bool = False
    direction: str = ""
    before: str = ""
    number: str = ""

    def end_clause(self) -> None:
        self.clause += 1
        self.first = True
        self.negated = self.governed = False
        self.direction = ""

    def chunk(self, chunk: str) -> None:
        """Read the characters between two spaces."""
        core = chunk.strip(_EDGES)
        lead, _, tail = chunk.partition(core) if core else (chunk, "", "")
        if not _STOPS.isdisjoint(lead):
            self.end_clause()
        # ./run is not ../run, and .env no env.
        dots = lead[len(lead.rstrip(".")) :]
        folded = core.casefold()
        if core and lead == "--":
            self.mark("name", folded)
        elif "/" in core or "\\" in core:
            self.mark("path", dots + folded)
        elif core and lead == dots == ".":
            self.claim.code.add(dots + folded)
            self.mark("name", dots + folded)
        elif _VERSION.fullmatch(core):
            self.mark("version", folded.removeprefix("v"))
        elif core:
            self.plain(core)
        if not _STOPS.isdisjoint(tail):
            self.end_clause()

    def plain(self, core: str) -> None:
        folded = core.casefold()
        core, folded = (core[:-2], folded[:-2]) if folded.endswith("'s") else (core, folded)
        parts = _WORD.findall(core)
        if _NUMBER.fullmatch(core) and len(parts) == 1:
            self.mark("number", folded)
        elif _CODE.search(core) and "-" not in core:
            self.claim.code.add(folded)
            self.mark("name", folded)
        else:
            for part in parts:
                self.word(part)

    def word(self, part: str) -> None:
        folded = part.casefold()
        if folded in NUMBERS or folded[0].isdigit():
            self.mark("number", NUMBERS.get(folded, folded))
            return
        proper = part[0].isupper() and (not self.first or (len(part) > 1 and part.isupper()))
        self.first = False
        self.claim.every.add(folded)
        letter = proper and len(part) == 1 and part != "I"
        if letter or not (self.function(folded) or folded in STOP_WORDS):
            self.content(folded)
            if proper:
                self.claim.marks.setdefault("name", set()).add(folded)
        self.before = folded

    def function(self, word: str) -> bool:
        """Note the effect of a small word on those behind it; return whether it has one."""
        if negation := self.negation(word):
            self.claim.negations.add(negation)
            self.negated = True
        elif word in _ONLY:
            self.claim.only = True
        elif word in _CLAUSES:
            self.end_clause()
            self.first = False
        elif word in _DIRECTIONS:
            self.direction = _DIRECTIONS[word]
            self.clause += 1
        elif word in _PREPOSITIONS:
            self.governed = True
        else:
            return False
        return True

    def negation(self, word: str) -> str:
        if word in NEGATIONS or word.endswith(_CONTRACTED):
            return "not"
        if word in _WITHOUT:
            return "without"
        instead = (self.before, word) in {("instead", "of"), ("rather", "than")}
        preferred = word == "over" and not self.claim.every.isdisjoint(
            ("prefer", "prefers", "preferred", "choose")
        )
        return "instead" if instead or preferred else ""

    def mark(self, kind: Mark, value: str) -> None:
        self.claim.marks.setdefault(kind, set()).add(value)
        self.claim.every.add(value)
        self.first = False
        self.before = value
        if kind in ("path", "name"):
            self.content(value)
        elif kind == "number":
            self.number = value

    def content(self, word: str) -> None:
        if not self.direction and not self.governed:
            self.claim.forms.append((word, self.clause))
        self.claim.places.append((word, self.clause))
        if role := self.direction or ("of" if self.governed else ""):
            self.claim.scopes.setdefault(role, set()).add(word)
        if word in _LIGHT:
            return
        self.claim.words.append(word)
        if self.negated:
            self.claim.scopes.setdefault("not", set()).add(word)
        if self.number:
            self.claim.counts[word] = self.number
            self.number = ""
