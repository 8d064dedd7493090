"""Finds which memory of a person's a new one contradicts, and which fact of theirs it may touch.

It is pure. Of several contradicted memories it returns the first. A fact about the user is compared
with theirs however its key is spelled, and also inside a sentence.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from engramdown.engram import Engram, Kind, fact_key, fold
from engramdown.forks import cached_property
from engramdown.hippocampus.entry import Entry
from engramdown.language.characters import LOOKALIKES
from engramdown.language.claims import read
from engramdown.language.similarity import in_full
from engramdown.language.words import same_word, word_set
from engramdown.lazy import patterns, texts

if TYPE_CHECKING:
    from engramdown.language.meaning import Statements

_OTHER_KIND: Final = {"always": "never", "never": "always"}
# So many characters of a memory are looked through for facts about the user.
_LOOKED_AT: Final = 4_000

# The words are in ``contradictions.txt``.
_TEXTS: Final = texts(__file__)
_pattern: Final = patterns(__file__)
# The plainest of the keys that mean the same.
_KEYS: Final = {
    key: group[0]
    for group in (row.split(", ") for row in _TEXTS["KEYS"].split("; "))
    for key in group
}
_BLANKS: Final = re.compile(r"[^\S\n]+")
_BROKEN: Final = re.compile(r" ?\n ?: ?|: ?\n\s*")
_EMPHASIS: Final = re.compile(r"[*`~\"]|(?<!\w)_+|_+(?!\w)")
_BEGINNING: Final = re.compile(r"\A(?:[-+>#|{\s]|\d{1,3}[.)]\s|\[[ xX]\]\s)+")
_LATIN: Final = re.compile(r"\w*[A-Za-z]\w*")
_SENTENCE: Final = re.compile(r"(?<=[.!?;])\s+|\u3002")


class Contradictions:
    """What a person wrote or confirmed, to find what one engram after another contradicts."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        """Take the ``entries``; those of nobody in particular do not count."""
        self._theirs = [entry for entry in entries if entry.by_person]
        self._rules: dict[tuple[str, str], int] = {}
        self._facts: dict[str, list[int]] = {}
        for at, entry in enumerate(self._theirs):
            if entry.kind in _OTHER_KIND:
                self._rules.setdefault((entry.kind, entry.fold), at)
            elif entry.kind == "profile" and (key := fact_key(entry.text)):
                self._facts.setdefault(key, []).append(at)

    @cached_property
    def _said(self) -> Statements:
        # Imported where two texts are compared: what only lists memory need not know how.
        from engramdown.language.meaning import Statements

        return Statements(in_full(entry.text, entry.kind) for entry in self._theirs)

    @cached_property
    def _values_by_key(self) -> dict[str, list[tuple[int, str]]]:
        """What the person says of themselves: each key with its values and where they stand."""
        found: dict[str, list[tuple[int, str]]] = {}
        for at, entry in enumerate(self._theirs):
            for key, value in _stated(entry.text, "profile") if entry.kind == "profile" else ():
                found.setdefault(key, []).append((at, value))
        return found

    @cached_property
    def _subjects(self) -> Subjects:
        return Subjects([entry for entry in self._theirs if entry.kind == "profile"])

    def find(self, engram: Engram) -> Entry | None:
        """Return the first entry that ``engram`` contradicts, if there is one.

        It does when it is the same text under *always* instead of *never* or the other way round,
        another value of a keyed fact, or says otherwise of the same thing; see
        :mod:`engramdown.language.meaning`.
        """
        outright = self._outright(engram)
        if outright is not None:
            return self._theirs[outright]
        # A lesson that an assistant was asked to remember displaces none: *Client 1 said 0* is no
        # other value of *Client 2 said 0*. Rules and facts count all the same.
        passed_on = engram.source == "user" and engram.via == "assistant"
        beside_lessons = passed_on and engram.kind == "lesson"
        against = self._said.contradicted(in_full(engram.text, engram.kind))
        found = (self._theirs[at] for at in against)
        return next((it for it in found if not (beside_lessons and it.kind == "lesson")), None)

    def replaced(self, engram: Engram) -> Entry | None:
        """Return the fact whose place ``engram`` takes: it has the same key, however spelled."""
        if engram.kind != "profile" or not fact_key(engram.text):
            return None
        at = self._outright(engram)
        return None if at is None else self._theirs[at]

    def beside(self, engram: Engram) -> Entry | None:
        """Return the fact of a person's about themselves that ``engram`` may touch.

        A model's fact may touch any, unless it is plain that it is about something else; what
        cites the user's own words counts only if it surely is about one.
        """
        if engram.kind != "profile":
            return self._subjects.touched_by_lesson(engram.text)
        return self._subjects.touched(engram.text, is_said=engram.source != "llm")

    def _outright(self, engram: Engram) -> int | None:
        """Return the same text under the opposite heading, or the fact with another value."""
        said, at = fold(engram.text), None
        if engram.kind in _OTHER_KIND:
            at = self._rules.get((_OTHER_KIND[engram.kind], said))
        elif engram.kind == "profile":
            facts = self._facts.get(fact_key(engram.text), ())
            at = next((at for at in facts if self._theirs[at].fold != said), None)
        if at is not None:
            return at
        # Or the fact of which it tells another value, in whatever words.
        for key, value in _stated(engram.text, engram.kind):
            theirs = self._values_by_key.get(key, [])
            # Of several values, one that is said again contradicts none.
            if theirs and not any(_agree(value, own) for _, own in theirs):
                return theirs[0][0]
        return None


def contradictions_among(entries: Sequence[Entry]) -> Iterator[tuple[int, int]]:
    """Yield the positions of memories of which only one can hold, the earlier one first.

    Each memory is named once, with the first that it contradicts. The same words under *Always* and
    *Never*, and copies of a memory, are left to whoever looks for repetitions.
    """
    from engramdown.language.meaning import Statements, contradict

    named: set[tuple[str, str]] = set()
    said = Statements(in_full(entry.text, entry.kind) for entry in entries)
    for earlier, later in said.pairs(contradict):
        one, other = entries[earlier], entries[later]
        is_copy = one.id == other.id or one.fold == other.fold
        if not is_copy and (other.kind, other.fold) not in named:
            named.add((other.kind, other.fold))
            yield earlier, later


def _readable(text: str) -> str:
    """Return a text with letters and quotes in their plain forms, and nothing invisible."""
    shown = unicodedata.normalize("NFKC", text).replace("\u2019", "'")
    return "".join(char for char in shown if unicodedata.category(char) != "Cf")


@lru_cache(maxsize=4096)  # a new fact is compared with each one that stands
def _stated(text: str, kind: Kind) -> tuple[tuple[str, str], ...]:
    """Return which facts about the user ``text`` states, in the plainest words for their keys.

    Args:
        text: A memory.
        kind: Its kind; anything but a ``profile`` fact is about the user only if it says so.
    """
    shown = _BROKEN.sub(": ", _BLANKS.sub(" ", _readable(text[:_LOOKED_AT])))
    # In a word of Latin letters, one of another script that looks like one is taken for it.
    shown = _LATIN.sub(lambda word: word[0].translate(LOOKALIKES), shown)
    found = [fact for line in shown.split("\n") for fact in _of_line(line, kind)]
    return tuple(dict.fromkeys((key, value) for key, value in found if key and value))


def _of_line(line: str, kind: Kind) -> Iterator[tuple[str, str]]:
    line = _BEGINNING.sub("", _EMPHASIS.sub("", line)).strip()
    if kind == "profile":
        for begins in (0, *(clause.end() for clause in _pattern("CLAUSE").finditer(line))):
            if found := _pattern("KEYED").match(line, begins):
                yield _plain_key(found["key"]), fold(found["value"].strip("| "))
    for sentence in _SENTENCE.split(line):
        yield from _of_sentence(sentence, kind)


def _of_sentence(sentence: str, kind: Kind) -> Iterator[tuple[str, str]]:
    said = sentence.casefold().strip()
    prose = _pattern("PROSE").match(said) if kind == "profile" else None
    told = (_pattern("SAID_OF_USER").search(said), _pattern("TURNED").match(said), prose)
    for found in filter(None, told):
        yield _plain_key(found["key"]), fold(found["value"])
    called = _pattern("CALLED").search(said)
    if called and not (called["value"] and _pattern("OTHERS").match(said)):
        yield "name", fold(called["value"] or called["known"] or called["other"])
    if lives := _pattern("LIVES").search(said):
        yield "location", fold(lives["value"])
    if kind == "profile":
        # Imported here: its patterns take a while, and few memories are about the user.
        from engramdown.consolidation.corrections import extract

        for engram in extract(sentence):
            if engram.kind == "profile" and (key := fact_key(engram.text)):
                yield _plain_key(key), fold(engram.text.partition(": ")[2])


def _plain_key(words: str) -> str:
    """Return the key that ``words`` mean, in one spelling for all of a kind."""
    key = _pattern("OF_WHOM").sub("", fold(words))
    key = key[found.end() :] if (found := _pattern("WHOSE").match(key)) else key
    return _KEYS.get(key, key)


def _agree(one: str, other: str) -> bool:
    """Whether two values are the same, or one only says more: *Paris*, and *Paris, France*."""
    short, long = sorted((re.findall(r"\w+", one), re.findall(r"\w+", other)), key=len)
    return long[: len(short)] == short


# Which fact about the user a text may speak of, so that no model's word stands beside a person's.
#
# Pure; in doubt it speaks of one. A text passes only if each sentence of it is understood
# (a known key, or a known beginning such as *likes*) and is about something else than what the
# person said: then it shares no word with their facts, and no subject such as the name or where
# they live.

_LONGEST_FACT: Final = 2_000
_SPELLED: Final = re.compile(r"\b\w(?:[.\-_\u00b7 ]\w\b){2,}")
_WORD: Final = re.compile(r"[^\W_]+(?:['-][^\W_]+)*")
_PART: Final = re.compile(r"[.!?;](?:\s+|\Z)|\n+|\s[\u2013\u2014-]\s|\s->\s|[|\u3002]")
_KEYED_PART: Final = re.compile(r"(?s)\s*[-*+>#\s]*([^:=]{1,40}?)\s*[:=](?![/\\:])\s*(.*)")

_ROWS: Final = [re.split("([:=]) ", line) for line in _TEXTS["SUBJECTS"].split("; ")]
_SUBJECTS: Final = {word: about for about, _, words in _ROWS for word in words.split()}
_VALUES: Final = word_set(" ".join(words for _, mark, words in _ROWS if mark == "="))
_OTHER_KEYS: Final = word_set(_TEXTS["OTHER_KEYS"])
_TASTES: Final = word_set(_TEXTS["TASTES"])
_HABITS: Final = word_set(_TEXTS["HABITS"])
_STATES: Final = word_set(_TEXTS["STATES"])
_IS_A: Final = re.compile(r"an?|\w{3,}ing")
_LONG: Final = 3
_USUAL: Final = word_set(_TEXTS["USUAL"])
_PLURAL: Final = re.compile(r".*(?:[^aiou\W]s|ing)")
_TURNS: Final = word_set(_TEXTS["TURNS"])
_NOT: Final = word_set(_TEXTS["NOT"])
_DAYS: Final = word_set(_TEXTS["DAYS"])
_COPULAS: Final = word_set(_TEXTS["COPULAS"])
_SMALL: Final = _COPULAS | word_set(_TEXTS["SMALL"])
_MORE: Final = 2
_KEY: Final = 2
_OWN: Final = word_set("name language work place pronouns")


class Subjects:
    """What a person says of themselves, to find what a model's text may touch of it."""

    def __init__(self, facts: Sequence[Entry]) -> None:
        """Take the ``facts`` of a person: what they say of themselves."""
        self._facts = facts
        self._about: list[frozenset[str]] = []
        self._said: list[frozenset[str]] = []
        self._values: list[frozenset[str]] = []
        for fact in facts:
            keys = " ".join(key for key, _ in _stated(fact.text, "profile"))
            said, value = _said(fact.text)
            self._about.append(_about(f"{_plain(fact.text)} {keys}"))
            self._said.append(said)
            self._values.append(value)
        both = zip(self._values, self._about, strict=True)
        self._names = frozenset(word for own, about in both if "name" in about for word in own)

    def touched(self, text: str, *, is_said: bool = False) -> Entry | None:
        """Return the fact of a person's that ``text``, a fact about them, may be about.

        Args:
            text: What is said of the user.
            is_said: Whether they said so themselves: then it counts only if it surely is.
        """
        if not self._facts:
            return None
        # What is not looked at may say anything.
        unclear = self._facts[0] if len(text) > _LONGEST_FACT and not is_said else None
        for sentence in filter(_WORD.search, _PART.split(_plain(text))):
            found = self._surely(sentence)
            if found is not None:
                return found
            if not is_said and not self._is_clear(sentence) and not self._is_known(sentence):
                unclear = unclear or self._facts[0]
        return unclear

    def touched_by_lesson(self, text: str) -> Entry | None:
        """Return the same of a text that is filed as something else, if it surely is about it."""
        for sentence in filter(_WORD.search, _PART.split(_plain(text))):
            keyed = _KEYED_PART.match(sentence)
            words = _words(_pattern("SUBJECT").sub("", sentence, count=1))
            key = _words(keyed[1]) if keyed else []
            begins = _about(" ".join(key if 0 < len(key) <= _KEY else words[:1])) & _OWN
            turns = any(word in _TURNS - _COPULAS or word in _NOT for word in words)
            for at, fact in enumerate(self._facts):
                shares, about = self._shares(words, at), self._about[at]
                otherwise = shares and (("name" in about and turns) or "instead" in words)
                if (begins & about and not shares) or otherwise:
                    return fact
        return None

    def _surely(self, sentence: str) -> Entry | None:
        """Return the fact with which a sentence shares the subject or a word of its value."""
        if self._is_known(sentence):
            return None
        about, said = _about(sentence), _words(self._without_name(sentence))
        for at, fact in enumerate(self._facts):
            if about & self._about[at] or self._shares(said, at):
                return fact
        return None

    def _is_known(self, sentence: str) -> bool:
        """Whether a sentence says one of the facts again, and two further words at most."""
        words, about = _words(sentence), _about(sentence)
        if not (_TURNS - _COPULAS | _NOT).isdisjoint(words):
            return False
        own = [word for word in words if word not in _SMALL]
        for at, value in enumerate(self._values):
            holds = value and all(any(same_word(word, each) for word in own) for each in value)
            more = [word for word in own if not self._shares([word], at)]
            beyond = [word for word in more if word not in _SUBJECTS or word in _VALUES]
            likes = not _TASTES.isdisjoint(more)
            if holds and not likes and about == self._about[at] and len(beyond) <= _MORE:
                return True
        return False

    def _shares(self, words: Iterable[str], at: int) -> bool:
        """Whether one of ``words`` stands in the value of a fact."""
        return any(same_word(word, own) for word in words for own in self._said[at])

    def _without_name(self, shown: str) -> str:
        """Return a text without its first word, if that is how the user is called."""
        first = _WORD.match(shown)
        is_theirs = first is not None and first[0].casefold() in self._names
        return shown[first.end() :].lstrip(" ") if first is not None and is_theirs else shown

    def _is_clear(self, sentence: str) -> bool:
        """Whether it is plain what a sentence is about, as no other subject was found in it."""
        first, *more = _pattern("CLAUSE_END").split(sentence)
        others = [f"- {it}" for it in more if len(_words(it)) >= _KEY]
        is_named = any(_has_name(it) or _has_bare(it) for it in others)
        return self._begins_clearly(first) and not is_named

    def _begins_clearly(self, sentence: str) -> bool:
        """Whether the first clause of a sentence is understood."""
        keyed = _KEYED_PART.match(sentence)
        if keyed is not None:
            known = any(word in _OTHER_KEYS or word in _SUBJECTS for word in _words(keyed[1]))
            turns = not _TURNS.isdisjoint(_words(keyed[2])) or _pattern("AS").search(keyed[2])
            return known and not turns and not _KEYED_PART.match(keyed[2])
        said = self._without_name(sentence).strip(" -*+>#")
        said = _pattern("SUBJECT").sub("", f"{said} ", count=1)
        said = _pattern("ADVERB").sub("", said, count=1).strip()
        words = _words(said)
        if words[:1] == ["is"] and words[1:2] and words[1] in _STATES:
            words, said = words[1:], said.partition(" ")[2].strip()
        elif _pattern("PRECISE").match(said):
            words = ["works", *words[2:]]
        elif _pattern("WORKS").match(said):
            return _TURNS.isdisjoint(words)
        if words[:1] == ["is"] and words[1:2] and _IS_A.fullmatch(words[1]):
            words, said = words[1:], said.partition(" ")[2]
            is_verb = len(words) >= _KEY
        else:
            is_verb = len(words) >= _LONG and bool(_pattern("VERB").match(said))
        if not words or not _TURNS.isdisjoint(words) or _pattern("AS").search(said):
            return False
        is_known = is_verb or words[0] in _TASTES
        is_plain = words[0] in _HABITS or (is_known and not _has_name(said))
        return words[0] in _STATES or (is_plain and not _has_bare(said))


