"""What a person was told of what git brought, and what of it they approved or declined.

Promises: it stands in the folder of the global scope, by the folder of the scope that it is about,
so that nothing that was cloned or pulled can say so of itself; a line that cannot be read is
skipped; a file that git knows says nothing. Reading creates nothing.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, get_args

from engramdown.clock import moment
from engramdown.errors import StoreError
from engramdown.hippocampus.git_state import known_to_git
from engramdown.storage.disk import Disk

__all__ = ["NAME", "Approvals", "Did", "Said"]

NAME: Final = "pulled.jsonl"
"""The name of the file."""

Did = Literal["seen", "approved", "declined", "own"]


class Said(NamedTuple):
    """What is known of one scope, as keys; see :mod:`engramdown.hippocampus.provenance`.

    Attributes:
        seen: What a person was told of.
        approved: What they approved, and what stood there before git knew it.
        declined: What they do not want.
    """

    seen: frozenset[str] = frozenset()
    approved: frozenset[str] = frozenset()
    declined: frozenset[str] = frozenset()


class Approvals:
    """The record in a folder."""

    def __init__(self, folder: Path | None, dry: Callable[[], bool] = bool) -> None:
        """Keep it in ``folder``, which need not exist; ``None``, or ``dry``, keeps it in mind."""
        self._dry = dry
        self._path = folder / NAME if folder else None
        self._disk = Disk()
        self._read: tuple[tuple[int, ...], bytes] = ((), b"")
        self._kept: list[bytes] = []

    def of(self, root: Path) -> Said:
        """Return what is known of the scope in the folder ``root``.

        Raises:
            StoreError: If it cannot be read.
        """
        found: dict[Did, set[str]] = {did: set() for did in get_args(Did)}
        about = _real(root)
        for line in (*self._data().split(b"\n"), *self._kept):
            if (told := _told(line, about)) is not None:
                found[told[0]].update(told[1])
        kept = frozenset(found["approved"] | found["own"])
        return Said(frozenset(found["seen"]), kept, frozenset(found["declined"] - kept))

    def add(self, root: Path, did: Did, keys: Collection[str]) -> None:
        """Write down what was done about ``keys`` in the scope in the folder ``root``.

        Raises:
            StoreError: If it cannot be written.
        """
        if not keys:
            return
        record = {"at": moment(), "scope": _real(root), "did": did, "keys": sorted(keys)}
        line = json.dumps(record).encode() + b"\n"
        if self._path is None or self._dry():
            self._kept.append(line)
            return
        try:
            self._disk.make_folder(self._path.parent)
            self._disk.append(self._path, line)
        except OSError as error:
            raise StoreError(f"{self._path}: cannot be written: {error.strerror}") from error

    def _data(self) -> bytes:
        if self._path is None:
            return b""
        try:
            found = self._path.lstat()
            mark = (found.st_ino, found.st_size, found.st_mtime_ns)
            if mark != self._read[0]:
                strange = known_to_git([self._path], self._disk)
                self._read = (mark, b"" if strange else self._disk.read(self._path) or b"")
        except FileNotFoundError:
            self._read = ((), b"")
        except OSError as error:
            raise StoreError(f"{self._path}: cannot be read: {error.strerror}") from error
        return self._read[1]


def _told(line: bytes, about: str) -> tuple[Did, list[str]] | None:
    """Return what a line tells about a scope, or ``None``."""
    try:
        record: Any = json.loads(line) if line else {}
        did, keys = record["did"], [str(key) for key in record["keys"]]
        return (did, keys) if record["scope"] == about and did in get_args(Did) else None
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def _real(root: Path) -> str:
    return os.path.realpath(root)
