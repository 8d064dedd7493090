"""Experiments: a disk that is full now and then, and files that may not grow, under real writes.

Promises: what was acknowledged is there and found, while there is no room and afterwards; what was
refused is not; reading and opening go on without any room; when there is room again, writing goes
on, what waited of a transcript is written, and nothing is left behind.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from itertools import count
from pathlib import Path

from engramdown import Cortex, EpisodicMemory
from engramdown.engram import Engram
from engramdown.errors import EngramdownError
from engramdown.settings import EpisodeSettings
from tests.crash.campaign import Trial
from tests.crash.places import file_limit, filled, small_disk
from tests.crash.scopes import strays

Scarcity = Callable[[], AbstractContextManager[None]]

_SIZE = 2 * 1024 * 1024
_LARGEST = 60_000


def full(folder: Path, dice: random.Random) -> Iterator[Trial]:
    """Write to a disk that is full now and then."""
    with small_disk(folder / "disk", _SIZE) as disk:
        yield from _rounds(
            disk, dice, lambda: filled(disk, dice.choice((0, 4096, 20_000, 100_000)))
        )


def limited(folder: Path, dice: random.Random) -> Iterator[Trial]:
    """Write to files that may not grow beyond some size, in the middle of a line if need be."""
    yield from _rounds(folder, dice, lambda: file_limit(dice.randint(2_000, _LARGEST)))


def _rounds(place: Path, dice: random.Random, scarce: Scarcity) -> Iterator[Trial]:
    for number in count(1):
        one = _Round(place / f"{number}", dice)
        wrong = ""
        try:
            for _ in range(dice.randint(1, 3)):
                with scarce():
                    one.write(dice.randint(1, 12))
                    one.look()
                one.write(dice.randint(0, 5))
            one.check()
        except (AssertionError, EngramdownError, OSError) as error:
            wrong = f"{type(error).__name__}: {error}"
        finally:
            one.close()
            shutil.rmtree(one.folder)
        what = f"round {number}: {one.refused} of {one.tries} refused"
        yield Trial(what, wrong, count=one.tries)


class _Round:
    """A project and its transcript, and what was acknowledged.

    Attributes:
        folder: Where they are.
        tries: How often something was written.
        refused: How often that was refused.
    """

    def __init__(self, folder: Path, dice: random.Random) -> None:
        self.folder = folder
        self.tries = self.refused = 0
        self._dice = dice
        self._root = folder / "project" / ".engramdown"
        (self._root / "memory").mkdir(parents=True)
        self._kept: dict[str, str] = {}
        self._gone: set[str] = set()
        self._said: list[str] = []
        self._written: set[str] = set()
        self._cortex = self._opened()
        settings = EpisodeSettings(durability=dice.choice(("full", "fast")))
        self._transcript = EpisodicMemory(self._root, settings)

    def write(self, times: int) -> None:
        """Write so often, or take away."""
        for _ in range(times):
            self.tries += 1
            act = self._dice.choice((self._remember, self._remember, self._forget, self._say))
            before = self.refused
            act(f"Number {self.tries} " + "word " * self._dice.choice((0, 3, 50, 900)))
            if self.refused > before and self._dice.random() < 0.5:
                self._cortex = self._opened()

    def look(self) -> None:
        """Check what can be read while there may be no room."""
        cortex = self._opened()
        texts = {entry.text for entry in cortex.entries()}
        assert self._kept.keys() <= texts, f"gone: {self._kept.keys() - texts}"
        assert not texts & self._gone, "what was refused or forgotten is there"
        assert cortex.build_memory_context("Number") or not texts
        lines = self._lines()
        assert self._written <= set(lines), "a line is gone"
        assert [each for each in self._said if each in lines] == lines, "another order of lines"

    def check(self) -> None:
        """Check everything, now that there is room."""
        assert self._transcript.recorder.flush(), f"{self._transcript.trouble}"
        assert self._transcript.trouble is None
        self._say("the last word")
        self.look()
        assert self._lines() == self._said, "not every line is there once"
        for text in self._kept:
            found = [entry.text for entry in self._opened().recall(text, 99)]
            assert text in found, f"recall does not find {text[:40]!r}"
        assert self._opened().scopes.stores[1].notice() is False
        left = [name for name in strays(self._root) if not name.endswith(".jsonl")]
        known = {path.name for path in (self._root / "episodes/payloads").rglob("*.txt")}
        # A context for a message looks for what was said, and so makes the index.
        known |= {path.name for path in (self._root / "cache").glob("index.*")} | {"written"}
        assert set(left) <= known, f"stray files: {left}"

    def close(self) -> None:
        """Let go of the files."""
        self._transcript.close()

    def _opened(self) -> Cortex:
        return Cortex.open(self.folder / "project", self.folder / "home", "autopilot")

    def _remember(self, text: str) -> None:
        engram = Engram(text.strip(), "lesson", "project", "high", source="user")
        (receipt,) = self._cortex.encode([engram])
        assert receipt.action in ("encoded", "failed"), receipt
        if receipt.action == "encoded":
            self._kept[engram.text] = receipt.id
        else:
            self.refused += 1
            self._gone.add(engram.text)

    def _forget(self, text: str) -> None:
        del text
        if not self._kept:
            return
        one = self._dice.choice(sorted(self._kept))
        try:
            self._cortex.forget(self._kept[one])
        except EngramdownError as error:
            _check_named(self.folder, str(error))
            self.refused += 1
        else:
            del self._kept[one]
            self._gone.add(one)

    def _say(self, text: str) -> None:
        role = self._dice.choice(("user", "tool_result"))
        if self._transcript.log("s", role, text) is None:
            assert self._transcript.trouble is not None, "a line is missing in silence"
            self.refused += 1
        else:
            self._written.add(text)
        # What waits is written behind what was written before it.
        self._said.append(text)

    def _lines(self) -> list[str]:
        if not (self._root / "episodes/s.jsonl").exists():
            return []
        memory = EpisodicMemory(self._root)
        episodes = memory.session("s").episodes
        memory.close()
        return [memory.whole(each) for each in episodes if each.role != "event"]


def _check_named(folder: Path, said: str) -> None:
    assert str(folder) in said, f"names no path: {said}"
