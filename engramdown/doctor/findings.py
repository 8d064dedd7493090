"""Everything that ``doctor`` can find: each code with its level and advice, in :data:`CODES`.

A finding names a place and never repeats a secret from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final, Literal

from engramdown.secrets.redaction import redact

Level = Literal["error", "warning", "note"]


@dataclass(frozen=True, slots=True)
class Code:
    """A kind of finding.

    Attributes:
        level: ``error`` if memory is lost, hidden or exposed; ``warning`` if it is not read as it
            looks; ``note`` if it may be worth a look.
        message: The sentence, with the fields of :func:`find` in braces.
        advice: What a person can do about it.
    """

    level: Level
    message: str
    advice: str


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is wrong, or may be, with a file.

    Attributes:
        file: The file, relative to the memory folder; ``../`` leads to its scope.
        line: The line, from 1; 0 for the file as a whole.
        code: A key of :data:`CODES`.
        message: The sentence about it.
        fixable: Whether ``--fix`` mends it.
    """

    file: str
    line: int
    code: str
    message: str
    fixable: bool = False

    @property
    def level(self) -> Level:
        """How bad it is."""
        return CODES[self.code].level

    @property
    def advice(self) -> str:
        """What a person can do about it."""
        return CODES[self.code].advice


def find(place: tuple[str, int], code: str, *, fixable: bool = False, **fields: object) -> Finding:
    """Return the finding ``code`` at ``place``, a file and a line.

    >>> find(("rules.md", 3), "expired", date="2026-01-06").message
    'held until 2026-01-06'
    """
    file, line = place
    # Quotes from the file may hold a secret.
    message = redact(CODES[code].message.format(**fields))
    return Finding(file, line, code, message, fixable)


_error = partial(Code, "error")
_warning = partial(Code, "warning")
_note = partial(Code, "note")
_OWN = "rewrite the comment, or delete it to make the line your own"

