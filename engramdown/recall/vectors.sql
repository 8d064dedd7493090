-- The vectors of texts by their digests, and those of the last questions: see vectors.py.

CREATE TABLE IF NOT EXISTS vectors(
    model TEXT, digest BLOB, vector BLOB, PRIMARY KEY(model, digest)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS questions(
    number INTEGER PRIMARY KEY, model TEXT, digest BLOB, vector BLOB, UNIQUE(model, digest)
);
