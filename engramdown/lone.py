"""Finds long tokens that stand alone, without a name that would say what they are.

Promises: judges by the token and by what stands around it; says nothing of a picture, a digest, a
certificate or a part of a URL; the cost grows linearly with the text. No I/O.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from engramdown.credentials import Span, decoded, is_public, looks_random
from engramdown.sought import runs

__all__ = ["find_random"]


def find_random(piece: str) -> Iterator[Span]:
    """Find the long tokens that stand alone, look random and are no picture, digest or URL.

    >>> list(find_random("try " + "k9Qz2XwV7bLm4RtY8sNc" + "J3hGf6DpA1uE5oZi"))
    [(4, 40, 'random token')]
    """
    for start, end in runs(piece, "_-", _LEAST):
        for match in _compiled(_ALONE).finditer(piece, start, end + _SEEN):
            if _is_random_token(match[1]) and not _is_known_blob(piece, *match.span(1)):
                yield *match.span(1), "random token"


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


_LEAST: Final = 32
_SEEN: Final = 2  # characters behind a token that say where it ends


def _is_random_token(value: str) -> bool:
    if not looks_random(value, _LEAST):
        return False
    return any(looks_random(piece, 10) for piece in re.split("[_-]", value))


_ALONE: Final = (
    r"(?<![^\s\"'`(\[{<,;=|>:])([A-Za-z0-9_-]{32,256}+)(?=[\s\"'`)\]}>,;|&]|[.:!?](?:\s|\Z)|\Z)"
)
# How base64 of a picture, a document, an archive, an SSH key or a certificate begins, and what
# has an address or a C++ function for its name.
_KNOWN: Final = (
    r"_Z|iVBOR|R0lGOD|_9j_|UklGR|PHN2Z|JVBER|UEsDB|H4sI|AAAA|MII"
    r"|[13][1-9A-HJ-NP-Za-km-z]{25,34}\Z|Qm[1-9A-HJ-NP-Za-km-z]{44}\Z"
)
_LINE: Final = r"[ \t\"']{0,20}[A-Za-z0-9+/]{30,90}+={0,2}[ \t\"']{0,4}"


def _is_known_blob(piece: str, start: int, end: int) -> bool:
    """Say whether a random-looking token is a picture, a digest, or part of a URL or a key."""
    value = piece[start:end]
    if re.match(_KNOWN, value) or is_public(value) or decoded(value):
        return True
    before = piece[max(0, start - 300) : start]
    if _compiled(
        r"(?i:://|data:|base64|sha[0-9]{1,3}[-:=]|\bssh-|\bpublic[ _-]?key[\"':= ]{1,5})\S{0,300}\Z"
    ).search(before):
        return True
    # A public key as JSON writes one.
    if _compiled(r"\"kty\"[^{}]{0,250}\"[nxy]\"[ \t]{0,4}:[ \t]{0,4}\"\Z").search(before):
        return True
    # One line of many in base64.
    if _compiled(_LINE + r"\n[ \t\"']{0,20}\Z").search(before) or _compiled(r"\n" + _LINE).match(
        piece, end
    ):
        return True
    # A public key or a certificate: behind a first line, before its last line.
    lines = piece[max(0, start - 8000) : start]
    return lines.rfind("-----BEGIN ") > lines.rfind("-----END ")