# Every code with its level, its sentence and the next step.
CODES: Final[Mapping[str, Code]] = {
    # Obstacles to reading.
    "unreadable-bytes": _error(
        "{count} not UTF-8: {bytes}", "save the file as UTF-8 in your editor"
    ),
    "utf-16": _error(
        "the file looks like UTF-16, and nothing in it is read",
        "save the file as UTF-8 in your editor",
    ),
    "conflict": _error(
        "an unresolved merge conflict, {extent}",
        "keep the lines you want and delete the lines of < = | and >",
    ),
    "unclosed-fence": _warning(
        "a code fence opens here and is never closed; what follows is read as memory",
        "close it, or delete this line",
    ),
    "unclosed-comment": _warning(
        "a comment opens here and is never closed; it is read as text", "end it with -->"
    ),
    "unclosed-front-matter": _warning(
        "front matter opens here and is never closed; it is read as memory",
        "end it with a line of ---",
    ),
    # Text that is not read as it looks.
    "indented-item": _warning(
        "this list item does not start at the left margin, so it is not read",
        "take the spaces in front of it away",
    ),
    "not-read": _note(
        "{what} ({count}) is not read as memory",
        "leave it, or write what is to be remembered as list items",
    ),
    "near-heading": _warning(
        "{title!r} is not read as ## {kind}", "write ## Always, ## Never or ## When"
    ),
    "own-heading": _note(
        "{count} under {title!r} count as always, under that heading",
        "leave it, or move them below ## Always, ## Never or ## When",
    ),
    "no-heading": _note(
        "{count} above any section count as always",
        "leave it, or move them below ## Always, ## Never or ## When",
    ),
    "unknown-tick": _warning(
        "{box!r} is not a tick, so this proposal still waits",
        "write [x] to accept, [-] to decline or [ ] to wait",
    ),
    "hidden-character": _warning(
        "invisible characters: {names}", "delete them, unless you put them there"
    ),
    "foreign-line-end": _warning(
        "holds {names}, where some programs end a line; here the line goes on",
        "delete it, or end the line there",
    ),
    # Metadata.
    "near-metadata": _warning(
        "the comment at the end is almost metadata, and is not read as such",
        "write it as <!-- key:value key:value -->, with no space behind a colon",
    ),
    "metadata-not-last": _note(
        "something stands behind the metadata of the entry",
        "move the comment to the very end of the entry",
    ),
    "metadata-value": _warning("{key}:{value} is not {allowed}, so it is not read", _OWN),
    "metadata-twice": _warning("the metadata has {key} twice; the first one counts", _OWN),
    "id-twice": _warning(
        "{other} has the id {id}, too", "delete one of the two lines, or the id of this one"
    ),
    "copies-differ": _warning(
        "{other} has the same id and says something else", "let both say the same, or delete one"
    ),
    # The content of memories.
    "secret": _error(
        "holds a secret ({kinds})", "make a new one; take it out here, in git and in history.jsonl"
    ),
    "always-and-never": _error(
        "said under Always and under Never: see {other}", "delete one of the two"
    ),
    "duplicate": _warning("says the same as {other}", "delete one of the two"),
    "near-duplicate": _note("may say the same as {other}", "delete one of the two if it does"),
    "expired": _warning("held until {date}", "delete it, or give it another date"),
    # The folder.
    "profile-in-project": _warning(
        "facts about you are read from the global scope only",
        "move them to profile.md of the global scope",
    ),
    "no-merge-driver": _note(
        "git should merge memory entry by entry, and this clone does not know how",
        "run `engramdown init --git`; until then git merges it as text",
    ),
    "unknown-file": _note(
        "is not a memory file, and is not read",
        "move it out of memory/, or its lines into lessons.md",
    ),
    "not-used": _warning(
        "is not read: {other} is used instead", "put what it says into the other one, and delete it"
    ),
    "wrong-folder": _warning("is not read here", "move it into memory/"),
    "topic-name": _warning(
        "{reason}; {next}", "rename the file, so that the topic is found by its name"
    ),
    "held": _warning(
        "is held by {holder}, so nothing can be written here; reading works",
        "let it go on if it is stopped (`fg`, or `kill -CONT` and its number), or end it",
    ),
    "leftover": _warning(
        "was left behind by a program that did not finish", "look into it, then delete it"
    ),
    "not-a-file": _error("is {what} where {wanted} should be", "move it away"),
    "link": _error("is a link to {target}, and is not followed", "put the file itself here"),
    "too-large": _error(
        "has {size} MB, more than the limit of {limit} MB",
        "split it, or raise max_file_mb in config.toml",
    ),
    "cannot-read": _error("cannot be read: {reason}", "check its permissions and its owner"),
    "cannot-write": _warning("cannot be written", "check its permissions and its owner"),
    "open-to-all": _warning(
        "every user of this machine may write here", "take the permission away: chmod o-w"
    ),
    "settings": _error("{reason}", "correct the value, or delete the line"),
    "overruled": _note(
        "{key} = {said} does not hold: {holds} does, by {by}",
        "leave it; what a person set for themselves counts",
    ),
    "switched-off": _note(
        "switches off {what}: {key} = {said}",
        "leave it, or delete the line; --mode and the environment win over it",
    ),
    "settings-from-git": _note(
        "git knows this file, so somebody else may have written it; it sets {keys}",
        "look whether you want all of it",
    ),
    "not-for-git": _error(
        "belongs to this machine, and is not for git",
        "take it out of the commit: git rm --cached FILE",
    ),
    "history-line": _error(
        "this line of the journal cannot be read; its step cannot be undone or explained",
        "restore history.jsonl from a backup, if you have one",
    ),
    # Transcripts.
    "degraded": _error(
        "memory is degraded: {reason}",
        "make room, or let us write there; what a process that ended left is only a note: --fix",
    ),
    "hook-trouble": _note(
        "a hook of a coding agent had trouble, {count} times in a week; the last: {reason}",
        "fix the cause; the log may be deleted",
    ),
    "episode-line": _warning(
        "lines that are not episodes: {count}; the first is here, all are skipped",
        "leave them, or take them out while no session runs",
    ),
    "torn-line": _note(
        "{size} bytes of a line that a crash cut short, taken out of the transcript",
        "look into it, then delete it",
    ),
    "unfinished-line": _note(
        "the last line has no end, {size} bytes of it: a crash cut it short",
        "leave it: it is set aside when the session goes on",
    ),
    "missing-text": _warning(
        "whole texts that are gone from payloads/: {count}; the first belongs to this line",
        "restore episodes/payloads from a backup, if you have one",
    ),
    "left-open": _note(
        "nobody ended this session; the last line is of {date}",
        "leave it, or end it: `engramdown log end`, `engramdown doctor --fix`",
    ),
    "transcript-secret": _warning(
        "{lines} of this session with a password, key or token",
        "hide them: `engramdown doctor --fix`",
    ),
    # Memories, and the transcripts that they were learned from.
    "source-redacted": _note(
        "was learned from {origin}, which was redacted",
        "if it says what was redacted, edit it or `engramdown forget` it",
    ),
    "source-gone": _note(
        "was learned from {origin}, a line that does not exist", "leave it, or correct `from:`"
    ),
}
