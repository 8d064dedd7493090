"""Disks that tell a test about every call, before, in the middle of, and after it.

Promises: each call of a store on its disk passes ``watch`` with where it stands; what ``watch``
raises is raised there, with the effect on the files that it would have on a real disk.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from engramdown.storage.disk import UNFINISHED, Disk
from engramdown.storage.safe_open import FILE_MODE

Moment = Literal["before", "half", "after"]

CHANGING: Final = frozenset(
    {
        "append",
        "create",
        "exchange",
        "make_folder",
        "move_folder",
        "publish",
        "sync_folder",
        "truncate",
        "unlink",
        "withdraw",
    }
)
"""The calls that change something."""


@dataclass(frozen=True, slots=True)
class Point:
    """A place where a program can be cut short.

    Attributes:
        call: The name of a method of :class:`Disk`.
        moment: Before it, when half of its bytes are written, or after it.
        path: What it is about.
    """

    call: str
    moment: Moment
    path: Path

    def __str__(self) -> str:
        """Say where that is."""
        return f"{self.moment} {self.call} of {self.path.name}"


Watch = Callable[[Point], None]


class WatchedDisk(Disk):
    """A disk, not durable unless asked for, that passes every point of its calls to ``watch``."""

    def __init__(self, watch: Watch, *, durable: bool = False) -> None:
        """Call ``watch`` at every point; it may raise, change files or end the process."""
        super().__init__(durable=durable)
        self._watch = watch
        self._depth = 0

    @contextmanager
    def _around(self, call: str, path: Path) -> Iterator[None]:
        """Pass the points of a call, unless another call of the disk made it."""
        inner = self._depth > 0
        if not inner:
            self._watch(Point(call, "before", path))
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1
        if not inner and call in CHANGING:
            self._watch(Point(call, "after", path))

    def read(self, path: Path) -> bytes | None:
        with self._around("read", path):
            return super().read(path)

    def read_range(self, path: Path, start: int, end: int) -> bytes:
        with self._around("read_range", path):
            return super().read_range(path, start, end)

    def identity(self, path: Path) -> tuple[int, int]:
        with self._around("identity", path):
            return super().identity(path)

    def names(self, folder: Path) -> list[str]:
        with self._around("names", folder):
            return super().names(folder)

    def check_writable(self, path: Path) -> None:
        with self._around("check_writable", path):
            super().check_writable(path)

    def is_being_written(self, path: Path) -> bool:
        with self._around("is_being_written", path):
            return super().is_being_written(path)

    def create(
        self, path: Path, data: bytes, *, like: Path | None = None, mode: int = FILE_MODE
    ) -> None:
        with self._around("create", path):
            unfinished = path.with_name(path.name + UNFINISHED)
            unfinished.write_bytes(data[: len(data) // 2])
            self._watch(Point("create", "half", path))
            super().create(path, data, like=like, mode=mode)

    def append(self, path: Path, data: bytes) -> int:
        with self._around("append", path):
            size = super().append(path, b"")
            with path.open("ab") as file:
                file.write(data[: len(data) // 2])
            try:
                self._watch(Point("append", "half", path))
            finally:
                os.truncate(path, size)
            return super().append(path, data)

    def truncate(self, path: Path, size: int) -> None:
        with self._around("truncate", path):
            super().truncate(path, size)

    def exchange(self, new: Path, path: Path) -> None:
        with self._around("exchange", path):
            super().exchange(new, path)

    def move_folder(self, folder: Path, path: Path) -> None:
        with self._around("move_folder", path):
            super().move_folder(folder, path)

    def publish(self, new: Path, path: Path) -> None:
        with self._around("publish", path):
            super().publish(new, path)

    def withdraw(self, path: Path, new: Path) -> None:
        with self._around("withdraw", path):
            super().withdraw(path, new)

    def unlink(self, path: Path) -> None:
        with self._around("unlink", path):
            super().unlink(path)

    def make_folder(self, path: Path) -> None:
        with self._around("make_folder", path):
            super().make_folder(path)

    def sync_folder(self, path: Path) -> None:
        with self._around("sync_folder", path):
            super().sync_folder(path)
