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

from engramdown.lazy import compiled
from engramdown.secrets.prefilter import LikelyPattern, small

# The start, the end and the kind of a secret.
Span = tuple[int, int, str]


# Without one of these, in small letters, :func:`find_named` finds nothing.
NAMES: Final = (
    *("auth", "bearer", "cookie", "credential", "dsn", "identified by", "key", "pass", "psk", "pw"),
    *("salt", "secret", "session", "signature", "token"),
)


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
                    rest = next(compiled(_BARE + "*+").finditer(piece, end))
                    end = at + len(piece[at : rest.end()].rstrip(_AFTER[False]))
                is_key = given.family != "password" and "key" in (given.name + given.sign).lower()
                yield at, end, "key" if is_key else given.family
                at = end


def is_placeholder(value: str) -> bool:
    """Whether ``value`` is a placeholder for a secret: ``<key>``, ``${KEY}``, ``your-key``.

    >>> is_placeholder("sk-your-key-here"), is_placeholder("xxxxxxxx"), is_placeholder("a8Kq0Zw")
    (True, True, False)
    """
    return bool(compiled(_PLACEHOLDER).search(value.lower()))


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
    return bool(compiled(_PUBLIC).match(value)) or decoded(value).startswith(("{", "["))


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
    known = compiled(_REFERENCE).match(value) or compiled(_TECHNICAL).match(value)
    return bool(known) or is_placeholder(value) or _is_name(value)


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(re.findall(r"\w+", text))


# ---- values behind a name ----

