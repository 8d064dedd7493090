"""Every error that Engramdown raises on purpose.

::

    EngramdownError
    ├── InvalidEngramError    (also a ValueError)   a memory that cannot be one
    ├── InvalidSessionError   (also a ValueError)   a session id that is not a safe file name
    ├── InvalidSkillError     (also a ValueError)   a skill that cannot be one
    ├── InvalidNoteError      (also a ValueError)   an entry of the journal, or a note, that cannot
    ├── SettingsError         (also a ValueError)   a config file or variable with a wrong value
    ├── GitError                                    git has no answer: no repository, no commit
    ├── MidTurnError                                a person was about to be interrupted
    ├── SkillRefusedError                           a text for a skill that holds a secret
    ├── ModelError                                  a language model gave no answer of use
    │   └── SpendError                              asking it would pass a limit
    └── StoreError                                  a store could not be read or written
        ├── LockTimeoutError                        another process kept the lock too long
        ├── EntryNotFoundError   (also a LookupError)   no memory with this id
        ├── SessionNotFoundError (also a LookupError)   no transcript with this id
        ├── EpisodeNotFoundError (also a LookupError)   no line of it with this number
        ├── SkillNotFoundError   (also a LookupError)   no skill with this label
        ├── SkillExistsError                            there is one already
        ├── ChangedError                                somebody changed what was to be replaced
        │   ├── SkillChangedError                       in a skill
        │   └── NotesChangedError                       in the notes on a session
        ├── AmbiguousIdError     (also a LookupError)   several memories with this prefix
        └── UndoRefusedError                        undoing would overwrite a person

A message names the file, the line or the value, what is allowed, and the next step. It never
holds the value of a secret.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

# The message for a search on a Python without SQLite or FTS5.
NO_SEARCH: Final = (
    "nothing can be searched: this Python has no SQLite with FTS5; "
    "run Engramdown with another Python"
)

# What reading JSON that has another form raises; too deep a nesting is a RecursionError.
MALFORMED: Final = (ValueError, LookupError, TypeError, RecursionError)

_SHOWN: Final = 8
_LONGEST_SHOWN: Final = 60
_BEGINNING: Final = 40


class EngramdownError(Exception):
    """The root: ``except EngramdownError`` catches everything in this module."""


class _InvalidFieldError(EngramdownError, ValueError):
    """One field of something is wrong.

    Attributes:
        field: The name of the field.
        reason: What is wrong with it and what is allowed.
    """

    def __init__(self, field: str, reason: str) -> None:
        """Say which ``field`` is wrong and why; a secret that somebody put there is hidden."""
        self.field = field
        self.reason = _hidden(reason)
        super().__init__(f"{field}: {self.reason}")


class InvalidEngramError(_InvalidFieldError):
    """A memory that cannot be one: a wrong kind, an empty text, a topic that is not a name."""

    @classmethod
    def not_one_of(cls, field: str, value: object, allowed: Iterable[str]) -> InvalidEngramError:
        """Build the error for a value that is not in a closed list."""
        return cls(field, f"{value!r} is not one of {', '.join(allowed)}")

    @classmethod
    def too_long(cls, field: str, value: str, limit: str) -> InvalidEngramError:
        """Build the error for a value that is longer than ``limit``; it quotes the beginning."""
        # Hidden before it is cut: a piece of a secret does not look like one.
        return cls(field, f"{_hidden(value)[:_BEGINNING]!r}… is longer than {limit}")


class InvalidSessionError(EngramdownError, ValueError):
    """An id that no session can have, because it is not a safe file name everywhere.

    Attributes:
        value: The id.
        suggestion: An id like it that is allowed.
    """

    def __init__(self, value: str, reason: str, suggestion: str) -> None:
        """Say what is wrong with ``value`` (``reason``) and offer a ``suggestion``."""
        # Hidden before it is cut: a piece of a secret does not look like one.
        safe = _hidden(value)
        shown = safe if len(safe) <= _LONGEST_SHOWN else f"{safe[:_LONGEST_SHOWN]}…"
        # A suggestion would repeat the secret.
        like = f"; try {suggestion!r}" if safe == value else ""
        super().__init__(f"session id {shown!a} {reason}{like}")
        self.value = value
        self.suggestion = suggestion


class InvalidSkillError(_InvalidFieldError):
    """A skill that cannot be one: a label that is not a name, a description that is too long."""


class InvalidNoteError(_InvalidFieldError):
    """An entry of the journal, or a note, that cannot be one: it is empty, or too long."""


class MemoryCommandError(EngramdownError, ValueError):
    """A command on the memory folder that was refused; the words are for a model."""


class PutRefusedError(EngramdownError):
    """The gate refused to put a value under a key, or to take one away, or it asks first.

    Attributes:
        refusals: Each a sentence that names the namespace, the key and the reason.
    """

    def __init__(self, refusals: Iterable[str]) -> None:
        """Keep the ``refusals``; everything else of the same batch was written."""
        self.refusals = tuple(refusals)
        super().__init__("; ".join(self.refusals))


class SettingsError(EngramdownError, ValueError):
    """A configuration value that is unknown or wrong.

    Attributes:
        source: The file or environment variable that holds it.
        key: The name of the setting, or ``file`` if the whole file is wrong.
        problem: What is wrong and what is allowed, in words that do not name the source.
    """

    def __init__(self, source: str, key: str, reason: str) -> None:
        """Name the ``source`` and the ``key`` of the value, and what is allowed."""
        super().__init__(f"{source}: {key}: {reason}")
        self.source = source
        self.key = key
        subject = "the file" if key == "file" else key
        self.problem = f"{subject}{'' if reason.startswith(('is ', 'cannot ')) else ':'} {reason}"


class GitError(EngramdownError):
    """Git has no answer: no repository, no such commit, no git."""


class MidTurnError(EngramdownError):
    """A person was to decide something in the middle of a turn."""


class SkillRefusedError(EngramdownError):
    """A text for a skill that holds a secret."""

    def __init__(self, kind: str) -> None:
        """Say what ``kind`` of secret there is; its value is not repeated."""
        super().__init__(
            f"the text holds a {kind}; nothing was written. "
            "Name the place where it is kept instead, like an environment variable."
        )


class ModelError(EngramdownError):
    """A language model gave no answer of use.

    Attributes:
        outcome: How the call ended, as in the ledger: ``timeout``, ``truncated``, ….
    """

    outcome = "failed"

    def __init__(self, reason: str, outcome: str = "") -> None:
        """Say what went wrong, in one line; a secret that a provider quotes is hidden."""
        super().__init__(_hidden(reason))
        self.outcome = outcome or self.outcome


class UnusableAnswerError(ModelError):
    """A language model answered in the form, and nothing of it can be used."""

    outcome = "malformed"


class SpendError(ModelError):
    """Asking a language model would pass a limit; it was not asked."""

    outcome = "refused_spend"


class StoreError(EngramdownError):
    """A memory store could not be read or written; memory is as it was before."""


class LockTimeoutError(StoreError):
    """Another process held a scope's lock for longer than the time-out.

    Attributes:
        path: The lock file.
        seconds: How long we waited.
        holder: Who holds it, as far as that is known; may be empty.
    """

    def __init__(self, path: str, seconds: float, holder: str = "", setting: str = "") -> None:
        """Name the lock, the time-out in ``seconds``, the ``holder``, and what sets the time."""
        who = f" held by {holder}" if holder else " held by another process"
        longer = f", or raise {setting} in config.toml" if setting else ""
        super().__init__(
            f"{path}:{who} for more than {seconds:g} s; nothing was written. "
            f"Try again when it has finished{longer}."
        )
        self.path = path
        self.seconds = seconds
        self.holder = holder


_LISTED: Final = {
    "archive.md": "engramdown list --archived",
    "pending.md": "engramdown review",
    "the journal": "engramdown history",
}


class EntryNotFoundError(StoreError, LookupError):
    """No memory has this id.

    Attributes:
        id: The id or prefix that was asked for.
    """

    def __init__(self, entry_id: str, where: str = "") -> None:
        """Name the id that was asked for and, if known, ``where`` it was looked for."""
        place = f" in {where}" if where else ""
        shown = _hidden(entry_id)
        listed = _LISTED.get(where, "engramdown list")
        super().__init__(f"no memory with id {shown!r}{place}; `{listed}` shows the ids")
        self.id = entry_id


class SessionNotFoundError(StoreError, LookupError):
    """No transcript has this id.

    Attributes:
        id: The id that was asked for.
    """

    def __init__(self, session: str, where: str) -> None:
        """Name the id that was asked for, and ``where`` it was looked for."""
        shown = _hidden(session)
        super().__init__(f"no session {shown!a} in {where}; `engramdown log list` shows the ids")
        self.id = session


class EpisodeNotFoundError(StoreError, LookupError):
    """A transcript has no line with this number.

    Attributes:
        session: The id of the session.
        seqs: The numbers that were asked for in vain.
    """

    def __init__(self, session: str, seqs: Iterable[int]) -> None:
        """Name the ``session`` and the numbers."""
        self.session = session
        self.seqs = tuple(seqs)
        shown = ", ".join(f"{session}#{seq}" for seq in self.seqs[:_SHOWN])
        super().__init__(f"no episode {shown}; `engramdown log show {session}` shows the numbers")


class GistNotFoundError(StoreError, LookupError):
    """A conversation has no summary with this id.

    Attributes:
        session: The id of the session.
        id: The id that was asked for.
    """

    def __init__(self, session: str, gist: str, known: Iterable[str] = ()) -> None:
        """Name the ``session``, the id that was asked for, and the ids that it could be."""
        self.session = session
        self.id = gist
        ids = ", ".join([*known][:_SHOWN])
        hint = f"; it could be {ids}" if ids else ""
        super().__init__(f"{session}: no summary {gist!r}{hint}")


class SkillNotFoundError(StoreError, LookupError):
    """No skill has this label.

    Attributes:
        label: The label that was asked for.
    """

    def __init__(self, label: str, near: str = "") -> None:
        """Name the label that was asked for, and one that is ``near`` it."""
        meant = f"; did you mean {near}?" if near else ""
        shown = _hidden(label)
        super().__init__(f"no skill {shown!a}{meant or '; `engramdown skills list` shows them'}")
        self.label = label


class SkillExistsError(StoreError):
    """A skill of this label exists already."""

    def __init__(self, path: str, label: str) -> None:
        """Name the file that is there, and the ``label``."""
        super().__init__(
            f"{path}: is there already; nothing was written. "
            f"Choose another label, or change it with `engramdown skills edit {label}`."
        )


class ChangedError(StoreError):
    """Somebody changed what was to be replaced."""

    def __init__(self, path: str) -> None:
        """Name the file."""
        super().__init__(
            f"{path}: was changed since it was read; nothing was written, so that nothing is lost. "
            "Read it again, and put your change into what is there now."
        )


class SkillChangedError(ChangedError):
    """Somebody changed the part of a skill that was to be replaced."""


class NotesChangedError(ChangedError):
    """Somebody changed the notes on a session that were to be replaced."""


class UnfitFileError(EngramdownError):
    """A file of another program that cannot be edited as it is."""

    def __init__(self, file: str, reason: str) -> None:
        """Name the ``file``, and say what is in the way and what to do."""
        super().__init__(f"{file}: {reason}. Nothing was written.")


class AmbiguousIdError(StoreError, LookupError):
    """A prefix that begins several ids.

    Attributes:
        prefix: The prefix that was asked for.
        matches: The ids that begin with it, in file order.
    """

    def __init__(self, prefix: str, matches: Iterable[str]) -> None:
        """Name the ``prefix`` and the ids it could mean."""
        self.prefix = prefix
        self.matches = tuple(matches)
        shown = ", ".join(self.matches[:_SHOWN]) + (", …" if len(self.matches) > _SHOWN else "")
        super().__init__(f"{prefix!r} is not unique: {shown}; give more characters")


class UndoRefusedError(StoreError):
    """An undo that would overwrite what a person wrote."""


def _hidden(value: str) -> str:
    """Return a value without the secrets that somebody put there."""
    # Imported here: what knows secrets is not needed until something is wrong.
    from engramdown.secrets.redaction import redact

    return redact(value)
