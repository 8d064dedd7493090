"""Finds what there is to read: a file, the files of a folder, the files in a ``.zip``.

Promises: nothing is unpacked to the disk; a pipe or a device is not waited for; files come in a
fixed order, and those that other files refer to come first.
"""

from __future__ import annotations

import os
import stat
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Final

from engramdown.errors import StoreError

__all__ = ["Input", "Opened", "UnreadableError", "find_inputs"]

_ENDINGS: Final = (".jsonl", ".json")
_ZIP: Final = b"PK\x03\x04"
# What OpenClaw calls the files of deleted sessions, and Claude Code the copies that it compacts.
_UNWANTED: Final = (".deleted.", "agent-acompact-")
# Transcripts of sub-agents name the session that started them.
_LATER: Final = "agent-"


class UnreadableError(StoreError):
    """A file that was to be imported cannot be read."""


class Opened:
    """A file that is open; whatever goes wrong with it is an :class:`UnreadableError`."""

    def __init__(self, path: str, stream: IO[bytes]) -> None:
        """Read ``stream``, which a person calls ``path``."""
        self._path = path
        self._stream = stream

    def read(self, size: int) -> bytes:
        """Return the next bytes, at most ``size``."""
        try:
            return self._stream.read(size)
        except _faults() as error:
            raise _unreadable(self._path, error) from error

    def readline(self) -> bytes:
        """Return the next line, with its end."""
        try:
            return self._stream.readline()
        except _faults() as error:
            raise _unreadable(self._path, error) from error


@dataclass(frozen=True, slots=True)
class Input:
    """Something to read.

    Attributes:
        path: What a person calls it; for a file in an archive both names.
        size: In bytes.
        changed: When it was last written.
        opener: Opens it for reading, from the beginning.
    """

    path: str
    size: int
    changed: datetime
    opener: Callable[[ExitStack], IO[bytes]]

    @contextmanager
    def open(self) -> Iterator[Opened]:
        """Open it, from the beginning.

        Raises:
            UnreadableError: If it cannot be read.
        """
        stack = ExitStack()
        try:
            with _told(self.path):
                stream = self.opener(stack)
            yield Opened(self.path, stream)
        finally:
            # What was only read is closed, whatever the system answers.
            with suppress(OSError):
                stack.close()


@contextmanager
def _told(path: str) -> Iterator[None]:
    """Let what goes wrong name the file."""
    try:
        yield
    except _faults() as error:
        raise _unreadable(path, error) from error


def _faults() -> tuple[type[Exception], ...]:
    """Return what goes wrong with a file: asked for when something did."""
    from zipfile import BadZipFile

    # RuntimeError: the archive wants a password; its child NotImplementedError: an unknown method.
    return (OSError, EOFError, RuntimeError, BadZipFile, zlib.error)


def _unreadable(path: str, error: Exception) -> UnreadableError:
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return UnreadableError(f"{path}: cannot be read: {reason}")


def find_inputs(paths: Iterable[Path]) -> list[Input]:
    """Return what there is to read at ``paths``, what was written first before its copies.

    Raises:
        OSError: If a path is not there or cannot be read.
        StoreError: If something that was named is no file, no folder and no archive.
    """
    found = [each for path in paths for each in _at(Path(os.path.realpath(path)))]
    unique = {each.path: each for each in found}
    return sorted(unique.values(), key=lambda each: (_is_later(each.path), each.changed, each.path))


def _is_later(path: str) -> bool:
    return path.replace("\\", "/").rpartition("/")[2].startswith(_LATER)


def _at(path: Path) -> Iterator[Input]:
    mode = path.stat().st_mode
    if stat.S_ISDIR(mode):
        yield from _in_folder(path)
    elif not stat.S_ISREG(mode):
        raise StoreError(f"{path}: is no file and no folder; name one that holds an export")
    elif _is_zip(path):
        yield from _in_archive(path)
    else:
        yield _file(path)


def _in_folder(folder: Path) -> Iterator[Input]:
    def told(error: OSError) -> None:
        # One below it is passed over, as everything is there that cannot be read.
        if error.filename == str(folder):
            raise error

    for place, folders, names in os.walk(folder, onerror=told):
        folders.sort()
        for name in sorted(names):
            path = Path(place, name)
            if _is_wanted(name) and stat.S_ISREG(path.lstat().st_mode):
                yield _file(path)


def _is_wanted(name: str) -> bool:
    return name.endswith(_ENDINGS) and not any(part in name for part in _UNWANTED)


def _file(path: Path) -> Input:
    found = path.stat()
    changed = datetime.fromtimestamp(found.st_mtime, UTC)
    return Input(
        str(path), found.st_size, changed, lambda stack: stack.enter_context(path.open("rb"))
    )


def _is_zip(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(_ZIP)) == _ZIP


def _in_archive(path: Path) -> Iterator[Input]:
    # Imported here: a hook reads files only, and an archive loads all that can compress one.
    from zipfile import ZipFile

    changed = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    with _told(str(path)), ZipFile(path) as archive:
        members = [each for each in archive.infolist() if _is_wanted(each.filename)]
    for member in members:
        yield Input(
            f"{path}/{member.filename}", member.file_size, changed, _member(path, member.filename)
        )


def _member(path: Path, name: str) -> Callable[[ExitStack], IO[bytes]]:
    from zipfile import ZipFile

    def opened(stack: ExitStack) -> IO[bytes]:
        archive = stack.enter_context(ZipFile(path))
        return stack.enter_context(archive.open(name))

    return opened
