r"""One line of a transcript, the JSON that it is written as, and the ids of lines and sessions.

What is read is what was written, for every text. A line is one JSON object in UTF-8 that ends with
``\n`` and holds no other; keys that we do not know come back when a line is written again; bytes
that are not a line are recognised and raise nothing.

The id of a session is a safe file name on every system, and no two differ in case only; what cannot
be one is refused, and one that could is offered. Ids of episodes sort by time. Clock and chance are
arguments here.
"""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from json.encoder import encode_basestring as _quoted
from typing import Any, Final, Literal, NamedTuple, Self, get_args

from engramdown.errors import InvalidSessionError
from engramdown.language.characters import is_encodable

# In which role something is recorded; an event is about the session itself.
RecordedRole = Literal[
    "user",
    "assistant",
    "system",
    "tool_call",
    "tool_result",
    "scratchpad",
    "memory_read",
    "memory_write",
]
Role = Literal[RecordedRole, "event"]
Event = Literal["start", "end", "archive", "exclude", "include", "redact", "lost"]

# Of the format; it is in the first line of a session.
VERSION: Final = 1
ROLES: Final[tuple[Role, ...]] = get_args(Role)
EVENTS: Final[tuple[Event, ...]] = get_args(Event)

# How a line of ours begins: with its number.
NUMBERED: Final = re.compile(rb'\{"seq":([0-9]{1,12}),')
_MARK: Final = b"\xef\xbb\xbf"
_MOMENT: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z")
_POINTER: Final = re.compile(r"([a-z0-9][a-z0-9._-]{0,99})#([0-9]{1,12})")
_HOLDERS: Final = (str, tuple, list, dict)
# json refuses more: such numbers are written in hexadecimal, such levels as an ellipsis.
_BITS: Final = 10_000
_LEVELS: Final = 100
_MOST_MS: Final = 1e300  # a whole number of 400 digits is too large for a float
_ELLIPSIS: Final = "…"


class Pointer(NamedTuple):
    """Where an episode is.

    Attributes:
        session: The id of the session.
        seq: The number of the episode in it.
    """

    session: str
    seq: int

    def __str__(self) -> str:
        """Return ``<session>#<seq>``."""
        return f"{self.session}#{self.seq}"

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """Read what :meth:`__str__` returned; ``None`` if ``text`` is something else.

        >>> Pointer.parse(" 20260227-101500-4f2a#12 ")
        Pointer(session='20260227-101500-4f2a', seq=12)
        """
        found = _POINTER.fullmatch(text.strip())
        return cls(found[1], int(found[2])) if found else None


class Episode(NamedTuple):
    """One line of a transcript.

    Attributes:
        seq: Its number in the session; 0 is the event that starts it.
        ts: When, UTC, with microseconds: ``2026-02-27T10:15:00.123456Z``.
        id: 16 characters, given at birth, sortable by time.
        role: Who or what speaks; one of :data:`ROLES`.
        text: What was said, or as much of it as the line shows.
        name: The tool, or the speaker where several people talk.
        call: What a tool call and its result have in common.
        ms: How long it took, in milliseconds.
        error: ``True`` or a reason, if it failed.
        model: The model that spoke.
        turn: The number of the turn in the running session.
        cut: The length in code points of the whole text, if ``text`` is only its beginning.
        payload: The digest of the whole text, if it was kept.
        recalled: The pointers that a recall brought into this turn.
        meta: What the caller wants to keep with it.
        event: For the role ``event``: one of :data:`EVENTS`.
        more: The fields of an event, and keys that we do not know, in their order.
    """

    seq: int
    ts: str
    id: str
    role: str
    text: str = ""
    name: str = ""
    call: str = ""
    ms: float | None = None
    error: bool | str = False
    model: str = ""
    turn: int | None = None
    cut: int | None = None
    payload: str = ""
    recalled: tuple[str, ...] = ()
    meta: Mapping[str, Any] = {}
    event: str = ""
    more: Mapping[str, Any] = {}

    @property
    def at(self) -> datetime:
        """When, as an aware time in UTC."""
        return datetime.fromisoformat(self.ts)


def write_line(episode: Episode) -> bytes:
    r"""Return the line of an episode, with its ``\n``."""
    known = {name: getattr(episode, name) for name in _FIELDS}
    return number(episode.seq, encode(known, episode.more))


