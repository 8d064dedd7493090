"""Finds secrets in prose: a login with its password, a key beside its id, a PIN in a sentence.

Words, names, versions and paths do not count, so it misses more than it hides wrongly. Pure; the
cost grows linearly with the text.

It knows the words for secrets, and the sentences that reveal one, in English, German, French,
Spanish, Italian, Portuguese and Dutch. The text has no accents any more: *contraseña* is
``contrasena``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from engramdown.lazy import compiled, patterns, texts
from engramdown.secrets.assignments import (
    Span,
    is_odd,
    is_opaque,
    is_public,
    is_random_key,
    is_reference,
    is_saying,
    looks_random,
    names_public,
)
from engramdown.secrets.prefilter import LikelyPattern, small

# The words and the sentences are in ``prose.txt``.
_TEXTS: Final = texts(__file__)
_pattern: Final = patterns(__file__)

# Without one of these, in small letters, :func:`find_login_passwords` finds nothing.
LOGINS: Final = tuple(_TEXTS["LOGINS"].split("|"))

# Without one of these, in small letters, :func:`find_aws_keys` finds nothing.
KEY_IDS: Final = ("akia", "asia")

_PATTERNS: Final = tuple(
    LikelyPattern(_TEXTS[f"LIKELY_{name}"], _TEXTS[name]) for name in ("BASIC", "PAIR", "PASSWORD")
)
# How far a key may be from its id, in characters.
_NEAR: Final = 200


def find_login_passwords(piece: str) -> Iterator[Span]:
    """Find the passwords in ``piece`` that follow a login, or the words "with the password".

    >>> list(find_login_passwords("log in as ann/" + "plum!77"))
    [(14, 21, 'password')]
    """
    lowered = small(piece)
    matches = [match for pattern in _PATTERNS for match in pattern.finditer(piece, lowered)]
    both = _pattern("WITH_BOTH")
    matches += [
        match
        for word in _TEXTS["BOTH"].split("|")
        for at in _places(lowered, word)
        if (match := both.match(piece, at))
    ]
    for match in matches:
        value = match[1].rstrip(".)]}?")
        convincing = _is_convincing("pass", value) and not _pattern("VERSIONED").match(value)
        if convincing or _is_strong(value):
            yield match.start(1), match.start(1) + len(value), "password"


def _places(lowered: str, word: str) -> Iterator[int]:
    """Yield the places of ``word``."""
    place = lowered.find(word)
    while place >= 0:
        yield place
        place = lowered.find(word, place + len(word))


def find_aws_keys(piece: str) -> Iterator[Span]:
    """Find the secret keys of AWS near the id of one."""
    for found in _pattern("KEY_ID").finditer(piece):
        start, end = max(0, found.start() - _NEAR), min(len(piece), found.end() + _NEAR)
        for match in _pattern("KEY").finditer(piece, start, end):
            if looks_random(match[0], len(match[0])):
                yield *match.span(), "AWS secret key"


def _is_strong(value: str) -> bool:
    """Whether a value is a password in any context; a word may only describe one."""
    named = is_reference(value) or not compiled(r"[A-Za-z]").search(value)
    return not named and bool(_pattern("STRONG").search(value))


# ---- sentences in seven languages ----


class _Noun(NamedTuple):
    """A name for a secret, in small letters and without accents.

    Attributes:
        word: The beginning of all of its forms.
        form: A pattern of its forms.
        family: ``password``, ``pass``, ``phrase``, ``pin``, ``token`` or ``key``.
        compound: Whether it may be the end of a longer word, as in Datenbankpasswort.
    """

    word: str
    form: str
    family: str
    compound: bool = False


def _read_nouns() -> Iterator[_Noun]:
    """Yield the names for secrets, which ``prose.txt`` has by family."""
    yield _Noun(" ww ", " ww(?= )", "password")
    for head, rows in _TEXTS.items():
        for row in rows.split("; ") if head.islower() else ():
            word, _, form = row.partition(" = ")
            yield _Noun(word, form or word, head.rstrip("+"), compound=head.endswith("+"))


_NOUNS: Final = tuple(_read_nouns())
_BEGINNINGS: Final = {noun.word for noun in _NOUNS}
# Without one of these, in small letters, :func:`find_in_prose` finds nothing.
NOUNS: Final = tuple(
    sorted(word for word in _BEGINNINGS if not any(one in word for one in _BEGINNINGS - {word}))
)

_WITH_WORD: Final = {word: [noun for noun in _NOUNS if word in noun.word] for word in NOUNS}
_KINDS: Final = {"login": "password", "pass": "password", "phrase": "password", "pin": "PIN"}


def find_in_prose(piece: str) -> Iterator[Span]:
    """Find the passwords, numbers, tokens and keys that sentences of ``piece`` reveal.

    >>> list(find_in_prose("Das Passwort lautet " + "Apfel77."))
    [(20, 27, 'password')]
    """
    lowered = small(piece)
    spans: dict[Span, None] = {}
    # A noun with two such words is searched twice, and found once.
    nouns = [noun for word in NOUNS if word in lowered for noun in _WITH_WORD[word]]
    for noun in nouns:
        for place in _places(lowered, noun.word):
            if not (match := compiled(noun.form + r"(?![\w-])").match(lowered, place)):
                continue
            before = compiled(r"[a-z0-9_-]{1,40}\Z").search(lowered, max(0, place - 40), place)
            is_public_key = noun.family == "key" and names_public(
                lowered[max(0, place - 20) : place]
            )
            is_part = before and not (noun.family == "pin" and before[0].endswith("-"))
            if (noun.compound or not is_part) and not is_public_key:
                start = before.start() if before else place
                mention = _Mention(piece, lowered, noun.family, start, match.end())
                kind = _KINDS.get(noun.family, noun.family)
                spans |= dict.fromkeys((*span, kind) for span in _values(mention))
    yield from spans


class _Mention(NamedTuple):
    """A place where a secret is named.

    Attributes:
        text: The text.
        lowered: The text in small letters.
        family: The family of the name.
        start: Where the name begins.
        end: Where the name ends.
    """

    text: str
    lowered: str
    family: str
    start: int
    end: int

    def name(self) -> str:
        """Return the name as the text has it."""
        return self.text[self.start : self.end]

    def before(self) -> str:
        """Return the text in front of the name on its line, in small letters."""
        near = self.lowered[max(0, self.start - _NEAR) : self.start]
        return near[near.rfind("\n") + 1 :]

    def behind(self) -> str:
        """Return the text behind the name on its line, in small letters."""
        return self.lowered[self.end : self.end + _NEAR].partition("\n")[0]


# ---- values in a sentence ----


class _Value(NamedTuple):
    """A value in a sentence.

    Attributes:
        text: The value, without final punctuation.
        start: Where it begins.
        quoted: Whether it is quoted.
    """

    text: str
    start: int
    quoted: bool

    @property
    def span(self) -> tuple[int, int]:
        """Where it begins and ends."""
        return self.start, self.start + len(self.text)


def _values(mention: _Mention) -> Iterator[tuple[int, int]]:
    """Yield the spans of the values that belong to a name."""
    if mention.family != "login":
        yield from _next(mention)
    line = f"{mention.before()} {mention.behind()}"
    # What is called a pin may also hold a wire, or a version.
    if mention.family == "pin" and mention.name() not in ("pin", "Pin"):
        beside = _pattern("BESIDE").match(mention.text, mention.end)
        yield from [beside.span(1)] if beside else []
    if mention.family == "pin" or (mention.family != "key" and _pattern("HINT").search(line)):
        if mention.family not in {"pin", "login"}:
            yield from _framed(mention)
        if mention.family != "token":
            yield from _near(mention)


def _next(mention: _Mention) -> Iterator[tuple[int, int]]:
    """Yield the span of the value next to the name, if there is one."""
    gives = _pattern("GIVES").match(mention.lowered, mention.end)
    if gives and "|" in gives[0] and _pattern("COMMAND").search(mention.before()):
        return
    if gives:
        value = _value(mention.text, gives.end())
        if value and _is_given(mention, value, gives[0]):
            yield value.span
        elif value is None and (below := _pattern("BELOW").match(mention.text, gives.end())):
            if _is_convincing(mention.family, below[1]):
                yield below.span(1)
        elif mention.family == "phrase":
            # A phrase may go on to the end of its line or sentence.
            phrase = _pattern("PHRASE").match(mention.text, gives.end())
            if phrase and _is_phrase(phrase[1]):
                yield phrase.span(1)
    elif mention.family in {"pass", "password", "token"}:
        value = _before_or_behind(mention)
        if value and _is_convincing(mention.family, value.text):
            yield value.span


_AFTER: Final = (
    ("FROM_TO", "CHANGE"),
    ("INSTEAD", "CHANGE"),
    ("KNOWN_ALREADY", "KNOWN"),
    ("THEN_ENTERED", "ASKED"),
    ("THEN_SET", "ASKED"),
)
_CALLING: Final = 24


def _framed(mention: _Mention) -> Iterator[tuple[int, int]]:
    """Yield the spans of the values that a whole sentence connects with the name."""
    before, behind = mention.before(), mention.behind()
    if _pattern("WITHOUT").search(before):
        return
    names = ("ENTERED", "USED_AND_SAID") if _pattern("END").match(behind) else ("ENTERED",)
    in_front = [_pattern(name).search(before) for name in names]
    matches = [(match, mention.start - len(before)) for match in in_front if match]
    for name, cue in _AFTER:
        if match := _pattern(name).match(behind):
            near = behind if name == "FROM_TO" else behind[: match.start(1)]
            if _pattern(cue).search(f"{before}\0{near}"):
                matches.append((match, mention.end))
    matches += [(match, mention.end) for match in _pattern("ONCE").finditer(behind)]
    for match, at in matches:
        for group in range(1, match.re.groups + 1):
            first = at + match.start(group)
            text = mention.text[first : first + len(match[group])].rstrip(".,;:)]}")
            product = _pattern("PRODUCT").match(text)
            if not (_is_called(mention, first) or product) and _is_convincing(mention.family, text):
                yield first, first + len(text)


def _is_called(mention: _Mention, start: int) -> bool:
    """Whether the value that begins at ``start`` is the name of something else."""
    return bool(_pattern("CALLED").search(mention.lowered, max(0, start - _CALLING), start))


def _before_or_behind(mention: _Mention) -> _Value | None:
    """Return the value that is, or became, the password, or that somebody logs in with."""
    before = mention.before()
    match = _pattern("AS").search(before)
    if match and _pattern("AND_NO_MORE").match(mention.lowered, mention.end):
        start = mention.start - len(before) + match.start(1)
        return _Value(mention.text[start : start + len(match[1])], start, quoted=False)
    changed = _pattern("CHANGE").search(before + mention.behind())
    if changed and (to := _pattern("TO").match(mention.lowered, mention.end)):
        return _value(mention.text, to.end())
    value = _value(mention.text, mention.end + 1)
    if value and _pattern("SURE").match(value.text) and any(map(str.isdigit, value.text)):
        return value
    return value if changed or _pattern("WITH").search(before) else None


def _value(text: str, at: int) -> _Value | None:
    match = _pattern("GIVEN").match(text, at)
    if not match:
        return None
    if match["quoted"]:
        return _Value(match["quoted"], match.start("quoted"), quoted=True)
    bare = _pattern("NEXT_NAME").split(match["bare"], 1)[0]
    return _Value(bare.rstrip(".,;:)]}"), match.start("bare"), quoted=False)


# ---- sentences near the name ----


def _near(mention: _Mention) -> Iterator[tuple[int, int]]:
    """Yield the spans of the values in a clause near the name: about *it*, or its spelling."""
    before, behind = mention.before(), mention.behind()
    first = mention.start - len(before)
    line = f"{before}{mention.name()}{behind}"
    matches = [(mention.end, match) for match in _pattern("ANAPHOR").finditer(behind)]
    matches += [(mention.end, match) for match in _pattern("ALIKE").finditer(behind)]
    if _pattern("MEANING").match(behind):
        matches += [(first, match) for match in _pattern("APPENDED").finditer(before)]
    if mention.family != "pin":
        if _pattern("SPELT").search(line) and not _pattern("RULES").search(line):
            matches += [(first, match) for match in _pattern("NEW_WORD").finditer(line)]
        given = mention.text[first : first + len(line)]
        matches += [(first, match) for match in _pattern("UNLIKE_WORDS").finditer(given)]
    for at, match in matches:
        start = at + match.start(1)
        text = mention.text[start : at + match.end(1)].rstrip(".,;:)]}")
        if mention.family == "pin":
            fits = bool(_pattern("NUMBER").match(text))
        else:
            named = _pattern("PRODUCT").match(text) or _pattern("TICKET").match(text)
            fits = not named and _is_convincing(mention.family, text)
        if fits and not _is_called(mention, start):
            yield start, start + len(text)


# ---- whether a value is a secret ----


_SHORT: Final = 6
_TALK_IN_WORDS: Final = frozenset(_TEXTS["TALK_IN_WORDS"].split("|"))


def _is_given(mention: _Mention, value: _Value, gives: str) -> bool:
    """Whether a value right behind its name is a secret."""
    text = value.text
    match mention.family:
        case "password" | "phrase":
            return _is_password(mention, value, gives)
        case "pin":
            return bool(_pattern("NUMBER").match(text))
        case "key":
            return not is_public(text) and is_random_key(text, gives)
        case "pass" if "=" in gives:
            return False
    return _is_convincing(mention.family, text)


def _is_password(mention: _Mention, value: _Value, gives: str) -> bool:
    text = value.text
    if " " in text:
        phrase = mention.family == "phrase" or mention.name().startswith("parola")
        return phrase and (_is_phrase(text) or (value.quoted and text.count(" ") > 1))
    if text.isdigit():
        return len(text) >= _SHORT
    if "=" not in gives and _pattern("DOTTED").match(text):
        return True
    made = _is_chosen(text) or _is_word(mention, value, gives)
    return made and not is_reference(text)


def _is_chosen(text: str) -> bool:
    """Whether ``text`` looks like a password, and not like a product, a path or an address."""
    core = text.rstrip("!?")
    if len(core) < _SHORT or _pattern("TALK").match(core):
        return False
    return bool(_pattern("CHOSEN").search(core)) or is_odd(core)


def _is_convincing(family: str, text: str) -> bool:
    if family == "token":
        return is_opaque(text) and not is_public(text) and not is_reference(text)
    if not _is_chosen(text) or (is_reference(text) and not _pattern("DOTTED").match(text)):
        return False
    digit = any(map(str.isdigit, text))
    return _is_strong(text) or (digit and any(map(str.isupper, text)))


def _is_word(mention: _Mention, value: _Value, gives: str) -> bool:
    """Whether a plain word is the password: it is quoted, or somebody's own."""
    text, end = value.text, value.start + len(value.text)
    if not text.isalpha() or len(text) < _SHORT or is_saying(text):
        return False
    if value.quoted:
        return gives.endswith(" ") and "=" not in gives and "|" not in gives
    if not compiled(r"(?:\Z|[.,;!\n])").match(mention.text, end) or not text[0].isupper():
        return False
    return "lautet" in gives or bool(_pattern("OWN").search(mention.before()))


def _is_phrase(text: str) -> bool:
    # In German a noun may end so, and has a capital: Hering.
    words = text.split()
    said = any(word.lower() in _TALK_IN_WORDS for word in words)
    talk = said or any(word.endswith(("ed", "ing")) and word.islower() for word in words)
    return text.count(" ") > 1 and not talk
