"""What people and assistants said, each line with the digest of its text.

Promises: what was appended, redacted or removed since is seen; a file is read again only when it
has changed; texts themselves are not kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Final, NamedTuple

from engramdown.episodes import watch
from engramdown.episodes.disk import EpisodeDisk
from engramdown.episodes.episode import ROLES, Episode, read_line
from engramdown.episodes.live import excluded
from engramdown.errors import StoreError
from engramdown.recall.lines import Line, read_lines

__all__ = ["LONGEST", "Spoken", "Utterance", "digest_of", "shown_to_model"]

LONGEST: Final = 2_000
"""Characters of a text that are embedded; models read no more than a page."""
_SPEAKERS: Final = frozenset({ROLES.index("user"), ROLES.index("assistant")})


class Utterance(NamedTuple):
    """A line that somebody said.

    Attributes:
        session: The id of its session.
        seq: Its number there.
        ts: When, in microseconds since 1970.
        role: The place of its role among ``ROLES``.
        start: Where its line begins in the file.
        end: Where its line ends.
        digest: Of its text, as a model is shown it.
        hidden: Whether a person took it out of recall.
    """

    session: str
    seq: int
    ts: int
    role: int
    start: int
    end: int
    digest: bytes
    hidden: bool


class Spoken:
    """What was said in the transcripts of a folder."""

    def __init__(self, folder: Path, disk: EpisodeDisk) -> None:
        """Read the transcripts in ``folder`` when they are asked for."""
        self._folder = folder
        self._disk = disk
        self._files: dict[str, tuple[watch.Seen, list[Utterance]]] = {}

    def all(self, tick: Callable[[], None]) -> list[Utterance]:
        """Return everything that was said.

        Args:
            tick: Called before each file; may raise to stop.

        Raises:
            OSError: If a transcript cannot be read.
            StoreError: If one is no regular file.
        """
        files: dict[str, tuple[watch.Seen, list[Utterance]]] = {}
        for name in sorted(watch.listing(self._folder)):
            tick()
            seen = watch.look(self._folder, name)
            known = self._files.get(name)
            if known is not None and known[0] == seen:
                files[name] = known
            elif seen is not None:
                files[name] = (seen, list(self._read(name)))
        self._files = files
        return [each for _, found in files.values() for each in found]

    def episode(self, utterance: Utterance) -> Episode | None:
        """Return the line itself, or ``None`` if it is another one by now."""
        path = self._folder / f"{utterance.session}{watch.SUFFIX}"
        try:
            file = self._disk.open(path)
            try:
                found = read_line(self._disk.read(file, utterance.start, utterance.end))
            finally:
                self._disk.close(file)
        except (OSError, StoreError):
            return None
        same = found is not None and digest_of(found.text) == utterance.digest
        return found if same else None

    def _read(self, name: str) -> Iterator[Utterance]:
        block = self._disk.load(self._folder / f"{name}{watch.SUFFIX}") or b""
        lines = list(read_lines(block))
        whole, seqs = excluded(line.event for line in lines if line.event is not None)
        last = Line(block.rfind(b"\n") + 1, 0, 0, 0, "", "")
        for line, after in pairwise([*lines, last]):
            if line.role in _SPEAKERS and line.text.strip():
                hidden = whole or line.seq in seqs
                place = (line.seq, line.ts, line.role, line.start, after.start)
                yield Utterance(name, *place, digest_of(line.text), hidden)


def shown_to_model(text: str) -> str:
    """Return as much of a text as a model is shown, in characters that every encoding has."""
    return text[:LONGEST].encode("utf-8", "replace").decode()


def digest_of(text: str) -> bytes:
    """Return the digest of a text, as a model is shown it."""
    return sha256(shown_to_model(text).encode()).digest()[:16]
