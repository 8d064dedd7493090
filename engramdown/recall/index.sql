-- The tables of the index of transcripts: index.py fills them, and says what they are for.

PRAGMA page_size = 8192;
PRAGMA auto_vacuum = INCREMENTAL;
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
CREATE TABLE facts(name TEXT PRIMARY KEY, value INTEGER) WITHOUT ROWID;
CREATE TABLE sessions(
    number INTEGER PRIMARY KEY AUTOINCREMENT,  -- never given again: others may remember it
    name TEXT NOT NULL UNIQUE,
    inode INTEGER NOT NULL,
    changed INTEGER NOT NULL,  -- of the file, nanoseconds
    size INTEGER NOT NULL,     -- of the file, bytes
    taken INTEGER NOT NULL,    -- bytes that are in the index
    digest INTEGER NOT NULL,   -- of these bytes
    mark INTEGER NOT NULL,     -- the digest and, in the lowest 16 bits, the number of the last ones
    lines INTEGER NOT NULL,
    oldest INTEGER NOT NULL,   -- episode, microseconds
    newest INTEGER NOT NULL,
    excluded INTEGER NOT NULL  -- whether the whole session is out of recall
);
CREATE INDEX sessions_by_age ON sessions(newest, oldest);
-- These two are read by every process that asks: they hold all that it wants to know.
CREATE INDEX sessions_by_change ON sessions(changed, name, inode, size);
CREATE INDEX sessions_taken_out ON sessions(number) WHERE excluded;
CREATE TABLE chunks(
    number INTEGER PRIMARY KEY,
    session INTEGER NOT NULL, place INTEGER NOT NULL,
    start INTEGER NOT NULL, end INTEGER NOT NULL,
    facts BLOB NOT NULL
);
CREATE INDEX chunks_by_session ON chunks(session, place);
CREATE TABLE freshness(page INTEGER PRIMARY KEY, numbers BLOB NOT NULL);
CREATE TABLE names(number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, speaks INTEGER NOT NULL);
CREATE TABLE excluded(session INTEGER, seq INTEGER, PRIMARY KEY(session, seq)) WITHOUT ROWID;
CREATE TABLE lists(word TEXT PRIMARY KEY, keys BLOB NOT NULL) WITHOUT ROWID;
CREATE VIRTUAL TABLE words USING fts5(text, content='', columnsize=0, detail='none', tokenize='porter ascii');
CREATE VIRTUAL TABLE latest USING fts5(text, content='', columnsize=0, detail='none', tokenize='porter ascii');
CREATE VIRTUAL TABLE counts USING fts5vocab(words, 'row');
CREATE VIRTUAL TABLE places USING fts5vocab(words, 'instance');
-- Fewer and larger pieces while much is taken in at once.
INSERT INTO words(words, rank) VALUES ('hashsize', 33554432);
