"""How soon ``engramdown watch`` tells of a save, and what it costs while nothing happens.

A process watches a project; another one saves ``rules.md`` in the steps of an editor and waits for
the line that tells of it: from the end of the save to the line, with the system's own events and
with ``--poll``. In a burst, a thread writes topic files all the while. The processor time is what
``/proc/<pid>/stat`` says of the process and its threads, after it has settled; one tick is 10 ms.

``--saves N`` and ``--idle SECONDS`` make it shorter.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Final

from benchmarks.measure import finish, ms, table
from engramdown import Cortex, Engram
from tests.hippocampus.editors import STYLES, save

__all__ = ["main"]

WAYS: Final = {"native": (), "polling": ("--poll",)}
TOPICS: Final = 20
# Seconds after which a process that has begun does nothing more but wait.
SETTLE: Final = 6.0
BURST: Final = "by-rename, in a burst of topics"


def main() -> None:
    """Measure both ways and print two tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--saves", type=int, default=100)
    parser.add_argument("--idle", type=float, default=60.0)
    parser.add_argument("--save", action="store_true")
    given = parser.parse_args()
    idle: list[tuple[str, ...]] = [("way", "seconds", "processor ms", "share")]
    rows: list[tuple[str, ...]] = [("editor, way", "saves", "p50 ms", "p95 ms", "max ms")]
    for way, options in WAYS.items():
        with _project() as memory, _watching(memory, options) as (process, lines):
            idle.append(_idle(way, process, given.idle))
            for style in (*STYLES, BURST):
                times = [_told(memory, lines, style, number) for number in range(given.saves)]
                rows.append(_row(f"{style}, {way}", times))
    note = (
        f"A project of {TOPICS} topics. The store gives a file that is gone, empty or cut short "
        f"time to become whole; these saves are short, so it is counted only where it waits."
    )
    finish("watch", f"{table(idle)}\n\n{table(rows)}\n\n{note}")


@contextlib.contextmanager
def _project() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as place:
        root = Path(place).resolve()
        cortex = Cortex.open(root, root / "home")
        cortex.encode(
            Engram(f"Lesson {number}", "lesson", "project", topic=f"topic {number}")
            for number in range(TOPICS)
        )
        cortex.encode(Engram("The first rule", "always", "project", source="user"))
        yield root / ".engramdown" / "memory"


@contextlib.contextmanager
def _watching(
    memory: Path, options: tuple[str, ...]
) -> Iterator[tuple[subprocess.Popen[bytes], IO[bytes]]]:
    root = memory.parent.parent
    program = "from engramdown.cli.main import main; raise SystemExit(main())"
    command = [sys.executable, "-c", program, "-C", str(root), "--home", str(root / "home")]
    process = subprocess.Popen([*command, "watch", "--json", *options], stdout=subprocess.PIPE)
    lines = process.stdout
    if lines is None:
        raise SystemExit("the output of the process cannot be read")
    try:
        for _ in ("global", "project"):
            lines.readline()
        yield process, lines
    finally:
        process.terminate()
        process.communicate()


def _idle(way: str, process: subprocess.Popen[bytes], seconds: float) -> tuple[str, ...]:
    time.sleep(SETTLE)
    before = _ticks(process.pid)
    time.sleep(seconds)
    used = (_ticks(process.pid) - before) / os.sysconf("SC_CLK_TCK")
    return way, f"{seconds:.0f}", f"{used * 1000:.0f}", f"{used / seconds:.3%}"


def _ticks(pid: int) -> int:
    """Return the processor time of a process and the system for it, in ticks."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def _told(memory: Path, lines: IO[bytes], style: str, number: int) -> float:
    """Save a new line, and return how many seconds later it is told."""
    rules = memory / "rules.md"
    line = f"Rule {number} by {style.partition(',')[0]} at {time.monotonic_ns()}"
    with _burst(memory) if style == BURST else contextlib.nullcontext():
        text = rules.read_text(encoding="utf-8")
        kept = [each for each in text.split("\n") if not each.startswith("- Rule ")]
        save(style.partition(",")[0], rules, "\n".join([*kept[:-1], f"- {line}", ""]))
        began = time.perf_counter()
        while json.loads(lines.readline())["text"] != line:
            pass
        return time.perf_counter() - began


@contextlib.contextmanager
def _burst(memory: Path) -> Iterator[None]:
    """Write files that are no memory of ours as fast as git does, for the length of a block."""
    over = threading.Event()

    def write() -> None:
        number = 0
        while not over.is_set():
            number += 1
            (memory / "topics" / f"_{number % 500}.md").write_text("x", encoding="utf-8")
            time.sleep(0.0005)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        time.sleep(0.2)
        yield
    finally:
        over.set()
        writer.join()


def _row(name: str, times: list[float]) -> tuple[str, ...]:
    ordered = sorted(times)
    late = ordered[min(len(ordered) - 1, round(len(ordered) * 0.95))]
    return name, str(len(times)), ms(statistics.median(ordered)), ms(late), ms(ordered[-1])


if __name__ == "__main__":
    main()
