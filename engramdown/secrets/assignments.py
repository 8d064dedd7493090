"""Finds secrets behind a name, and leaves placeholders, references and words alone.

A value is judged by its looks and by the name in front of it, without a list of services. Pure; the
cost grows linearly with the text.

Some names prove more than others. After ``password`` every value counts except a plain word; after
``token`` and ``api key`` a word with a number does not count either, nor after ``secret`` unless it
is quoted; after ``key``, ``cookie`` and the like, and without a name, only a value that looks
random counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from operator import ne
from typing import Final, NamedTuple

from engramdown.lazy import patterns, texts
from engramdown.secrets.prefilter import LikelyPattern, small

# The start, the end and the kind of a secret.
Span = tuple[int, int, str]


# The names of secrets and the looks of values are in ``assignments.txt``.
_TEXTS: Final = texts(__file__)
_pattern: Final = patterns(__file__)

# Without one of these, in small letters, :func:`find_named` finds nothing.
NAMES: Final = tuple(_TEXTS["NAMES"].split("|"))


def find_named(piece: str) -> Iterator[Span]:
    """Find the values that ``piece`` gives to a password, a secret, a token or a key.

    >>> list(find_named("the wifi password is " + "plum-77"))
    [(21, 28, 'password')]
    """
    lowered = small(piece)
    for pattern in _PATTERNS:
        at = 0
        # After a value that does not count the search goes on at its first character, because it
        # may contain another name. A match has at most 300 characters of a value, so this is
        # linear.
        while match := pattern.search(piece, lowered, at):
            given = _given(match)
            at = given.start
            if _counts(given):
                end = at + len(given.value)
                if not given.quoted:
                    # The rest of a long value.
                    rest = next(_pattern("BARE_REST").finditer(piece, end))
                    end = at + len(piece[at : rest.end()].rstrip(_AFTER[False]))
                is_key = given.family != "password" and "key" in (given.name + given.sign).lower()
                yield at, end, "key" if is_key else given.family
                at = end


def is_placeholder(value: str) -> bool:
    """Whether ``value`` is a placeholder for a secret: ``<key>``, ``${KEY}``, ``your-key``.

    >>> is_placeholder("sk-your-key-here"), is_placeholder("xxxxxxxx"), is_placeholder("a8Kq0Zw")
    (True, True, False)
    """
    return bool(_pattern("PLACEHOLDER").search(value.lower()))


def decoded(run: str) -> str:
    """Return the text that ``run`` encodes in base64, or ``""`` if it encodes none.

    >>> decoded("cGx1bSB0cmVl"), decoded("plum_tree_77")
    ('plum tree', '')
    """
    from binascii import a2b_base64

    signs = run.translate(_STANDARD)
    try:
        data = a2b_base64(signs + "=" * (-len(signs) % 4))
    except ValueError:
        return ""
    if not any(data[1::2]):
        data = data[::2]  # as PowerShell encodes, two bytes a character
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return ""
    return text if data.translate(None, _NO_TEXT) == data else ""


# Without line ends, and with the two signs that URLs replace.
_STANDARD: Final = str.maketrans("-_", "+/", " \t\r\n=")
_NO_TEXT: Final = bytes({*range(32), 127} - {*b"\t\n\r"})


def is_public(value: str) -> bool:
    """Whether ``value`` may be public: a publishable key, an address, a cursor in JSON.

    >>> is_public("pk_test_51Hxy"), is_public("sk_live_51Hxy")
    (True, False)
    """
    return bool(_pattern("PUBLIC").match(value)) or decoded(value).startswith(("{", "["))


def names_public(before: str) -> bool:
    """Whether ``before``, in front of the word *key*, says that it is a public one.

    >>> names_public("Public"), names_public("the private ")
    (True, False)
    """
    return bool(
        re.search(
            r"(?i:cache|foreign|primary|pub|public|publishable|recaptcha|site)[ _-]?\Z", before
        )
    )


_PUBLIC_NAME: Final = 20


def is_saying(value: str) -> bool:
    """Whether ``value`` is a word that describes passwords, like *required*."""
    return value.lower() in _SAYINGS or _is_name(value) or value.endswith(("ed", "ing"))


def is_reference(value: str) -> bool:
    """Whether ``value`` is a placeholder, code, a name, a path or a version."""
    known = _pattern("REFERENCE").match(value) or _pattern("TECHNICAL").match(value)
    return bool(known) or is_placeholder(value) or _is_name(value)


# ---- values behind a name ----

_PATTERNS: Final = (
    *(
        LikelyPattern(_TEXTS[f"LIKELY_{name}"], _TEXTS[name], _TEXTS["BEFORE"])
        for name in ("ASSIGNED", "SPOKEN")
    ),
    *(LikelyPattern(_TEXTS[f"LIKELY_{name}"], _TEXTS[name]) for name in ("OPTION", "ELEMENT")),
)
_FAMILIES: Final = ("password", "secret", "token", "key")


class _Given(NamedTuple):
    """A value that a text assigns to a name.

    Attributes:
        family: The kind of the name: ``password``, ``secret``, ``token`` or ``key``.
        quoted: Whether the value is quoted.
        value: The value, without final punctuation.
        start: The offset of the value.
        match: The name, the sign and the value in their text.
    """

    family: str
    quoted: bool
    value: str
    start: int
    match: re.Match[str]

    @property
    def name(self) -> str:
        """The name as the text has it."""
        return self.match[self.family]

    @property
    def sign(self) -> str:
        """The text between the name and the value."""
        return self.match.string[self.match.end(self.family) : self.start]

    def before(self, length: int) -> str:
        """Return up to ``length`` characters in front of the name."""
        at = self.match.start(self.family)
        return self.match.string[max(0, at - length) : at]


_FETCHING: Final = 40


# Punctuation behind a value, by whether it is quoted.
_AFTER: Final = {True: "\\", False: ".,;:)]}"}


def _given(match: re.Match[str]) -> _Given:
    group = match.lastgroup or ""  # the value is the last thing that has a name
    names = match.re.groupindex
    family = next(name for name in _FAMILIES if name in names and match.start(names[name]) >= 0)
    quoted = group != "bare"
    return _Given(family, quoted, match[group].rstrip(_AFTER[quoted]), match.start(group), match)


# ---- the looks of a value ----

_WORDS: Final = frozenset(_TEXTS["WORDS"].split("|"))
_SAYINGS: Final = frozenset(_TEXTS["SAYINGS"].split("|"))

_LEAST: Final = {"password": 4, "secret": 6, "token": 8, "key": 20}
_LEAST_BARE: Final = 6
_FEW_DIGITS: Final = 2
_FEW_LETTERS: Final = 2


def _counts(given: _Given) -> bool:
    """Whether a value is a secret, by its looks and its name."""
    value = given.value
    if len(value) < _LEAST[given.family] or is_placeholder(value) or _is_name(value):
        return False
    # The argument of a function that fetches, or a public value.
    if "(" in given.sign and _pattern("FETCHES").search(given.before(_FETCHING)):
        return False
    before = given.before(_PUBLIC_NAME)
    is_shown = given.family != "password" and (names_public(before) or is_public(value))
    if is_shown or (not given.quoted and _pattern("REFERENCE").match(value)):
        return False
    if not value.isdigit() and _pattern("TECHNICAL").match(value):
        return False
    if given.family == "key":
        return is_random_key(value, given.sign)
    return is_opaque(value) or (given.family in {"password", "secret"} and _is_password(given))


def is_random_key(value: str, sign: str) -> bool:
    """Whether what ``sign`` says of a key is a key of chance, and no name and no digest.

    >>> is_random_key("dd_api_" + "9f3a" * 8, " is "), is_random_key("9f3a" * 8, ": ")
    (True, False)
    """
    is_told = ":" not in sign and "=" not in sign
    coded = is_told and _pattern("HEXADECIMAL").fullmatch(value)
    return bool(coded) or looks_random(value, _LEAST["key"])


def _is_name(value: str) -> bool:
    """Whether ``value`` consists of the words of programs, like ``newPassword2``."""
    words = re.findall(r"[A-Z]?[a-z]+|[A-Z]+", value)
    others = len(value) - sum(map(len, words)) - sum(map(value.count, "_-. "))
    return bool(words) and others <= _FEW_DIGITS and all(word.lower() in _WORDS for word in words)


def is_opaque(value: str) -> bool:
    """Whether ``value`` mixes letters and digits in a way that no word with a number does.

    >>> is_opaque("a8kq0zw2"), is_opaque("plum2024")
    (True, False)
    """
    if any(map(str.isspace, value)):
        return False
    return bool(_pattern("OPAQUE").search(value)) or looks_random(value, 16, digits=0)


def _is_password(given: _Given) -> bool:
    """Whether a value that may be short or a word is a password, by its form and its context."""
    value = given.value
    if any(map(str.isspace, value)):
        return "phrase" in given.name.lower() and value.count(" ") > 1
    if re.search(r"[0-9!@#$%^&*+=~?|]", value) or is_odd(value):
        return given.quoted or len(value) >= _LEAST_BARE
    if given.family == "secret" or not value.isascii():
        return False
    if value.lower() in _SAYINGS or value.endswith(("ed", "ing")):
        return False
    if given.quoted:
        return bool(re.search(r"[:=(]|is\s", given.sign))
    # A word in a file of variables, or one that somebody calls their own.
    variable = given.name.isupper() and given.sign.endswith("=")
    return len(value) >= _LEAST_BARE and (variable or _is_told(given))


def _is_told(given: _Given) -> bool:
    """Whether the last word of a sentence is somebody's own password."""
    text, end = given.match.string, given.start + len(given.value)
    before = text[max(0, given.match.start() - 80) : given.match.start()]
    return bool(
        re.search(r"(?:\b(?:is|was)|[:=])\W*\Z", given.sign)
        and _pattern("OWN").search(before)
        and re.match(r"[\"']?(?:\Z|[.,;!\n])", text[end : end + 2])
    )


