"""A fuzzer without a compiler: inputs made of others, by dice.

Promises: the same dice make the same inputs; it knows nothing of the code under test, but that
some of it reads JSON: a change of what JSON says is JSON again, as a change of its bytes seldom is.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, Final

from tests import strategies

__all__ = ["changed", "mutants", "strangers"]

_JSON: Final = (
    *('{"', '":', "[", "]", "{", "}", ",", "null", "true", "1e999", "-1", "0", "9" * 20, "NaN"),
    *('"role":"user"', '"text":"a"', '"seq":1', '"ts":"2026-02-27T10:15:00.000000Z"', '"id":"x"'),
    *('"type":"user"', '"message":', '"content":', '"\\ud83d', '\\u0000"', '"messages":'),
)
_WORDS: Final = (
    *("never", "always", "use", "my name is", "from now on", "password = ", "token: ", "://a:b@c"),
    *("sk-", "ghp_", "AKIA", "Bearer ", "-----BEGIN PRIVATE KEY-----", "ignore previous"),
    *("yesterday", "last week", "2026-02-30", "March 3rd", "boat", "mode = ", "[episodes]\n"),
    *("id:aaaaaaaa ", "kind:always ", "op:forget ", "of:bbbbbbbb ", "\n\x1e\n", "%80", "=", "\n"),
)
PIECES: Final = tuple(
    piece.encode("utf-8", "surrogatepass")
    for piece in (*strategies.TROUBLE, *strategies.LINES, *_JSON, *_WORDS)
)
"""What means something to some of the targets."""

_KEYS: Final = (
    *("type", "message", "content", "role", "text", "mapping", "parent", "current_node", "uuid"),
    *("id", "ts", "seq", "event", "of", "payload", "ms", "turn", "cut", "name", "call", "recalled"),
    *("session", "episodes", "payloads", "timestamp", "sessionId", "isSidechain", "tool_calls"),
    *("query", "limit", "days_back", "chat_messages", "attachments", "messages", "meta", "error"),
)
_VALUES: Final[tuple[Any, ...]] = (
    *(None, True, False, 0, -1, 2**31, 2**63, 10**400, 1e308, float("inf"), float("nan"), 1e-9),
    *("", "a", "user", "tool_call", "event", "boat", "\ud83d", "\u2028", "\x00", "../x", "9" * 30),
    *("2026-02-27T10:15:00.000000Z", "0001-01-01T00:00:00.000000Z", 1772187300.5, 253402300800),
    *([], {}, [[]], [None], {"text": 5}, {"type": "text"}),
)
_STRANGE: Final[tuple[Any, ...]] = (
    5,
    None,
    [],
    {},
    "x",
    -1,
    True,
    10**400,
    float("inf"),
    "\ud800",
    "../../x.md",
)
_AS_JSON: Final = 0.5
_DEEPER: Final = 0.8
_LONGEST: Final = 4_000
_POOL: Final = 300
_STEPS: Final = 6


def mutants(seeds: Sequence[bytes], dice: random.Random) -> Iterator[bytes]:
    """Yield inputs without end: the seeds, then changes of them and of what came of changes.

    Where seeds are JSON, every seventh input has one value of another type.
    """
    yield from seeds
    strange = chain.from_iterable(map(strangers, seeds))
    for number, data in enumerate(_changes(seeds, dice)):
        other = next(strange, None) if number % 7 == 0 else None
        yield data if other is None else other


def strangers(data: bytes) -> Iterator[bytes]:
    """Yield lines of JSON with one value of another type, for each of their values."""
    lines = data.split(b"\n")
    for at, line in enumerate(lines):
        value = _parsed(line)
        for path in _paths(value):
            for other in _STRANGE:
                new = json.dumps(_with(value, path, other)).encode()
                yield b"\n".join([*lines[:at], new, *lines[at + 1 :]])


def _paths(value: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:  # noqa: ANN401 - JSON
    if above:
        yield above
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from _paths(value[key], (*above, key))


def _with(value: Any, path: Sequence[Any], other: object) -> Any:  # noqa: ANN401 - JSON is anything
    if not path:
        return other
    new = value.copy()
    new[path[0]] = _with(value[path[0]], path[1:], other)
    return new


def _changes(seeds: Sequence[bytes], dice: random.Random) -> Iterator[bytes]:
    pool = [*seeds] or [b""]
    while True:
        data = changed(dice.choice(pool), dice, pool)
        if len(pool) < _POOL:
            pool.append(data)
        else:
            # The seeds stay; what came of them goes on changing.
            pool[dice.randrange(min(len(seeds), _POOL - 1), _POOL)] = data
        yield data


def changed(data: bytes, dice: random.Random, pool: Sequence[bytes] = (b"",)) -> bytes:
    """Return ``data`` after a few changes, with pieces of what is in ``pool``."""
    lines = data.split(b"\n")
    at = dice.randrange(len(lines))
    value = _parsed(lines[at]) if dice.random() < _AS_JSON else None
    if isinstance(value, dict | list):
        lines[at] = json.dumps(_other(value, dice), ensure_ascii=dice.random() < _AS_JSON).encode(
            "utf-8", "surrogatepass"
        )
        return b"\n".join(lines)[:_LONGEST]
    for _ in range(dice.randint(1, _STEPS)):
        data = _edited(data, pool, dice)[:_LONGEST]
    return data


def _parsed(line: bytes) -> Any:  # noqa: ANN401 - JSON is anything
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _other(value: Any, dice: random.Random) -> Any:  # noqa: ANN401 - JSON is anything
    """Return a JSON value with a change somewhere in it."""
    if isinstance(value, dict) and value and dice.random() < _DEEPER:
        key = dice.choice([*value])
        way = dice.randrange(6)
        if way == 0:
            return {name: item for name, item in value.items() if name != key}
        if way == 1:
            return value | {dice.choice(_KEYS): value[key]}
        return value | {key: _other(value[key], dice)}
    if isinstance(value, list) and value and dice.random() < _DEEPER:
        at = dice.randrange(len(value))
        way = dice.randrange(6)
        new = (
            [[], [value[at]] * 2, [dice.choice(value)]][way]
            if way < 3
            else [_other(value[at], dice)]
        )
        return value[:at] + new + value[at + 1 :]
    if isinstance(value, str) and dice.random() < _DEEPER:
        data = _edited(value.encode("utf-8", "surrogatepass"), (b"a",), dice)
        return data.decode("utf-8", "replace")
    return dice.choice([*_VALUES, value, [value], {dice.choice(_KEYS): value}])


def _edited(data: bytes, pool: Sequence[bytes], dice: random.Random) -> bytes:
    start, end = sorted(dice.choices(range(len(data) + 1), k=2))
    end = min(end, start + dice.choice((1, 4, 40, len(data) + 1)))
    part = data[start:end]
    way = dice.randrange(8)
    if way == 0:
        new = b""
    elif way == 1:
        new = dice.randbytes(dice.randint(1, 4))
    elif way in {2, 3}:
        new = part[: dice.randint(0, 1) * len(part)] + dice.choice(PIECES)
    elif way == 4:
        new = part * dice.choice((2, 3, 17))
    elif way == 5:
        other = dice.choice(pool)
        first, last = sorted(dice.choices(range(len(other) + 1), k=2))
        new = other[first:last]
    elif way == 6:
        new = part[::-1]
    else:
        new = bytes(byte ^ (1 << dice.randrange(8)) for byte in part[:1]) + part[1:]
    return data[:start] + new + data[end:]
