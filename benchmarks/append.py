"""What it costs to append an episode, for 1, 2, 4 and 8 processes on one session.

Three things are timed in each round, in turn, with as many processes:

- *bare*: one ``write`` of bytes that are there already, to a file opened ``O_APPEND``: no lock, no
  number, no JSON. It is the floor; a line written so has no place in its session.
- *encoded*: the same, of a line that is made first, as :mod:`json` makes it, with the time.
- *log*: ``EpisodicMemory.log``: an id, the JSON, the lock among processes, the number of the line,
  what others appended meanwhile, one ``write``.

Neither is synced (*fast*, the default of transcripts); with ``durability = "full"`` both are, and
the ratio is near 1.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from benchmarks.measure import finish, table, together
from engramdown.episodes.memory import EpisodicMemory
from engramdown.settings import EpisodeSettings

__all__ = ["main"]

LINES: Final = 8_000
SYNCED_LINES: Final = 400
ROUNDS: Final = 5
PROCESSES: Final = (1, 2, 4, 8)
TEXT: Final = "The build failed because the clock in the test is not frozen. " * 3
WAYS: Final = ("bare", "encoded", "log")


def main() -> None:
    """Time all ways in turn and print the table."""
    cases = [(str(count), count, False) for count in PROCESSES]
    cases += [("1, synced", 1, True), ("8, synced", 8, True)]
    rows = [("processes", "bare /s", "encoded /s", "log /s", "log / bare", "log / encoded")]
    rows += [(name, *_compare(count, synced=synced)) for name, count, synced in cases]
    note = (
        f"Lines per second of all processes together, medians of {ROUNDS} rounds of {LINES:,} "
        f"lines ({SYNCED_LINES} when synced); the ratios are those of the times, medians too."
    )
    finish("append", f"{table(rows)}\n\n{note}")


def _compare(processes: int, *, synced: bool) -> tuple[str, str, str, str, str]:
    lines = SYNCED_LINES if synced else LINES
    rounds = [
        {way: _time(way, processes, lines // processes, synced=synced) for way in WAYS}
        for _ in range(ROUNDS)
    ]

    def rate(way: str) -> str:
        return f"{lines / statistics.median(each[way] for each in rounds):,.0f}"

    def ratio(way: str) -> str:
        return f"{statistics.median(each['log'] / each[way] for each in rounds):.1f}"

    return rate("bare"), rate("encoded"), rate("log"), ratio("bare"), ratio("encoded")


def _time(way: str, processes: int, lines: int, *, synced: bool) -> float:
    """Return the seconds that writers need together."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "benchmarks.append", way, folder, str(lines)]
        return together([[*command, *(["synced"] if synced else [])]] * processes)


def _write(way: str, folder: str, lines: int, *, synced: bool) -> None:
    """Be one of the processes: say that we are ready, wait, append, say so."""
    append = {"bare": _bare, "encoded": _encoded, "log": _log}[way](Path(folder), synced=synced)
    append()
    print(flush=True)
    sys.stdin.read()
    for _ in range(lines):
        append()
    print(flush=True)


def _bare(folder: Path, *, synced: bool) -> Callable[[], object]:
    line = _line()
    descriptor = _open(folder)

    def append() -> None:
        os.write(descriptor, line)
        if synced:
            os.fsync(descriptor)

    return append


def _encoded(folder: Path, *, synced: bool) -> Callable[[], object]:
    descriptor = _open(folder)

    def append() -> None:
        os.write(descriptor, _line())
        if synced:
            os.fsync(descriptor)

    return append


def _log(folder: Path, *, synced: bool) -> Callable[[], object]:
    memory = EpisodicMemory(folder, EpisodeSettings(durability="full" if synced else "fast"))

    def append() -> None:
        if memory.log("session", "user", TEXT) is None:
            raise RuntimeError(str(memory.trouble))

    return append


def _open(folder: Path) -> int:
    return os.open(folder / "file", os.O_WRONLY | os.O_APPEND | os.O_CREAT)


def _line() -> bytes:
    record = {
        "seq": 12,
        "ts": datetime.now(UTC).isoformat(timespec="microseconds"),
        "id": "01kjf9gc8v000001",
        "role": "user",
        "text": TEXT,
    }
    return json.dumps(record, ensure_ascii=False).encode() + b"\n"


if __name__ == "__main__":
    if sys.argv[1:2] and sys.argv[1] in WAYS:
        _write(sys.argv[1], sys.argv[2], int(sys.argv[3]), synced="synced" in sys.argv)
    else:
        main()
