"""Finds secrets in a text and hides them.

A finding is a place and a kind, never the value. Hiding twice changes nothing, and a hidden secret
is not found again. Pure; the cost grows linearly with any text. Only known kinds of secret are
found.

A token of a known shape (``ghp_…``) counts by its shape. The value of an assignment
(``password = …``) counts by its looks: references, placeholders, names and words do not. A random
token on its own counts if it is long and mixes capitals, small letters and digits, and is not a
picture, digest, certificate or part of a URL. In a binary file only known shapes count: too much of
the rest would be chance.

A text is searched as it is and as it reads: without accents and invisible characters, with letters
in their plain form. A token that is wrapped over two lines is joined, and base64 is decoded.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from sys import maxsize
from typing import Final, NamedTuple

from engramdown.lazy import compiled, texts
from engramdown.secrets import prose
from engramdown.secrets.assignments import (
    NAMES,
    Span,
    decoded,
    find_named,
    is_placeholder,
    is_public,
    is_reference,
    looks_random,
)
from engramdown.secrets.prefilter import Reading, runs

# ---- tokens without a name ----


def find_random(piece: str) -> Iterator[Span]:
    """Find the long tokens that look random and are not a picture, a digest or part of a URL.

    >>> list(find_random("try " + "k9Qz2XwV7bLm4RtY8sNc" + "J3hGf6DpA1uE5oZi"))
    [(4, 40, 'random token')]
    """
    for start, end in runs(piece, "_-", _LEAST):
        for match in compiled(_ALONE).finditer(piece, start, end + _SEEN_LONE):
            value = match[1]
            looks = looks_random(value, _LEAST) and any(
                looks_random(part, 10) for part in re.split("[_-]", value)
            )
            if looks and not _is_known_blob(piece, *match.span(1)):
                yield *match.span(1), "random token"


_LEAST: Final = 32
_SEEN_LONE: Final = 2  # characters behind a token that say where it ends


_ALONE: Final = (
    r"(?<![^\s\"'`(\[{<,;=|>:])([A-Za-z0-9_-]{32,256}+)(?=[\s\"'`)\]}>,;|&]|[.:!?](?:\s|\Z)|\Z)"
)
# The beginnings of base64 of a picture, a document, an archive, an SSH key or a certificate, and of
# names that are an address or a C++ function.
_KNOWN: Final = (
    r"_Z|iVBOR|R0lGOD|_9j_|UklGR|PHN2Z|JVBER|UEsDB|H4sI|AAAA|MII"
    r"|[13][1-9A-HJ-NP-Za-km-z]{25,34}\Z|Qm[1-9A-HJ-NP-Za-km-z]{44}\Z"
)
_LINE: Final = r"[ \t\"']{0,20}[A-Za-z0-9+/]{30,90}+={0,2}[ \t\"']{0,4}"
_BEFORE_BLOB: Final = (
    r"(?i:://|data:|base64|sha[0-9]{1,3}[-:=]|\bssh-|\bpublic[ _-]?key[\"':= ]{1,5})\S{0,300}\Z",
    # A public key in JSON.
    r"\"kty\"[^{}]{0,250}\"[nxy]\"[ \t]{0,4}:[ \t]{0,4}\"\Z",
    # One line of many in base64.
    _LINE + r"\n[ \t\"']{0,20}\Z",
)


def _is_known_blob(piece: str, start: int, end: int) -> bool:
    """Whether a random-looking token is a picture, a digest, or part of a URL or a key."""
    value = piece[start:end]
    if re.match(_KNOWN, value) or is_public(value) or decoded(value):
        return True
    before = piece[max(0, start - 300) : start]
    # A public key or a certificate: between its first and its last line.
    lines = piece[max(0, start - 8000) : start]
    return (
        any(compiled(pattern).search(before) for pattern in _BEFORE_BLOB)
        or bool(compiled(r"\n" + _LINE).match(piece, end))
        or lines.rfind("-----BEGIN ") > lines.rfind("-----END ")
    )


@dataclass(frozen=True, slots=True)
class Secret:
    """The place of a secret in a text.

    Attributes:
        kind: Its kind in plain words: ``GitHub token``.
        start: The offset of its first character.
        end: The offset after its last character.
    """

    kind: str
    start: int
    end: int


def find_secrets(text: str) -> list[Secret]:
    """Return the places of the secrets in ``text``, in order and without overlap.

    >>> find_secrets("psql postgres://ann:" + "plum-7" + "@db/shop")
    [Secret(kind='password in a URL', start=20, end=26)]
    """
    findings: list[Secret] = []
    marked = "[redacted: " in text
    marks = [match.span() for match in compiled(_MARK).finditer(text)] if marked else []
    pieces = [(*gap, 0) for gap in _gaps(marks, 0, len(text))]
    while pieces:
        start, end, turn = pieces.pop()
        spans = _merged(_ranked(text[start:end], _DEEP))
        if turn >= _TURNS:
            margin, length = _MARGIN << (turn - _TURNS), end - start
            spans = _merged(
                (max(0, s - margin), min(length, e + margin), k, 0) for s, e, k in spans
            )
        secrets = [Secret(kind, start + left, start + right) for left, right, kind in spans]
        findings += secrets
        if secrets:
            # The rest is searched again, as it will be when the hidden text is searched.
            gaps = _gaps([(secret.start, secret.end) for secret in secrets], start, end)
            pieces += [(*gap, turn + 1) for gap in gaps]
    return sorted(findings, key=lambda secret: secret.start)


def redact(text: str) -> str:
    """Return ``text`` with ``[redacted: <kind>]`` in the place of each secret.

    >>> redact("psql postgres://ann:" + "plum-7" + "@db/shop")
    'psql postgres://ann:[redacted: password in a URL]@db/shop'
    """
    parts: list[str] = []
    done = 0
    for secret in find_secrets(text):
        parts += [text[done : secret.start], f"[redacted: {secret.kind}]"]
        done = secret.end
    return "".join(parts) + text[done:]


def secret_in(data: bytes) -> str:
    """Return the kind of the first secret that a file holds, or ``""``.

    >>> secret_in(b"password = 'plum-7-pear'"), secret_in(bytes(99) + b"password = 'plum-7-pear'")
    ('password', '')
    """
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        secrets = find_secrets(data.decode("utf-16", "replace"))
    elif len(data) - len(data.translate(None, _CONTROLS)) <= max(_FEW, len(data) // 100):
        secrets = find_secrets(data.decode("utf-8", "replace"))
    else:
        words = b"\n".join(re.findall(rb"[\t\n\r -~]{8,}+", data)).decode("ascii")
        secrets = [secret for secret in find_secrets(words) if secret.kind in _SHAPED]
    return secrets[0].kind if secrets else ""


# A text has few of these, or one in a hundred, in any encoding; a packed file has one in ten.
_CONTROLS: Final = bytes({*range(32), 127} - {*b"\t\n\r\f\b\x1b"})
_FEW: Final = 16

# ---- pieces of a text ----

# A secret that shows only once another one is hidden is rare, a third one has never been seen.
# After this many turns more is hidden with each secret, twice as much every time, so that it ends.
_TURNS: Final = 4
_MARGIN: Final = 64
_MARK: Final = r"\[redacted: [A-Za-z ]{1,40}\]"


def _gaps(spans: Iterable[tuple[int, int]], start: int, end: int) -> list[tuple[int, int]]:
    """Return the parts of the text from ``start`` to ``end`` between ``spans``."""
    edges = [start, *(edge for span in spans for edge in span), end]
    pairs = zip(edges[::2], edges[1::2], strict=True)
    return [(left, right) for left, right in pairs if left < right]


# The start, the end and the kind of a secret, and the rule that found it.
_Ranked = tuple[int, int, str, int]

# How often base64 is decoded: twice, for text that was encoded twice.
_DEEP: Final = 2


def _ranked(piece: str, deep: int) -> list[_Ranked]:
    """Return the secrets in ``piece``, as it is and as it reads."""
    ranked = _as_it_stands(piece, deep)
    if reading := _reading(piece):
        for start, end, kind, rule in _as_it_stands(reading.text, deep):
            ranked.append((*reading.place(start, end), kind, rule))
    return ranked


def _as_it_stands(piece: str, deep: int) -> list[_Ranked]:
    lowered = piece.lower()
    rules = {rule for hint in _HINTS if hint in lowered for rule in _HINTS[hint]}
    words = "\n".join(piece[s:e].lower() for s, e in runs(piece, "_-=.:", _LONG_WORD))
    ranked: list[_Ranked] = []
    if words:
        rules.add(_TELLING)
        if any(hint in words for hint in _RULES[_PREFIXED].hints):
            rules.add(_PREFIXED)
        ranked += _encoded(piece, deep)
    ranked += [(*span, rule) for rule in rules for span in _RULES[rule].find(piece)]
    return ranked + list(_wrapped(piece, ranked))


def _merged(ranked: Iterable[_Ranked]) -> list[Span]:
    """Join the spans that overlap; the kind is that of the first rule in the table."""
    merged: list[_Ranked] = []
    for start, end, kind, rule in sorted(ranked):
        if merged and start < merged[-1][1]:
            first, last, other, other_rule = merged.pop()
            best, name = min((rule, kind), (other_rule, other))
            merged.append((first, max(last, end), name, best))
        else:
            merged.append((start, end, kind, rule))
    return [span[:3] for span in merged]


# ---- tokens of a known shape ----


class _Rule(NamedTuple):
    """A search, and the lower-case words without one of which it finds nothing."""

    hints: tuple[str, ...]
    find: Callable[[str], Iterable[Span]]


# Secrets without a hint in the whole text are in words of at least so many characters.
_LONG_WORD: Final = 22
# Services and shapes are in ``redaction.txt``.
_TEXTS: Final = texts(__file__)
_PREFIXES: Final = {
    prefix: kind
    for kind, prefixes in (each.split(": ") for each in _TEXTS["SERVICES"].split("; "))
    for prefix in prefixes.split(" ")
}

_START: Final = r"(?<![A-Za-z0-9])"
_END: Final = r"(?![A-Za-z0-9])"


def _read_shapes() -> Iterator[tuple[str, tuple[str, ...], str]]:
    """Yield the kind, the hints and the pattern of each shape."""
    for head, pattern in _TEXTS.items():
        kind, bracket, hints = head.removesuffix("]").partition(" [")
        if bracket:
            whole = pattern.replace(r"\<", _START).replace(r"\>", _END)
            yield kind, tuple(filter(None, hints.split(","))), whole


_SHAPES: Final = tuple(_read_shapes())
_SEEN: Final = 48

# Kinds that do not count by their shape alone, and those that do.
_NAMED: Final = {
    "authorization header",
    "bearer token",
    "password",
    "password in a URL",
    "signature",
}
_SHAPED: Final = {*_PREFIXES.values(), *(kind for kind, *_ in _SHAPES if kind not in _NAMED)}

# A longer value contains the word of some placeholder by chance.
_LONG: Final = 200


def _shape(kind: str, pattern: str) -> Callable[..., Iterable[Span]]:
    def find(piece: str, start: int = 0, end: int = maxsize) -> Iterable[Span]:
        for match in compiled(pattern).finditer(piece, start, end):
            group = match.re.groups
            value = match[group]
            if (len(value) > _LONG or not is_placeholder(value)) and not is_public(value):
                yield *match.span(group), kind

    return find


_UNHINTED: Final = tuple(_shape(kind, pattern) for kind, hints, pattern in _SHAPES if not hints)

# Ten characters with a digit among them, twenty without a word's end in between, or all of
# capitals, small letters and digits.
_OPAQUE: Final = (
    r"(?=[A-Za-z]{0,9}[0-9])[A-Za-z0-9]{10}|[A-Za-z0-9]{20}"
    r"|\A(?=[^A-Z]{0,40}[A-Z])(?=[^a-z]{0,40}[a-z])(?=[^0-9]{0,40}[0-9])"
)


def _prefixed(piece: str) -> Iterable[Span]:
    """Find words that begin like a token of a known service and go on without words."""
    starts = "|".join(re.escape(prefix) for prefix in _PREFIXES)
    for match in compiled(rf"{_START}({starts})([\w=-]{{20,}}+)").finditer(piece):
        if compiled(_OPAQUE).search(match[2]) and not is_placeholder(match[2]):
            yield *match.span(), _PREFIXES[match[1]]


def _telling(piece: str) -> Iterable[Span]:
    for start, end in runs(piece, "_-:.", _LEAST):
        for find in _UNHINTED:
            # Looking behind the run for its end may find a part of the next one.
            found = find(piece, start, end + _SEEN)
            yield from (span for span in found if span[0] < end)
    yield from find_random(piece)


# ---- base64 ----

_LEAST_ENCODED: Final = 24
_ENCODED: Final = r"[A-Za-z0-9+/_-]{24,}+"
_MORE_LINES: Final = r"(?:\r?\n[ \t]{0,40}[A-Za-z0-9+/_-]{4,}+)++"
_PART: Final = r"[A-Za-z0-9]{24,}+"


def _encoded(piece: str, deep: int) -> Iterator[_Ranked]:
    """Find the base64 of a text with a secret in it, on one line or on several."""
    if not deep:
        return
    joined = block = 0
    for first, last in runs(piece, "+/_-", _LEAST_ENCODED):
        for match in compiled(_ENCODED).finditer(piece, max(first, joined), last):
            start, end = match.span()
            # Lines that are not a text together are not joined again from the second one on.
            more = compiled(_MORE_LINES).match(piece, end) if start >= block else None
            block = more.end() if more else block
            if more and (kind := _kind_inside(piece[start : more.end()], deep)):
                joined = _padded(piece, more.end())
                yield start, joined, kind, _TELLING
            elif kind := _kind_inside(match[0], deep):
                yield start, _padded(piece, end), kind, _TELLING
            else:
                # A path may end in it.
                for part in compiled(_PART).finditer(piece, start, end):
                    if kind := _kind_inside(part[0], deep):
                        yield part.start(), _padded(piece, part.end()), kind, _TELLING


def _padded(piece: str, end: int) -> int:
    """Return the end of the padding of base64 that begins at ``end``."""
    return end + len(piece[end : end + 2]) - len(piece[end : end + 2].lstrip("="))


def _kind_inside(run: str, deep: int) -> str:
    """Return the kind of the secret in the text that ``run`` encodes, or ``""``."""
    text = decoded(run)
    kinds = [kind for _, _, kind in _merged(_ranked(text, deep - 1))] if text else []
    kind = next((kind for kind in kinds if kind != "random token"), "")
    return f"encoded {kind.removeprefix('encoded ')}" if kind else ""


# ---- wrapped tokens ----

# From one line to the next, or from one string to the next: a quote, a backslash or a plus, the
# end of the line as it is or as JSON writes it, and how a quote, a comment or a list goes on.
_GLUE: Final = (
    r"(?:(?:[\"'`][ \t]{0,8}[+.&]?)?[ \t]{0,8}\\?(?:\r?\n|(?:\\r)?\\n)[ \t]{0,40}(?://[ \t]{0,8}"
    r"|[>#+*|-]{1,2}[ \t]{0,8})?[\"'`]?|(?P<sign>[\"'])[ \t]{0,4}[+.][ \t]{0,4}(?P=sign))"
)
_REST: Final = r"(?P<rest>[A-Za-z0-9_+/.-]{3,200}={0,2})(?=[\s\"'`<>)\]},;\\]|\Z)"
_HEADS: Final = (
    *_PREFIXES,
    *("AKIA", "ASIA", "AIza", "SG.", "eyJ", "sk-", "sk_live_", "sk_test_", "rk_live_", "xapp-"),
    *(f"xox{letter}-" for letter in "abceoprs"),
)
# How long a token is that needs no second line, in characters.
_WHOLE: Final = {
    "AIza": 39,
    "github_pat_": 93,
    "glpat-": 26,
    "hf_": 37,
    "npm_": 40,
    **{f"gh{letter}_": 40 for letter in "oprsu"},
}
_WRAPPED_KINDS: Final = _SHAPED - {"private key", "AWS access key"} | {
    *("authorization header", "bearer token", "key", "random token", "secret", "token")
}
_LEAST_HEAD: Final = 12
_WORDY: Final = r"(?:[A-Z]?[a-z]*[0-9]{0,4}|[A-Z_-]+[0-9]{0,4}|[a-z]+(?:[-_/.][a-z]+)+)\Z"


def _wrapped(piece: str, found: list[_Ranked]) -> Iterator[_Ranked]:
    """Find the rest of a token behind the end of its line, and tokens that show only as a whole."""
    joined = ("+" in piece or ". " in piece) and ("'" in piece or '"' in piece)
    if not joined and "\n" not in piece and "\\n" not in piece:
        return
    known = {start for start, *_ in found}
    for start, end, kind, rule in found:
        if kind in _WRAPPED_KINDS and end - start >= _LEAST_HEAD:
            yield from ((*span, kind, rule) for span in _rests(piece, piece[start:end], end, known))
    heads = [re.escape(head) for head in _HEADS if head in piece]
    if not heads:
        return
    pattern = rf"{_START}(?P<head>(?:{'|'.join(heads)})[\w.=+/-]{{0,200}}+){_GLUE}{_REST}"
    for match in compiled(pattern).finditer(piece):
        if match.start() in known:
            continue
        head, rest, at = match["head"], match["rest"].rstrip("."), match.start("rest")
        for start, end, kind, rule in _as_it_stands(head + rest, 0):
            if start == 0 and end > len(head) and kind in _SHAPED:
                last = at + end - len(head)
                yield match.start(), match.end("head"), kind, rule
                yield at, last, kind, rule
                yield from ((*span, kind, rule) for span in _rests(piece, head + rest, last, known))


def _rests(piece: str, token: str, end: int, known: set[int]) -> Iterator[tuple[int, int]]:
    """Yield the spans of the rest of ``token`` on the next lines, up to a known secret."""
    if any(token.startswith(head) and len(token) >= _WHOLE[head] for head in _WHOLE):
        return
    while match := compiled(_GLUE + _REST).match(piece, end):
        rest = match["rest"].rstrip(".")
        end = match.start("rest") + len(rest)
        if match.start("rest") in known or not _goes_on(rest):
            return
        yield match.start("rest"), end


def _goes_on(rest: str) -> bool:
    """Whether a line begins with the rest of a token, not with a word, a name or a number."""
    if looks_random(rest, _LONG_WORD):
        return True
    if is_reference(rest) or is_public(rest) or not compiled(r"[A-Za-z]").search(rest):
        return False
    if compiled(_WORDY).match(rest):
        return rest.isalnum() and len(rest) >= _LEAST_HEAD
    return any(map(str.isdigit, rest)) or len(re.findall("[a-z][A-Z]", rest)) > 1


# ---- how a text reads ----

_UNSEEN: Final = frozenset("\u115f\u1160\u17b4\u17b5\u3164\uffa0")
_PLAINER: Final = {
    **dict.fromkeys("\u201c\u201d\u201e\u201f\u00ab\u00bb\u2039\u203a", '"'),
    **dict.fromkeys("\u2018\u2019\u201a\u201b", "'"),
    "\u00df": "ss",
    "\u00f8": "o",
    "\u0142": "l",
    "\u0131": "i",
    "\u2026": "\u2026",
}
_SEEN_SIGNS: Final = frozenset(map(chr, range(128)))
_COLOUR: Final = r"\x1b\[[0-9;?]{0,16}[A-Za-z]"


def _reading(piece: str) -> Reading | None:
    """Return ``piece`` as it reads, or None if that makes no difference."""
    if piece.isascii() and "\x1b" not in piece:
        return None
    plain = {sign: _plain(sign) for sign in set(piece) - _SEEN_SIGNS}
    plain = {sign: read for sign, read in plain.items() if read != sign}
    if not plain and "\x1b" not in piece:
        return None
    others = "".join(re.escape(sign) for sign, read in plain.items() if len(read) != 1)
    pattern = re.compile(f"{_COLOUR}|[{others}]" if others else _COLOUR)
    reading = Reading(piece).decoded(pattern, lambda sign: plain.get(sign, ""))
    # A character for a character leaves all of them in their places, and takes no time.
    table = {ord(sign): read for sign, read in plain.items() if len(read) == 1}
    reading.text = reading.text.translate(table)
    return reading


@lru_cache(maxsize=4096)
def _plain(sign: str) -> str:
    """Return how a character reads: its plain form without accents, or nothing."""
    import unicodedata

    if sign in _PLAINER:
        return _PLAINER[sign]
    if sign in _UNSEEN or unicodedata.category(sign) in {"Cf", "Me", "Mn"}:
        return ""
    forms = unicodedata.normalize("NFKD", sign)
    plain = "".join(one for one in forms if not unicodedata.combining(one))
    return plain if plain.isascii() else sign


# In the order in which they name a secret that several of them find.
_RULES: Final = (
    _Rule(tuple(prefix.lower() for prefix in _PREFIXES), _prefixed),
    *(_Rule(hints, _shape(kind, pattern)) for kind, hints, pattern in _SHAPES if hints),
    _Rule(prose.KEY_IDS, prose.find_aws_keys),
    _Rule(NAMES, find_named),
    _Rule(prose.LOGINS, prose.find_login_passwords),
    _Rule(prose.NOUNS, prose.find_in_prose),
    _Rule((), _telling),
)
_PREFIXED: Final = 0
_TELLING: Final = len(_RULES) - 1
_HINTS: Final = {
    hint: {at for at, rule in enumerate(_RULES) if hint in rule.hints}
    for rule in _RULES[_PREFIXED + 1 :]
    for hint in rule.hints
}
