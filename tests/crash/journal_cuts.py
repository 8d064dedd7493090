"""An experiment: the power fails behind every change that the journal and the notes make.

Promises: what was acknowledged is there, whole, and what is not is not there in part; a text of
notes that was replaced can be had again; nothing is torn; what is left can be read and written to,
and a second look changes nothing. A cut behind a change with all of it on the disk is a process
that is killed there.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final, NamedTuple

from engramdown.errors import EngramdownError
from engramdown.journal.journal import Journal
from engramdown.journal.working_notes import WorkingNotes
from engramdown.storage.disk import Disk
from tests.crash.campaign import Trial
from tests.crash.mounted import Mount
from tests.crash.power_cut import cut_everywhere
from tests.crash.recordings import SCOPE
from tests.crash.volume import Image, Volume

_MOST: Final = 40
_NOON: Final = datetime(2026, 2, 27, 12, 5, tzinfo=UTC)
_SESSION: Final = "talk"


class Said(NamedTuple):
    """What stands there.

    Attributes:
        days: The sections of the journal.
        notes: The notes on the session.
    """

    days: tuple[str, ...] = ()
    notes: str = ""


class Stage(NamedTuple):
    """How far it has come.

    Attributes:
        since: The number of changes after which that was acknowledged.
        said: What stands there.
        known: The texts of notes that were replaced.
    """

    since: int
    said: Said
    known: frozenset[str]


def record(mount: Mount, dice: random.Random, disk: type[Disk] = Disk) -> list[Stage]:
    """Write to the journal and replace notes a few times, each by a process of its own."""
    stages = [Stage(0, Said(), frozenset())]
    for number in range(4):
        said, known = stages[-1].said, stages[-1].known
        if dice.random() < 0.5:
            _journal(mount, disk()).write(f"section {number}", at=_NOON)
            said = said._replace(days=(*said.days, f"section {number}"))
        else:
            _notes(mount, disk()).write(f"notes {number}")
            known = known | ({said.notes} if said.notes else set())
            said = said._replace(notes=f"notes {number}")
        stages.append(Stage(len(mount.volume.log), said, known))
    return stages


def cut(mount: Mount, stages: list[Stage], dice: random.Random) -> Iterator[Trial]:
    """Let the power fail behind every change."""

    def reached(done: int) -> int:
        return max(number for number, stage in enumerate(stages) if stage.since <= done)

    def judge(image: Image, at: int) -> str:
        return _judge(mount, image, stages[at : at + 2])

    return cut_everywhere(mount.volume, dice, _MOST, reached, judge)


def _judge(mount: Mount, image: Image, allowed: list[Stage]) -> str:
    """Open what a power cut left as a new process would, and return what is wrong."""
    before, mount.volume = mount.volume, Volume.of(image)
    try:
        said = _said(mount)
        return _lost(mount, said, allowed) or _spoilt(mount, said)
    except (EngramdownError, OSError) as error:
        return f"cannot be read or written to: {error!r}"
    finally:
        mount.volume = before


def _lost(mount: Mount, said: Said, allowed: list[Stage]) -> str:
    """Return what is not there any more."""
    stage = next((stage for stage in allowed if stage.said == said), None)
    if stage is None:
        return f"{said} is none of {allowed}"
    history = {version.text for version in _notes(mount).history()}
    if not stage.known - {said.notes} <= history:
        return f"{history} lacks some of {stage.known}"
    return ""


def _spoilt(mount: Mount, said: Said) -> str:
    """Return what keeps the next process from writing."""
    _journal(mount).tidy()
    now = mount.volume.image()
    _journal(mount).tidy()
    if mount.volume.image() != now:
        return "a second look changes something"
    _journal(mount).write("afterwards", at=_NOON)
    _notes(mount).write("afterwards")
    if _said(mount) != Said((*said.days, "afterwards"), "afterwards"):
        return f"{_said(mount)} afterwards"
    if said.notes and said.notes not in {each.text for each in _notes(mount).history()}:
        return f"{said.notes!r} cannot be had again"
    strays = [path for path in mount.volume.image() if path.endswith((".tmp", ".part"))]
    return f"stray files: {strays}" if strays else ""


def _said(mount: Mount) -> Said:
    days = _journal(mount).days(None)
    texts = (section.text for day in reversed(days) for section in day.sections)
    return Said(tuple(texts), _notes(mount).read().text)


def _journal(mount: Mount, disk: Disk | None = None) -> Journal:
    return Journal(mount.place / SCOPE, disk=disk or Disk())


def _notes(mount: Mount, disk: Disk | None = None) -> WorkingNotes:
    return WorkingNotes(mount.place / SCOPE, _SESSION, disk=disk or Disk())
