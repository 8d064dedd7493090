"""Storage."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engramdown.lazy import door

if TYPE_CHECKING:
    from engramdown.storage.disk import Disk
    from engramdown.storage.locks import FolderLock, ScopeLock, one_call
    from engramdown.storage.safe_open import closing, make_folder, open_regular, patiently

__all__ = [
    "Disk",
    "FolderLock",
    "ScopeLock",
    "closing",
    "make_folder",
    "one_call",
    "open_regular",
    "patiently",
]

__getattr__, __dir__ = door(
    __name__,
    {
        "disk": ["Disk"],
        "locks": ["FolderLock", "ScopeLock", "one_call"],
        "safe_open": ["closing", "make_folder", "open_regular", "patiently"],
    },
)
