"""What a power cut may leave of a file system, by the rules of two kinds of journal.

Promises: a state is made of a prefix of what was done, in which what was synced is there, and of
what was not any part that the rules allow. *Ordered* is ext4: names reach the disk in the order in
which they were changed, and whatever is synced takes all earlier names with it. *Weak* is what
POSIX promises, and APFS at its worst: names that were not synced are there in any combination, and
only syncing the folder that they are in makes them last. By both, what was written into a file and
not synced is there, is missing, is zeros, or is a part of that; a sector that was there before is
old or new.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import product, takewhile
from math import prod
from typing import Final, Literal, TypeVar

from tests.crash.campaign import Trial
from tests.crash.volume import ROOT, Change, Image, Named, Synced, Volume, Wrote

Wanted = TypeVar("Wanted", bound=Hashable)
Rules = Literal["ordered", "weak"]
RULES: Final[tuple[Rules, ...]] = ("ordered", "weak")

_SECTOR: Final = 512
"""Bytes in one place that are written whole or not at all."""

_Choice = tuple[int, tuple[bytes, ...]]
_Begun = Mapping[int, Mapping[str, int] | bytes]


def cut_everywhere(
    volume: Volume,
    dice: random.Random,
    most: int,
    wanted_at: Callable[[int], Wanted],
    judge: Callable[[Image, Wanted], str],
    *,
    left: list[Image] | None = None,
) -> Iterator[Trial]:
    """Let the power fail behind every change of a volume; a state that was seen is skipped.

    Args:
        volume: What was changed.
        dice: Choose, where there are too many states.
        most: How many states of one moment are too many.
        wanted_at: Returns what has to be there behind so many changes.
        judge: Opens a state as a new process would, and returns what is wrong.
        left: Gets a few of the states.
    """
    known = set[int]()
    for done in range(len(volume.log) + 1):
        wanted = wanted_at(done)
        for rules in RULES:
            what = f"{rules} power cut behind {done} of {len(volume.log)}"
            images = crash_states(volume, done, rules, dice, most)
            new = {hash((frozenset(image.items()), wanted)): image for image in images}
            new = {key: image for key, image in new.items() if key not in known}
            known |= new.keys()
            answers = [judge(image, wanted) for image in new.values()]
            if left is not None:
                left += [*new.values()][:1]
            yield from (Trial(what, wrong) for wrong in answers if wrong)
            if answers.count(""):
                yield Trial(what, count=answers.count(""))


def crash_states(
    volume: Volume, done: int, rules: Rules, dice: random.Random, most: int
) -> Iterator[dict[str, bytes | None]]:
    """Yield what may be on the disk if the power fails behind the first ``done`` changes.

    Args:
        volume: What was changed since it was settled.
        done: How many of those changes were made.
        rules: What the disk promises.
        dice: Choose, where there are too many states.
        most: How many states are too many.
    """
    log = volume.log[:done]
    kept = _names(log, rules)
    files = _files(volume.begun, log)
    loose = [at for at, lasts in enumerate(kept) if not lasts]
    changes = [change for change in log if isinstance(change, Named)]
    subsets = len(loose) + 1 if rules == "ordered" else 2 ** len(loose)
    choices = [*files.values()]
    if subsets * prod(map(len, choices)) <= most:
        every: Iterable[_Choice] = product(range(subsets), product(*choices))
    else:
        every = _sampled(subsets, choices, dice, most)
    for number, chosen in every:
        if rules == "ordered":
            gone = {*loose[number:]}
        else:
            gone = {at for bit, at in enumerate(loose) if not number >> bit & 1}
        held = [change for at, change in enumerate(changes) if at not in gone]
        yield _image(volume, held, dict(zip(files, chosen, strict=True)))


def newest(volume: Volume, done: int) -> dict[str, bytes | None]:
    """Return what a program sees behind the first ``done`` changes."""
    log = volume.log[:done]
    files = {change.node: change.data for change in log if isinstance(change, Wrote)}
    return _image(volume, [change for change in log if isinstance(change, Named)], files)


def contents(states: Sequence[bytes]) -> list[bytes]:
    r"""Return what a file may hold that went through ``states`` since it was synced, each once.

    >>> contents([b"", b"ab\n"])
    [b'ab\n', b'', b'a', b'\x00\x00\x00', b'\x00b\n']
    """
    old, new = states[0], states[-1]
    if len(old) == len(new) <= _SECTOR:
        return list(dict.fromkeys(reversed(states)))
    # What nobody wrote since then is there; a file that was emptied has nothing of that.
    alike = takewhile(lambda two: two[0] == two[1], zip(min(states), max(states), strict=False))
    start = bytes(one for one, _ in alike)
    tail = new[len(start) :]
    half, zeros = len(tail) // 2, bytes(len(tail))
    line = tail.find(b"\n") + 1
    found = [new, old, *states[-2:-1], start + tail[:half], start + zeros]
    found.append(start + zeros[:half] + tail[half:])
    if b"" in states:
        found.append(b"")
    if 0 < line < len(tail):
        found.append(start + tail[:line])
    if not start:
        found.append(tail[:half] + old[half:])
    return list(dict.fromkeys(found))


def _names(log: Sequence[Change], rules: Rules) -> list[bool]:
    """Return for each change of names whether it lasts."""
    lasts: list[bool] = []
    synced: set[int] = set()
    for change in reversed(log):
        if isinstance(change, Synced):
            synced.add(change.node)
        elif isinstance(change, Named):
            folders = {folder for folder, _, _ in change.entries}
            lasts.append(bool(synced) if rules == "ordered" else folders <= synced)
    return lasts[::-1]


def _files(begun: _Begun, log: Sequence[Change]) -> dict[int, list[bytes]]:
    """Return what each file that was written may hold."""
    states: dict[int, list[bytes]] = {}
    for change in log:
        if isinstance(change, Wrote):
            before = begun.get(change.node, b"")
            first = before if isinstance(before, bytes) else b""
            states.setdefault(change.node, [first]).append(change.data)
        elif isinstance(change, Synced) and change.node in states:
            states[change.node] = states[change.node][-1:]
    return {node: contents(each) for node, each in states.items()}


def _sampled(
    subsets: int, choices: Sequence[Sequence[bytes]], dice: random.Random, most: int
) -> Iterator[_Choice]:
    """Yield some of the states: all and nothing first, then as the dice say."""
    newest = tuple(each[0] for each in choices)
    yield subsets - 1, newest
    yield 0, newest
    for _ in range(most - 2):
        # All as it should be but for a little: that is where mistakes hide.
        chosen = tuple(each[0] if dice.random() < 0.5 else dice.choice(each) for each in choices)
        one_is_missing = (subsets - 1) & ~(1 << dice.randrange(subsets.bit_length()))
        yield dice.choice((subsets - 1, one_is_missing, dice.randrange(subsets))), chosen


def _image(
    volume: Volume, changes: Sequence[Named], files: Mapping[int, bytes]
) -> dict[str, bytes | None]:
    """Return all that has a name after these changes of names, with what files were written."""
    folders = {node: dict(held) for node, held in volume.begun.items() if isinstance(held, dict)}
    for change in changes:
        for folder, name, number in change.entries:
            names = folders.setdefault(folder, {})
            if number:
                names[name] = number
            else:
                names.pop(name, None)

    def walk(path: str, folder: int) -> Iterator[tuple[str, bytes | None]]:
        for name, number in folders.get(folder, {}).items():
            here = f"{path}{name}"
            if volume.nodes[number].entries is not None:
                yield here, None
                yield from walk(f"{here}/", number)
            else:
                before = volume.begun.get(number, b"")
                yield here, files.get(number, before if isinstance(before, bytes) else b"")

    return dict(walk("", ROOT))
