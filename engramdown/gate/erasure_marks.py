"""Recognizes what was erased for good, by digests alone.

No word is kept. A digest uses a secret of the scope that git never sees, and is slow to compute:
with the digests alone nobody can test a guess, and with the secret only a few. Nothing is computed
where nothing was erased.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from engramdown.clock import moment
from engramdown.engram import fold
from engramdown.language.claims import read
from engramdown.storage.disk import Disk, json_lines, named_errors

# The folder, inside that of a scope, with a ``.gitignore`` of its own.
FOLDER: Final = "erased"

_KEY: Final = "key"
_MARKS: Final = "marks.jsonl"
_SECRET: Final = 32
# 16 MB and some 50 ms for each guess.
_COST: Final = 2**14
_BLOCK: Final = 8
_SIZE: Final = 16
# Fewer words may be the same by chance.
_FEW: Final = 3
# Forms of a word share their beginning.
_STEM: Final = 7


class Marks:
    """What was erased in one scope."""

    def __init__(self, root: Path) -> None:
        """Use the folder ``root``; reading creates nothing."""
        self._folder = root / FOLDER
        self._disk = Disk()
        self._read: tuple[bytes, frozenset[str]] = (b"", frozenset())
        self._made: dict[str, frozenset[str]] = {}

    def knows(self, text: str) -> bool:
        """Whether ``text`` was erased, or the same words in another order.

        Raises:
            StoreError: If the digests cannot be read.
        """
        known = self._known()
        if not known:
            return False
        if text not in self._made:
            secret = self._secret()
            self._made[text] = frozenset(_digest(form, secret) for form in _forms(text))
        return not self._made[text].isdisjoint(known)

    def add(self, texts: Iterable[str]) -> None:
        """Recognize ``texts`` from now on.

        Raises:
            StoreError: If the digests cannot be written.
        """
        disk, folder, marks = self._disk, self._folder, self._folder / _MARKS
        with named_errors(marks, "written"):
            disk.make_folder(folder)
            if not disk.exists(folder / ".gitignore"):
                disk.create(folder / ".gitignore", b"*\n")
            if not self._secret():
                disk.create(folder / _KEY, os.urandom(_SECRET).hex().encode())
                disk.sync_folder(folder)
            secret, known = self._secret(), self._known()
            made = dict.fromkeys(_digest(form, secret) for text in texts for form in _forms(text))
            new = [json.dumps({"at": moment(), "mark": it}) for it in made if it not in known]
            if new:
                disk.append(marks, "".join(f"{line}\n" for line in new).encode())
                disk.sync_folder(folder)

    def _known(self) -> frozenset[str]:
        with named_errors(self._folder / _MARKS, "read"):
            data = self._disk.read(self._folder / _MARKS) or b""
        if data != self._read[0]:
            found = (record.get("mark") for record in json_lines(data))
            self._read = data, frozenset(mark for mark in found if isinstance(mark, str))
        return self._read[1]

    def _secret(self) -> bytes:
        with named_errors(self._folder / _KEY, "read"):
            return (self._disk.read(self._folder / _KEY) or b"").strip()


def _forms(text: str) -> Iterator[str]:
    """Yield the forms of a text to compare: its words, and its claim in any order of words."""
    yield f"said {fold(text)}"
    claim = read(text)
    words = sorted({word[:_STEM] for word in claim.words})
    if len(words) >= _FEW:
        marks = sorted(mark for each in claim.marks.values() for mark in each)
        yield f"claims {json.dumps([words, marks, sorted(claim.negations), claim.only])}"


def _digest(form: str, secret: bytes) -> str:
    data = form.encode("utf-8", "surrogatepass")
    return hashlib.scrypt(data, salt=secret, n=_COST, r=_BLOCK, p=1, dklen=_SIZE).hex()
