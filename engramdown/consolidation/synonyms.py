"""Replaces words by plainer ones of the same meaning, from tables of certain and likely synonyms.

Takes linear time and any string; words in code quotes, or in a path, an option or an
identifier, stay as they are, because there a word is a name.

Without these tables, duplicates that differ by an abbreviation or a common verb are missed; a
thesaurus or a model of meaning would find more of them, and take values for synonyms (*cat* for
*dog*). So a pair is here only if nobody means two things by it. A *likely* pair depends on the
sentence (*dev* is a developer, too): enough to ask a person, not to do without one.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Final

from engramdown.consolidation.utterances import entries
from engramdown.language.words import NUMBERS

_TABLES: Final = dict(entries("synonyms"))
# Fillers are left out; a phrase at the beginning only if it introduces the rest.
_FILLERS: Final = re.compile(
    r"\A(?:(?:please|note|remember|keep in mind|bear in mind|be aware|it turns out|it seems)"
    r"(?: that)?|(?:make|be) sure (?:to|that|you)|it is important (?:to|that)|ensure(?: that)?"
    r"|try to|just|actually|basically|in general|generally|of course|you should|we should"
    r"|you must|we must)(?:,| )\s*(?=\S)"
    r"|\b(?:really|very|currently|already|please)\b[ ]?|(?<=\bevery )single (?=\w)"
    r"|(?<=\bthe )(?:entire|whole) (?=\w)|(?<!not )(?<!at )\ball (?=(?!but\b|day|night)\w)",
    re.IGNORECASE,
)
_PHRASES: Final = dict(each.split(" = ") for each in _TABLES["PHRASES"].split("; "))
_PHRASE: Final = re.compile(
    rf"(?:(?<!\w)(?=\w)|(?='))(?:{'|'.join(_PHRASES)})(?!\w)", re.IGNORECASE
)
_UNITS: Final = {
    unit: group.split()[0] for group in _TABLES["UNITS"].split(";") for unit in group.split()
}
_COUNTS: Final = {"one": "1"} | NUMBERS
_NUMBER: Final = rf"(?:[0-9]+|{'|'.join(_COUNTS)})"
# "3 to 5" is "3-5", and "two-space" speaks of two spaces.
_RANGE: Final = re.compile(rf"\b({_NUMBER}) to ({_NUMBER})\b(?![.:/-])", re.IGNORECASE)
_COUNTED: Final = re.compile(rf"\b({'|'.join(_COUNTS)})-(?=[^\W\d])", re.IGNORECASE)
_LONGEST_FIRST: Final = sorted(map(re.escape, _UNITS), key=len, reverse=True)
_UNIT: Final = re.compile(
    rf"(?<![\w.,/:-])([0-9]+(?:[.,:][0-9]+)*|{'|'.join(_COUNTS)})"
    rf"(?:(?<=[0-9])|[ -])[ -]?({'|'.join(_LONGEST_FIRST)})(?![\w/-])",
    re.IGNORECASE,
)
# "up to 5" means "at most 5", but "up to date" does not.
_BOUND: Final = re.compile(
    r"\b(?:(up to|an? maximum of|no more than|not more than)"
    r"|(an? minimum of|no (?:less|fewer) than)|(above|more than|greater than|exceeding)"
    rf"|(below|less than|fewer than)|around) (?=[0-9]|(?:{'|'.join(_COUNTS)})\b)",
    re.IGNORECASE,
)
_BOUNDS: Final = ("about", "at most", "at least", "over", "under")
# Claims are read as "tabs rather than spaces".
_PREFERRED: Final = re.compile(
    r"\b(prefer(?:s|red)?(?: [\w-]+){1,4}?) to (?!(?:be|have|get|use)\b)", re.IGNORECASE
)
_PARTICIPLES: Final = {
    done: f"{verb.removesuffix('e')}ed"
    for verb, done in (pair.split("/") for pair in _TABLES["PARTICIPLES"].split())
}
_AGAIN: Final = "(?:re|un|over|out|fore)?"
_DONE: Final = re.compile(
    rf"\b(is|are|was|were|be|been|being)((?: \w+ly)? )({_AGAIN})({'|'.join(_PARTICIPLES)})\b",
    re.IGNORECASE,
)
# "it gets cancelled", but not "it gets speed".
_GETS: Final = re.compile(
    rf"\b(gets?|got)(?= (?:\w+ly )?(?:\w+[^\We]ed|{_AGAIN}(?:{'|'.join(_PARTICIPLES)}|chosen|cut"
    r"|given|kept|left|made|put|read|run|written))\b)",
    re.IGNORECASE,
)
# "the box is called Hydra", but not "is named after a snake".
_CALLED: Final = re.compile(
    r"\b(is|are) (?:called|named)\b(?! (?:after|by|for|from|if|in|off|on|out|up|when|with)\b)",
    re.IGNORECASE,
)
_IS: Final = {"get": "are", "gets": "is", "got": "was"}
# The keys of facts about the user.
_KEYS: Final = {"name": "is", "location": "lives in"}
_KEYED: Final = re.compile(r"\A(name|location): ", re.IGNORECASE)
# "answers that are short"
_RELATIVE: Final = re.compile(
    r"\b(\w+) (?:that|which) (?:is|are) (\w+)(?=[.,;]|\Z)(?<!ed)(?<!ing)(?<!not)", re.IGNORECASE
)
_CONTRACTIONS: Final = (
    (re.compile(r"\bcan't\b", re.IGNORECASE), "cannot"),
    (re.compile(r"\bwon't\b", re.IGNORECASE), "will not"),
    (re.compile(r"(?<=\w)n't\b", re.IGNORECASE), " not"),
    (re.compile(r"(?<=\w)'re\b", re.IGNORECASE), " are"),
    (re.compile(r"(?<=\w)'ve\b", re.IGNORECASE), " have"),
    (re.compile(r"(?<=\w)'ll\b", re.IGNORECASE), " will"),
    (re.compile(r"(?<=\bi)'m\b", re.IGNORECASE), " am"),
    (re.compile(r"\b(?<!\w)(it|that|there|here|he|she|what|who)'s\b", re.IGNORECASE), r"\1 is"),
)
# A word that is not a part of something longer, like my-db, db.py, --env, #dev or /tmp.
_WORD: Final = re.compile(r"(?<![\w./\\#@$&=:-])[^\W_][\w-]*(?![\w/\\@&=]|[.:-]\w)")
_CODE: Final = re.compile(r"(`[^`\n]*`)")


@lru_cache(maxsize=2048)
def plain(text: str, *, likely: bool = True) -> str:
    """Return ``text`` in plainer words, only for comparisons.

    Args:
        text: Any text.
        likely: Also replace likely synonyms.

    >>> plain("Please execute the tests in the dev env"), plain("Open `db` from db.py")
    ('run the tests in the development environment', 'Open `db` from db.py')
    """
    parts = _CODE.split(text.replace("\u2019", "'").replace("*", ""))
    # Quotes of code are at the odd places.
    return "".join(
        part if at % 2 else _plainer(part, likely=likely) for at, part in enumerate(parts)
    )


def _plainer(text: str, *, likely: bool) -> str:
    for pattern, words in _CONTRACTIONS if "'" in text else ():
        text = pattern.sub(words, text)
    left = _FILLERS.sub("", _FILLERS.sub("", text))
    text = left if left.strip() else text
    text = _KEYED.sub(lambda found: f"user {_KEYS[found[1].casefold()]} ", text)
    text = _PHRASE.sub(lambda found: _PHRASES[found[0].casefold()], text)
    text = _RANGE.sub(_range, text)
    text = _BOUND.sub(_bound, text)
    text = _UNIT.sub(_one_word, text)
    text = _COUNTED.sub(r"\1 ", text)
    text = _CALLED.sub(r"\1", text)
    text = _GETS.sub(lambda found: _IS[found[1].casefold()], text)
    text = _DONE.sub(_regular, text)
    text = _RELATIVE.sub(r"\2 \1", text)
    text = _PREFERRED.sub(r"\1 over ", text)
    plainer = _words(likely=likely)
    return _WORD.sub(lambda found: plainer.get(found[0].casefold(), found[0]), text)


def _regular(found: re.Match[str]) -> str:
    """Return a form of *be* with a regular participle."""
    return f"{found[1]}{found[2]}{found[3]}{_PARTICIPLES[found[4].casefold()]}"


def _range(found: re.Match[str]) -> str:
    """Return a range of numbers in digits."""
    ends = (end.casefold() for end in found.groups())
    return "-".join(_COUNTS.get(end, end) for end in ends)


def _bound(found: re.Match[str]) -> str:
    """Return a bound in plain words."""
    return f"{_BOUNDS[found.lastindex or 0]} "


def _one_word(found: re.Match[str]) -> str:
    """Return a number and its unit as one word."""
    number = found[1].casefold()
    return _COUNTS.get(number, number) + _UNITS[found[2].casefold()]


@cache
def _words(*, likely: bool) -> dict[str, str]:
    plainer = _read(_TABLES["CERTAIN"])
    if likely:
        plainer |= _read(_TABLES["LIKELY"]) | _read(_TABLES["IRREGULAR"])
        for word, other in _read(_TABLES["VERBS"]).items():
            for inflected, form in zip(_forms(word), _forms(other), strict=True):
                plainer.setdefault(inflected, form)
    return plainer


def _read(table: str) -> dict[str, str]:
    groups = [group.split() for group in table.split(";")]
    return {other: first for first, *others in groups for other in others}


def _forms(verb: str) -> tuple[str, str, str, str]:
    """Return a verb with its endings, as regular ones have them."""
    stem = verb.removesuffix("e")
    doubled = stem + stem[-1] if verb in ("run", "begin", "get", "permit") else stem
    hissing = verb.endswith(("s", "x", "sh", "ch"))
    third = f"{verb[:-1]}ies" if verb.endswith("fy") else f"{verb}{'es' if hissing else 's'}"
    past = f"{verb[:-1]}ied" if verb.endswith("fy") else f"{doubled}ed"
    return verb, third, past, f"{doubled}ing"