def is_odd(value: str) -> bool:
    """Whether capitals are where words and names seldom have them: ``vmMCEvKt``."""
    return value.isalpha() and len(re.findall(r"[A-Z][a-z](?![a-z])", value)) > 1


# ---- random looks ----

_CLASSES: Final = str.maketrans(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", "a" * 26 + "A" * 26 + "0" * 10
)
_MIXED: Final = 0.4
_SEPARATED: Final = 0.12


def looks_random(value: str, least: int, digits: int = 2) -> bool:
    """Whether ``value`` mixes capitals, small letters and digits as chance does.

    In a random text of letters and digits six neighbours of ten are of different classes, of
    letters alone five, in camelCase three, in a path fewer; and it has no word of eight letters.

    Args:
        value: Any text.
        least: How long it must be, in characters.
        digits: How many digits it must have, at least.
    """
    classes = value.translate(_CLASSES)
    small, capital, digit = (classes.count(one) for one in "aA0")
    if len(value) < least or min(small, capital) < _FEW_LETTERS or digit < digits:
        return False
    changes = sum(map(ne, classes, classes[1:]))
    separators = len(value) - small - capital - digit
    mixed = changes >= _MIXED * len(value) and separators <= _SEPARATED * len(value)
    return mixed and "a" * 8 not in classes
