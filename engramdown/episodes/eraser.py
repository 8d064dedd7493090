"""Erasing words for good from transcripts, and from everything that was made of them.

A line that holds the words, or half of them, is emptied, without a digest of them; so are the lines
of a whole text that holds one, which goes. Nobody who writes meanwhile loses a line. Summaries,
cards, vectors and the index of such lines go with them. Done twice it does no harm, and what was
cut short is done again from the beginning.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Final, NamedTuple

from engramdown.episodes.forget import EventLine, Forgetting, emptied
from engramdown.storage.disk import Disk
from engramdown.storage.erasure import Words
from engramdown.storage.locks import FolderLock
from engramdown.transcripts.episode import read_line, write_line
from engramdown.transcripts.payloads import PAYLOADS
from engramdown.transcripts.summary_log import FOLDER as SUMMARIES
from engramdown.transcripts.visibility import REDACTED

_ERASED: Final = "erased"


class Held(NamedTuple):
    """The lines of a session that hold words.

    Attributes:
        session: The id of the session.
        seqs: The numbers of the lines.
        whole: How many of them hold all of the words.
    """

    session: str
    seqs: tuple[int, ...]
    whole: int = 0


class EpisodeEraser(Forgetting):
    """Erases words in the transcripts of one scope."""

    def __init__(
        self, episodes: Path, disk: Disk, lock: FolderLock, event: EventLine, words: Words
    ) -> None:
        """Erase ``words`` in the folder ``episodes``; see :class:`Forgetting` for the rest."""
        super().__init__(episodes, disk, lock, event)
        self._words = words
        self._clean_lines: set[bytes] = set()

    def held(self) -> list[Held]:
        """Return the lines that hold words, by session; nothing is changed."""
        payloads = self._payloads()
        return self._found(lambda line: self._is_held(line, payloads))

    def shared(self) -> list[Held]:
        """Return the lines that share too short a run with the words to be emptied."""
        payloads = self._payloads()
        found = self._found(
            lambda line: not self._is_held(line, payloads) and self._words.shares(_said(line))
        )
        return [each for each in found if each.seqs]

    def _found(self, is_meant: Callable[[bytes], bool]) -> list[Held]:
        found = []
        for session in self._sessions.ids():
            if lines := [each for each in self._lines(session) if is_meant(each)]:
                whole = sum(self._words.is_whole(_said(line)) for line in lines)
                numbers = tuple(each.seq for each in filter(None, map(read_line, lines)))
                found.append(Held(session, numbers, whole))
        return found

    def payloads(self) -> list[Path]:
        """Return the files of whole texts that hold words."""
        return [path for name in sorted(self._payloads()) for path in self._traces.payload(name)]

    def erase(self, patience: float) -> None:
        """Take the words out of everything that was recorded.

        Args:
            patience: How long to wait for writers, in seconds.

        Raises:
            LockTimeoutError: If somebody else held the lock for too long.
            StoreError: If a transcript could not be read.
            OSError: If one could not be written; called again, it goes on.
        """
        if self._disk.find(self._folder) is None:
            return
        payloads = self._payloads()
        sessions = [each.session for each in self.held()]
        with self._lock.hold(patience):
            if sessions:
                self._traces.drop_index()
            # Somebody may have written since.
            payloads |= self._payloads()
            for session in self._sessions.ids():
                self._erase_in(session, payloads)
            self._disk.sync_folder(self._folder)
            for path in self._loose(payloads):
                self._disk.unlink(path)
            for name in self._disk.files(self._folder.parent / SUMMARIES):
                self._sift(self._folder.parent / SUMMARIES / name)
            self._traces.forget_unsaid()

    # ---- lines ----

    def _lines(self, session: str) -> list[bytes]:
        data = self._disk.load(self._sessions.path(session)) or b""
        return data.split(b"\n")

    def _is_held(self, line: bytes, payloads: set[str]) -> bool:
        if any(name.encode() in line for name in payloads):
            return True
        if not line or line in self._clean_lines:
            return False
        if self._words.holds(_said(line)):
            return True
        # Writers wait while everything is looked at again.
        self._clean_lines.add(line)
        return False

    def _erase_in(self, session: str, payloads: set[str]) -> None:
        """Replace a transcript by one with the lines emptied, and remove what was made of them."""
        if any(self._is_held(line, payloads) for line in self._lines(session)):
            with closing(self._log(session)) as log:
                log.rewrite(
                    lambda line: self._without(line, payloads),
                    lambda changed: self._event("redact", {"of": changed}),
                )
        erased = []
        for line in self._lines(session):
            # Those that were emptied here, by whatever run.
            episode = read_line(line) if b'"erased":true' in line else None
            mark = episode.more.get(REDACTED) if episode is not None else None
            if episode is not None and isinstance(mark, dict) and mark.get(_ERASED) is True:
                erased.append(episode)
        if erased:
            pieces = self._traces.pieces(session, {each.id for each in erased})
            for each in (*pieces, *self._traces.in_hand(session)):
                self._disk.unlink(each)
            self._traces.cards.unfill(session, [each.seq for each in erased])

    def _without(self, line: bytes, payloads: set[str]) -> bytes:
        if not self._is_held(line, payloads):
            return line
        episode = read_line(line)
        if episode is None:
            return self._words.mask(line)
        more = {key: self._sifted(value) for key, value in episode.more.items()}
        is_event = episode.role == "event"
        without = emptied(episode, more if is_event else {**more, REDACTED: {_ERASED: True}})
        name, call, model = (
            self._words.cut(value, pieces=True)
            for value in (episode.name, episode.call, episode.model)
        )
        return write_line(without._replace(name=name, call=call, model=model)).removesuffix(b"\n")

    def _sifted(self, value: object) -> object:
        """Return a value of JSON without the words."""
        if isinstance(value, str):
            return self._words.cut(value, pieces=True)
        if isinstance(value, list):
            return [self._sifted(each) for each in value]
        if isinstance(value, dict):
            return {str(self._sifted(key)): self._sifted(each) for key, each in value.items()}
        return value

    # ---- files beside the transcripts ----

    def _payloads(self) -> set[str]:
        """Return the digests of the whole texts that hold words."""
        folder = self._folder / PAYLOADS
        if folder.is_symlink():
            return set()
        paths = [path for path in folder.glob("??/*.txt") if not path.is_symlink()]
        return {f"{path.parent.name}{path.stem}" for path in paths if self._holds(path)}

    def _holds(self, path: Path) -> bool:
        data = self._disk.load(path)
        return bool(data) and self._words.holds((data or b"").decode("utf-8", "replace"))

    def _loose(self, payloads: set[str]) -> Iterator[Path]:
        """Yield what is to be removed of whole texts, torn lines and files on their way."""
        yield from self._traces.unsaid(payloads)
        for folder in (self._folder, self._folder / PAYLOADS):
            for name in self._disk.files(folder):
                is_loose = name.endswith(".part") or ".torn-" in name
                if is_loose and self._holds(folder / name):
                    yield folder / name

    def _sift(self, path: Path) -> None:
        """Drop the lines of a log of summaries and earlier notes that hold words."""
        data = self._disk.load(path) if path.suffix == ".jsonl" else None
        if not data:
            return
        lines = data.split(b"\n")
        left = [line for line in lines if not (line and self._words.holds(_said(line)))]
        if left != lines:
            self._disk.save(path, b"\n".join(left), durable=True, replace=True)


def _said(line: bytes) -> str:
    """Return everything that is in a line of JSON, one text below the other."""
    text = line.decode("utf-8", "replace")
    try:
        return "\n\0\n".join(_strings(json.loads(text)))
    except (ValueError, RecursionError):
        return text


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, each in value.items():
            yield str(key)
            yield from _strings(each)
    elif isinstance(value, Sequence):
        for each in value:
            yield from _strings(each)
