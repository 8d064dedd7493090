"""Working memory: what a prompt and a compaction cost as a conversation grows to 100,000 messages.

A conversation grows ten messages at a time; after each ten it is summarised, by a stub that takes
no time. At some sizes is measured, in a process that follows the conversation: putting a prompt
together after one more message (*assembly*), beside its yardstick, which is reading the JSON of as
many lines as are in view; and one compaction, beside appending as many bytes to a file with a sync.
*Opened* is the view in a process that has just begun, which reads all of the transcript; its
yardstick is splitting that into lines. Memory is what such a view keeps.
"""

from __future__ import annotations

import json
import os
import statistics
import tempfile
import time
import tracemalloc
from pathlib import Path
from typing import Final, NamedTuple

from benchmarks.measure import finish, ms, paired, table
from engramdown import Cortex
from engramdown.consolidation.summaries import Request, Written
from engramdown.conversation.conversation import Compaction, Conversation
from engramdown.transcripts.episode import Episode, stamp_of, write_line

__all__ = ["main"]

SESSION: Final = "20260301-101500-4f2a"
SIZES: Final = (1_000, 10_000, 100_000)
STEP: Final = 10
BUDGET: Final = 100_000
RUNS: Final = 9
# 2026-03-01, and a second between messages.
_BEGIN: Final = 1_772_360_100_000_000_000
_SECOND: Final = 1_000_000_000


class _Row(NamedTuple):
    """What was measured at one size; times are seconds."""

    messages: int
    items: int
    assembly: tuple[float, float, float]
    compaction: tuple[float, float]
    opened: tuple[float, float, float]
    memory: float


def main() -> None:
    """Let a conversation grow, measure at some sizes, and print the table."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "project" / ".engramdown").mkdir(parents=True)
        cortex = _opened(place)
        path = place / "project" / ".engramdown" / "episodes" / f"{SESSION}.jsonl"
        growing = _Growing(cortex, path)
        rows = [growing.to(size).measured(place) for size in SIZES]
    finish("working_memory", f"{_table(rows)}\n\n{_note(rows)}")


class _Growing:
    """A conversation that grows, and is summarised as it does."""

    def __init__(self, cortex: Cortex, path: Path) -> None:
        self._cortex = cortex
        self._path = path
        self._said = 0
        self._times: list[tuple[float, float]] = []
        cortex.session(SESSION)
        self._conversation = cortex.conversations.get(SESSION)

    def to(self, size: int) -> _Growing:
        """Go on until so many messages were said."""
        self._times.clear()
        while self._said < size:
            self._say(STEP)
            started = time.perf_counter()
            done = _compaction(self._conversation).run("incremental")
            passed = time.perf_counter() - started
            lines = sum(len(gist.text) + 400 for gist in done.gists)
            if done.gists and size - self._said <= size // 10:
                self._times.append((passed, _appending(self._path.parent / "yardstick", lines)))
        return self

    def measured(self, place: Path) -> _Row:
        """Measure at this size."""
        items = len(self._conversation.view())
        assembly = paired(self._read_view, self._assemble, RUNS)
        opened = paired(self._split, lambda: _view(place), RUNS // 3)
        tracemalloc.start()
        fresh = _view(place)
        memory, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        del fresh
        compaction = (
            statistics.median(seconds for seconds, _ in self._times),
            statistics.median(seconds for _, seconds in self._times),
        )
        return _Row(self._said, items, assembly, compaction, opened, memory)

    def _assemble(self) -> object:
        self._say(1)
        return self._cortex.conversations.build_context(SESSION, BUDGET).openai()

    def _read_view(self) -> object:
        """Read the JSON of as many lines as are in view."""
        items = self._conversation.track.items()
        with self._path.open("rb") as file:
            file.seek(-min(self._path.stat().st_size, 400 * len(items)), os.SEEK_END)
            return [json.loads(line) for line in file.read().split(b"\n")[1:-1]]

    def _split(self) -> object:
        return self._path.read_bytes().split(b"\n")

    def _say(self, count: int) -> None:
        """Append messages as the log does, but many at once."""
        lines = []
        for _ in range(count):
            self._said += 1
            role = ("user", "assistant")[self._said % 2]
            text = f"Message {self._said}: " + "the deploy of service seven went on " * 6
            at = _BEGIN + self._said * _SECOND
            known = Episode(self._said, stamp_of(at), f"{self._said:016d}", role, text)
            lines.append(write_line(known))
        with self._path.open("ab") as file:
            file.write(b"".join(lines))


def _opened(place: Path) -> Cortex:
    return Cortex.open(project=place / "project", home=place / "home")


def _view(place: Path) -> Conversation:
    """Open everything anew, and look at the view."""
    conversation = _opened(place).conversations.get(SESSION)
    conversation.view()
    return conversation


def _compaction(conversation: Conversation) -> Compaction:
    """Return a compaction without the limits and the ledger of models."""
    return Compaction(conversation.track, _write, 60_000)


def _write(request: Request) -> Written:
    return Written(f"What {len(request.parts)} parts said, in fewer words. " * 4, "normal")


def _appending(path: Path, size: int) -> float:
    """Return how long it takes to append so many bytes to a file, and to sync it."""
    started = time.perf_counter()
    with path.open("ab") as file:
        file.write(b"x" * size)
        file.flush()
        os.fsync(file.fileno())
    return time.perf_counter() - started


def _table(rows: list[_Row]) -> str:
    head = (
        *("messages", "items in view", "assembly ms", "ratio to JSON of the view"),
        *("compaction ms", "ratio to append + sync"),
        *("opened ms", "ratio to split", "MB"),
    )
    told = [
        (
            f"{row.messages:,}",
            f"{row.items}",
            ms(row.assembly[1]),
            f"{row.assembly[2]:.1f}",
            ms(row.compaction[0]),
            f"{row.compaction[0] / row.compaction[1]:.1f}",
            ms(row.opened[1]),
            f"{row.opened[2]:.1f}",
            f"{row.memory / 1e6:.1f}",
        )
        for row in rows
    ]
    return table([head, *told])


def _note(rows: list[_Row]) -> str:
    first, last = rows[0], rows[-1]
    grown = [
        last.items / first.items,
        last.assembly[1] / first.assembly[1],
        (last.compaction[0] / last.compaction[1]) / (first.compaction[0] / first.compaction[1]),
    ]
    return (
        f"From {first.messages:,} to {last.messages:,} messages the view grows {grown[0]:.2f} "
        f"times, assembly {grown[1]:.2f} times, a compaction beside its yardstick "
        f"{grown[2]:.2f} times. Medians of {RUNS} pairs; budget "
        f"{BUDGET:,} tokens, {STEP} messages a compaction."
    )


if __name__ == "__main__":
    main()
