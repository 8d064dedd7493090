"""The vectors that were made, so that none is paid for twice: ``cache/vectors.sqlite``.

Promises: a vector is found by its model and the digest of its text; a file that is none of ours is
made anew; a vector whose text is nowhere any more goes. Any number of processes may use it.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Final, TypeVar

from engramdown.episodes.disk import EpisodeDisk
from engramdown.forks import unforked
from engramdown.models.embedders import LaneError

__all__ = ["FILE", "Vectors"]

FILE: Final = "vectors.sqlite"
_TABLES: Final = """
CREATE TABLE IF NOT EXISTS vectors(
    model TEXT, digest BLOB, vector BLOB, PRIMARY KEY(model, digest)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS questions(
    number INTEGER PRIMARY KEY, model TEXT, digest BLOB, vector BLOB, UNIQUE(model, digest)
);
"""
_PATIENCE: Final = 5.0
_QUESTIONS: Final = 1_000
"""How many vectors of questions are kept."""

_Answer = TypeVar("_Answer")


class Vectors:
    """The vectors of one scope."""

    def __init__(self, cache: Path, disk: EpisodeDisk) -> None:
        """Keep vectors in the folder ``cache``; nothing is read yet."""
        self._path = cache / FILE
        self._disk = disk

    def question(self, model: str, digest: bytes) -> bytes | None:
        """Return the vector of a question, if there is one."""
        asked = "SELECT vector FROM questions WHERE model = ? AND digest = ?"
        found = self._ask(lambda file: file.execute(asked, (model, digest)).fetchone())
        return found[0] if found else None

    def keep_question(self, model: str, digest: bytes, vector: bytes) -> None:
        """Keep the vector of a question, and of no more than the last thousand."""

        def keep(file: sqlite3.Connection) -> None:
            file.execute(
                "INSERT OR REPLACE INTO questions(model, digest, vector) VALUES(?, ?, ?)",
                (model, digest, vector),
            )
            file.execute(
                "DELETE FROM questions WHERE number <= (SELECT max(number) FROM questions) - ?",
                (_QUESTIONS,),
            )

        self._ask(keep)

    def drop_questions(self, model: str) -> None:
        """Remove the vectors of all questions of a model."""
        self._ask(lambda file: file.execute("DELETE FROM questions WHERE model = ?", (model,)))

    def each(self, take: Callable[[Iterator[tuple[str, bytes, bytes]]], _Answer]) -> _Answer:
        """Return what ``take`` makes of all vectors: model, digest, vector."""
        return self._ask(
            lambda file: take(iter(file.execute("SELECT model, digest, vector FROM vectors")))
        )

    def keep(self, model: str, vectors: Iterable[tuple[bytes, bytes]]) -> None:
        """Keep vectors, given with the digests of their texts."""
        rows = [(model, *each) for each in vectors]
        insert = "INSERT OR REPLACE INTO vectors VALUES(?, ?, ?)"
        self._ask(lambda file: file.executemany(insert, rows))

    def keep_only(self, digests: Collection[bytes]) -> None:
        """Remove all questions, and the vectors of every model whose digest is another."""

        def drop(file: sqlite3.Connection) -> None:
            found = {digest for (digest,) in file.execute("SELECT digest FROM vectors")}
            gone = [(digest,) for digest in found.difference(digests)]
            file.executemany("DELETE FROM vectors WHERE digest = ?", gone)
            file.execute("DELETE FROM questions")

        self._ask(drop)

    def remove(self) -> None:
        """Remove the file; it may be gone."""
        for name in (FILE, f"{FILE}-journal"):
            self._disk.remove(self._path.with_name(name))

    def drop(self, stale: Iterable[tuple[str, bytes]]) -> None:
        """Remove vectors, given by model and digest."""
        rows = list(stale)
        if rows:
            delete = "DELETE FROM vectors WHERE model = ? AND digest = ?"
            self._ask(lambda file: file.executemany(delete, rows))

    def _ask(self, act: Callable[[sqlite3.Connection], _Answer]) -> _Answer:
        """Return what ``act`` does with the file, which is made if need be.

        Raises:
            LaneError: If it cannot be read or written: without it every vector is paid again.
        """
        try:
            try:
                return self._with_file(act)
            except sqlite3.OperationalError:
                raise
            except sqlite3.DatabaseError:
                # It is not ours, or damaged; what it held can be made again.
                self._disk.remove(self._path)
                return self._with_file(act)
        except (OSError, sqlite3.Error) as error:
            raise LaneError(f"{self._path}: {error}") from error

    def _with_file(self, act: Callable[[sqlite3.Connection], _Answer]) -> _Answer:
        self._disk.make_folder(self._path.parent, durable=False)
        if self._disk.find(self._path) is None:
            with contextlib.suppress(FileExistsError):
                # For the user alone, as the transcripts are.
                self._disk.close(self._disk.open(self._path, write=True, new=True))
        with unforked(), closing(sqlite3.connect(self._path, timeout=_PATIENCE)) as file, file:
            # What is deleted is overwritten, too.
            file.execute("PRAGMA secure_delete = ON")
            file.executescript(_TABLES)
            return act(file)
