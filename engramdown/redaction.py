"""Finds secrets in a text and hides them.

Promises: what is found is a place and a kind, never the value; hiding twice changes nothing, and
what was hidden is not found again; the cost grows linearly with the text, whatever is in it. Only
the kinds of secret that are known here are found. No I/O.

A token of a known shape (``ghp_…``) counts by its shape. The value of an assignment
(``password = …``) counts by what it looks like: references, placeholders, names and words do not.
A random token on its own counts if it is long and mixes capitals, small letters and digits. In a
file that is no text only what has a known shape counts: of the rest, chance makes too much there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from sys import maxsize
from typing import Final, NamedTuple

from engramdown.credentials import NAMES, Span, find_named, is_placeholder
from engramdown.lone import find_random
from engramdown.sought import runs
from engramdown.told import KEY_IDS, LOGINS, find_told_keys, find_told_passwords

__all__ = ["Secret", "find_secrets", "redact", "secret_in"]


@dataclass(frozen=True, slots=True)
class Secret:
    """Where a secret stands in a text.

    Attributes:
        kind: What it is, in plain words: ``GitHub token``.
        start: The offset of its first character.
        end: The offset after its last character.
    """

    kind: str
    start: int
    end: int


def find_secrets(text: str) -> list[Secret]:
    """Return where secrets stand in ``text``, in order and without overlap.

    >>> find_secrets("psql postgres://ann:" + "plum-7" + "@db/shop")
    [Secret(kind='password in a URL', start=20, end=26)]
    """
    found: list[Secret] = []
    pieces = [(*gap, 0) for gap in _gaps(_marks(text), 0, len(text))]
    while pieces:
        start, end, turn = pieces.pop()
        secrets = _widened(_scan(text[start:end], start), turn, start, end)
        found += secrets
        if secrets:
            # What is left is looked at again, as it will be by whoever reads the hidden text.
            spans = [(secret.start, secret.end) for secret in secrets]
            pieces += [(*gap, turn + 1) for gap in _gaps(spans, start, end)]
    return sorted(found, key=lambda secret: secret.start)


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
        found = find_secrets(data.decode("utf-16", "replace"))
    elif len(data) - len(data.translate(None, _CONTROLS)) <= max(_FEW, len(data) // 100):
        found = find_secrets(data.decode("utf-8", "replace"))
    else:
        words = b"\n".join(re.findall(rb"[\t\n\r -~]{8,}+", data)).decode("ascii")
        found = [secret for secret in find_secrets(words) if secret.kind in _SHAPED]
    return found[0].kind if found else ""


# A text has few of these, or one in a hundred, whatever its encoding; what is packed one in ten.
_CONTROLS: Final = bytes({*range(32), 127} - {*b"\t\n\r\f\b\x1b"})
_FEW: Final = 16

# ---- pieces of a text ----

# A secret that shows only once another one is hidden is rare, one behind that was never seen.
# After so many turns more is hidden with each secret, twice as much every time: so there is an end.
_TURNS: Final = 4
_MARGIN: Final = 64
_MARK: Final = r"\[redacted: [A-Za-z ]{1,40}\]"


def _marks(text: str) -> list[tuple[int, int]]:
    if "[redacted: " not in text:
        return []
    return [match.span() for match in _compiled(_MARK).finditer(text)]


def _gaps(spans: Iterable[tuple[int, int]], start: int, end: int) -> list[tuple[int, int]]:
    """Return what ``spans`` leave of the text from ``start`` to ``end``."""
    edges = [start, *(edge for span in spans for edge in span), end]
    pairs = zip(edges[::2], edges[1::2], strict=True)
    return [(left, right) for left, right in pairs if left < right]


def _widened(secrets: list[Secret], turn: int, start: int, end: int) -> list[Secret]:
    if turn < _TURNS:
        return secrets
    margin = _MARGIN << (turn - _TURNS)
    wide = [(max(start, s.start - margin), min(end, s.end + margin), s.kind, 0) for s in secrets]
    return [Secret(kind, left, right) for left, right, kind in _merged(wide)]


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _scan(piece: str, offset: int) -> list[Secret]:
    """Return the secrets of a piece of text that stands at ``offset``."""
    lowered = piece.lower()
    rules = {rule for hint, rule in _HINTS if hint in lowered}
    words = "\n".join(piece[start:end] for start, end in runs(piece, "_-=.:", _LONG_WORD))
    if words:
        rules.add(_TELLING)
        words = words.lower()
        if any(hint in words for hint in _RULES[_PREFIXED].hints):
            rules.add(_PREFIXED)
    ranked = [(*span, rule) for rule in rules for span in _RULES[rule].find(piece)]
    return [Secret(kind, offset + start, offset + end) for start, end, kind in _merged(ranked)]


def _merged(ranked: Iterable[tuple[int, int, str, int]]) -> list[Span]:
    """Join the spans that overlap; the kind is that of the first rule in the table."""
    merged: list[tuple[int, int, str, int]] = []
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
    """What is looked for, and the lower-case words without which it cannot be there."""

    hints: tuple[str, ...]
    find: Callable[[str], Iterable[Span]]


# What is found without a hint in the whole text stands where a word has so many characters.
_LONG_WORD: Final = 22
_PREFIXES: Final = (
    {
        "AGE-SECRET-KEY-1": "age key",
        "ATATT3": "Atlassian token",
        "CLOJARS_": "Clojars token",
        "EAACEdEose0cBA": "Facebook token",
        "GOCSPX-": "Google client secret",
        "NRAK-": "New Relic key",
        "PMAK-": "Postman key",
        "dckr_oat_": "Docker token",
        "dckr_pat_": "Docker token",
        "dop_v1_": "DigitalOcean token",
        "doo_v1_": "DigitalOcean token",
        "dp.pt.": "Doppler token",
        "dp.st.": "Doppler token",
        "figd_": "Figma token",
        "fo1_": "Fly token",
        "github_pat_": "GitHub token",
        "glc_": "Grafana token",
        "glsa_": "Grafana token",
        "gsk_": "Groq API key",
        "hf_": "Hugging Face token",
        "hvb.": "Vault token",
        "hvs.": "Vault token",
        "lin_api_": "Linear token",
        "nfp_": "Netlify token",
        "npm_": "npm token",
        "ntn_": "Notion token",
        "pplx-": "Perplexity API key",
        "pscale_tkn_": "PlanetScale token",
        "pul-": "Pulumi token",
        "pypi-": "PyPI token",
        "r8_": "Replicate token",
        "rubygems_": "RubyGems token",
        "sbp_": "Supabase token",
        "shpat_": "Shopify token",
        "shpca_": "Shopify token",
        "shppa_": "Shopify token",
        "shpss_": "Shopify token",
        "sk-or-": "OpenRouter API key",
        "sntrys_": "Sentry token",
        "sntryu_": "Sentry token",
        "whsec_": "webhook secret",
        "xai-": "xAI API key",
        "xkeysib-": "Brevo API key",
        "ya29.": "Google token",
    }
    | {f"gh{letter}_": "GitHub token" for letter in "oprsu"}
    | {f"gl{word}-": "GitLab token" for word in ("cbt", "dt", "ft", "pat", "ptt", "rt", "soat")}
)

_START: Final = r"(?<![A-Za-z0-9])"
_END: Final = r"(?![A-Za-z0-9])"
_HEAD: Final = r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,4}PRIVATE KEY(?: BLOCK)?-----"
_BLANK: Final = r"(?:\s|\\[nrt])"
# A key with its last line, else what stands in the lines of base64 below the first one.
_PRIVATE_KEY: Final = (
    _HEAD
    + r"(?:(?=[^-]{0,300}?[A-Za-z0-9+/]{16})(?:[^-]++|-(?!----))*+-----END [A-Z0-9 ]{1,50}-----"
    rf"|{_BLANK}*+(?:[A-Za-z-]{{3,20}}: [^\n\\]{{0,100}}+{_BLANK}++){{0,4}}+[A-Za-z0-9+/=]{{16,}}+"
    rf"(?:{_BLANK}++[A-Za-z0-9+/=]{{24,}}+)*+(?:{_BLANK}++[A-Za-z0-9+/]{{1,23}}={{0,2}}(?=\s|\Z))?)"
)

# (kind, hints, pattern); the secret is the first group, or the whole where there is none.
_SHAPES: Final = (
    ("private key", ("private key",), _PRIVATE_KEY),
    ("Anthropic API key", ("sk-ant-",), _START + r"sk-ant-[A-Za-z0-9_-]{16,}+"),
    (
        "OpenAI API key",
        ("sk-",),
        _START + r"sk-(?:(?:proj|svcacct|service|admin|None|user|org)-[A-Za-z0-9_-]{16,}+"
        r"|(?=[A-Za-z]{0,40}[0-9])[A-Za-z0-9]{16,}+|[A-Za-z0-9]{32,}+)",
    ),
    ("Slack token", ("xox",), _START + r"xox[abceoprs](?:\.xox[bp])?-(?=\D{0,60}[0-9])[\w-]{10,}+"),
    ("Slack token", ("xapp-",), _START + r"xapp-[0-9]-[\w-]{10,}+"),
    (
        "Slack webhook",
        ("hooks.slack.com/",),
        r"hooks\.slack\.com/(?:services|triggers|workflows)/([\w/]{20,}+)",
    ),
    ("Discord webhook", ("/api/webhooks/",), r"/api/webhooks/[0-9]{10,25}/([\w-]{30,}+)"),
    (
        "AWS access key",
        ("akia", "asia", "abia", "acca"),
        _START + rf"A(?:KI|SI|BI|CC)A[A-Z0-9]{{16}}{_END}",
    ),
    (
        "AWS secret key",
        ("akia", "asia"),
        _START + r"A[KS]IA[A-Z0-9]{16}[^\w+]{1,8}?([A-Za-z0-9+/]{40})(?![A-Za-z0-9+/])",
    ),
    ("Google API key", ("aiza",), _START + r"AIza[\w-]{30,}+"),
    ("Google token", ("1//0",), r"(?<![\w/])1//0[\w-]{30,}+"),
    ("Stripe key", ("_live_",), _START + r"[sr]k_live_[A-Za-z0-9]{10,}+"),
    ("SendGrid key", ("sg.",), _START + r"SG\.[\w-]{16,40}+\.[\w-]{16,80}+"),
    ("Databricks token", ("dapi",), _START + rf"dapi[0-9a-f]{{32}}(?:-[0-9])?{_END}"),
    ("Mailgun key", ("key-",), _START + rf"key-[0-9a-f]{{32}}{_END}"),
    ("Terraform token", (".atlasv1.",), _START + r"[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{30,}+"),
    ("Notion token", ("secret_",), _START + r"secret_[A-Za-z0-9]{40,}+"),
    ("JSON web token", ("eyj",), r"(?<![\w.-])eyJ[\w-]{8,}+(?:\.[\w-]{4,}+){1,4}+"),
    (
        "password in a URL",
        ("://",),
        r"://[^\s/:@\"'<>`?#]{0,120}+:(?![0-9]{1,5}[?#])([^\s/\"'<>`]{1,200})@(?=[\w\[$])",
    ),
    ("password in a URL", ("@tcp(",), r"(?<![\w.-])[\w.-]{1,40}+:([^\s@]{1,100}+)@tcp\("),
    (
        "password",
        ("curl",),
        r"\s(?:-u|--user|--proxy-user)[ =]?[\"']?[^\s:\"']{1,64}+:([^\s\"']{3,200}+)",
    ),
    (
        "password",
        ("machine", "default"),
        (
            r"\b(?:default|machine \S{1,100}+)\s{1,8}login \S{1,100}+"
            r"\s{1,8}password ([^\s\"']{4,200}+)"
        ),
    ),
    ("password", ("docker login",), r"docker login [^\n|;]{0,120}?-p[ =]?([^\s\"']{4,200}+)"),
    ("password", ("mysql",), r"\bmysql\w{0,8} [^\n|;]{0,120}?-p([^\s\"']{4,200}+)"),
    ("signature", ("sig=",), r"[?&]sig=([\w%]{20,}+)"),
    ("password", ("sshpass",), r"sshpass -p ?[\"']?([^\s\"']{3,200}+)"),
    (
        "authorization header",
        ("authorization",),
        (
            r"(?i:authorization)\\?[\"']?[ \t]{0,4}[:=,][ \t]{0,4}\\?[\"']?"
            r"(?i:apikey|basic|bearer|key|token)[ \t]{1,4}"
            r"(?!(?:[a-z_-]{1,40}|[A-Z_-]{1,40})(?![\w.~+/=-]))([\w.~+/=-]{6,}+)"
        ),
    ),
    (
        "bearer token",
        ("bearer",),
        r"\b[Bb]earer[ \t]{1,4}(?=[A-Za-z_.~+/=-]{0,40}[0-9])([\w.~+/=-]{16,}+)",
    ),
    (
        "npm token",
        ("_auth",),
        r"(?<![\w.])_auth(?:Token)?[ \t]{0,4}=[ \t]{0,4}[\"']?([\w+/=.-]{8,}+)",
    ),
)
_LEAST: Final = 32
_SEEN: Final = 48
_DISCORD: Final = _START + r"[MNO][\w-]{23,27}\.[\w-]{6}\.(?=\D{0,39}[0-9])[\w-]{27,40}(?![\w-])"
# Shapes without a word of their own, looked for where a long word stands.
_LONG_SHAPES: Final = (
    ("Twilio key", _START + rf"(?:AC|SK)[0-9a-f]{{32}}{_END}"),
    ("Telegram bot token", r"(?<![0-9])[0-9]{8,10}:[A-Za-z0-9_-]{35}(?![\w-])"),
    ("Discord bot token", _DISCORD),
)


# What counts by its shape alone, wherever it stands.
_SHAPED: Final = {
    *_PREFIXES.values(),
    *(kind for kind, *_ in _SHAPES),
    *(kind for kind, _ in _LONG_SHAPES),
} - {"authorization header", "bearer token", "password", "password in a URL", "signature"}

# Whatever is longer holds some word of a placeholder by chance, and is none.
_LONG: Final = 200


def _shape(kind: str, pattern: str) -> Callable[..., Iterable[Span]]:
    def find(piece: str, start: int = 0, end: int = maxsize) -> Iterable[Span]:
        for match in _compiled(pattern).finditer(piece, start, end):
            group = match.re.groups
            if len(match[group]) > _LONG or not is_placeholder(match[group]):
                yield *match.span(group), kind

    return find


# Ten characters with a digit among them, twenty without a word's end in between, or all of
# capitals, small letters and digits.
_OPAQUE: Final = (
    r"(?=[A-Za-z]{0,9}[0-9])[A-Za-z0-9]{10}|[A-Za-z0-9]{20}"
    r"|\A(?=[^A-Z]{0,40}[A-Z])(?=[^a-z]{0,40}[a-z])(?=[^0-9]{0,40}[0-9])"
)


def _prefixed(piece: str) -> Iterable[Span]:
    """Find what begins like a token of a known service and goes on without words."""
    starts = "|".join(re.escape(prefix) for prefix in _PREFIXES)
    for match in _compiled(rf"{_START}({starts})([\w=-]{{20,}}+)").finditer(piece):
        if _compiled(_OPAQUE).search(match[2]) and not is_placeholder(match[2]):
            yield *match.span(), _PREFIXES[match[1]]


def _telling(piece: str) -> Iterable[Span]:
    for start, end in runs(piece, "_-:.", _LEAST):
        for kind, pattern in _LONG_SHAPES:
            # Who looks behind the run for its end may see what belongs to the next one.
            found = _shape(kind, pattern)(piece, start, end + _SEEN)
            yield from (span for span in found if span[0] < end)
    yield from find_random(piece)


# In the order in which they name a secret that several of them find.
_RULES: Final = (
    _Rule(tuple(prefix.lower() for prefix in _PREFIXES), _prefixed),
    *(_Rule(hints, _shape(kind, pattern)) for kind, hints, pattern in _SHAPES),
    _Rule(KEY_IDS, find_told_keys),
    _Rule(NAMES, find_named),
    _Rule(LOGINS, find_told_passwords),
    _Rule((), _telling),
)
_PREFIXED: Final = 0
_TELLING: Final = len(_RULES) - 1
_HINTS: Final = tuple((hint, rule) for rule, (hints, _) in enumerate(_RULES) for hint in hints)[
    len(_PREFIXES) :
]
