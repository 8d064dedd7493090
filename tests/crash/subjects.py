"""Every operation that a fault is put into, by name.

Promises: each can be carried out in a process that knows only its name and a folder, and checked
in another one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final, Protocol

from engramdown import Cortex, Hippocampus
from engramdown.storage.disk import Disk
from tests.crash.larger import JOBS, Working
from tests.crash.recorded import RECORDINGS, Recorded
from tests.crash.scopes import OPERATIONS, Case, opened
from tests.crash.skilled import SKILLED, Skilled
from tests.crash.skilled import opened as opened_skills
from tests.hippocampus.memory_store import MemoryStore


class Subject(Protocol):
    """An operation on a folder, and what may come of it."""

    def copy(self, root: Path) -> None:
        """Make a fresh copy of the folder at ``root``."""

    def verify(self, root: Path, *, done: bool) -> None:
        """Check a copy on which the operation was cut short; ``done`` if it was acknowledged.

        Raises:
            AssertionError: If something is wrong.
        """


@dataclass(frozen=True, slots=True)
class Kind:
    """What is known of an operation before anything is made for it.

    Attributes:
        act: Carries it out on a folder.
        make: Makes the subject below a folder.
    """

    act: Callable[[Path], object]
    make: Callable[[Path], Subject]


class _Found(Case):
    """An operation on memory files, after which each memory is also found."""

    def verify(self, root: Path, *, done: bool, store: Hippocampus | None = None) -> None:
        super().verify(root, done=done, store=store)
        cortex = Cortex(MemoryStore("global"), opened(root))
        for text in [entry.text for entry in cortex.entries()]:
            found = [entry.text for entry in cortex.recall(text, 99)]
            assert text in found, f"recall does not find {text!r}"


def _on_memory(name: str, root: Path) -> object:
    return OPERATIONS[name].act(opened(root, Disk()))


def _on_skills(name: str, root: Path) -> object:
    return SKILLED[name].act(opened_skills(root, Disk()))


OF_MEMORY: Final = {
    name: Kind(partial(_on_memory, name), partial(_Found, name=name)) for name in OPERATIONS
}
"""On the files of a scope."""
OF_TRANSCRIPTS: Final = {
    f"transcript-{name}": Kind(each.act, partial(Recorded, name=name))
    for name, each in RECORDINGS.items()
}
"""On transcripts."""
OF_SKILLS: Final = {
    f"skill-{name}": Kind(partial(_on_skills, name), partial(Skilled, name=name))
    for name in SKILLED
}
"""On skills."""
OF_JOBS: Final = {name: Kind(job.act, partial(Working, name=name)) for name, job in JOBS.items()}
"""Of many steps."""
SUBJECTS: Final[dict[str, Kind]] = {**OF_MEMORY, **OF_TRANSCRIPTS, **OF_SKILLS, **OF_JOBS}
"""All of them."""
