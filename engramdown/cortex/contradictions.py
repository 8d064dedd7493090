"""Which memory of a person's a new one contradicts, and which is most like it.

Promises: pure; the first of several is found, whatever else there is; a fact about the user is
compared with theirs however its key is spelled, and in a sentence, too.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Final

from engramdown.cortex.subjects import Subjects
from engramdown.engram import Engram, Kind, fact_key, fold
from engramdown.hippocampus.entry import Entry
from engramdown.language.similarity import Rewordings, in_full, is_contrary, similarity

__all__ = ["Contradictions", "contradiction", "nearest"]

_NEAR: Final = 0.5
_OTHER_KIND: Final = {"always": "never", "never": "always"}
_LOOKED_AT: Final = 4_000
"""So many characters of a memory are looked through for facts about the user."""

# Keys that mean the same, a group a line, the plainest first; in the commonest languages.
_GROUPS: Final = """
name, vorname, rufname, nom, prénom, nombre, nome, naam, navn, namn, nimi, imię, jméno, meno, név
name, nume, isim, nama, tên, имя, ім'я, όνομα, שם, الاسم, اسم, नाम, 名前, 氏名, 姓名, 名字, 이름
name, user name, username, given name, user
location, residence, city, home, hometown, home town, home city, wohnort, ort, stadt, lieu, ville
location, ubicación, ciudad, localização, cidade, luogo, città, woonplaats, miasto, город, 城市
time zone, timezone, tz, zeitzone, fuseau horaire, zona horaria, fuso horário, fuso orario
time zone, tijdzone, часовой пояс, タイムゾーン, 时区
e-mail, email, mail, e-mail address, email address, correo, courriel, メール, 邮箱
language, sprache, langue, idioma, lingua, taal, język, язык, 言語, 语言
role, job, job title, occupation, profession, beruf, rolle, métier, profesión, professione, 職業
employer, company, workplace, arbeitgeber, firma, employeur, entreprise, empresa, azienda
pronouns, pronoun, pronomen, pronoms, pronombres, pronomi
editor, text editor, code editor, éditeur
"""
_KEYS: Final = {
    key: group[0] for group in (line.split(", ") for line in _GROUPS.split("\n")) for key in group
}
_BLANKS: Final = re.compile(r"[^\S\n]+")
_BROKEN: Final = re.compile(r" ?\n ?: ?|: ?\n\s*")
_EMPHASIS: Final = re.compile(r"[*`~\"]|(?<!\w)_+|_+(?!\w)")
_BEGINNING: Final = re.compile(r"\A(?:[-+>#|{\s]|\d{1,3}[.)]\s|\[[ xX]\]\s)+")
# Behind what a further key may stand: Shell: zsh; Name: Ada. Correction: Name: Ada
_CLAUSE: Final = re.compile(r"[.,;:!?{(\[\u2013\u2014]\s*|\s(?:and|und|et|y|e)\s")
_LATIN: Final = re.compile(r"\w*[A-Za-z]\w*")
_LOOKS_LIKE: Final = str.maketrans(
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u0501\u03bf\u03b1\u03b9\u03c1\u03bd",
    "aeopcyxijsdoaipv",
)
_SENTENCE: Final = re.compile(r"(?<=[.!?;])\s+|\u3002")
# A colon, an equals sign, a dash between spaces, the border of a table; not the colon of a URL.
_KEYED: Final = re.compile(
    r"(?P<key>[^:=|\n]{1,60}?)\s*(?::(?![/\\:])|=|->|\||\u2192|\s[-\u2013\u2014]\s)\s*(?P<value>\S.*)"
)
_THEIRS: Final = (
    r"(?:the (?:user|person|human|owner)(?:'s?)?|users?(?:'s?)?|my|your|our|their|his|her"
    r"|mein|meine|mon|ma|mi|meu|minha|mio|mia|mijn)"
)
_WHOSE: Final = re.compile(
    rf"(?:(?:{_THEIRS}|the|new|current|real|actual|correct|full|first|given|preferred"
    r"|legal|own|main|primary|favou?rite|default)\s+)+"
)
_OF_WHOM: Final = re.compile(r"\s+of (?:the |this )?(?:user|person|human|owner)\Z|\s*\(.*\)\Z")
_IS: Final = r"\s+(?:is|are|was|ist|est|es|é|è)\s+"
_NOW: Final = (
    r"(?:(?:now|actually|really|in fact|changed to|called|known as|jetzt|maintenant|ahora)\s+)*"
)
_PROSE: Final = re.compile(rf"(?P<key>[^:=|\n]{{1,60}}?){_IS}{_NOW}(?P<value>\S.*)")
_SAID_OF_USER: Final = re.compile(
    rf"\b{_THEIRS}\s+(?P<key>\w[^:=|\n]{{0,40}}?){_IS}{_NOW}(?P<value>\S.*)"
)
_TURNED: Final = re.compile(
    rf"(?P<value>[^:=|\n]{{1,60}}?){_IS}{_THEIRS}\s+(?P<key>\w[\w -]{{0,40}}?)\W*\Z"
)
_CALLED: Final = re.compile(
    r"\b(?:(?:is|are|am|be|wants? to be|prefers? to be|likes? to be) (?:now |actually )?"
    r"(?:called|named|known as)|goes by|go by|introduced (?:him|her|them)sel(?:f|ves) as"
    r"|heißt|heisst|s'appelle|se llama|se chama|si chiama|heet|heter|hedder|зовут)"
    r"\s+(?P<value>\S.*)|\A(?:also )?known as\s+(?P<known>\S.*)"
    r"|\b(?:call|address) (?:the user|them|him|her|me)(?: as)?\s+(?P<other>\S.*)"
)
_LIVES: Final = re.compile(
    r"\b(?:(?:the )?user|person|he|she|they)(?: now)? (?:lives?|is based|is located|are based"
    r"|resides?|moved) (?:in|at|to)\s+(?P<value>\S.*)"
)


def nearest(text: str, entries: Sequence[Entry]) -> tuple[Entry, float] | None:
    """Return the entry that is most like ``text`` and its :func:`similarity`, at least 0.5.

    The first of several that are equally near.
    """
    best, score = None, 0.0
    for at in Rewordings(entry.text for entry in entries).likely(text):
        found = similarity(text, entries[at].text)
        if found > score:
            best, score = entries[at], found
    return (best, score) if best is not None and score >= _NEAR else None


def contradiction(engram: Engram, entries: Iterable[Entry]) -> Entry | None:
    """Return the first entry of a person's that ``engram`` contradicts, if there is one.

    It does when it is the same text under *always* instead of *never* or the other way round,
    another value of a keyed fact, or the same claim with another number, version or negation.
    """
    return Contradictions(entries).find(engram)


class Contradictions:
    """What a person wrote or confirmed, to find what one engram after another contradicts."""

    __slots__ = ("_facts", "_rules", "_said", "_stated", "_subjects", "_theirs")

    def __init__(self, entries: Iterable[Entry]) -> None:
        """Take the ``entries``; those of nobody in particular do not count."""
        self._theirs = [entry for entry in entries if entry.by_person]
        self._said = Rewordings(entry.text for entry in self._theirs)
        self._rules: dict[tuple[str, str], int] = {}
        self._facts: dict[str, list[int]] = {}
        self._stated: dict[str, list[tuple[int, str]]] | None = None
        self._subjects: Subjects | None = None
        for at, entry in enumerate(self._theirs):
            if entry.kind in _OTHER_KIND:
                self._rules.setdefault((entry.kind, entry.fold), at)
            elif entry.kind == "profile" and (key := fact_key(entry.text)):
                self._facts.setdefault(key, []).append(at)

    def find(self, engram: Engram) -> Entry | None:
        """Return the first entry that ``engram`` contradicts, see :func:`contradiction`."""
        outright = self._outright(engram)
        if outright is not None:
            return self._theirs[outright]
        said = in_full(engram.text, engram.kind)
        near = (self._theirs[at] for at in self._said.near(said))
        beside = _stands_beside_lessons(engram)
        against = (entry for entry in near if not (beside and entry.kind == "lesson"))
        contrary = (e for e in against if is_contrary(said, in_full(e.text, e.kind)))
        return next(contrary, None)

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
        if self._subjects is None:
            facts = [entry for entry in self._theirs if entry.kind == "profile"]
            self._subjects = Subjects(facts, _keys_of)
        if engram.kind != "profile":
            return self._subjects.touched_by_lesson(engram.text)
        is_said = engram.source != "llm"
        return self._subjects.touched(engram.text, is_said=is_said)

    def _outright(self, engram: Engram) -> int | None:
        """Return the same text under the opposite heading, or the fact with another value."""
        if engram.kind in _OTHER_KIND:
            at = self._rules.get((_OTHER_KIND[engram.kind], fold(engram.text)))
        else:
            at = self._fact(engram)
        return self._otherwise(engram) if at is None else at

    def _fact(self, engram: Engram) -> int | None:
        if engram.kind != "profile":
            return None
        facts = self._facts.get(fact_key(engram.text), ())
        said = fold(engram.text)
        return next((at for at in facts if self._theirs[at].fold != said), None)

    def _otherwise(self, engram: Engram) -> int | None:
        """Return the fact of which ``engram`` tells another value, in whatever words."""
        for key, value in _stated(engram.text, engram.kind):
            theirs = self._of_user.get(key, [])
            # Of several values, one that is said again contradicts none.
            if theirs and not any(_agree(value, own) for _, own in theirs):
                return theirs[0][0]
        return None

    @property
    def _of_user(self) -> dict[str, list[tuple[int, str]]]:
        """What the person says of themselves: each key with its values and where they stand."""
        if self._stated is None:
            self._stated = {}
            for at, entry in enumerate(self._theirs):
                for key, value in _stated(entry.text, "profile") if entry.kind == "profile" else ():
                    self._stated.setdefault(key, []).append((at, value))
        return self._stated


def _stands_beside_lessons(engram: Engram) -> bool:
    """Whether it is a lesson that an assistant was asked to remember: lessons displace no lesson.

    *Client 1 said 0* is no other value of *Client 2 said 0*. Rules and facts count all the same.
    """
    passed_on = engram.source == "user" and engram.via == "assistant"
    return passed_on and engram.kind == "lesson"


def _keys_of(entry: Entry) -> list[str]:
    return [key for key, _ in _stated(entry.text, "profile")]


@lru_cache(maxsize=4096)  # a new fact is compared with each one that stands
def _stated(text: str, kind: Kind) -> tuple[tuple[str, str], ...]:
    """Return which facts about the user ``text`` states, in the plainest words for their keys.

    Args:
        text: A memory.
        kind: Its kind: what is no ``profile`` fact is about the user only if it says so.
    """
    shown = unicodedata.normalize("NFKC", text[:_LOOKED_AT]).replace("\u2019", "'")
    shown = "".join(char for char in shown if unicodedata.category(char) != "Cf")
    shown = _BROKEN.sub(": ", _BLANKS.sub(" ", shown))
    # In a word of Latin letters, one of another script that looks like one is taken for it.
    shown = _LATIN.sub(lambda word: word[0].translate(_LOOKS_LIKE), shown)
    found = [fact for line in shown.split("\n") for fact in _of_line(line, kind)]
    return tuple(dict.fromkeys((key, value) for key, value in found if key and value))


def _of_line(line: str, kind: Kind) -> Iterator[tuple[str, str]]:
    line = _BEGINNING.sub("", _EMPHASIS.sub("", line)).strip()
    if kind == "profile":
        for begins in (0, *(clause.end() for clause in _CLAUSE.finditer(line))):
            found = _KEYED.match(line, begins)
            if found is not None:
                yield _plain_key(found["key"]), fold(found["value"].strip("| "))
    for sentence in _SENTENCE.split(line):
        yield from _of_sentence(sentence.casefold().strip(), sentence, kind)


def _of_sentence(said: str, as_written: str, kind: Kind) -> Iterator[tuple[str, str]]:
    ways = [_SAID_OF_USER.search(said), _TURNED.match(said)]
    ways += [_PROSE.match(said)] if kind == "profile" else []
    for told in filter(None, ways):
        yield _plain_key(told["key"]), fold(told["value"])
    called, lives = _CALLED.search(said), _LIVES.search(said)
    if called is not None:
        yield "name", fold(called["value"] or called["known"] or called["other"])
    if lives is not None:
        yield "location", fold(lives["value"])
    if kind == "profile":
        # Imported here: its patterns take a while, and few memories are about the user.
        from engramdown.consolidation.statement_reader import extract

        for engram in extract(as_written):
            key = fact_key(engram.text)
            if engram.kind == "profile" and key:
                yield _plain_key(key), fold(engram.text.partition(": ")[2])


def _plain_key(words: str) -> str:
    """Return the key that ``words`` mean, in one spelling for all of a kind."""
    key = _OF_WHOM.sub("", fold(words))
    key = key[found.end() :] if (found := _WHOSE.match(key)) else key
    return _KEYS.get(key, key)


def _agree(one: str, other: str) -> bool:
    """Whether two values are the same, or one only says more: *Paris*, and *Paris, France*."""
    short, long = sorted((re.findall(r"\w+", one), re.findall(r"\w+", other)), key=len)
    return long[: len(short)] == short
