"""Experiments: the power fails behind every change of an operation, with all that may be left then.

Promises: every state that the rules allow is opened as a new process would, and compared with what
was acknowledged; a state is counted once for a recording, however many ways lead to it.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import Final

from engramdown.errors import EngramdownError
from engramdown.hippocampus.changeset import Act
from engramdown.hippocampus.history import read_line
from engramdown.hippocampus.store import Hippocampus
from engramdown.storage.disk import Disk
from tests.crash.campaign import Trial
from tests.crash.mounted import Mount, mounted
from tests.crash.mutants import DISKS, PATCHES
from tests.crash.power_cut import RULES, crash_states
from tests.crash.recordings import JOURNAL, SCOPE, Recorder, Stage, memory_files, texts_of
from tests.crash.scopes import OPERATIONS, Case, opened
from tests.crash.stories import story
from tests.crash.volume import Change, Image, Named, Volume, Wrote

MOST: Final = 200
"""How many states of one moment are looked at; of more some are chosen by dice."""

_ENOUGH: Final = 12
"""The same for a mutant: one bad state will do."""
_SHOWING: Final = ("encode-batch", "encode-first", "encode-and-take-in")
_BEGINNINGS: Final = ("encode-rule", "encode-first")
# What ends with a tilde is the backup of an editor.
_OURS: Final = re.compile(r"\.lock|(?!\.).*\.md~?")


def trials(folder: Path, dice: random.Random) -> Iterator[Trial]:
    """Cut the power in every operation, then in sequences that the dice make up."""
    with mounted(folder / "volume") as mount:
        for name in dice.sample(list(OPERATIONS), len(OPERATIONS)):
            recorder = Recorder(mount, prepared(folder / name, name))
            recorder.act(name, OPERATIONS[name].act)
            yield from cut(mount, recorder, dice)
        images = [prepared(folder / f"{name} again", name) for name in _BEGINNINGS]
        while True:
            yield from cut(mount, story(mount, dice.choice(images), dice), dice)


def mutants(folder: Path, dice: random.Random) -> Iterator[Trial]:
    """Cut the power in every mutant of the protocol; a case is one that is seen to lose something.

    What is wrong here is a mutant with which nothing is.
    """
    plain: dict[str, Callable[[], AbstractContextManager[object]]] = dict.fromkeys(
        DISKS, nullcontext
    )
    with mounted(folder / "volume") as mount:
        images = {name: prepared(folder / name, name) for name in _SHOWING}
        for mutant, patched in (plain | PATCHES).items():
            disk, bad, states = DISKS.get(mutant, Disk), 0, 0
            for name, image in images.items():
                with patched():
                    recorder = Recorder(mount, image, partial(_opened, disk))
                    recorder.act(name, OPERATIONS[name].act)
                    found = list(cut(mount, recorder, dice, _ENOUGH))
                bad += sum(bool(trial.wrong) for trial in found)
                states += sum(trial.count for trial in found)
            what = f"{mutant}: {bad:,} of {states:,} states are bad"
            yield Trial(what, "" if bad else "nothing is seen")


def _opened(disk: type[Disk], root: Path) -> Hippocampus:
    return opened(root, disk())


def prepared(folder: Path, name: str) -> Image:
    """Return the scope that an operation is tried on; an empty one is not even a folder."""
    Case(folder, name).copy(folder / "copy")
    image = image_of(folder / "copy")
    return image if len(image) > 2 else {"p": None}


def image_of(root: Path) -> Image:
    """Return the files of a scope as those of a volume."""
    return {"p": None, SCOPE: None} | {
        f"{SCOPE}/{path.relative_to(root).as_posix()}": None if path.is_dir() else path.read_bytes()
        for path in root.rglob("*")
    }


def cut(mount: Mount, recorder: Recorder, dice: random.Random, most: int = MOST) -> Iterator[Trial]:
    """Let the power fail behind every change that was recorded.

    Args:
        mount: Where the volume stands.
        recorder: What was done.
        dice: Choose, where there are too many states.
        most: How many states of one moment, by one kind of rules, are too many.
    """
    story = ", ".join(stage.after for stage in recorder.stages[1:])
    volume, known = recorder.volume, set[int]()
    judge = Judge(mount, recorder.seen())
    for done in recorder.moments():
        allowed = recorder.allowed(done)
        behind = f"change {done} ({_told(volume, volume.log[done - 1]) if done else 'nothing'})"
        for rules in RULES:
            what, good = f"{story}: {rules} power cut behind {behind}", 0
            for image in crash_states(volume, done, rules, dice, most):
                key = hash((frozenset(image.items()), allowed[0].since, len(allowed)))
                if key in known:
                    continue
                known.add(key)
                wrong = judge(image, allowed)
                good += not wrong
                if wrong:
                    yield Trial(what, wrong)
            if good:
                yield Trial(what, count=good)


class Judge:
    """Opens what a power cut left, as a new process would."""

    def __init__(self, mount: Mount, seen: set[tuple[str, bytes]]) -> None:
        """Open it at ``mount``; ``seen`` is all that a reader may have seen in a memory file."""
        self._mount = mount
        self._seen = seen
        # What was mended to the same files behaves the same from there on.
        self._good: set[int] = set()

    def __call__(self, image: Image, allowed: Sequence[Stage]) -> str:
        """Return what is wrong.

        Args:
            image: What is left.
            allowed: How far memory may have come; the first was acknowledged.
        """
        recorded, self._mount.volume = self._mount.volume, Volume.of(image)
        try:
            return self._judge(image, allowed)
        except (EngramdownError, OSError) as error:
            return f"cannot be opened: {error!r}"
        finally:
            self._mount.volume = recorded

    def _judge(self, image: Image, allowed: Sequence[Stage]) -> str:
        torn = memory_files(image) - self._seen
        if torn and allowed[0].safe is None:
            return f"torn before the next open: {torn}"
        root = self._mount.place / SCOPE
        store = opened(root)
        store.files.change(Act("nothing", "user"), lambda _: None)
        store.notice()
        first = self._mount.volume.image()
        key = hash((frozenset(_lasting(first).items()), allowed[0].since, len(allowed)))
        if key in self._good:
            return ""
        wrong = _compare(first, allowed) or self._second_look(root, first)
        if not wrong:
            self._good.add(key)
        return wrong

    def _second_look(self, root: Path, first: Image) -> str:
        if opened(root).notice() or _lasting(self._mount.volume.image()) != _lasting(first):
            return "a second look changes something"
        store = opened(root)
        entry = store.encode_lesson("Written afterwards")
        found = store.find(entry.id).text
        return "" if found == "Written afterwards" else f"cannot be written to: {found}"


def _compare(image: Image, allowed: Sequence[Stage]) -> str:
    before, now = allowed[0], texts_of(image)
    strays = [path for path, data in image.items() if data is not None and not _is_needed(path)]
    if strays:
        return f"stray files: {strays}"
    if before.safe is not None:
        # What an editor did not sync may come back as anything; then undo knows what was there.
        said = "\n".join([*now.values(), (image.get(JOURNAL) or b"").decode()])
        gone = [line for line in before.safe if line not in said]
        return f"gone for good: {gone}" if gone else ""
    if not (image.get(JOURNAL) or b"").startswith(_settled(before.journal)):
        return "the journal lost a step that was acknowledged"
    if image.get(JOURNAL) and f"{SCOPE}/.gitignore" not in image:
        return "nothing keeps the journal out of git"
    if now not in [stage.texts for stage in allowed]:
        differs = {
            path for path in {*now, *before.texts} if now.get(path) != before.texts.get(path)
        }
        named = " nor as after ".join(repr(stage.after) for stage in allowed)
        found = {path: now.get(path) for path in sorted(differs)}
        return f"not as after {named}: {found}"
    return ""


def _settled(journal: bytes) -> bytes:
    """Return a journal without saves of a person at its end: they may be found anew."""
    lines = journal.splitlines(keepends=True)
    while lines and (step := read_line(lines[-1])) is not None and step.by == "person":
        del lines[-1]
    return b"".join(lines)


def _is_needed(path: str) -> bool:
    name = path.rpartition("/")[2]
    inside = path.startswith(f"{SCOPE}/memory/")
    return bool(_OURS.fullmatch(name)) if inside else name in ("history.jsonl", ".gitignore")


def _lasting(image: Image) -> dict[str, bytes | None]:
    return {path: data for path, data in image.items() if not path.endswith("/.lock")}


def _told(volume: Volume, change: Change) -> str:
    if isinstance(change, Named):
        return ", ".join(f"{name}{'' if number else ' gone'}" for _, name, number in change.entries)
    paths = [path for path in volume.image() if volume.find(path) == change.node]
    name = paths[0].rpartition("/")[2] if paths else "a file without a name"
    return f"{name} {'written' if isinstance(change, Wrote) else 'synced'}"