_NAME: Final = (
    r"(?:(?P<password>(?i:passw(?:or)?d|passwort|passphrase|passcode|pwd|identified by)"
    # "pass" and "pw" are words of their own: only where something is assigned to them.
    r"|(?<![A-Za-z])(?:(?i:psk|pass|pw)(?=[\"']?[ \t]{0,4}=|[\"']:)|(?:pass|pw)(?=:))"
    r"|(?i:[_-]pass)(?=[\"'\]]{0,2}[ \t]{0,4}[:=]))|(?P<secret>(?i:secret))|(?P<token>(?i:token"
    r"|credentials?|(?:access|account|admin|api|app|auth|encrypt(?:ion)?|hmac|jwt|licen[cs]e|master"
    r"|private|service|shared|signing|storage|webhook)[ _-]?key))|(?P<key>(?<![A-Za-z])(?i:key|auth"
    r"|cookie|dsn|salt|signature|session|bearer)|(?i:[_-])(?i:key|cookie|salt|auth)"
    r"|(?<=[a-z])(?:Key|Cookie|Salt)))"
)
_SUFFIX: Final = (
    r"(?i:[_-]?(?:base|b64|base64|dev|hex|key|live|prod|production|staging|test|value"
    r"|[0-9]{1,2})){0,2}"
)
_CLOSED: Final = r"(?:\\?[\"'`\]]){0,2}"
_TYPED: Final = r"(?:[ \t]{0,3}:[ \t]{0,3}[A-Za-z_.\[\]|? ]{2,30}?(?=[ \t]{0,3}=[^=]))?"
_SIGN: Final = (
    r"(?:[ \t]{0,20}(?::=|=>|->|={1,3}|:)[ \t]{0,20}|\((?=[\"'])|,[ \t]{0,3}(?=[\"'])"
    r"|[ \t]{1,3}(?=[\"'`]))"
)
# A comma, a semicolon or an ampersand belongs to a value unless another name comes after it.
_BARE: Final = r"(?:[^\s\"'`<>,;&]|[,;&](?!\s|\Z|[\w. -]{1,40}[=:]))"
_VALUE: Final = (
    r"(?:[bfru]{1,2}(?=[\"']))?\\?(?:\"(?P<double>[^\"\n]{1,300}+)\"|'(?P<single>[^'\n]{1,300}+)'"
    rf"|`(?P<tick>[^`\n]{{1,300}}+)`|[\"'`]?(?P<bare>{_BARE}{{1,80}}+))"
)
_ASSIGNED: Final = _NAME + _SUFFIX + _CLOSED + _TYPED + _SIGN + _VALUE
_SPOKEN: Final = (
    r"\b(?:(?P<password>(?i:password|passwd|passphrase|passcode))"
    r"|(?P<token>(?i:secret|token|(?:access|api|licen[cs]e|secret)[ -]key))|(?P<key>(?i:key)))"
    r"(?:[ \t](?:at|for|in|of|on|to)(?:[ \t][^\s:=]{1,30}){1,5}?)?"
    r"(?:[ \t](?:(?:(?:got|has been|is|was)[ \t](?:now[ \t])?)?(?:changed|reset|set)[ \t]to|is|was)"
    r"(?:[ \t](?:currently|just|now|simply|still))?:?|[ \t]?[:=])[ \t]{1,3}" + _VALUE
)
_OPTION: Final = (
    r"(?<!\S)--(?:[a-z]{1,15}-){0,3}(?:(?P<password>pass(?:word|wd|phrase)?)|(?P<token>secret|token"
    r"|(?:access|api)-?key))[ \t]{1,3}" + _VALUE
)
_ELEMENT: Final = (
    r"<[\w.:-]{0,30}?(?:(?P<password>(?i:passw(?:or)?d|pwd))"
    r"|(?P<token>(?i:secret|token|api-?key)))>(?P<double>[^<>\s]{1,300}+)</"
)
# Likely assignments, in small letters.
_LIKELY: Final = (
    r"(?:pass(?:w(?:or)?d|wort|phrase|code)?|psk|pwd?|identified by|secret|token|credentials?|key"
    r"|auth|cookie|dsn|salt|signature|session|bearer)"
    + (_SUFFIX + _CLOSED).replace("(?i:", "(?:")
    + r"(?:[ \t]{0,20}(?:[:=\"'`]|->)|\([\"']|,[ \t]{0,3}[\"'])"
)
_LIKELY_SPOKEN: Final = (
    r"(?:passw(?:or)?d|passphrase|passcode|secret|token|key)"
    r"(?:[ \t](?:at|for|in|of|on|to|got|has|is|was|changed|reset|set)[ \t:]|[ \t]?[:=][ \t])"
)
# Words that may begin a name with "key" and others.
_BEFORE: Final = (
    r"(?:[_-]|(?:access|account|admin|api|app|auth|encrypt(?:ion)?|hmac|jwt|licen[cs]e|master|private|secret"
    r"|service|shared|signing|storage|webhook)[ _-]?)\Z"
)
_LIKELY_ELEMENT: Final = r"<[\w.:-]{0,30}?(?:passw(?:or)?d|pwd|secret|token|api-?key)>"
_PATTERNS: Final = (
    LikelyPattern(_LIKELY, _ASSIGNED, _BEFORE),
    LikelyPattern(_LIKELY_SPOKEN, _SPOKEN, _BEFORE),
    LikelyPattern(r"--[a-z-]{0,60}(?:pass|secret|token|key)", _OPTION),
    LikelyPattern(_LIKELY_ELEMENT, _ELEMENT),
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


# Names of functions that fetch something: get_db_, findUser.
_FETCHING: Final = 40
_FETCHES: Final = (
    r"(?:keyring\.|(?<![A-Za-z])(?i:ask|delete|describe|fetch|find|get|has|have|list|load|look_?up|need"
    r"|obtain|prompt|pull|query|read|remove|request|require|resolve|retrieve|select)"
    r"|(?<=[a-z])(?:Ask|Delete|Describe|Fetch|Find|Get|Has|List|Load|Look[Uu]p|Obtain|Prompt|Pull"
    r"|Query|Read|Remove|Request|Require|Resolve|Retrieve))[A-Za-z0-9_]{0,20}\Z"
)


# Punctuation behind a value, by whether it is quoted.
_AFTER: Final = {True: "\\", False: ".,;:)]}"}


def _given(match: re.Match[str]) -> _Given:
    group = match.lastgroup or ""  # the value is the last thing that has a name
    names = match.re.groupindex
    family = next(name for name in _FAMILIES if name in names and match.start(names[name]) >= 0)
    quoted = group != "bare"
    return _Given(family, quoted, match[group].rstrip(_AFTER[quoted]), match.start(group), match)


# ---- the looks of a value ----

_PLACEHOLDER: Final = (
    r"\.\.\.|\u2026|<[^<>]{1,60}>|\$\{|\$\(|\{\{|^\{\w{0,40}\}|^\$[a-z_]\w*+(?![!#^*~]\S)|^%[a-z_(]"
    r"|x{4}|[*#\u2022_]{4}|0{8}|change[_-]?(?:me|it|this)|dummy|example|place-?holder|redacted"
    r"|replace|sample|your(?:api|key|pass|secret|token)|^(?:[a-z]+[_-])*(?:hier|ici|aqui"
    r"|qui)(?:[_-][a-z]+)*$|(?<![a-z0-9])(?:fake|here|insert|my|paste|todo|your?)(?![a-z0-9])"
)
# A publishable key of Stripe or PostHog, the account of Twilio, an address by content (IPFS), a
# public key of SSH, age or minisign.
_PUBLIC: Final = (
    r"sha(?:256|384|512)-|pk_(?:live|test)_|phc_|AC[0-9a-f]{32}\Z|Qm[1-9A-HJ-NP-Za-km-z]{44}(?![A-Za-z0-9])"
    r"|baf[ky][a-z2-7]{50,}|BAF[KY][A-Z2-7]{50,}|z[bd][1-9A-HJ-NP-Za-km-z]{40,}|k51[a-z0-9]{50,}"
    r"|6L[A-Za-z0-9_-]{38}\Z|12D3Koo|AAAA[BCE][23]|age1[a-z0-9]{50,}"
)
# Code, a URL, a tag of YAML, the address of a secret.
_REFERENCE: Final = (
    r"[a-z][a-z0-9+.-]{1,20}://|(?:arn|env|file|op|vault|sha\d{1,3}):|[A-Za-z]:\\|[{(\[]|![A-Za-z]\w*\Z"
    r"|[A-Za-z_]\w*+(?:(?:\.|::|->|\?\.)[A-Za-z_]\w*+)*+[(\[]"
    r"|[A-Za-z_]\w*+(?:(?:\.|::|->|\?\.)[A-Za-z_]\w*+)++\Z"
)
# A path, a name like SHA256-hashed, a version, a date, a number with a unit.
_TECHNICAL: Final = (
    r"(?:~|\.{1,2}|/[A-Za-z][a-z]{1,11})(?:/|\Z)|(?i:(?:b2|ck|md5|sha[0-9]{1,3})(?:sum|crypt"
    r"|deep)\Z|(?:aes|argon|base|bcrypt|blake|curve|ec|ed|es|hmac|hs|http|ipv|iso|k|md|oauth|pbkdf"
    r"|ps|py|python|rsa?|s|sha|tls|u?int|utf|v|version|x)[-_]?[0-9]{1,4}[a-z]{0,2}(?![a-z0-9!#$%&*+"
    r"=?@^~|])|v?[0-9]+(?:[.:/_-][0-9]+)+[a-z]{0,3}\Z|[0-9.,]{1,12}[a-z%]{0,3}\Z)"
)
# Eight letters and digits that are not a word with a number: a8kq0zw2, not plum2024.
_OPAQUE: Final = (
    r"(?<![A-Za-z0-9])(?=(?:[A-Za-z]*+[0-9]){2})(?=[0-9]*+[A-Za-z])"
    r"(?!(?:[A-Za-z]++[0-9]{1,4}|[0-9]{1,4}+[A-Za-z]++)(?![A-Za-z0-9]))[A-Za-z0-9]{8}"
)
_WORDS: Final = word_set(
    """
    access account api app auth bar basic bearer bool boolean bytes char client confirm current db
    de default empty env false field foo form hash hashed hidden input key keys label login mot
    name new nil none null number old optional option param pass passe passphrase passwd password
    passwords passwort plain pw pwd raw required reset secret secrets senha str string test text
    the token tokens true type undefined user username value var
    """
)
# Single words with which people describe a password.
_SAYINGS: Final = word_set(
    """
    classified complex complicated confidential correct different difficult embarrassing empty
    identical incorrect insecure invalid memorable missing optional personal private public random
    secret secure sensitive simple static strong temporary terrible unavailable unique unknown
    unsafe useless visible
    """
)
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
    if "(" in given.sign and compiled(_FETCHES).search(given.before(_FETCHING)):
        return False
    before = given.before(_PUBLIC_NAME)
    is_shown = given.family != "password" and (names_public(before) or is_public(value))
    if is_shown or (not given.quoted and compiled(_REFERENCE).match(value)):
        return False
    if not value.isdigit() and compiled(_TECHNICAL).match(value):
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
    coded = is_told and compiled(_HEXADECIMAL).fullmatch(value)
    return bool(coded) or looks_random(value, _LEAST["key"])


# Also behind words that say whose it is.
_HEXADECIMAL: Final = (
    r"(?:[A-Za-z]{1,12}[_-]){0,3}(?=[a-f]{0,31}[0-9])(?=[0-9]{0,31}[a-f])[0-9a-f]{32,128}"
)


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
    return bool(compiled(_OPAQUE).search(value)) or looks_random(value, 16, digits=0)


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


_OWN: Final = r"(?i:\b(?:her|his|my|our|their|your)(?:\s\S{1,20}){0,3}\s)\Z"


def _is_told(given: _Given) -> bool:
    """Whether the last word of a sentence is somebody's own password."""
    text, end = given.match.string, given.start + len(given.value)
    before = text[max(0, given.match.start() - 80) : given.match.start()]
    return bool(
        re.search(r"(?:\b(?:is|was)|[:=])\W*\Z", given.sign)
        and compiled(_OWN).search(before)
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
