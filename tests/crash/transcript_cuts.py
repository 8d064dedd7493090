"""An experiment: the power fails behind every change that recording makes.

Promises: with durability *full* what was acknowledged is there, whole, in its order; with *fast* a
line that is there is one that was recorded. With both, what is left can be read and recorded to,
and a long text that is recorded again is kept whole; with *full* no text stays that no line shows.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Final, Literal
from unittest import mock

from engramdown.episodes.forget import Traces
from engramdown.episodes.memory import EpisodicMemory
from engramdown.errors import EngramdownError, SessionNotFoundError
from engramdown.settings import EpisodeSettings
from engramdown.storage.disk import Disk
from engramdown.transcripts.payloads import PAYLOADS, Payloads, digest
from tests.crash.campaign import Trial
from tests.crash.mounted import Mount, mounted
from tests.crash.power_cut import cut_everywhere
from tests.crash.recordings import SCOPE
from tests.crash.volume import Image, Volume

_MOST: Final = 60
_SESSIONS: Final = ("20260227-101500-4f2a", "20260227-111500-5b3c")
_LONG: Final = "a long output of a tool\n" * 1_000
_SHOWN: Final = 2000
_BEGINNINGS: Final[tuple[Image, ...]] = ({"p": None}, {"p": None, SCOPE: None})

_Durability = Literal["full", "fast"]


@dataclass(slots=True)
class Recording:
    """What was recorded.

    Attributes:
        durability: What was promised.
        swept: Whether all that stood there before was promised as much: no text without a line.
        lines: The session, the text, and the number of changes after which it was acknowledged.
    """

    durability: _Durability
    swept: bool = True
    lines: list[tuple[str, str, int]] = field(default_factory=list)

    def of(self, session: str) -> list[str]:
        """Return what was said in a session."""
        return [text for name, text, _ in self.lines if name == session]

    def acknowledged(self, session: str, done: int) -> int:
        """Return how many texts of a session must be there after ``done`` changes."""
        if self.durability == "fast":
            return 0
        return sum(name == session and since <= done for name, _, since in self.lines)


def trials(folder: Path, dice: random.Random) -> Iterator[Trial]:
    """Record some lines and cut the power, for as long as anybody asks."""
    with mounted(folder / "volume") as mount:
        left: list[Image] = [*_BEGINNINGS]
        swept = True
        while True:
            durability: _Durability = dice.choice(("full", "fast"))
            begin = dice.choice(left)
            mount.volume = Volume.of(begin)
            recording = record(mount, durability, dice)
            swept = durability == "full" and (swept or begin in _BEGINNINGS)
            recording.swept = swept
            # Now and then it goes on with what a power cut left.
            left = [*_BEGINNINGS]
            yield from cut(mount, recording, dice, left)


def record(
    mount: Mount, durability: _Durability, dice: random.Random, disk: Disk | None = None
) -> Recording:
    """Record a few lines, by one process or by several, on what stands at the mount."""
    memory = _opened(mount, durability, disk)
    recording = Recording(durability)
    for session in _SESSIONS:
        recording.lines += [(session, text, 0) for text in _texts(memory, session)]
    for number in range(dice.randrange(2, 5)):
        if dice.random() < 0.4:
            memory.close()
            memory = _opened(mount, durability, disk)
        session = dice.choice(_SESSIONS)
        role, text = dice.choice((("user", f"said {number}"), ("tool_result", _LONG)))
        if memory.log(session, role, text) is None:
            raise RuntimeError(str(memory.trouble))
        recording.lines.append((session, text, len(mount.volume.log)))
    memory.close()
    return recording


def cut(
    mount: Mount, recording: Recording, dice: random.Random, left: list[Image]
) -> Iterator[Trial]:
    """Let the power fail behind every change, and add a few of the states to ``left``."""

    def wanted_at(done: int) -> tuple[int, ...]:
        return tuple(recording.acknowledged(session, done) for session in _SESSIONS)

    judge = partial(_judge, mount, recording)
    for trial in cut_everywhere(mount.volume, dice, _MOST, wanted_at, judge, left=left):
        yield replace(trial, what=f"{recording.durability}: {trial.what}")


def _judge(mount: Mount, recording: Recording, image: Image, wanted: Sequence[int]) -> str:
    """Read what a power cut left, record something more, and return what is wrong."""
    before, mount.volume = mount.volume, Volume.of(image)
    memory = _opened(mount, recording.durability)
    try:
        full = recording.durability == "full"
        if full and recording.swept and (hidden := _hidden(memory)):
            return f"texts that no line shows: {hidden}"
        for session, least in zip(_SESSIONS, wanted, strict=True):
            wrong = _wrong(memory, recording, session, least)
            if wrong:
                return f"{session}: {wrong}"
    except (EngramdownError, OSError) as error:
        return f"cannot be read or recorded to: {error!r}"
    finally:
        memory.close()
        mount.volume = before
    return ""


def _wrong(memory: EpisodicMemory, recording: Recording, session: str, least: int) -> str:
    said, found = recording.of(session), _texts(memory, session)
    shown = [text[:_SHOWN] for text in found]
    if recording.durability == "full" and shown != [text[:_SHOWN] for text in said[: len(found)]]:
        return f"not what was said: {shown}"
    if not {*shown} <= {text[:_SHOWN] for text in said}:
        return f"never said: {shown}"
    # What was there before may have lost its whole text in an earlier power cut.
    old = sum(name == session and not since for name, _, since in recording.lines)
    if found[old:least] != said[old:least] or len(found) < least:
        return f"of {least} texts there are {[len(text) for text in found]} characters"
    for role, text in (("user", "Afterwards"), ("tool_result", _LONG)):
        pointer = memory.log(session, role, text)
        if pointer is None:
            return f"not recorded: {memory.trouble}"
        episode = memory.episode(pointer)
        if episode is None or memory.whole(episode) != text:
            return f"what was recorded afterwards is not whole: {episode and episode.text[:80]}"
    now = [text[:_SHOWN] for text in _texts(memory, session)]
    return "" if now[:-2] == shown else f"changed by what was recorded afterwards: {now}"


def _hidden(memory: EpisodicMemory) -> set[str]:
    """Return the digest of the long text if no line shows it, after what is old was swept up."""
    with mock.patch("engramdown.storage.disk._GIVEN_UP", -math.inf):
        memory.tidy()
    disk, folder = Disk(), memory.folder / PAYLOADS
    shelf = Payloads(folder, disk, durable=True).path(digest(_LONG)).parent
    texts = {shelf.name + name.removesuffix(".txt") for name in disk.files(shelf)}
    # A line that is broken may be mended by whoever can read it.
    return texts - Traces(memory.folder.parent, disk).referenced()


def _opened(mount: Mount, durability: _Durability, disk: Disk | None = None) -> EpisodicMemory:
    return EpisodicMemory(mount.place / SCOPE, EpisodeSettings(durability=durability), disk)


def _texts(memory: EpisodicMemory, session: str) -> list[str]:
    """Return what was said in a session, each text whole."""
    try:
        episodes = memory.session(session).episodes
    except SessionNotFoundError:
        return []
    return [memory.whole(each) for each in episodes if each.role != "event"]
