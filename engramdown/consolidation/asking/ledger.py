"""The ledger: what models were asked, in the folder of the global scope.

Promises: a line is one write to the end of the file, so that several processes may write; what a
crash left of a line stays on a line of its own; what is no call is skipped and counted. A call has
a line when it begins and one when it ends, which takes the place of the first. Reading creates
nothing.
"""

from __future__ import annotations

import os
import secrets
from datetime import UTC, datetime, timedelta
from itertools import takewhile
from pathlib import Path
from typing import Final, NamedTuple

from engramdown.consolidation.asking.calls import ASKED, FREE, Call, read_line, write_line
from engramdown.consolidation.asking.spending import Spent
from engramdown.errors import StoreError
from engramdown.storage.safe_open import make_folder, open_regular

__all__ = ["NAME", "Known", "Ledger", "new_id"]

NAME: Final = "ledger.jsonl"
"""The name of the file."""

_APPENDING: Final = os.O_RDWR | os.O_CREAT | os.O_APPEND


class Known(NamedTuple):
    """What a ledger tells.

    Attributes:
        calls: The calls, in the order in which they began.
        torn: How many lines are no calls.
    """

    calls: tuple[Call, ...]
    torn: int


class Ledger:
    """The ledger of a folder."""

    def __init__(self, folder: Path | None) -> None:
        """Keep the ledger in ``folder``, which need not exist; ``None`` keeps it in mind."""
        self.path = folder / NAME if folder else None
        self._calls: dict[str, Call] = {}
        self._torn = 0
        self._offset = self._rest = 0

    def add(self, call: Call) -> None:
        """Write a call down.

        Raises:
            StoreError: If it cannot be written.
        """
        if self.path is None:
            self._take(call)
            return
        try:
            make_folder(self.path.parent)
            descriptor = open_regular(self.path, _APPENDING)
            try:
                line = _after(descriptor) + write_line(call)
                if os.write(descriptor, line) < len(line):
                    raise StoreError(f"{self.path}: cannot be written; is the disk full?")
            finally:
                os.close(descriptor)
        except OSError as error:
            raise StoreError(f"{self.path}: cannot be written: {error.strerror}") from error

    def known(self) -> Known:
        """Return what was written, by other processes too.

        Raises:
            StoreError: If it cannot be read.
        """
        if self.path is not None:
            self._take_in(self.path)
        return Known(tuple(self._calls.values()), self._torn + bool(self._rest))

    def spent_since(self, hours: float, now: str, before: str = "") -> Spent:
        """Return what calls cost in the ``hours`` before ``now``.

        Args:
            hours: How long the window is.
            now: The moment at which it ends.
            before: The id of a call: only those count that began before it.

        Raises:
            StoreError: If it cannot be read.
        """
        first = _earlier(now, hours)
        began = list(takewhile(lambda call: call.id != before or not before, self.known().calls))
        spent, later = Spent(), now
        for call in reversed(began):
            # A clock was turned back since: then it was made before whatever stands behind it.
            at = call.ts if call.ts <= now else later
            later = min(later, at)
            if at > first and call.outcome not in FREE:
                spent = spent.plus(call.tokens_in + call.tokens_out)
        return spent

    def _take(self, call: Call) -> None:
        """Let the end of a call take the place of its beginning; what has no such, is a call."""
        begun = self._calls.get(call.id)
        mine = begun is None or begun.outcome == ASKED
        self._calls[call.id if call.id and mine else f"{len(self._calls)} "] = call

    def _take_in(self, path: Path) -> None:
        """Read on from where we stopped; a file that is shorter now is another one."""
        try:
            descriptor = open_regular(path, os.O_RDONLY)
        except FileNotFoundError:
            self._forget()
            return
        except OSError as error:
            raise StoreError(f"{path}: cannot be read: {error.strerror}") from error
        with os.fdopen(descriptor, "rb") as file:
            if os.fstat(descriptor).st_size < self._offset:
                self._forget()
            file.seek(self._offset)
            data = file.read()
        # A last line without its end was cut by a crash; whoever writes next ends it.
        whole = data[: data.rfind(b"\n") + 1]
        self._offset += len(whole)
        self._rest = len(data) - len(whole)
        for line in whole.split(b"\n")[:-1]:
            call = read_line(line)
            if call is not None:
                self._take(call)
            elif line:
                self._torn += 1

    def _forget(self) -> None:
        self._calls, self._torn, self._offset, self._rest = {}, 0, 0, 0


def new_id() -> str:
    """Return an id for a call."""
    return secrets.token_hex(4)


def _after(descriptor: int) -> bytes:
    """Return what a line begins with, so that what a crash cut stays behind."""
    size = os.fstat(descriptor).st_size
    if not size:
        return b""
    os.lseek(descriptor, size - 1, os.SEEK_SET)
    return b"" if os.read(descriptor, 1) == b"\n" else b"\n"


def _earlier(now: str, hours: float) -> str:
    """Return the moment so many hours before another one, in the same form."""
    try:
        moment = datetime.fromisoformat(now) - timedelta(hours=hours)
    except OverflowError:  # before the first year: whatever was spent counts
        return ""
    return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
