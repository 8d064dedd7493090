"""Operations of many steps: sleep, migration, and a command as a person types it.

Promises: as :mod:`tests.crash.scopes`; what is of many steps may have got to any of them, and the
next one of its kind brings exactly the rest.
"""

from __future__ import annotations

import io
import shutil
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from engramdown import Cortex, Hippocampus
from engramdown.cli.main import main as engramdown
from engramdown.errors import StoreError
from engramdown.importers.migration import Migration
from tests.cortex import notes
from tests.crash import sleeper
from tests.crash.scopes import strays

_KNOWN: Final = frozenset(
    {"asked", "config.toml", "sleep.jsonl", "sleep.lock", "ledger.jsonl", "migrated.jsonl"}
)

_SURVEYED: Final = {*notes.FILES} - {
    *("AGENTS.md", "README.md", "memory/other.md", ".anton/learnings/index.json")
}


@dataclass(frozen=True, slots=True)
class Job:
    """Something of many steps.

    Attributes:
        prepare: Makes a folder with two scopes.
        act: Does it there.
    """

    prepare: Callable[[Path], object]
    act: Callable[[Path], object]


class Working:
    """One job, and what memory holds before and after."""

    def __init__(self, folder: Path, name: str) -> None:
        """Make scopes below ``folder`` and do the job on a copy."""
        self._job = JOBS[name]
        self._master = folder / "before"
        self._master.mkdir(parents=True)
        self._job.prepare(self._master)
        after = folder / "after"
        self.copy(after)
        self._job.act(after)
        self._before, self._after = _held(self._master), _held(after)

    def copy(self, root: Path) -> None:
        """Make a fresh copy at ``root``."""
        shutil.copytree(self._master, root)

    def verify(self, root: Path, *, done: bool) -> None:
        """Check a copy on which the job was cut short.

        Args:
            root: The copy.
            done: Whether it was acknowledged.
        """
        now = _held(root)
        assert set(self._before) <= set(now) <= set(self._after), f"{now}"
        assert len(now) == len(set(now)), f"something stands twice: {now}"
        assert now == self._after or not done, f"acknowledged, and not there: {now}"
        self._job.act(root)
        now = _held(root)
        assert now == self._after, f"not finished by the next: {now}"
        _check_scopes(root)
        before = _memory(root)
        self._job.act(root)
        assert _memory(root) == before, "a third one changes something"


def _check_scopes(root: Path) -> None:
    for place in (root / "home", root / "project" / ".engramdown"):
        store = Hippocampus(place)
        found = {name: text for name, text in _memory(place).items() if text}
        told = {f"memory/{name}": text for name, text in sleeper.replayed(place).items()}
        assert found == told, "the journal tells of other files"
        assert store.notice() is False
        lost = [name for name in strays(place) if name not in _KNOWN and ".jsonl" not in name]
        assert lost == [], f"stray files: {lost}"


def _memory(root: Path) -> dict[str, str]:
    return {
        path.relative_to(root).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(root.rglob("memory/**/*.md"))
    }


def _held(root: Path) -> list[tuple[str, str]]:
    """Return every memory and what waits, without what a model counts."""
    entries, waiting = notes.snapshot(_opened(root))
    said = [*entries, *(("waiting", text) for text in waiting)]
    return sorted((kind, sleeper.without_number(text)) for kind, text in said)


def _opened(root: Path) -> Cortex:
    return sleeper.opened(root)


def _sleep(root: Path) -> None:
    summary = _opened(root).sleep()
    left = [
        it for job in summary.jobs if not job.waits for it in (*job.problems, job.skipped) if it
    ]
    if left or summary.failed:
        raise StoreError(f"{root}: {summary.failed} {left}")


def _write_notes(root: Path) -> None:
    (root / "home").mkdir()
    (root / "home" / "config.toml").write_text('durability = "full"\n', encoding="utf-8")
    (root / "project" / ".engramdown" / "memory").mkdir(parents=True)
    notes.write(root / "project")
    # Elsewhere in other words: which of the two comes depends on what could be read.
    (root / "project" / "AGENTS.md").unlink()


def _migrate(root: Path) -> None:
    project = root / "project"
    migration = Migration(_opened(root).scopes, "project")
    surveyed = migration.survey([project], project)
    came = migration.bring(surveyed)
    failed = [each.receipt.reason for each in came if each.receipt.action == "failed"]
    failed += [each.problem for each in surveyed if each.problem]
    # A folder that may not be listed is passed over.
    failed += _SURVEYED - {each.path for each in surveyed}
    if failed:
        raise StoreError(f"{root}: {failed}")


def _remember(root: Path) -> None:
    place = ["-C", str(root / "project"), "--home", str(root / "home")]
    said = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    # What it prints is a call of the system that may fail as well; that it is closed is ours.
    out = (root / "out").open("w", encoding="utf-8")
    try:
        with redirect_stdout(out), redirect_stderr(said):
            code = engramdown([*place, "remember", "Always run the linter before pushing"])
    finally:
        with suppress(OSError):
            out.close()
    if code:
        said.seek(0)
        raise StoreError(f"{root}: {said.read()}")


JOBS: Final[dict[str, Job]] = {
    "remember": Job(_write_notes, _remember),
    "migrate": Job(_write_notes, _migrate),
    "sleep": Job(sleeper.build, _sleep),
}
"""What takes many steps."""
