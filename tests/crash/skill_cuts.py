"""An experiment: the power fails behind every change that the writing of skills makes.

Promises: what was acknowledged is there, whole, and so is what a person saved and synced while it
was exchanged; nothing is torn; what is left can be read and written to, and a second look changes
nothing. A cut behind a change with all of it on the disk is a process that is killed there.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from engramdown.errors import EngramdownError
from engramdown.markdown.front_matter import FrontMatter, parse_front_matter
from engramdown.skills.store import SkillStore
from engramdown.storage.disk import Disk
from tests.crash.campaign import Trial
from tests.crash.mounted import Mount, mounted
from tests.crash.power_cut import cut_everywhere
from tests.crash.recordings import SCOPE
from tests.crash.skilled import CHARTS, HAND, learn
from tests.crash.volume import Image, Volume

_MOST: Final = 60
_RUN: Final = {"scripts/run.sh": (b"run\n", True)}
_FOLDER: Final = f"{SCOPE}/skills"
_EMPTY: Final[Image] = {"p": None}
_STANDING: Final[Image] = {
    **_EMPTY,
    **dict.fromkeys((SCOPE, _FOLDER, f"{_FOLDER}/charts"), None),
    f"{_FOLDER}/charts/SKILL.md": CHARTS.encode(),
}

Texts = dict[str, str]


class Stage(NamedTuple):
    """How far skills have come.

    Attributes:
        since: The number of changes after which that was acknowledged.
        texts: What each skill says.
    """

    since: int
    texts: Texts


class _Interrupted(Disk):
    """A disk on which somebody saves, as vim does and well synced, right before an exchange."""

    def __init__(self, save: Callable[[Path], object]) -> None:
        super().__init__()
        self._save: Callable[[Path], object] | None = save

    def exchange(self, new: Path, path: Path) -> None:
        save, self._save = self._save, None
        if save is not None:
            save(path)
        super().exchange(new, path)


def trials(folder: Path, dice: random.Random) -> Iterator[Trial]:
    """Write skills and cut the power, for as long as anybody asks."""
    with mounted(folder / "volume") as mount:
        left: list[Image] = [_EMPTY, _STANDING]
        while True:
            mount.volume = Volume.of(dice.choice(left))
            stages = record(mount, dice)
            # Now and then it goes on with what a power cut left.
            left = [_EMPTY, _STANDING]
            yield from cut(mount, stages, dice, left)


def record(mount: Mount, dice: random.Random, disk: type[Disk] = Disk) -> list[Stage]:
    """Write a few skills, each by a process of its own, on what stands at the mount."""
    _opened(mount).tidy()
    mount.volume = Volume.of(mount.volume.image())
    stages = [Stage(0, _texts(mount.volume.image()))]

    def reach() -> None:
        stages.append(Stage(len(mount.volume.log), _texts(mount.volume.image())))

    for number in range(dice.randrange(2, 4)):
        known = sorted(stages[-1].texts)
        kinds = ["new", "edit", "describe", "save", "delete"] if known else ["new", "bring in"]
        kind, label = dice.choice(kinds), dice.choice(known or [""])
        store = _opened(mount, disk())
        if kind == "new":
            store.create(
                f"skill-{number}-{len(known)}", parse_front_matter(HAND.replace("charts", "other"))
            )
        elif kind == "bring in":
            store.place(f"whole-{number}", {"SKILL.md": (HAND.encode(), False), **_RUN})
        elif kind == "delete":
            store.delete(label)
        elif kind == "edit":
            store.edit(label, learn)
        elif kind == "describe":
            store.edit(label, partial(_describe, number))
        else:
            saved = f"{stages[-1].texts[label]}By hand {number}.\n"
            _save_in_between(mount, label, saved, reach)
        reach()
    return stages


def cut(
    mount: Mount, stages: list[Stage], dice: random.Random, left: list[Image]
) -> Iterator[Trial]:
    """Let the power fail behind every change, and add a few of the states to ``left``."""

    def reached(done: int) -> int:
        return max(number for number, stage in enumerate(stages) if stage.since <= done)

    def judge(image: Image, at: int) -> str:
        return _judge(mount, image, [stage.texts for stage in stages[at : at + 2]])

    return cut_everywhere(mount.volume, dice, _MOST, reached, judge, left=left)


def _save_in_between(mount: Mount, label: str, saved: str, reach: Callable[[], object]) -> None:
    """Let a store learn while a person saves, and ``reach`` a stage with each of them."""

    def save(path: Path) -> None:
        disk = Disk()
        # As an editor that is careful: a new file, synced, in the place of the old one.
        disk.create(path.with_name("4913"), saved.encode())
        path.with_name("4913").replace(path)
        disk.sync_folder(path.parent)
        reach()

    skill = _opened(mount, _Interrupted(save)).edit(label, learn)
    assert skill.page.render() == f"{saved}Learned.\n", "what was saved in between is gone"


def _judge(mount: Mount, image: Image, allowed: list[Texts]) -> str:
    """Open what a power cut left as a new process would, and return what is wrong."""
    before, mount.volume = mount.volume, Volume.of(image)
    try:
        store = _opened(mount)
        store.tidy()
        now = mount.volume.image()
        if _texts(now) not in allowed:
            return f"{_texts(now)} is none of {allowed}"
        _opened(mount).tidy()
        if mount.volume.image() != now:
            return "a second look changes something"
        store.create("afterwards", parse_front_matter(CHARTS))
        store.edit("afterwards", learn)
        now = mount.volume.image()
        written = f"{_FOLDER}/afterwards/SKILL.md"
        strays = [path for path, data in now.items() if data is not None and not _is_ours(path)]
        if strays or now[written] != f"{CHARTS}Learned.\n".encode():
            return f"stray files: {strays}; written: {now[written]!r}"
    except (EngramdownError, OSError) as error:
        return f"cannot be read or written to: {error!r}"
    finally:
        mount.volume = before
    return ""


def _is_ours(path: str) -> bool:
    # What an editor was about to rename is none of our business.
    is_whole = path.endswith("/scripts/run.sh") or "/skills-replaced/" in path
    known = ("SKILL.md", "skills.lock", "4913", "4913.part")
    return is_whole or path.rpartition("/")[2] in known


def _describe(number: int, page: FrontMatter) -> FrontMatter:
    return page.with_text("description", f"Make number {number}: well")


def _opened(mount: Mount, disk: Disk | None = None) -> SkillStore:
    return SkillStore(mount.place / SCOPE, disk=disk or Disk())


def _texts(image: Image) -> Texts:
    return {
        path.split("/")[-2]: data.decode("utf-8", "surrogateescape")
        for path, data in image.items()
        if data is not None and path.endswith("/SKILL.md") and f"{_FOLDER}/" in path
    }
