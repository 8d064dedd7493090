"""Random-looking pieces that are the same in every run and on every Python.

Promises: a piece depends on its label and nothing else; secrets are put together from pieces
when they are asked for, so that no scanner finds one in this repository.
"""

from __future__ import annotations

import base64
import hashlib
import string
from dataclasses import dataclass
from typing import Final

__all__ = [
    "ALNUM",
    "BASE64",
    "CROCKFORD",
    "DIGITS",
    "HEX",
    "LOWER36",
    "UPPER36",
    "URLSAFE",
    "Planted",
    "chars",
    "jwt",
    "key_lines",
    "png",
    "uuid",
]

DIGITS: Final = string.digits
HEX: Final = "0123456789abcdef"
ALNUM: Final = string.ascii_letters + string.digits
UPPER36: Final = string.ascii_uppercase + string.digits
LOWER36: Final = string.ascii_lowercase + string.digits
URLSAFE: Final = ALNUM + "-_"
BASE64: Final = ALNUM + "+/"
CROCKFORD: Final = "0123456789abcdefghjkmnpqrstvwxyz"


@dataclass(frozen=True, slots=True)
class Planted:
    """A text with a secret in it.

    Attributes:
        kind: What the secret is, in plain words.
        text: The text around it.
        value: The secret itself, or what must not be left of it; it stands in ``text``.
    """

    kind: str
    text: str
    value: str

    def is_left_in(self, shown: str) -> bool:
        """Say whether ``shown`` still has eight characters in a row of the secret, or all of it."""
        width = min(8, len(self.value))
        starts = range(len(self.value) - width + 1)
        return any(self.value[start : start + width] in shown for start in starts)


def chars(label: str, alphabet: str, length: int) -> str:
    """Return ``length`` characters of ``alphabet`` that depend on ``label`` only."""
    stream = hashlib.shake_256(label.encode()).digest(2 * length)
    pairs = zip(stream[::2], stream[1::2], strict=True)
    return "".join(alphabet[(high * 256 + low) % len(alphabet)] for high, low in pairs)


def uuid(label: str) -> str:
    """Return the text of a version 4 UUID."""
    digits = chars(label, HEX, 30)
    return f"{digits[:8]}-{digits[8:12]}-4{digits[12:15]}-a{digits[15:18]}-{digits[18:30]}"


def jwt(label: str, algorithm: str = "HS256") -> str:
    """Return a JSON web token with three parts."""
    head = f'{{"alg":"{algorithm}","typ":"JWT"}}'
    body = f'{{"sub":"{chars(label, DIGITS, 10)}","iat":1767225600}}'
    return f"{_unpadded(head)}.{_unpadded(body)}.{chars(label + '/signature', URLSAFE, 43)}"


def key_lines(label: str, lines: int = 6) -> str:
    """Return what stands between the first and the last line of a key file."""
    full = [chars(f"{label}/{line}", BASE64, 64) for line in range(lines)]
    return "\n".join(["MIIEpAIBAAKCAQEA" + full[0][16:], *full[1:], full[0][:22] + "=="])


def png(label: str, length: int = 120) -> str:
    """Return the base64 of something that begins as a PNG image does."""
    head = base64.b64encode(b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00").decode()
    return head + chars(label, BASE64, length) + "=="


def _unpadded(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")
