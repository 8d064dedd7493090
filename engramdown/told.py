"""Finds secrets that are told in prose: a login with its password, a key beside its id.

Promises: says nothing of a word, a name, a version or a path, so it misses more than it takes for
a secret; the cost grows linearly with the text. No I/O.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from engramdown.credentials import Span, is_reference, looks_random
from engramdown.sought import Sought, small

__all__ = ["KEY_IDS", "LOGINS", "find_told_keys", "find_told_passwords"]

LOGINS: Final = ("pass", "pw", "login", "log in", "logged in", "sign in", "ssh in", "cred")
"""Without one of these, in small letters, :func:`find_told_passwords` finds nothing."""

KEY_IDS: Final = ("akia", "asia")
"""Without one of these, in small letters, :func:`find_told_keys` finds nothing."""

_VALUE: Final = r"[\"'`]?([^\s\"'`<>,;/:]{6,64})(?=[\s\"'`<>,;]|[:/]?(?:\s|\Z))"
# Somebody logs in as ann/…, or the creds are ann:….
_PAIR: Final = (
    r"\b(?i:log(?:ged)?[ -]?in|sign in|ssh in|cred(?:ential)?s)"
    r"(?:[ \t](?i:are|as|is|the|user|using|with)){0,4}:?[ \t]"
    r"[A-Za-z][\w.-]{0,30}[ \t]?[/:][ \t]?" + _VALUE
)
# Somebody uses the password …, or is user ann, password ….
_PASSWORD: Final = (
    r"\b(?i:and|use|using|with|(?:user|username)[ \t][\w.-]{1,30},?)[ \t](?i:the[ \t])?"
    r"(?i:pass(?:word|wd|phrase|code)?|pw)[ \t]" + _VALUE
)
_SOUGHT: Final = (
    Sought(r"(?:log(?:ged)?[ -]?in|s(?:ign|sh) in|cred(?:ential)?s)[ \t:]", _PAIR),
    Sought(
        r"(?:and|us(?:e|ing)|with|user(?:name)?[ \t][\w.-]{1,30},?)[ \t](?:the[ \t])?(?:pass|pw)",
        _PASSWORD,
    ),
)
_KEY_ID: Final = r"(?<![A-Za-z0-9])A[KS]IA[A-Z0-9]{16}(?![A-Za-z0-9])"
_KEY: Final = r"(?<![\w+/=-])[A-Za-z0-9+/]{40}(?![\w+/=-])"
# How far a key may stand from its id, in characters.
_NEAR: Final = 200


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def find_told_passwords(piece: str) -> Iterator[Span]:
    """Find the passwords that ``piece`` tells with a login, or after "with the password".

    >>> list(find_told_passwords("log in as ann/" + "plum!77"))
    [(14, 21, 'password')]
    """
    lowered = small(piece)
    for sought in _SOUGHT:
        for match in sought.finditer(piece, lowered):
            value = match[1].rstrip(".)]}?")
            if _is_strong(value):
                yield match.start(1), match.start(1) + len(value), "password"


def find_told_keys(piece: str) -> Iterator[Span]:
    """Find the secret keys of AWS that stand near the id of one, in whatever words."""
    for found in _compiled(_KEY_ID).finditer(piece):
        start, end = max(0, found.start() - _NEAR), min(len(piece), found.end() + _NEAR)
        for match in _compiled(_KEY).finditer(piece, start, end):
            if looks_random(match[0], len(match[0])):
                yield *match.span(), "AWS secret key"


# A sign that no name has, a digit between letters, or two digits behind a word.
_STRONG: Final = r"[!#$%&*+=?^~|]|[A-Za-z][0-9]+[A-Za-z]|[A-Za-z][0-9]{2,}\Z"


def _is_strong(value: str) -> bool:
    """Say whether a value is a password whoever tells it; a word may be said of one."""
    named = is_reference(value) or not _compiled(r"[A-Za-z]").search(value)
    return not named and bool(_compiled(_STRONG).search(value))
