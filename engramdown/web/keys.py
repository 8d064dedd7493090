"""Who may do what: the token of programs, and the keys of a person's pages.

The token stands in a file that only the user can read and git does not keep; whoever shows it may
read memory and propose. What decides for a person needs a key that belongs to a page. A page gets
one for a code, which a person takes from the terminal, or which `serve --open` hands to their
browser; a code counts once and for a minute. Of keys and codes only digests are kept, in a file of
the global scope, so that a key outlives the server and every server of the user knows it.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import json
import os
import re
import secrets
import stat
import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from engramdown.clock import moment
from engramdown.errors import MALFORMED, StoreError
from engramdown.storage import Disk, ScopeLock, closing, open_regular

Kind = Literal["program", "person"]

TOKEN_FILE: Final = "mcp-token"  # noqa: S105 - the name of the file, in the folder of the global scope
KEYS_FILE: Final = "web-keys.json"
CODE_SECONDS: Final = 60
_LOCK: Final = "web-keys.lock"
_PATIENCE: Final = 10.0
# The newest keys count; a page whose key is older asks for a code again.
_MOST: Final = 64
_TOKEN_BYTES: Final = 32
_LONGEST_TOKEN: Final = 1_000
_LONGEST_FILE: Final = 100_000
_TOKEN: Final = re.compile(r"[A-Za-z0-9_-]{32,512}")
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO
# A person may type a code: no character looks like another one.
_LETTERS: Final = "abcdefghjkmnpqrstuvwxyz23456789"
_GROUPS: Final = 4
_IN_GROUP: Final = 5
_ID_LENGTH: Final = 8


class Key(NamedTuple):
    """A new key of a page.

    Attributes:
        id: What it is called when it is revoked.
        secret: What the page shows; it is kept nowhere else.
    """

    id: str
    secret: str


class _Kept(NamedTuple):
    """What the file holds.

    Attributes:
        codes: Until when a code counts, in seconds since 1970, by its digest.
        keys: When a key was given, by its digest, the oldest first.
    """

    codes: dict[str, float]
    keys: dict[str, str]


class Keys:
    """The token and the keys of a user.

    Attributes:
        token: What programs show.
        home: The folder of the global scope, which holds them.
    """

    def __init__(self, home: Path) -> None:
        """Use those of the global scope at ``home``; a token is made if there is none.

        Raises:
            StoreError: If a file does not hold what it should, or others can read it.
            OSError: If it cannot be read or written.
        """
        self.home = home
        self.token = token_of(home)
        self._path = home / KEYS_FILE
        self._seen: tuple[object, _Kept] = (None, _Kept({}, {}))
        self._kept()

    def kind_of(self, shown: str) -> Kind | None:
        """Return what kind of key somebody shows, or ``None``."""
        if hmac.compare_digest(shown.encode(), self.token.encode()):
            return "program"
        return "person" if digest(shown) in self._kept().keys else None

    def new_code(self) -> str:
        """Return a new code, which counts once and for :data:`CODE_SECONDS`."""
        groups = [
            "".join(secrets.choice(_LETTERS) for _ in range(_IN_GROUP)) for _ in range(_GROUPS)
        ]
        code = "-".join(groups)
        with self._changed() as kept:
            kept.codes[digest(code)] = _now() + CODE_SECONDS
        return code

    def trade(self, code: str) -> Key | None:
        """Return a key for a code, or ``None`` if the code does not count (any more)."""
        given = digest(code.strip().lower())
        if given not in self._kept().codes:
            return None
        with self._changed() as kept:
            if kept.codes.pop(given, None) is None:
                return None
            secret = secrets.token_urlsafe(_TOKEN_BYTES)
            kept.keys[digest(secret)] = moment()
            return Key(digest(secret)[:_ID_LENGTH], secret)

    def listed(self) -> list[dict[str, str]]:
        """Return the id of each key and when it was given, the oldest first."""
        return [
            {"id": known[:_ID_LENGTH], "given": given} for known, given in self._kept().keys.items()
        ]

    def revoke(self, key_id: str = "") -> int:
        """Let a key no longer count, or all of them; return how many there were.

        Args:
            key_id: The id of a key; all keys by default.
        """
        with self._changed() as kept:
            gone = [known for known in kept.keys if key_id in ("", known[:_ID_LENGTH])]
            for known in gone:
                del kept.keys[known]
            if not key_id:
                kept.codes.clear()
        return len(gone)

    def _kept(self) -> _Kept:
        """Return what the file holds; it is read again only after it was replaced."""
        try:
            found = self._path.stat()
            mark: object = (found.st_ino, found.st_mtime_ns, found.st_size)
        except FileNotFoundError:
            mark = None
        if mark != self._seen[0]:
            text = _read_private(self._path, _LONGEST_FILE)
            self._seen = mark, _parse(text, self._path) if text is not None else _Kept({}, {})
        elif mark is None:
            self._seen = None, _Kept({}, {})
        return self._seen[1]

    @contextlib.contextmanager
    def _changed(self) -> Iterator[_Kept]:
        """Yield what the file holds, to be changed; no other process changes it meanwhile."""
        disk = Disk()
        disk.make_folder(self.home)
        with ScopeLock(self.home / _LOCK, _PATIENCE).hold():
            text = _read_private(self._path, _LONGEST_FILE)
            kept = _parse(text, self._path) if text is not None else _Kept({}, {})
            for code in [code for code, until in kept.codes.items() if until < _now()]:
                del kept.codes[code]
            yield kept
            for known in [*kept.keys][:-_MOST]:
                del kept.keys[known]
            data = json.dumps(kept._asdict(), indent=1).encode()
            disk.save(self._path, data, durable=True, replace=True)
        self._seen = (None, kept)


def digest(secret: str) -> str:
    """Return what is kept of a key or a code."""
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()


def token_of(home: Path) -> str:
    """Return the token of the global scope at ``home``, after making one if necessary.

    Raises:
        StoreError: If the file does not hold a token, or others can read it.
        OSError: If it cannot be read or written.
    """
    path = home / TOKEN_FILE
    token = _read_token(path)
    if token is not None:
        return token
    disk = Disk()
    disk.make_folder(path.parent)
    # If another server was quicker, its token counts.
    disk.save(path, f"{secrets.token_urlsafe(_TOKEN_BYTES)}\n".encode(), durable=True)
    token = _read_token(path)
    if token is None:
        raise StoreError(f"{path}: somebody removes it as soon as it is written; look who")
    return token


def _read_token(path: Path) -> str | None:
    text = _read_private(path, _LONGEST_TOKEN)
    if text is not None and not _TOKEN.fullmatch(text):
        raise StoreError(f"{path}: holds no token; delete it to get a new one")
    return text


def _read_private(path: Path, longest: int) -> str | None:
    """Return what a file holds that nobody else may read; ``None`` if there is none."""
    try:
        descriptor = open_regular(path, os.O_RDONLY)
    except FileNotFoundError:
        return None
    with closing(descriptor, path):
        if sys.platform != "win32" and os.fstat(descriptor).st_mode & _OTHERS:
            raise StoreError(
                f"{path}: others can read it, so it is not a secret; delete it to get a new one"
            )
        return os.read(descriptor, longest).decode("ascii", "replace").strip()


def _parse(text: str, path: Path) -> _Kept:
    try:
        found: dict[str, Any] = json.loads(text)
        codes = {str(known): float(until) for known, until in found["codes"].items()}
        return _Kept(codes, {str(known): str(given) for known, given in found["keys"].items()})
    except (*MALFORMED, AttributeError):
        broken = f"{path}: holds no keys; delete it, and every page asks for a code again"
        raise StoreError(broken) from None


def _now() -> float:
    return datetime.fromisoformat(moment()).timestamp()
