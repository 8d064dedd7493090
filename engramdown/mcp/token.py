"""The token that a client of the HTTP server shows.

Promises: it is random, stands in a file that only the user can read, outside what git keeps, and
stays the same until the file is deleted; a file that others can read, or that holds something else,
is refused.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import stat
import sys
from pathlib import Path
from typing import Final

from engramdown.errors import StoreError
from engramdown.storage.disk import Disk
from engramdown.storage.safe_open import closing, open_regular

__all__ = ["FILE", "token_of"]

FILE: Final = "mcp-token"
"""The name of the file, in the folder of the global scope."""
_BYTES: Final = 32
_LONGEST: Final = 1_000
_TOKEN: Final = re.compile(r"[A-Za-z0-9_-]{32,512}")
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO


def token_of(home: Path) -> str:
    """Return the token of the global scope at ``home``; it is made if there is none.

    Raises:
        StoreError: If the file cannot be one of ours, or others can read it.
        OSError: If it cannot be read or written.
    """
    path = home / FILE
    found = _read(path)
    if found is None:
        _make(path)
        found = _read(path)
    if found is None:
        raise StoreError(f"{path}: somebody removes it as soon as it is written; look who")
    return found


def _make(path: Path) -> None:
    disk = Disk()
    disk.make_folder(path.parent)
    new = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    disk.create(new, f"{secrets.token_urlsafe(_BYTES)}\n".encode())
    try:
        # Another server may have been quicker; then its token is everybody's.
        with contextlib.suppress(FileExistsError):
            disk.publish(new, path)
    finally:
        disk.unlink(new)


def _read(path: Path) -> str | None:
    try:
        descriptor = open_regular(path, os.O_RDONLY)
    except FileNotFoundError:
        return None
    with closing(descriptor, path):
        if sys.platform != "win32" and os.fstat(descriptor).st_mode & _OTHERS:
            raise StoreError(
                f"{path}: others can read it, so it is no secret; delete it to get a new one"
            )
        text = os.read(descriptor, _LONGEST).decode("ascii", "replace").strip()
    if not _TOKEN.fullmatch(text):
        raise StoreError(f"{path}: holds no token; delete it to get a new one")
    return text