def encode(known: Mapping[str, Any], more: Mapping[str, Any]) -> bytes:
    r"""Return the rest of a line, after its number and with its ``\n``.

    Args:
        known: The other attributes of an :class:`Episode`, in their order, the first four of them
            given. What is ``None``, ``False`` or empty of the rest is left out.
        more: What comes after them, whatever it is.
    """
    ts, own_id, role, text, *_ = known.values()
    # These four by hand: a JSONEncoder takes longer to set up than to encode them.
    head = (
        f'"ts":{_quoted(ts)},"id":{_quoted(own_id)},"role":{_quoted(role)},"text":{_quoted(text)}'
    )
    try:
        said = head.encode()
    except UnicodeEncodeError:
        said = _json({"ts": ts, "id": own_id, "role": role, "text": text})[1:-1]
    rest = {key: value for key, value in known.items() if key not in _HEAD and _is_there(value)}
    if not rest and not more:
        return b"%b}\n" % said
    return b"%b,%b\n" % (said, _json(rest | dict(more))[1:])


def number(seq: int, rest: bytes) -> bytes:
    """Return the whole line, given what :func:`encode` returned."""
    return b'{"seq":%d,%b' % (seq, rest)


def read_line(line: bytes) -> Episode | None:
    r"""Return the episode of a line, with or without its ``\n``; ``None`` if it is not an episode.

    What is known but of a wrong type is kept among the keys that we do not know.
    """
    try:
        record = _DECODER.decode(line.removeprefix(_MARK).decode())
    except (ValueError, RecursionError):
        return None
    if not isinstance(record, dict) or not all(_HEAD[key](record.get(key)) for key in _HEAD):
        return None
    known, more = {}, {}
    for key, value in record.items():
        if key in _HEAD:
            known[key] = value
        elif key in _TAIL and _TAIL[key](value):
            known[key] = tuple(value) if key == "recalled" else value
        else:
            more[key] = value
    return Episode(**known, more=more)


def conversation_id(given: str) -> str:
    """Return the UUID of a conversation as a first line has it.

    Raises:
        ValueError: If it is not a UUID.

    >>> conversation_id("0B0E6F60-9A2E-4C66-9C40-2B8F0C8B1B1F")
    '0b0e6f60-9a2e-4c66-9c40-2b8f0c8b1b1f'
    """
    # Imported here: most sessions belong to no conversation of another program.
    from uuid import UUID

    try:
        return str(UUID(given))
    except ValueError:
        raise ValueError(f"conversation is {given!r}; give a UUID") from None


def stamp(at: datetime) -> str:
    """Return a time as a line has it; one without a zone is taken as UTC.

    >>> stamp(datetime(2026, 2, 27, 10, 15))
    '2026-02-27T10:15:00.000000Z'
    """
    known = at if at.tzinfo else at.replace(tzinfo=UTC)
    text = known.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds")
    return f"{text}Z"


def stamp_of(nanoseconds: int) -> str:
    """Return a time since 1970 as a line has it.

    >>> stamp_of(1_772_187_300_123_456_789)
    '2026-02-27T10:15:00.123456Z'
    """
    seconds, rest = divmod(nanoseconds, 1_000_000_000)
    return f"{_second(seconds)}.{rest // 1000:06d}Z"


def cut(text: str, limit: int) -> tuple[str, int | None]:
    """Return the first ``limit`` code points, and how many there were if that is not all.

    >>> cut("naïve", 3), cut("naïve", 5)
    (('naï', 5), ('naïve', None))
    """
    return (text[:limit], len(text)) if len(text) > limit else (text, None)


