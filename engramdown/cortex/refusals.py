"""Which ticks that came with git were refused, so that each is decided on and told of once.

Promises: holds digests, no words; may be lost at any moment, then they are decided on once more.
It stands in the folder of the global scope, so that nothing that was cloned or pulled can say so
of itself. A line that a person changed since is decided on again.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NamedTuple

from engramdown.cortex.pending import Pending
from engramdown.errors import StoreError
from engramdown.hippocampus.store import Hippocampus
from engramdown.kinds import PENDING
from engramdown.storage.disk import Disk

__all__ = ["Refusal", "Refusals", "digest_of_tick"]

_LETTERS: Final = 16


class Refusal(NamedTuple):
    """A tick that was refused: the id of its proposal, and why; ``""`` if that is not known."""

    id: str
    why: str = ""


def digest_of_tick(item: Pending, rules: str) -> str:
    """Return what a tick is known by, wherever it stands, for as long as the same rules hold."""
    return _digest(f"{rules}\n{replace(item, line=0)!r}")


class Refusals:
    """The ticks of one scope that were refused."""

    def __init__(
        self, store: Hippocampus, home: Path | None, dry: Callable[[], bool] = bool
    ) -> None:
        """Keep those of ``store`` in the cache of ``home``; ``None``, or ``dry``, only in mind."""
        self._history = store.files.history
        name = f"refused-{_digest(os.path.realpath(store.root))}.json"
        self._path = home / "cache" / name if home else None
        self._dry = dry
        self._disk = Disk()
        self._last = ""
        self._kept: Mapping[str, Refusal] | None = None

    def known(self) -> Mapping[str, Refusal]:
        """Return the ticks that were refused, but for those of lines that a person changed since.

        They are known by :func:`digest_of_tick`.
        """
        if self._kept is None or (self._path is not None and not self._dry()):
            self._last, self._kept = self._load()
        if not self._kept or self._last == self._history.last:
            return self._kept
        steps = self._history.steps_after(self._last)
        if not steps:
            return {}  # It is another journal: nobody knows what was changed since.
        touched = {
            change.id
            for step in steps
            if step.by == "person"
            for change in step.changes
            if change.file == PENDING
        }
        return {key: it for key, it in self._kept.items() if it.id not in touched}

    def keep(self, refused: Mapping[str, Refusal]) -> None:
        """Take note of all ticks that are refused now; those that are not among them are gone."""
        last = self._history.last
        if (last, refused) == (self._last, self._kept) or not (refused or self._kept):
            return
        self._last, self._kept = last, refused
        if self._path is None or self._dry():
            return
        told = {"last": last, "ticks": {key: each.id for key, each in refused.items()}}
        try:
            self._disk.make_folder(self._path.parent)
            self._disk.create(self._path, json.dumps(told).encode())
        except (OSError, StoreError):
            return  # Then they are decided on once more.

    def _load(self) -> tuple[str, Mapping[str, Refusal]]:
        try:
            data = self._disk.read(self._path) if self._path is not None else None
            told: Any = json.loads(data or b"")
            found = {str(key): Refusal(str(each)) for key, each in told["ticks"].items()}
            return str(told["last"]), found
        except (OSError, StoreError, ValueError, LookupError, TypeError, AttributeError):
            return "", {}
        except RecursionError:  # JSON that is nested for its own sake
            return "", {}


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_LETTERS]
