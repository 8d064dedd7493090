"""The tables of the index.

Promises: nothing in them is needed: what they hold is read from the transcripts again whenever
they are missing, of another version, or not as they were left.

The words of each line stand in a contentless FTS5 table with its key and nothing else: no text,
no places, no counts. That is an eighth of the transcripts' size. A word that stands in very many
lines has its keys in ``lists`` too, since a hundred thousand rows come slowly out of any table;
``latest`` holds the words of the lines that came after those lists were made.
"""

from __future__ import annotations

import sqlite3
from typing import Final

__all__ = ["VERSION", "create", "tune"]

VERSION: Final = 4

_WORDS: Final = (
    "CREATE VIRTUAL TABLE {} USING fts5"
    "(text, content='', columnsize=0, detail='none', tokenize='porter ascii')"
)
_TABLES: Final = (
    "CREATE TABLE facts(name TEXT PRIMARY KEY, value INTEGER) WITHOUT ROWID",
    """CREATE TABLE sessions(
        number INTEGER PRIMARY KEY AUTOINCREMENT,  -- never given again: others may remember it
        name TEXT NOT NULL UNIQUE,
        inode INTEGER NOT NULL,
        changed INTEGER NOT NULL,  -- of the file, nanoseconds
        size INTEGER NOT NULL,     -- of the file, bytes
        taken INTEGER NOT NULL,    -- bytes that are in the index
        digest INTEGER NOT NULL,   -- of these bytes
        mark INTEGER NOT NULL,     -- of the last of them
        lines INTEGER NOT NULL,
        broken INTEGER NOT NULL,   -- lines that are no episode
        oldest INTEGER NOT NULL,   -- episode, microseconds
        newest INTEGER NOT NULL,
        excluded INTEGER NOT NULL
    )""",
    "CREATE INDEX sessions_by_age ON sessions(newest, oldest)",
    # These two are read by every process that asks: they hold all that it wants to know.
    "CREATE INDEX sessions_by_change ON sessions(changed, name, inode, size)",
    "CREATE INDEX sessions_taken_out ON sessions(number) WHERE excluded",
    """CREATE TABLE chunks(
        number INTEGER PRIMARY KEY,
        session INTEGER NOT NULL, place INTEGER NOT NULL,
        start INTEGER NOT NULL, end INTEGER NOT NULL,
        facts BLOB NOT NULL
    )""",
    "CREATE INDEX chunks_by_session ON chunks(session, place)",
    "CREATE TABLE freshness(page INTEGER PRIMARY KEY, numbers BLOB NOT NULL)",
    """CREATE TABLE names(
        number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, speaks INTEGER NOT NULL
    )""",
    "CREATE TABLE excluded(session INTEGER, seq INTEGER, PRIMARY KEY(session, seq)) WITHOUT ROWID",
    "CREATE TABLE lists(word TEXT PRIMARY KEY, keys BLOB NOT NULL) WITHOUT ROWID",
    _WORDS.format("words"),
    _WORDS.format("latest"),
    "CREATE VIRTUAL TABLE counts USING fts5vocab(words, 'row')",
    "CREATE VIRTUAL TABLE places USING fts5vocab(words, 'instance')",
    # Fewer and larger pieces while much is taken in at once.
    "INSERT INTO words(words, rank) VALUES ('hashsize', 33554432)",
)


def create(connection: sqlite3.Connection) -> None:
    """Make the tables in an empty file.

    Raises:
        sqlite3.Error: If that cannot be done; without FTS5 it cannot.
    """
    for statement in _TABLES:
        connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {VERSION}")


def tune(connection: sqlite3.Connection) -> None:
    """Set what holds for one connection only."""
    # No mmap: a file that somebody cuts short would end the whole program.
    connection.execute("PRAGMA cache_size = -16384")
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA temp_store = MEMORY")