def join_surrogates(text: str) -> str:
    r"""Return ``text`` with each pair of surrogates as the character that it means.

    JSON cannot tell the two apart. A half without its other half stays.

    >>> join_surrogates("\ud83d\ude00") == "\U0001f600", join_surrogates("\ud83d!") == "\ud83d!"
    (True, True)
    """
    if is_encodable(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def as_text(value: object) -> str:
    """Return what a tool was given or gave back as text: a ``str`` as it is, others as JSON.

    What JSON has no word for is shown as a string: NaN, dates, objects.

    >>> as_text({"cmd": "pytest", "limit": float("inf")})
    '{"cmd": "pytest", "limit": "inf"}'
    """
    if isinstance(value, str):
        # What a class of the caller's makes of a text is not asked.
        return join_surrogates(str.__str__(value))
    text = _tried(_READABLE, value)
    return join_surrogates(_READABLE.encode(_plain(value, ())) if _may_be_deep(text) else text)


@lru_cache(maxsize=2)
def _second(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None).isoformat()


# ---- JSON ----


def _refuse(constant: str) -> None:
    raise ValueError(constant)


_DECODER: Final = json.JSONDecoder(parse_constant=_refuse)
_COMPACT: Final = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
_ESCAPED: Final = json.JSONEncoder(ensure_ascii=True, allow_nan=False, separators=(",", ":"))
_READABLE: Final = json.JSONEncoder(ensure_ascii=False, allow_nan=False)


def _json(record: Mapping[str, Any]) -> bytes:
    text = _tried(_COMPACT, record)
    if _may_be_deep(text):
        record = {key: _plain(value, ()) for key, value in record.items()}
        text = _COMPACT.encode(record)
    try:
        return text.encode()
    except UnicodeEncodeError:
        return _ESCAPED.encode(record).encode()


def _tried(encoder: json.JSONEncoder, value: object) -> str:
    """Return a value as JSON, or ``""`` if it cannot be said as it is."""
    try:
        return encoder.encode(value)
    except Exception:  # noqa: BLE001 - code of the caller's: whatever it raises is its own
        return ""


def _may_be_deep(text: str) -> bool:
    """Whether JSON may have more levels than are written; ``""`` is what could not be written.

    How deep the json of a Python goes is its own affair, and another one is to read it.
    """
    return not text or text.count("[") + text.count("{") > _LEVELS


def _plain(value: object, above: tuple[int, ...]) -> object:
    """Return ``value`` as JSON can say it; ``above`` are the ids of what holds it."""
    if value is None or isinstance(value, bool | str | int | float):
        return _number(value) if isinstance(value, int | float) else value
    if not isinstance(value, Mapping | list | tuple | set | frozenset):
        return safe_str(value)
    if id(value) in above or len(above) == _LEVELS:
        return _ELLIPSIS
    inside = (*above, id(value))
    try:
        if isinstance(value, Mapping):
            return {safe_str(key): _plain(item, inside) for key, item in value.items()}
        return [_plain(item, inside) for item in value]
    except Exception:  # noqa: BLE001 - a class of the caller's, or another thread changes it
        return safe_str(value)


def _number(value: float) -> float | str:
    if isinstance(value, int):
        return value if value.bit_length() < _BITS else hex(value)
    return value if math.isfinite(value) else str(value)


def safe_str(value: object) -> str:
    """Return ``str(value)``, or its type and the error if that fails."""
    try:
        return str(value)
    except Exception as error:  # noqa: BLE001 - code of the caller's: whatever it raises is its own
        return f"<{type(value).__name__}: {type(error).__name__}>"


def _is_there(value: object) -> bool:
    if isinstance(value, _HOLDERS):
        return len(value) > 0
    return value is not None and value is not False


# ---- what may be in a line ----


def is_count(value: object) -> bool:
    """Whether a value is a whole number, 0 or more."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_moment(value: object) -> bool:
    try:
        return bool(
            isinstance(value, str) and _MOMENT.fullmatch(value) and datetime.fromisoformat(value)
        )
    except ValueError:
        return False


def _is_word(value: object) -> bool:
    return isinstance(value, str) and value != ""


def is_str(value: object) -> bool:
    """Whether a value is a text."""
    return isinstance(value, str)


_HEAD: Final[Mapping[str, Callable[[Any], bool]]] = {
    "seq": is_count,
    "ts": _is_moment,
    "id": _is_word,
    "role": lambda value: value in ROLES,
    "text": is_str,
}
_TAIL: Final[Mapping[str, Callable[[Any], bool]]] = {
    "name": _is_word,
    "call": _is_word,
    "ms": lambda value: type(value) in {int, float} and abs(value) < _MOST_MS,
    "error": lambda value: value is True or _is_word(value),
    "model": _is_word,
    "turn": is_count,
    "cut": is_count,
    "payload": _is_word,
    "recalled": lambda value: isinstance(value, list) and all(map(is_str, value)),
    "meta": lambda value: isinstance(value, dict),
    "event": lambda value: value in EVENTS,
}
_FIELDS: Final = tuple(name for name in Episode._fields if name not in ("seq", "more"))


# Characters of a session's id at most.
LONGEST: Final = 100

_ALLOWED: Final = re.compile(r"[a-z0-9][a-z0-9._-]*")
# What Windows takes for a device, with whatever behind the first dot.
_DEVICES: Final = frozenset(
    ["con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))]
)
_DIGITS: Final = "0123456789abcdefghjkmnpqrstvwxyz"
_PAIRS: Final = [first + second for first in _DIGITS for second in _DIGITS]
_TIME_DIGITS: Final = 10
_RANDOM_DIGITS: Final = 6
_SOMETHING: Final = "session"
_DIGEST_DIGITS: Final = 16


def is_session_id(value: str) -> bool:
    """Whether ``value`` can be the id of a session.

    >>> is_session_id("20260227-101500-4f2a"), is_session_id("CON"), is_session_id("../x")
    (True, False, False)
    """
    return _fault(value) == ""


def is_like(value: object, patterns: Iterable[str]) -> bool:
    """Whether an id is like one of ``patterns``; ``*``, ``?`` and ``[…]`` stand for characters.

    >>> is_like("cron-7", ["cron-*"]), is_like("chat-7", ["cron-*"])
    (True, False)
    """
    # Imported here: hardly anybody leaves sessions out.
    from fnmatch import fnmatchcase

    return isinstance(value, str) and any(fnmatchcase(value, each.lower()) for each in patterns)


def check_session_id(value: str) -> str:
    """Return ``value`` if it can be the id of a session.

    Raises:
        InvalidSessionError: If not; the error says why and offers one that can.
    """
    fault = _fault(value)
    if fault:
        # Imported here: its patterns are many, and most ids have no fault.
        from engramdown.secrets.redaction import redact

        raise InvalidSessionError(value, fault, _suggestion(redact(value)))
    return value


def session_of(name: str) -> str:
    """Return the id of the session that a program calls ``name``, whatever that is.

    It is the name itself where that can be an id; else what it looks like, and a digest of all of
    it, so that no two names share a session. What is returned, given again, is returned again.

    Raises:
        InvalidSessionError: If the name is empty.

    >>> session_of("support-42"), session_of("user/42")
    ('support-42', 'user-42-ff9367307eb03373')
    """
    if not name or is_session_id(name):
        return check_session_id(name)
    # Imported here: they load much, and most names can be ids.
    from hashlib import sha256

    from engramdown.secrets.redaction import redact

    digest = sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST_DIGITS]
    likeness = _suggestion(redact(name))[: LONGEST - _DIGEST_DIGITS - 1].rstrip("._-")
    return f"{likeness}-{digest}"


def session_id(at: datetime, number: int) -> str:
    """Return the id of a session that begins at ``at``; of ``number``, 16 bits are used.

    >>> session_id(datetime(2026, 2, 27, 10, 15, tzinfo=UTC), 0x4F2A)
    '20260227-101500-4f2a'
    """
    return f"{at.astimezone(UTC):%Y%m%d-%H%M%S}-{number & 0xFFFF:04x}"


def episode_id(milliseconds: int, number: int) -> str:
    """Return the id of an episode: when it was born, since 1970, and 30 bits of ``number``.

    >>> episode_id(1_772_187_300_123, 1)
    '01kjf9gc8v000001'
    """
    return _time(milliseconds) + _digits(number, _RANDOM_DIGITS)


@lru_cache(maxsize=2)
def _time(milliseconds: int) -> str:
    return _digits(milliseconds, _TIME_DIGITS)


def _digits(value: int, count: int) -> str:
    """Return the last ``count`` digits of ``value``, two at a time; ``count`` is even."""
    return "".join([_PAIRS[value >> 5 * place & 1023] for place in range(count - 2, -1, -2)])


def _fault(value: str) -> str:
    """Return what is wrong with ``value`` as the id of a session, or ``""``."""
    if not value:
        return "is empty"
    if len(value) > LONGEST:
        return f"has {len(value)} characters, {LONGEST} are allowed"
    if not _ALLOWED.fullmatch(value):
        return "may hold small letters a-z, digits, '-', '_' and '.', a letter or digit first"
    if value.endswith("."):
        return "ends with a dot, which Windows drops"
    if value.partition(".")[0] in _DEVICES:
        return "is the name of a device on Windows"
    return ""


def _suggestion(value: str) -> str:
    """Return an id like ``value`` that has no fault."""
    plain = unicodedata.normalize("NFKD", value[: 4 * LONGEST]).encode("ascii", "ignore").decode()
    tame = re.sub(r"[^a-z0-9._-]+", "-", plain.lower())
    tame = re.sub(r"\.{2,}", ".", tame).lstrip("._-")[:LONGEST].rstrip("._-")
    if tame.partition(".")[0] in _DEVICES:
        return f"{_SOMETHING}-{tame}"[:LONGEST].rstrip("._-")
    return tame or _SOMETHING
