"""The words of a turn and of a question, as the index sees them.

Promises: any string may be passed; linear time; :func:`words` takes apart what :func:`indexed`
returns as SQLite's ``unicode61`` does, so that an index and a scan find the same.

English is stemmed (:mod:`engramdown.episodes.words.stems`), in the index too. What a stemmer cannot
know is asked for by its other names: *went* for *go*, *mice* for *mouse*. Scripts that write no
space between words are cut into overlapping pairs of characters.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from functools import cache
from typing import Final, NamedTuple

from engramdown.episodes.words.stems import stem
from engramdown.language.words import UNSPACED, word_set

__all__ = ["Term", "indexed", "stems", "term", "words"]

_WORD: Final = re.compile(r"[^\W_]+")
_ACCENT: Final = re.compile("[\u0300-\u036f]")


class Term(NamedTuple):
    """One thing that a question asks for.

    Attributes:
        words: What to look for in an index that stems by itself: any of them will do.
        stems: Their stems, in the same order, as :func:`stems` gives them for a turn.
        weight: What it counts, besides how rare it is: less for words like *kind* or *discuss*,
            which stand in questions rather than in answers.
    """

    words: tuple[str, ...]
    stems: tuple[str, ...]
    weight: float = 1.0


def indexed(text: str) -> str:
    """Return what is given to the index for ``text``: the text, unless its script has no spaces.

    >>> indexed("plain"), indexed("用日本語 now")
    ('plain', ' 用 用日 日 日本 本 本語 語  now')
    """
    return text if text.isascii() else _run().sub(_pieces, text)


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
    """Return what to look for when a question says ``word``, which :func:`words` returned.

    >>> term("going").words, term("plans").stems
    (('goes', 'gone', 'went', 'go'), ('plan',))
    """
    root = stem(word)
    known = _irregular(root[:1]).get(root)
    return known or Term((word,), (root,), _LIGHT if root in _asking() else 1.0)


def _pieces(match: re.Match[str]) -> str:
    run = match[0]
    pairs = (run[at : at + 2] for at in range(len(run) - 1))
    pieces = [piece for pair in pairs for piece in (pair[0], pair)]
    return f" {' '.join([*pieces, run[-1]])} "


@cache
def _run() -> re.Pattern[str]:
    # So many characters take milliseconds to compile, and most texts are ASCII.
    return re.compile(f"[{UNSPACED}]+")


@cache
def _asking() -> frozenset[str]:
    return frozenset(stem(word) for word in word_set(_ASKING))


@cache
def _irregular(first: str) -> Mapping[str, Term]:
    """Return the families with a word that begins with the letter ``first``, by each stem.

    To stem all of them takes milliseconds, and a question has few words.
    """
    found = {}
    for family in _IRREGULAR.split(","):
        if f" {first}" in f" {family}":
            by_stem = {stem(word): word for word in reversed(family.split())}
            weight = 1.0 if _asking().isdisjoint(by_stem) else _LIGHT
            term = Term(tuple(by_stem.values()), tuple(by_stem), weight)
            found.update(dict.fromkeys(by_stem, term))
    return found


_LIGHT: Final = 0.5
_ASKING: Final = (
    "kind type name many use different activity thing time recent way new first specific "
    "mention plan something place event reason purpose current main "
    # What is said about a conversation, and not in it.
    "list order bring aspect item across throughout conversation discuss discussion message "
    "summary summarize comprehensive overview recap walk describe say tell share ask talk "
    "recall remember regard accord consider decide involve include related various particular "
    "sort after before since while apart besides lately"
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
