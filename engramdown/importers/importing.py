"""Imports what other programs recorded.

Promises: the same file twice changes nothing; of a file that grew only the new lines come; an
import that was killed is finished by the next one, without anything twice; times are those of the
source; no line is a reason to stop. A dry run does all of it but writing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

from engramdown.importers.file import FileImport, Progress
from engramdown.importers.inputs import FOLDER, Input, Ledger
from engramdown.importers.records import Source
from engramdown.importers.report import Report
from engramdown.importers.writer import PATIENCE, Encoder, Names, Shelf
from engramdown.settings import EpisodeSettings
from engramdown.storage.disk import EpisodeDisk
from engramdown.storage.locks import FolderLock

__all__ = ["Importer", "alone"]

_LOCK: Final = ".lock"


class Importer:
    """Imports into one folder of transcripts."""

    def __init__(
        self,
        folder: Path,
        settings: EpisodeSettings,
        disk: EpisodeDisk | None = None,
        *,
        dry: bool = False,
        ends: bool = True,
        patience: float = PATIENCE,
    ) -> None:
        """Import into ``folder``.

        Args:
            folder: That of the transcripts.
            settings: What was configured.
            disk: What is read and written with.
            dry: Whether nothing is written.
            ends: Whether a session has ended that is imported; one that goes on has not.
            patience: For how many seconds to wait for others at most, each time.
        """
        self._disk = disk or EpisodeDisk()
        self._patience = patience
        self._shelf = Shelf(
            folder, self._disk, Encoder(settings), dry=dry, ends=ends, patience=patience
        )

    def run(
        self,
        inputs: Iterable[Input],
        source: Source | None = None,
        progress: Progress = lambda _: None,
    ) -> Report:
        """Import files.

        Args:
            inputs: What to read; see :func:`engramdown.importers.inputs.find_inputs`.
            source: Whose files they are, or ``None`` to look into each.
            progress: Told how many bytes more were read.

        Raises:
            LockTimeoutError: If another import runs for too long.
            StoreError: If something else than a file stands where a transcript should be.
            OSError: If a transcript cannot be written; what was read until then is there.
        """
        shelf, report = self._shelf, Report()
        with ExitStack() as stack:
            stack.callback(shelf.close)
            if not shelf.dry:
                shelf.prepare()
                stack.enter_context(alone(shelf.folder, self._disk, self._patience))
            ledger = Ledger(shelf.folder, self._disk, durable=shelf.durable)
            names = Names(shelf.folder, self._disk)
            for found in inputs:
                file = FileImport(shelf, ledger, names, found)
                report.files.append(file.bring(source, progress))
        return report


@contextmanager
def alone(folder: Path, disk: EpisodeDisk, patience: float = PATIENCE) -> Iterator[None]:
    """Keep other imports out: two that read the same file would both write it.

    Raises:
        LockTimeoutError: If another one runs for too long.
    """
    place = folder / FOLDER
    disk.make_folder(place, durable=False)
    lock = FolderLock(place / _LOCK, disk, patience)
    try:
        with lock.hold():
            disk.remove_unfinished(place)
            yield
    finally:
        lock.close()