def _has_bare(said: str) -> bool:
    """Whether a last word without an article may be a name."""
    found = (word[1].casefold() for word in _pattern("BARE").finditer(said))
    return any(not (word in _USUAL | _DAYS or _PLURAL.fullmatch(word)) for word in found)


def _has_name(said: str) -> bool:
    """Whether a word begins with a capital where no sentence begins."""
    _, _, rest = said.partition(" ")
    found = (word[0] for word in _WORD.finditer(rest))
    return any(word[0].isupper() and word.casefold() not in _DAYS for word in found)


@lru_cache(maxsize=1024)
def _plain(text: str) -> str:
    """Return a text as it reads: without decoration, and letters of a word that stand apart."""
    shown = re.sub(r"[*`~\"]", "", _readable(text[:_LONGEST_FACT]))
    return _SPELLED.sub(lambda word: re.sub(r"[\W_]", "", word[0]), shown)


def _words(shown: str) -> list[str]:
    return [word[0].casefold() for word in _WORD.finditer(shown)]


def _about(shown: str) -> frozenset[str]:
    """Return the subjects of which words speak."""
    words = _words(shown)
    parts = [part.removesuffix("'s") for word in words for part in (word, *word.split("-"))]
    found = frozenset(_SUBJECTS[word] for word in parts if word in _SUBJECTS)
    return found | {"work"} if _pattern("WORKS").search(shown) else found


def _said(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the words of a fact that say something, and of these what is not its key."""
    shown = _plain(text)
    key, _, value = shown.partition(":") if fact_key(text) else ("", "", shown)
    keyed = frozenset(word for word in read(key).words if word not in _SUBJECTS)
    own = frozenset(read(value).words) - _TASTES
    own = own if key else own - _SUBJECTS.keys() | own & _VALUES
    return keyed | own, own
