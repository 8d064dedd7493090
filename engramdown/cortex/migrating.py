"""Brings memories from older layouts through the gate.

Promises: nothing of what is read is changed; what came once does not come again, whatever became
of it here; killed at any point, the next run brings exactly the rest; what comes into a
scope is one step, what waits there another, and all of them name the same migration.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, NamedTuple

from engramdown.cortex.cortex import Cortex
from engramdown.cortex.kinds import kind_of
from engramdown.cortex.migrated import OP, Migrated
from engramdown.cortex.older import Unread, files_at
from engramdown.cortex.receipts import Receipt
from engramdown.engram import Scope
from engramdown.errors import StoreError
from engramdown.hippocampus.changeset import Act, new_id
from engramdown.hippocampus.files import on_errand
from engramdown.importers.markdown_notes import Brought, File, Layout, Passed, identity, read
from engramdown.storage.disk import Disk

__all__ = ["MOST", "Came", "Migration", "Surveyed"]

MOST: Final = 5_000
"""So many memories one run brings; it takes some seconds. The next one brings the rest."""


@dataclass(frozen=True, slots=True)
class Surveyed:
    """What a file holds.

    Attributes:
        path: What a person calls it.
        layout: What it is, or ``None`` if it could not be read.
        new: The memories that did not come yet.
        known: How many came before.
        waiting: How many are left for the next run, as more came than one brings.
        passed: What is not taken.
        problem: Why it could not be read, or ``""``.
    """

    path: str
    layout: Layout | None = None
    new: tuple[Brought, ...] = ()
    known: int = 0
    waiting: int = 0
    passed: tuple[Passed, ...] = ()
    problem: str = ""


class Came(NamedTuple):
    """What became of a memory.

    Attributes:
        path: The file that it came from.
        brought: The memory.
        receipt: What happened.
    """

    path: str
    brought: Brought
    receipt: Receipt


class Migration:
    """From older layouts into one scope."""

    def __init__(
        self, cortex: Cortex, scope: Scope, *, again: bool = False, disk: Disk | None = None
    ) -> None:
        """Bring memories into the ``scope`` of ``cortex``; facts about the user hold everywhere.

        Args:
            cortex: What they go through.
            scope: Where they are kept.
            again: Bring also what came before, if memory does not know it any more.
            disk: The system calls; as the settings say unless given.

        Raises:
            StoreError: If it has no files, or what came before cannot be read.
        """
        store = next((each for each in cortex.stores if each.scope == scope), None)
        if store is None:
            raise StoreError(f"{scope}: has no files; only into files can be migrated")
        self._cortex = cortex
        self._scope: Scope = scope
        self._again = again
        settings = cortex.settings.of(scope)
        is_durable = settings.durability == "full"
        self._disk = disk or Disk(durable=is_durable, limit=settings.max_file_bytes)
        try:
            self._ledger = Migrated(store.root, self._disk, settings.lock_timeout)
        except OSError as error:
            path = error.filename or store.root
            raise StoreError(f"{path}: cannot be read: {error.strerror}") from error

    def survey(self, paths: Iterable[Path], base: Path) -> list[Surveyed]:
        """Return what there is at ``paths``; nothing is written.

        Args:
            paths: Files, and folders in which they are looked for.
            base: The folder from which files are named.
        """
        seen: dict[str, str] = {}
        is_project = self._scope == "project"
        places = files_at(paths, base, self._disk, folders=is_project)
        return _at_most(MOST, [self._surveyed(found, seen) for found in places])

    def bring(self, surveyed: Sequence[Surveyed], *, dry_run: bool = False) -> list[Came]:
        """Let what is new through the gate, and return what became of each.

        Args:
            surveyed: What :meth:`survey` returned.
            dry_run: The cortex only rehearses: do not write down that anything came.

        Raises:
            StoreError: If it could not be written down what came; the next run asks again for it.
        """
        new = [(each.path, brought) for each in surveyed for brought in each.new]
        with on_errand(Act(OP, "user", f"migration {new_id()}")):
            # One batch, so that what stands together is not held against itself.
            receipts = self._cortex.propose(brought.engram for _, brought in new)
        came = [
            Came(path, brought, receipt)
            for (path, brought), receipt in zip(new, receipts, strict=True)
        ]
        if not dry_run:
            self._note(came)
        return came

    def _surveyed(self, found: File | Unread, seen: dict[str, str]) -> Surveyed:
        if isinstance(found, Unread):
            return Surveyed(found.path, problem=found.reason)
        told = read(found, self._scope, kind_of)
        new, passed, known = [], list(told.passed), 0
        for brought in told.memories:
            elsewhere = seen.setdefault(identity(brought.engram), found.path)
            if elsewhere != found.path:
                passed.append(Passed(brought.line, f"stands in {elsewhere}, too"))
            elif not self._again and self._ledger.knows(brought.engram):
                known += 1
            else:
                new.append(brought)
        return Surveyed(found.path, found.layout, tuple(new), known, passed=tuple(sorted(passed)))

    def _note(self, done: Iterable[Came]) -> None:
        came = [
            (each.path, each.brought.engram) for each in done if each.receipt.action != "failed"
        ]
        if not came:
            return
        try:
            self._ledger.add(came)
        except OSError as error:
            path = error.filename or self._ledger.path
            raise StoreError(f"{path}: cannot be written: {error.strerror}") from error


def _at_most(most: int, surveyed: Sequence[Surveyed]) -> list[Surveyed]:
    """Return the files with so many new memories in all; a large one keeps no small one out."""
    room, cut = most, dict[int, Surveyed]()
    for at in sorted(range(len(surveyed)), key=lambda at: len(surveyed[at].new)):
        new = surveyed[at].new
        cut[at] = replace(surveyed[at], new=new[:room], waiting=len(new[room:]))
        room -= len(new[:room])
    return [cut[at] for at in range(len(surveyed))]
