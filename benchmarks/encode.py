"""What it costs to encode one memory into a file of 10,000 entries.

The yardstick is reading that file and rewriting its bytes in place with one ``fsync``. *Warm* is a
store that wrote the file itself; *cold* a new store that has seen nothing yet, as in a fresh
process (its imports are measured by ``benchmarks.startup``). The last rows fill an empty file and
divide what a memory costs by the yardstick of the file at that size: it stays linear if the ratio
does not grow.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Final

from benchmarks.measure import finish, ms, paired, table
from engramdown import Engram, Hippocampus

__all__ = ["main"]

RUNS: Final = 25
ENTRIES: Final = 10_000
SIZES: Final = (100, 1_000, 10_000)
SAYS: Final = "CoinGecko's free tier rate-limits at about {} requests a minute"


def main() -> None:
    """Time warm and cold encodes, and encodes at growing sizes, and print the table."""
    rows = [("encode one memory", "ms", "yardstick ms", "ratio")]
    for name, size, cold in (
        ("into 10,000, warm", ENTRIES, False),
        ("into 10,000, cold", ENTRIES, True),
        *((f"filling, at {size:,}", size, False) for size in SIZES),
    ):
        with tempfile.TemporaryDirectory() as folder:
            base, subject, ratio = _measure(Path(folder), size, cold=cold)
            rows.append((name, ms(subject), ms(base), f"{ratio:.1f}"))
    note = f"Medians of {RUNS} pairs; full durability (journal, file and folder are synced)."
    finish("encode", f"{table(rows)}\n\n{note}")


def _measure(root: Path, size: int, *, cold: bool) -> tuple[float, float, float]:
    store = Hippocampus(root)
    store.encode(Engram(SAYS.format(number), "lesson", "project") for number in range(size))
    numbers = count(size)
    copy = root / "copy.md"
    copy.write_bytes((store.memory / "lessons.md").read_bytes())

    def encode() -> None:
        target = Hippocampus(root) if cold else store
        target.encode_lesson(SAYS.format(next(numbers)))

    return paired(_rewrite(copy), encode, RUNS)


def _rewrite(path: Path) -> Callable[[], None]:
    def rewrite() -> None:
        data = path.read_bytes()
        descriptor = os.open(path, os.O_WRONLY | os.O_TRUNC)
        try:
            os.write(descriptor, data)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    return rewrite


if __name__ == "__main__":
    main()
