"""How editors save a file: what they do to it, in the steps in which a store can come in between.

Promises: a style of saving is a generator; each ``yield`` is a moment at which another program may
look at the file. Exhausted, it has saved the text.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

Style = Callable[[Path, str], Iterator[None]]


def in_place(path: Path, text: str) -> Iterator[None]:
    """Cut the file short and write it anew, as nano and VS Code do."""
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(text)
    yield


def in_place_slowly(path: Path, text: str) -> Iterator[None]:
    """The same, a few lines at a time."""
    with path.open("w", encoding="utf-8", newline="") as file:
        yield
        for line in text.splitlines(keepends=True):
            file.write(line)
            file.flush()
            yield
    yield


def over_itself(path: Path, text: str) -> Iterator[None]:
    """Write over what is there and cut off the rest, without ever closing the file in between."""
    with path.open("r+", encoding="utf-8", newline="") as file:
        yield
        file.write(text)
        yield
        file.truncate()
        file.flush()
        yield
    yield


def by_rename(path: Path, text: str) -> Iterator[None]:
    """Write another file and give it the name, as sed -i and many others do."""
    other = path.with_name(f"sed{os.getpid()}")
    other.write_text(text, encoding="utf-8", newline="")
    yield
    other.replace(path)
    yield


def with_backup(path: Path, text: str) -> Iterator[None]:
    """Give the old file another name, write a new one, remove the old one, as vim does."""
    backup = path.with_name(f"{path.name}~")
    path.replace(backup)
    yield
    path.write_text(text, encoding="utf-8", newline="")
    yield
    backup.unlink()
    yield


def by_removal(path: Path, text: str) -> Iterator[None]:
    """Remove the file and write a new one, as git checkout does."""
    path.unlink()
    yield
    path.write_text(text, encoding="utf-8", newline="")
    yield


STYLES: Final[dict[str, Style]] = {
    "in-place": in_place,
    "in-place-slowly": in_place_slowly,
    "over-itself": over_itself,
    "by-rename": by_rename,
    "with-backup": with_backup,
    "by-removal": by_removal,
}


def save(style: str, path: Path, text: str) -> None:
    """Save ``text`` at once."""
    for _ in STYLES[style](path, text):
        pass
