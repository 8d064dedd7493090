"""What safety costs when several processes write at once: acknowledged writes per second.

In each round, in turn and with as many processes:

- *bare*: ``flock``, one ``write`` to a file opened ``O_APPEND``, unlock; with ``fsync`` where the
  other one syncs. It is the least that keeps two lines apart; it knows no ids, no duplicates, no
  journal and no hand edits.
- *memory*: ``Hippocampus.encode_lesson``, each into a file of a few hundred entries at most: three
  files are synced, not one.
- *transcript*: ``EpisodicMemory.log``.

Of a ratio the median is shown, and the least and the most of the rounds.
"""

from __future__ import annotations

import fcntl
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from benchmarks.measure import finish, table, together
from engramdown.episodes.memory import EpisodicMemory
from engramdown.hippocampus.store import Hippocampus
from engramdown.settings import EpisodeSettings
from engramdown.storage.disk import Disk

__all__ = ["main"]

ROUNDS: Final = 5
PROCESSES: Final = (1, 2, 4, 8)
DURABILITIES: Final = ("full", "fast")
# How many all processes together write: enough to be timed.
LINES: Final = {
    ("bare", "full"): 400,
    ("bare", "fast"): 24_000,
    ("memory", "full"): 96,
    ("memory", "fast"): 240,
    ("transcript", "full"): 400,
    ("transcript", "fast"): 4_000,
}
TEXT: Final = "The build failed because the clock in the test is not frozen."
WAYS: Final = ("bare", "memory", "transcript")


def main() -> None:
    """Time all of it and print the table."""
    rows: list[tuple[str, ...]] = [
        ("what, durability, processes", "bare /s", "ours /s", "bare / ours", "least", "most")
    ]
    rows += [
        (f"{way}, {durability}, {count}", *_compare(way, durability, count))
        for way, durability in LINES
        if way != "bare"
        for count in PROCESSES
    ]
    note = (
        f"Acknowledged writes per second of all processes together, medians of {ROUNDS} rounds; "
        f"the ratio is how many bare lines (flock, one write, unlock; with full durability synced) "
        f"are written in the time of one of ours."
    )
    finish("contention", f"{table(rows)}\n\n{note}")


def _compare(way: str, durability: str, processes: int) -> tuple[str, ...]:
    rounds = [
        (_rate("bare", durability, processes), _rate(way, durability, processes))
        for _ in range(ROUNDS)
    ]
    ratios = [bare / ours for bare, ours in rounds]
    bare, ours = (statistics.median(each) for each in zip(*rounds, strict=True))
    shown = (statistics.median(ratios), min(ratios), max(ratios))
    return f"{bare:,.0f}", f"{ours:,.0f}", *(f"{ratio:.1f}" for ratio in shown)


def _rate(way: str, durability: str, processes: int) -> float:
    """Return how much writers write in a second, together."""
    lines = LINES[way, durability] // processes
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "benchmarks.contention", way, durability, folder]
        writers = [[*command, str(number), str(lines)] for number in range(processes)]
        return lines * processes / together(writers)


def _write(way: str, durability: str, folder: Path, writer: str, lines: int) -> None:
    """Be one of the processes: say that we are ready, wait, write, say so."""
    write = {"bare": _bare, "memory": _memory, "transcript": _transcript}[way](
        folder, durable=durability == "full"
    )
    write(f"Begun by writer {writer}. {TEXT}")
    print(flush=True)
    sys.stdin.read()
    for number in range(lines):
        write(f"Number {number} of writer {writer}. {TEXT}")
    print(flush=True)


def _bare(folder: Path, *, durable: bool) -> Callable[[str], None]:
    descriptor = os.open(folder / "file", os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def write(text: str) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        os.write(descriptor, f"- {text}\n".encode())
        if durable:
            os.fsync(descriptor)
        fcntl.flock(descriptor, fcntl.LOCK_UN)

    return write


def _memory(folder: Path, *, durable: bool) -> Callable[[str], None]:
    store = Hippocampus(folder / "scope", disk=Disk(durable=durable), lock_timeout=60.0)

    def write(text: str) -> None:
        store.encode_lesson(text)

    return write


def _transcript(folder: Path, *, durable: bool) -> Callable[[str], None]:
    memory = EpisodicMemory(folder, EpisodeSettings(durability="full" if durable else "fast"))

    def write(text: str) -> None:
        if memory.log("session", "user", text) is None:
            # It waited for the others for as long as a turn may wait, and is in the queue.
            while not memory.recorder.flush():
                time.sleep(0.01)

    return write


if __name__ == "__main__":
    if sys.argv[1:2] and sys.argv[1] in WAYS:
        _write(sys.argv[1], sys.argv[2], Path(sys.argv[3]), sys.argv[4], int(sys.argv[5]))
    else:
        main()
