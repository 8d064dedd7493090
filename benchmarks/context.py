"""What it costs to assemble the memory context from 10,000 entries.

The yardstick is parsing the same files: the text and the metadata of each entry. Beside it stands
the bare scan for blocks, which reads no entry. *Warm* is a process that built a context before,
as an assistant does on every turn; *cold* opens the memory anew each time.
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

from benchmarks.measure import finish, ms, paired, table
from engramdown import Cortex
from engramdown.markdown.document import parse

__all__ = ["WORDS", "main"]

RUNS: Final = 9
SEED: Final = 20261121
MESSAGE: Final = "how do I deploy the cache index without a timeout?"
WORDS: Final = (
    "server",
    "client",
    "build",
    "test",
    "deploy",
    "lint",
    "cache",
    "token",
    "memory",
    "index",
    "query",
    "queue",
    "lock",
    "file",
    "folder",
    "branch",
    "commit",
    "merge",
    "review",
    "section",
    "budget",
    "model",
    "prompt",
    "network",
    "timeout",
    "retry",
    "error",
)
RULES: Final = (("Always", 20), ("Never", 20), ("When", 2460))
LESSONS: Final = 2500


def main() -> None:
    """Time cold and warm contexts against parsing and print the table."""
    with tempfile.TemporaryDirectory() as folder:
        home, project = Path(folder, "home"), Path(folder, "project")
        texts = _fill(home / "memory") + _fill(project / ".engramdown" / "memory")
        warm = Cortex.open(project=project, home=home)
        subjects: dict[str, Callable[[], object]] = {
            "cold, no message": lambda: _cold(home, project, ""),
            "cold, with a message": lambda: _cold(home, project, MESSAGE),
            "warm, no message": lambda: warm.build_memory_context(""),
            "warm, with a message": lambda: warm.build_memory_context(MESSAGE),
        }
        rows = [("10,000 entries", "ms", "parsing ms", "ratio", "ratio to the bare scan")]
        for name, subject in subjects.items():
            base, seconds, ratio = paired(lambda: _read(texts), subject, RUNS)
            _, _, bare = paired(lambda: _scan(texts), subject, RUNS)
            rows.append((name, ms(seconds), ms(base), f"{ratio:.2f}", f"{bare:.1f}"))
        within = _within_budget(warm)
    note = f"Medians of {RUNS} pairs, seed {SEED}. Tokens within every budget: {within}."
    finish("context", f"{table(rows)}\n\n{note}")


def _fill(memory: Path) -> list[str]:
    """Write 5,000 entries and return the texts of the files."""
    dice = random.Random(SEED)
    memory.mkdir(parents=True)
    rules = "# Rules\n"
    for title, count in RULES:
        lines = "".join(_line(dice) for _ in range(count))
        rules += f"\n## {title}\n\n{lines}"
    lessons = "# Lessons\n\n" + "".join(_line(dice) for _ in range(LESSONS))
    for name, text in (("rules.md", rules), ("lessons.md", lessons)):
        (memory / name).write_text(text, encoding="utf-8", newline="\n")
    return [rules, lessons]


def _line(dice: random.Random) -> str:
    said = " ".join(dice.choices(WORDS, k=12))
    mark = "".join(dice.choices("0123456789abcdefghjkmnpqrstvwxyz", k=8))
    sure = dice.choice(("high", "medium", "low"))
    day = f"2026-0{dice.randint(1, 9)}-{dice.randint(10, 28)}"
    return f"- {said} {mark} <!-- id:{mark} confidence:{sure} source:llm ts:{day} -->\n"


def _cold(home: Path, project: Path, message: str) -> object:
    return Cortex.open(project=project, home=home).build_memory_context(message)


def _scan(texts: list[str]) -> None:
    for text in texts:
        parse(text)


def _read(texts: list[str]) -> int:
    """Parse the files: find the entries and read the text and the metadata of each."""
    read = 0
    for text in texts:
        for placed in parse(text).placed():
            values = placed.block.meta.values() if placed.block.meta else {}
            read += bool(placed.block.text and values)
    return read


def _within_budget(cortex: Cortex) -> str:
    sections = cortex.build_memory_context(MESSAGE).sections
    return ", ".join(f"{each.tokens} of {each.budget}" for each in sections)


if __name__ == "__main__":
    main()
