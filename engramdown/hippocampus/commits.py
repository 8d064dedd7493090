"""What git's newest commits hold of a file, read from its object folder.

Promises: runs no program and writes nothing. Only objects that have a file of their own are read,
as those that were made a moment ago have: what is packed is older, and holds nothing newer.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from engramdown.storage.disk import Disk

__all__ = ["blobs_of", "loose"]

_DIGEST: Final = 20
_TREE: Final = b"tree "


def loose(objects: Path, digest: bytes) -> Path:
    """Return where an object stands that has a file of its own."""
    name = digest.hex()
    return objects / name[:2] / name[2:]


def blobs_of(objects: Path, commits: Iterable[bytes], name: bytes, disk: Disk) -> set[bytes]:
    """Return the digests under which commits know a file.

    Args:
        objects: The object folder.
        commits: The digests of the commits.
        name: The file, relative to the top of the work tree, with ``/``.
        disk: The system calls.

    Raises:
        ValueError: If an object is not what it should be.
        OSError: If one cannot be read.
    """
    roots = (_root(_read(objects, commit, disk)) for commit in commits)
    found = {root for root in roots if root}
    for part in name.split(b"/"):
        trees = (_entry(_read(objects, tree, disk), part) for tree in found)
        found = {entry for entry in trees if entry}
    return found


def _read(objects: Path, digest: bytes, disk: Disk) -> bytes:
    """Return an object; ``b""`` if it has no file of its own."""
    data = disk.read(loose(objects, digest))
    if data is None:
        return b""
    try:
        return zlib.decompress(data).partition(b"\0")[2]
    except zlib.error as error:
        raise ValueError(digest.hex()) from error


def _root(commit: bytes) -> bytes:
    """Return the digest of a commit's tree."""
    line = commit.partition(b"\n")[0]
    return bytes.fromhex(line.removeprefix(_TREE).decode("ascii"))


def _entry(tree: bytes, name: bytes) -> bytes:
    """Return the digest of an entry of a tree, or ``b""``."""
    at = 0
    while at < len(tree):
        end = tree.index(b"\0", at) + 1
        if tree[at : end - 1].partition(b" ")[2] == name:
            return tree[end : end + _DIGEST]
        at = end + _DIGEST
    return b""
