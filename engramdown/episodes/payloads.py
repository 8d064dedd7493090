"""The whole of a text that a line shows cut, kept once however often it came up.

Promises: a digest leads to exactly the text that it was made of, or to nothing; a text is whole on
the disk before anything points to it; reading creates nothing.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from engramdown.episodes.disk import EpisodeDisk

__all__ = ["PAYLOADS", "Payloads", "digest"]

PAYLOADS: Final = "payloads"
"""The name of the folder."""

_ERRORS: Final = "surrogatepass"
_SHELF: Final = 2
_DIGITS: Final = 64


def digest(text: str) -> str:
    """Return the SHA-256 of a text in UTF-8, in hexadecimal."""
    return _digest(text.encode("utf-8", _ERRORS))


class Payloads:
    """A folder of texts, each named by its digest."""

    def __init__(self, folder: Path, disk: EpisodeDisk, *, durable: bool) -> None:
        """Keep texts in ``folder``; ``durable`` says whether a power cut is survived."""
        self.folder = folder
        self._disk = disk
        self._durable = durable

    def path(self, name: str) -> Path:
        """Return the file of the text with the digest ``name``."""
        return self.folder / name[:_SHELF] / f"{name[_SHELF:]}.txt"

    def keep(self, name: str, text: str) -> None:
        """Write a text whose digest is ``name``, unless it is there.

        Raises:
            OSError: If it could not be written; there is no half of it.
        """
        path, data = self.path(name), text.encode("utf-8", _ERRORS)
        found = self._disk.find(path)
        if found is not None and found.st_size == len(data):
            return
        self._disk.make_folder(path.parent, durable=self._durable)
        # What is there but shorter lost its end in a power cut.
        # Begun where all such are found that a process leaves when it dies.
        begun = self.folder / f"{name}.txt"
        self._disk.publish(path, data, durable=self._durable, replace=True, unfinished=begun)
        if self._durable:
            self._disk.sync_folder(path.parent)

    def fetch(self, name: str) -> str | None:
        """Return the text with the digest ``name``; ``None`` if it is not there, or another."""
        if len(name) != _DIGITS or not set(name) <= _HEXADECIMAL:
            return None
        data = self._disk.load(self.path(name))
        if data is None or _digest(data) != name:
            return None
        return data.decode("utf-8", _ERRORS)


_HEXADECIMAL: Final = frozenset("0123456789abcdef")


def _digest(data: bytes) -> str:
    # Imported here: it loads OpenSSL, and most lines show all of their text.
    from hashlib import sha256

    return sha256(data).hexdigest()
