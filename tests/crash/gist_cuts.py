"""An experiment: the power fails behind every change that a compaction makes.

Promises: every message that is left is covered once and in order; a summary that was acknowledged
is there; one that applies stands for the very words that it was made from, also after something
else was said in their place, because the power took them.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Final

from engramdown.consolidation.summaries import Request, Written
from engramdown.conversation.conversation import Compaction
from engramdown.conversation.view import Track
from engramdown.episodes.memory import EpisodicMemory
from engramdown.errors import EngramdownError, SessionNotFoundError
from engramdown.settings import EpisodeSettings
from engramdown.storage.disk import Disk
from tests.crash.campaign import Trial
from tests.crash.mounted import Mount, mounted
from tests.crash.power_cut import cut_everywhere
from tests.crash.recordings import SCOPE
from tests.crash.volume import Image, Volume

_SESSION: Final = "20260227-101500-4f2a"
_MOST: Final = 40
_TAIL: Final = 4

Acknowledged = dict[str, int]
"""The ids of summaries, and the number of changes after which each was acknowledged."""


def trials(folder: Path, dice: random.Random) -> Iterator[Trial]:
    """Compact conversations and cut the power, for as long as anybody asks."""
    with mounted(folder / "volume") as mount:
        while True:
            mount.volume = Volume.of({"p": None, SCOPE: None})
            yield from cut(mount, compact(mount, dice), dice)


def compact(mount: Mount, dice: random.Random, disk: Disk | None = None) -> Acknowledged:
    """Talk and summarise in turn; what is said is not synced, as it is by default."""
    memory = _opened(mount, disk)
    track = Track(memory, _SESSION, disk=disk)
    known: Acknowledged = {}
    said = 0
    for _ in range(dice.randrange(2, 4)):
        for _ in range(dice.randrange(12, 16)):
            said += 1
            if memory.log(_SESSION, "user", f"said {said}") is None:
                raise RuntimeError(str(memory.trouble))
        done = Compaction(track, _quote, None, tail=_TAIL).run("incremental")
        known |= {gist.id: len(mount.volume.log) for gist in done.gists}
    memory.close()
    return known


def cut(mount: Mount, known: Acknowledged, dice: random.Random) -> Iterator[Trial]:
    """Let the power fail behind every change."""

    def wanted_at(done: int) -> frozenset[str]:
        return frozenset(gist for gist, since in known.items() if since <= done)

    return cut_everywhere(mount.volume, dice, _MOST, wanted_at, partial(_judge, mount))


def _judge(mount: Mount, image: Image, wanted: frozenset[str]) -> str:
    before, mount.volume = mount.volume, Volume.of(image)
    memory = _opened(mount)
    try:
        wrong = _wrong(memory, wanted)
        for again in range(30):
            # What the power took leaves its numbers to what is said now.
            memory.log(_SESSION, "user", f"said afterwards {again}")
        wrong = wrong or _wrong(memory, wanted)
        track = Track(memory, _SESSION)
        Compaction(track, _quote, None, tail=_TAIL).run("full")
        return wrong or _wrong(memory, wanted)
    except (EngramdownError, OSError) as error:
        return f"cannot be read or compacted: {error!r}"
    finally:
        memory.close()
        mount.volume = before


def _wrong(memory: EpisodicMemory, wanted: frozenset[str]) -> str:
    try:
        episodes = memory.session(_SESSION).episodes
    except SessionNotFoundError:
        return f"gone, with the summaries {wanted}" if wanted else ""
    texts = {each.seq: each.text for each in episodes if each.role != "event"}
    track = Track(memory, _SESSION)
    track.refresh()
    fold = track.fold
    if [seq for source in fold for seq in fold.messages(source)] != list(texts):
        return f"covered: {list(fold)} of {list(texts)}"
    if not wanted <= fold.gists.keys():
        return f"summaries that were acknowledged are gone: {wanted - fold.gists.keys()}"
    for gist in fold.gists.values():
        told = "|".join(texts[seq] for seq in fold.messages(gist.id))
        if gist.text != told:
            return f"{gist.id} says {gist.text}, and stands for {told}"
    return ""


def _quote(request: Request) -> Written:
    return Written("|".join(part.text for part in request.parts), "normal")


def _opened(mount: Mount, disk: Disk | None = None) -> EpisodicMemory:
    return EpisodicMemory(mount.place / SCOPE, EpisodeSettings(durability="fast"), disk)
