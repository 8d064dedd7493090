"""What every benchmark needs: paired timing, its data, a table, and the facts of the machine.

Promises: a subject and its yardstick are timed in turn, so that a busy moment of the machine
meets both; what is saved names neither a path nor a host.

A benchmark measures, builds its rows and ends with :func:`finish`::

    base, subject, ratio = paired(read_bytes, parse, runs=20)
    rows = [("what", "ms", "ratio"), ("read", ms(base), ""), ("parse", ms(subject), f"{ratio:.1f}")]
    finish("parse", table(rows))
"""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, Final

__all__ = ["finish", "machine", "ms", "paired", "records", "save", "table", "together"]

_LAST_3G: Final = 999.5  # from here on the format "3g" writes 1e+03
RESULTS: Final = Path(__file__).resolve().parent / "results"


def paired(
    yardstick: Callable[[], object], subject: Callable[[], object], runs: int
) -> tuple[float, float, float]:
    """Time two functions in turn, ``runs`` times each, after one run of each to warm up.

    Returns:
        The median seconds of the yardstick, the median seconds of the subject, and the median of
        the ratios subject / yardstick of each pair.
    """
    yardstick()
    subject()
    pairs = [(_seconds(yardstick), _seconds(subject)) for _ in range(runs)]
    return (
        statistics.median(first for first, _ in pairs),
        statistics.median(second for _, second in pairs),
        statistics.median(second / first for first, second in pairs),
    )


def together(commands: Sequence[Sequence[str]]) -> float:
    """Return the seconds from the start signal until the last of some programs is done.

    Each prints a line when it is ready, begins when it can read to the end of its input, and prints
    another line when it is done: how long it takes to end does not count.

    Raises:
        RuntimeError: If one of them fails.
    """
    running = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        for command in commands
    ]
    for process in running:
        _pipe(process.stdout).readline()
    start = time.perf_counter()
    for process in running:
        _pipe(process.stdin).close()
    for process in running:
        _pipe(process.stdout).readline()
    end = time.perf_counter()
    failed = sum(process.wait() != 0 for process in running)
    if failed:
        raise RuntimeError(f"{failed} of {len(running)} programs failed")
    return end - start


def _pipe(stream: IO[bytes] | None) -> IO[bytes]:
    if stream is None:
        raise RuntimeError("a process without a pipe")
    return stream


def records(path: Path) -> list[Any]:
    """Return what the lines of a JSONL file hold, or end the program and name a missing file."""
    try:
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    except FileNotFoundError:
        sys.exit(f"{path} is not there; the first argument is the folder that holds it")


def ms(seconds: float) -> str:
    """Return seconds as milliseconds with three significant digits.

    >>> ms(0.0123456), ms(2.5)
    ('12.3', '2500')
    """
    value = seconds * 1000
    return f"{value:.3g}" if value < _LAST_3G else f"{value:.0f}"


def table(rows: Sequence[Sequence[str]]) -> str:
    """Return a markdown table; the first row is its head, all columns but the first are numbers.

    >>> print(table([("what", "ms"), ("parse", "12.3")]))
    | what  |   ms |
    | ----- | ---: |
    | parse | 12.3 |
    """
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    widths = [max(width, 3) for width in widths]
    rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    return "\n".join(_line(row, widths) for row in (rows[0], rule, *rows[1:]))


def machine() -> dict[str, str]:
    """Return what a number depends on: processor, cores, Python, system and the day."""
    release = platform.release().partition("-")[0]  # what follows names a build, at times a host
    return {
        "processor": _processor(),
        "cores": str(os.cpu_count()),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "system": f"{platform.system()} {release} {platform.machine()}",
        "date": datetime.now(UTC).date().isoformat(),
    }


def save(name: str, text: str) -> None:
    """Keep ``text`` and the facts of the machine as benchmarks/results/<name>.md."""
    facts = "\n".join(f"- {fact}: {value}" for fact, value in machine().items())
    page = (
        f"# {name}\n\n`python -m benchmarks.{name} --save` on this machine:\n\n{facts}\n\n{text}\n"
    )
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.md").write_text(page, encoding="utf-8", newline="\n")


def finish(name: str, text: str) -> None:
    """Print the table of a benchmark and, if the command line says ``--save``, keep it."""
    print(text)
    if "--save" in sys.argv[1:]:
        save(name, text)


def _seconds(function: Callable[[], object]) -> float:
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    cells = [row[0].ljust(widths[0])]
    cells += [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
    return f"| {' | '.join(cells)} |"


def _processor() -> str:
    """Return the model of the processor, which Python does not know on Linux and macOS."""
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text(encoding="utf-8").split("\n"):
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    if sys.platform == "darwin":
        command = ["/usr/sbin/sysctl", "-n", "machdep.cpu.brand_string"]
        return subprocess.run(
            command, capture_output=True, check=True, encoding="utf-8"
        ).stdout.strip()
    return platform.processor() or platform.machine()
