"""A memory, its vocabulary, and when two memories are the same.

An :class:`Engram` that exists is valid; two texts are the same exactly if :func:`fold` returns the
same string; a :func:`slug` is a file name on every system and cannot leave its folder. No I/O, no
clock.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import KW_ONLY, dataclass
from datetime import date
from functools import lru_cache
from typing import Final, Literal, get_args

from engramdown.errors import InvalidEngramError

Kind = Literal["always", "never", "when", "lesson", "profile"]
Scope = Literal["global", "project"]
Confidence = Literal["high", "medium", "low"]
Source = Literal["user", "consolidation", "llm"]
Basis = Literal["told", "observed", "inferred", "verified"]

KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
RULE_KINDS: Final[tuple[Kind, ...]] = ("always", "never", "when")
SCOPES: Final[tuple[Scope, ...]] = get_args(Scope)
# From the strongest to the weakest.
CONFIDENCES: Final[tuple[Confidence, ...]] = get_args(Confidence)
# From the strongest to the weakest.
SOURCES: Final[tuple[Source, ...]] = get_args(Source)
BASES: Final[tuple[Basis, ...]] = get_args(Basis)
# The fields that hold one of a few words.
_CHOICES: Final[dict[str, tuple[str, ...]]] = {
    "kind": KINDS,
    "scope": SCOPES,
    "confidence": CONFIDENCES,
    "source": SOURCES,
    "basis": BASES,
    "via": ("", "tool", "web", "assistant"),
}

# Devices that Windows opens instead of a file, with any extension (Microsoft, "Naming Files").
_RESERVED: Final = frozenset(
    ["con", "prn", "aux", "nul", "conin$", "conout$"]
    + [f"{device}{digit}" for device in ("com", "lpt") for digit in "0123456789¹²³"]
)
# The ends of sentences and clauses; not "#" or "%", or C# would be C and 50% would be 50.
_SENTENCE_ENDS: Final = frozenset(
    " .,;:!?\u2026\u3002\uff0e\uff01\uff1f\uff1b\uff1a\u3001\uff0c\u061f\u061b\u06d4\u0964"
)
_SLUG_BYTES: Final = 120
_KEY_LENGTH: Final = 40


@dataclass(frozen=True, slots=True)
class Engram:
    """One memory on its way into a store.

    Attributes:
        text: The text, with at least one character that is not white space.
        kind: ``always``, ``never`` and ``when`` are rules, a ``lesson`` is something learned, a
            ``profile`` a fact about the user.
        scope: ``project`` or ``global``. A profile fact is always kept globally.
        confidence: How sure the source is.
        topic: Groups lessons; any words, filed under their :func:`slug`.
        source: Who says it: the ``user``, a ``consolidation`` job, or the model (``llm``).
        basis: How it is known; ``told`` when the source is the user, else ``inferred``.
        origin: Where it was learned, ``<session>#<episode>``.
        via: The channel, if it did not come from the conversation: ``tool`` or ``web``;
            ``assistant`` if an assistant passes on what it takes for the user's word.
        cites: The lines of the project's files that it is about, ``src/a.py#L10-20``, with commas
            between several; a digest of them is added when it is remembered.
        expires: The last day on which it holds, ``YYYY-MM-DD``, or ``""``.
        ts: The day on which it was learned; the day on which it is written unless given.
        unsaid: Whether its source does not contain its words, so that a person decides.
        unsure: Whether it may have been meant for one occasion only, so that a person decides.

    Raises:
        InvalidEngramError: A ``ValueError`` that names the field and what is allowed.

    >>> Engram("Use uv, never pip", kind="always", scope="project").basis
    'inferred'
    """

    text: str
    kind: Kind
    scope: Scope
    confidence: Confidence = "medium"
    topic: str = ""
    source: Source = "llm"
    _: KW_ONLY
    basis: Basis | Literal[""] = ""
    origin: str = ""
    via: Literal["", "tool", "web", "assistant"] = ""
    cites: str = ""
    expires: str = ""
    ts: str = ""
    unsaid: bool = False
    unsure: bool = False

    def __post_init__(self) -> None:
        """Refuse values that could not be stored and read back."""
        _check_text(self.text)
        if self.basis == "":
            object.__setattr__(self, "basis", "told" if self.source == "user" else "inferred")
        for field, allowed in _CHOICES.items():
            value = getattr(self, field)
            if value not in allowed:
                raise InvalidEngramError.not_one_of(field, value, filter(None, allowed))
        _check_encodable("origin", self.origin)
        _check_encodable("cites", self.cites)
        if self.topic != "":
            slug(self.topic)
        _check_date("expires", self.expires)
        _check_date("ts", self.ts)


def fold(text: str) -> str:
    """Return the form in which two texts are compared: the same memory has the same fold.

    Unicode NFC, case, white space and final punctuation make no difference. A text of nothing
    but punctuation is compared by all of it.

    >>> fold("Use  UV!") == fold("use uv")
    True
    """
    if not text.isascii():
        # Twice, because case folding can leave the normal form (U+0345, U+1E9E and friends).
        text = unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())
    words = " ".join(text.casefold().split())
    end = len(words)
    while end and words[end - 1] in _SENTENCE_ENDS:
        end -= 1
    return words[:end] or words


def slug(topic: str) -> str:
    """Return the name under which ``topic`` is filed: letters and digits of any script and ``-``.

    Raises:
        InvalidEngramError: If the topic is a path, holds control characters, is a name that some
            system reserves, has no letter or digit, or is longer than 120 bytes.

    >>> slug("API: CoinGecko"), slug("Straße nach Köln"), slug("日本語")
    ('api-coingecko', 'strasse-nach-köln', '日本語')
    """
    _check_encodable("topic", topic)
    if not topic.isprintable() or topic != topic.rstrip(". "):
        reason = f"{topic!r} holds control characters, or ends with a dot or a space"
        raise InvalidEngramError("topic", reason)
    if "/" in topic or "\\" in topic or ".." in topic or re.match(r"[A-Za-z]:\S", topic):
        raise InvalidEngramError("topic", f"{topic!r} looks like a path; use plain words")
    folded = unicodedata.normalize("NFC", unicodedata.normalize("NFC", topic).casefold())
    letters = "".join(char if unicodedata.category(char)[0] in "LMN" else "-" for char in folded)
    name = "-".join(part for part in letters.split("-") if part)
    if not name:
        raise InvalidEngramError("topic", f"{topic!r} has no letter or digit")
    if name in _RESERVED or folded.partition(".")[0].strip() in _RESERVED:
        raise InvalidEngramError("topic", f"{topic!r} is a device name on Windows")
    if len(name.encode()) > _SLUG_BYTES:
        raise InvalidEngramError.too_long("topic", topic, f"{_SLUG_BYTES} bytes")
    return name


@lru_cache(maxsize=4096)  # a new fact is compared with every known one
def fact_key(text: str) -> str:
    """Return the folded key of a keyed fact like ``Name: Ada``, or ``""``.

    A key is the text before the first ``": "`` (or before a colon that ends the line), on the first
    line, at most 40 characters.

    >>> fact_key("Name: Ada"), fact_key("See https://example.org"), fact_key("plain")
    ('name', '', '')
    """
    first = text.split("\n", 1)[0]
    key, colon, _ = first.partition(":") if first.endswith(":") else first.partition(": ")
    return fold(key) if colon and key.strip() and len(key) <= _KEY_LENGTH else ""


def pointers(*origins: str) -> str:
    """Return every pointer of ``origins`` once, separated by commas.

    >>> pointers("s1#1,s2#2", "", "s2#2,s3#4")
    's1#1,s2#2,s3#4'
    """
    every = (pointer for origin in origins for pointer in origin.split(","))
    return ",".join(dict.fromkeys(filter(None, every)))


def identity(engram: Engram) -> str:
    """Return the identity of a memory: its words, and whether they are forbidden."""
    return f"{'never' if engram.kind == 'never' else ''} {fold(engram.text)}"


def fingerprint(engram: Engram) -> str:
    """Return a digest of the :func:`identity` of a memory, for files that hold no text."""
    import hashlib

    return hashlib.blake2b(identity(engram).encode(), digest_size=16).hexdigest()


def _check_date(field: str, value: str) -> None:
    _check_encodable(field, value)
    if value == "":
        return
    try:
        # The day must exist, and be written as it is compared, as text.
        good = date.fromisoformat(value).isoformat() == value
    except ValueError:
        good = False
    if not good:
        raise InvalidEngramError(field, f"{value!r} is not a date like 2026-02-27")


def _check_text(text: object) -> None:
    if not isinstance(text, str):
        raise InvalidEngramError("text", f"{text!r} is not a string; give some words")
    if not text or text.isspace():
        raise InvalidEngramError("text", "is empty; give at least one character")
    _check_encodable("text", text)


def _check_encodable(field: str, value: object) -> None:
    if not isinstance(value, str):
        raise InvalidEngramError(field, f"{value!r} is not a string")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        at = error.start
        reason = f"character {at} is half of a surrogate pair or not UTF-8; pass whole characters"
        raise InvalidEngramError(field, reason) from None
