"""The words of turns and of questions, as the index of transcripts sees them.

Any string may be passed; linear time. English is stemmed with Porter's algorithm, in the index too:
for every word the same stem as SQLite's FTS5 gives with ``tokenize = 'porter unicode61'``, so that
a scan finds what a search in the index finds. What a stemmer cannot know is searched by its other
forms: *went* for *go*, *mice* for *mouse*. Scripts that write no space between words
are cut into overlapping pairs of characters.

The index is given ASCII (:func:`folded`), so that FTS5 and a scan cannot differ about a letter:
words of other scripts are spelt with letters and digits. An ASCII text is its own folded text,
which is why this costs most nothing.

The algorithm is M. F. Porter's *An algorithm for suffix stripping* of 1980, with its author's two
later rules (*bli* and *logi*). It speaks of a stem as ``[C](VC)^m[V]``, runs of consonants and
vowels: its *measure* is m.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Final, NamedTuple
from zlib import crc32

from engramdown.language.words import UNSPACED, word_set
from engramdown.lazy import compiled

# In bytes of UTF-8, as FTS5 counts: shorter and longer words stay as they are.
_SHORTEST: Final = 3
_LONGEST: Final = 64
_DOUBLE: Final = re.compile(r"([^aeioulsz])\1\Z")
_CVC: Final = re.compile(r"cvc\Z")


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """Return the stem of ``word``, which must be in lower case.

    >>> stem("planning"), stem("planned"), stem("studies"), stem("relational")
    ('plan', 'plan', 'studi', 'relat')
    """
    if not _SHORTEST <= len(word.encode("utf-8", "replace")) <= _LONGEST:
        return word
    for step in (_plural, _past, _final_y):
        word = step(word)
    for table in (_LONG, _MIDDLE):
        word = _replaced(word, table)
    for step in (_ending, _final_e, _final_l):
        word = step(word)
    return word


def _shape(part: str) -> str:
    """Return ``part`` as c for consonants and v for vowels; y is a vowel after a consonant."""
    shape = ""
    for char in part:
        vowel = char in "aeiou" or (char == "y" and shape[-1:] == "c")
        shape += "v" if vowel else "c"
    return shape


def _measure(part: str) -> int:
    return _shape(part).count("vc")


def _short(part: str) -> bool:
    """Whether ``part`` ends as *hop* does, which has lost an e, and not as *snow* or *box*."""
    return bool(_CVC.search(_shape(part))) and part[-1] not in "wxy"


def _plural(word: str) -> str:
    if word[1:].endswith(("sses", "ies")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _past(word: str) -> str:
    if word[1:].endswith("eed"):
        return word[:-1] if _measure(word[:-3]) else word
    for suffix in ("ed", "ing"):
        start = word.removesuffix(suffix)
        if start != word:
            return _mended(start) if "v" in _shape(start) else word
    return word


def _mended(start: str) -> str:
    """Return the word before *-ed* or *-ing*: conflat-e, hop-(p), fil-e."""
    if start.endswith(("at", "bl", "iz")):
        return start + "e"
    if _DOUBLE.search(start):
        return start[:-1]
    return start + "e" if _measure(start) == 1 and _short(start) else start


def _final_y(word: str) -> str:
    return word[:-1] + "i" if word[-1] == "y" and "v" in _shape(word[:-1]) else word


def _table(lines: str) -> tuple[tuple[str, str], ...]:
    """Return the suffixes of ``lines`` with their replacements, the longest first."""
    pairs = [(old, new.strip("-")) for old, new in (line.split() for line in lines.split(","))]
    return tuple(sorted(pairs, key=lambda pair: -len(pair[0])))


_LONG: Final = _table(
    "ational ate, tional tion, enci ence, anci ance, izer ize, logi log, bli ble, alli al, "
    "entli ent, eli e, ousli ous, ization ize, ation ate, ator ate, alism al, iveness ive, "
    "fulness ful, ousness ous, aliti al, iviti ive, biliti ble"
)
_MIDDLE: Final = _table("icate ic, ative -, alize al, iciti ic, ical ic, ful -, ness -")
_LAST: Final = (
    *("ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "ion", "ism", "ate"),
    *("iti", "ous", "ive", "ize", "al", "er", "ic", "ou"),
)


def _replaced(word: str, table: tuple[tuple[str, str], ...]) -> str:
    for old, new in table:
        if word.endswith(old):
            start = word[: -len(old)]
            return start + new if _measure(start) else word
    return word


def _ending(word: str) -> str:
    for suffix in _LAST:
        if word.endswith(suffix):
            start = word[: -len(suffix)]
            cut = _measure(start) > 1 and (suffix != "ion" or start[-1] in "st")
            return start if cut else word
    return word


def _final_e(word: str) -> str:
    start = word.removesuffix("e")
    measure = _measure(start)
    return start if measure > 1 or (measure == 1 and not _short(start)) else word


def _final_l(word: str) -> str:
    return word[:-1] if word.endswith("ll") and _measure(word[:-1]) > 1 else word


_WORD: Final = re.compile(r"[^\W_]+")
_RUN: Final = f"[{UNSPACED}]+"
_ACCENT: Final = re.compile("[\u0300-\u036f]")


class Term(NamedTuple):
    """One thing that a question asks for.

    Attributes:
        words: The words to search in an index that stems by itself: any of them will do.
        stems: Their stems, in the same order, as :func:`stems` returns them for a turn.
        weight: Its weight, besides its rarity: less for words like *kind* or *discuss*,
            which are in questions rather than in answers.
    """

    words: tuple[str, ...]
    stems: tuple[str, ...]
    weight: float = 1.0


def indexed(text: str) -> str:
    """Return ``text`` for the index: unchanged, unless its script has no spaces.

    >>> indexed("plain"), indexed("用日本語 now")
    ('plain', ' 用 用日 日 日本 本 本語 語  now')
    """
    return text if text.isascii() else compiled(_RUN).sub(_pieces, text)


def words(text: str) -> list[str]:
    """Return the words of ``text`` in order, in lower case and without accents.

    >>> words("Don't go to Café_Zürich")
    ['don', 't', 'go', 'to', 'cafe', 'zurich']
    """
    if text.isascii():
        return _WORD.findall(text.lower())
    bare = _ACCENT.sub("", unicodedata.normalize("NFD", indexed(text).lower()))
    return _WORD.findall(unicodedata.normalize("NFC", bare))


def stems(text: str) -> list[str]:
    """Return the stems of the words of ``text`` in order."""
    return [stem(word) for word in words(text)]


def term(word: str) -> Term:
    """Return the term for a ``word`` of a question, which :func:`words` returned.

    >>> term("going").words, term("plans").stems
    (('goes', 'gone', 'went', 'go'), ('plan',))
    """
    root = stem(word)
    irregular = _irregular(root[:1]).get(root)
    return irregular or Term((word,), (root,), _LIGHT if root in _asking() else 1.0)


def _pieces(match: re.Match[str]) -> str:
    run = match[0]
    pairs = (run[at : at + 2] for at in range(len(run) - 1))
    pieces = [piece for pair in pairs for piece in (pair[0], pair)]
    return f" {' '.join([*pieces, run[-1]])} "


@cache
def _asking() -> frozenset[str]:
    return frozenset(stem(word) for word in word_set(_ASKING))


@cache
def _irregular(first: str) -> Mapping[str, Term]:
    """Return the families with a word that begins with the letter ``first``, by each stem.

    To stem all of them takes milliseconds, and a question has few words.
    """
    terms = {}
    for family in _IRREGULAR.split(","):
        if f" {first}" in f" {family}":
            by_stem = {stem(word): word for word in reversed(family.split())}
            weight = 1.0 if _asking().isdisjoint(by_stem) else _LIGHT
            term = Term(tuple(by_stem.values()), tuple(by_stem), weight)
            terms.update(dict.fromkeys(by_stem, term))
    return terms


_LIGHT: Final = 0.5
_ASKING: Final = (
    "kind type name many use different activity thing time recent way new first specific "
    "mention plan something place event reason purpose current main "
    # Words about a conversation that are not in it.
    "list order bring aspect item across throughout conversation discuss discussion message "
    "summary summarize comprehensive overview recap walk describe say tell share ask talk "
    "recall remember regard accord consider decide involve include related various particular "
    "sort after before since while apart besides lately "
    # Verbs that say little without their noun.
    "make get go come take happen put"
)
# Words whose forms share no stem: verbs, then nouns.
_IRREGULAR: Final = (
    "go went gone goes, say said, make made, know knew known, think thought, take took taken, "
    "see saw seen, come came, find found, give gave given, tell told, feel felt, "
    "become became, leave left, bring brought, begin began begun, keep kept, hold held, "
    "write wrote written, stand stood, hear heard, mean meant, meet met, run ran, pay paid, "
    "sit sat, speak spoke spoken, lead led, grow grew grown, lose lost, fall fell fallen, "
    "send sent, build built, understand understood, draw drew drawn, break broke broken, "
    "spend spent, rise rose risen, drive drove driven, buy bought, wear wore worn, "
    "choose chose chosen, seek sought, throw threw thrown, catch caught, deal dealt, win won, "
    "forget forgot forgotten, shoot shot, teach taught, eat ate eaten, sing sang sung, "
    "swim swam swum, fly flew flown, ride rode ridden, sleep slept, fight fought, "
    "drink drank drunk, steal stole stolen, hide hid hidden, sell sold, lend lent, bite bit "
    "bitten, blow blew blown, freeze froze frozen, wake woke woken, shake shook shaken, "
    "swear swore sworn, tear tore torn, sink sank sunk, ring rang rung, dig dug, feed fed, "
    "stick stuck, strike struck, hang hung, lay laid, shine shone, bend bent, bind bound, "
    "flee fled, forgive forgave forgiven, kneel knelt, light lit, show shown, slide slid, "
    "spin spun, sweep swept, swing swung, weave wove woven, get got gotten, "
    "child children, man men, woman women, foot feet, tooth teeth, mouse mice, goose geese, "
    "person people, wife wives, knife knives, half halves, "
    "shelf shelves, wolf wolves, thief thieves, loaf loaves"
)


_WORD_FOLDING: Final = re.compile(r"[a-z0-9]+")
_SHORT: Final = 32


def folded(text: str) -> str:
    """Return ``text`` in ASCII: words of other scripts are spelt with letters and digits.

    >>> folded("see a Café"), folded("день")
    ('see a cafe', 'u434u435u43du44c0')
    """
    if text.isascii():
        return text
    return " ".join(part if part.isascii() else _fold(part) for part in text.split(" "))


def tokens(text: str) -> list[str]:
    """Return the words of ``text`` as they are in the index, stemmed, in their order.

    >>> tokens("Plans for a Café")
    ['plan', 'for', 'a', 'cafe']
    """
    return [stem(word) for word in spelt(text)]


def spelt(text: str) -> list[str]:
    """Return the words of ``text`` as FTS5 is asked for them, which stems them by itself.

    >>> spelt("Plans for a Café")
    ['plans', 'for', 'a', 'cafe']
    """
    return _WORD_FOLDING.findall(folded(text).lower())


def speaking(name: str) -> str:
    """Return the word that the index has beside the first line of a speaker in each chunk.

    It says who speaks in a few hundred lines, and is not a word that anybody uses.
    """
    return f"by{crc32(name.lower().encode('utf-8', 'replace')):08x}0"


def _fold(part: str) -> str:
    return _fold_short(part) if len(part) <= _SHORT else _fold_any(part)


def _fold_any(part: str) -> str:
    return " ".join(word if word.isascii() else _spelt(word) for word in words(part.casefold()))


_fold_short = lru_cache(maxsize=4096)(_fold_any)


def _spelt(word: str) -> str:
    """Spell a word in ASCII; the digit at its end keeps English endings from being cut off it."""
    return "".join(char if char.isascii() else f"u{ord(char):x}" for char in word) + "0"
