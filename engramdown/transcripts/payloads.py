"""What a line shows of a text, and the whole of a text that it shows cut.

What a tool got or gave is cut between code points, and kept whole beside the line if the settings
say so, once however often it came up; a secret is hidden in both. What a person or an assistant
said is never cut.

A digest leads to exactly the text that it was made of, or to nothing. A text is whole on the disk
before anything points to it; whenever a process dies, a text that no line points to has a note
beside it, by which it is found and removed. Reading creates nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final, NamedTuple

from engramdown.settings import EpisodeSettings
from engramdown.storage.disk import Disk
from engramdown.transcripts.episode import cut

# The name of the folder.
PAYLOADS: Final = "payloads"

_ERRORS: Final = "surrogatepass"
_SHELF: Final = 2
_NAME: Final = re.compile("[0-9a-f]{64}")


def digest(text: str) -> str:
    """Return the SHA-256 of a text in UTF-8, in hexadecimal."""
    return _digest(text.encode("utf-8", _ERRORS))


class Payloads:
    """A folder of texts, each named by its digest."""

    def __init__(self, folder: Path, disk: Disk, *, durable: bool) -> None:
        """Keep texts in ``folder``; ``durable`` says whether a power cut is survived."""
        self.folder = folder
        self._disk = disk
        self._durable = durable
        self._notes: dict[str, Path] = {}
        self._spent: list[Path] = []
        self._lasting: set[str] = set()

    def path(self, name: str) -> Path:
        """Return the file of the text with the digest ``name``."""
        return self.folder / name[:_SHELF] / f"{name[_SHELF:]}.txt"

    def keep(self, name: str, text: str) -> None:
        """Write a text whose digest is ``name``, unless it is there.

        A note beside it says that no line may point to it yet, until :meth:`release` is called.

        Raises:
            StoreError: If there is a link instead of a folder.
            OSError: If it could not be written; nothing is left of it then.
        """
        path, data = self.path(name), text.encode("utf-8", _ERRORS)
        if self._disk.load(path) == data:
            self._make_last(name)
            return
        self._disk.refuse_link(self.folder)
        self._disk.make_plain_folder(path.parent, durable=self._durable)
        # What is there but another text is what a power cut left: it may be as long, and all zeros.
        # Begun where all such are found that a process leaves when it dies.
        begun = self.folder / f"{name}.txt"
        self._note(name, begun)
        try:
            self._disk.save(path, data, durable=self._durable, replace=True, unfinished=begun)
        except OSError:
            self.release([name])
            raise
        self._make_last(name, synced=True)

    def release(self, names: Iterable[str] = ()) -> None:
        """Say that lines point to the texts now; a note that cannot be removed is tried later."""
        names = set(names)
        self._lasting -= names
        notes = [self._notes.pop(name) for name in names if name in self._notes]
        waiting, self._spent = [*self._spent, *notes], []
        for note in waiting:
            try:
                self._disk.unlink(note)
            except OSError:
                self._spent.append(note)

    def fetch(self, name: str) -> str | None:
        """Return the text with the digest ``name``; ``None`` if it is not there, or another."""
        if not _NAME.fullmatch(name):
            return None
        data = self._disk.load(self.path(name))
        if data is None or _digest(data) != name:
            return None
        return data.decode("utf-8", _ERRORS)

    def _note(self, name: str, begun: Path) -> None:
        note = self._notes.get(name)
        # A note that is old is swept up by others, who take us for gone.
        if note is None or self._disk.find(note) is None:
            self._notes[name] = self._disk.begin(begun)
            if self._durable:
                self._disk.sync_folder(self.folder)

    def _make_last(self, name: str, *, synced: bool = False) -> None:
        """Sync a text, whoever wrote it: they may have died before they did."""
        if not self._durable or name in self._lasting:
            return
        path = self.path(name)
        if not synced:
            self._disk.sync_file(path)
        self._disk.sync_folder(path.parent)
        self._lasting.add(name)


def _digest(data: bytes) -> str:
    # Imported here: it loads OpenSSL, and most lines show all of their text.
    from hashlib import sha256

    return sha256(data).hexdigest()


# Whose lines show what a tool was given or gave back.
TOOL_ROLES: Final = frozenset({"tool_call", "tool_result", "scratchpad"})


class LineText(NamedTuple):
    """What becomes of a text.

    Attributes:
        text: What the line holds.
        length: How long the whole was, in code points, if the line holds only its beginning.
        payload: The digest of the whole, and the whole, if it is to be kept beside the line.
    """

    text: str
    length: int | None = None
    payload: tuple[str, str] | None = None


def shorten_for_line(role: str, text: str, settings: EpisodeSettings) -> LineText:
    """Return what a line of ``role`` shows of ``text``."""
    text = redact_for_role(role, text, settings)
    if role not in TOOL_ROLES:
        return LineText(text)
    limit = settings.input_limit if role == "tool_call" else settings.output_limit
    beginning, length = cut(text, limit)
    keep = length is not None and settings.payloads == "keep"
    return LineText(beginning, length, (digest(text), text) if keep else None)


def redact_for_role(role: str, text: str, settings: EpisodeSettings) -> str:
    """Return ``text`` without the secrets that ``settings`` hide in a line of ``role``."""
    if text and (settings.redact == "all" or (settings.redact == "tools" and role in TOOL_ROLES)):
        # Imported here: nothing is recorded by most commands.
        from engramdown.secrets.redaction import redact

        return redact(text)
    return text
