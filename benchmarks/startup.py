"""How long a cold command takes, from nothing to its last byte.

The yardstick is a Python that imports what any command of ours cannot do without:
``python -c "import click, sqlite3"``. Bytecode is kept, as it is for an installed package, even
where the environment forbids to write it. The memory has a journal, as one in use has.

A second project has transcripts: ten thousand lines in sessions of twenty-five, and the index of
them, which is made before. What is asked for stands in one line of twenty to thirty.
"""

from __future__ import annotations

import itertools
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from benchmarks.measure import finish, ms, paired, table
from engramdown import Engram, Hippocampus
from engramdown.transcripts.episode import Episode, stamp, write_line

__all__ = ["main"]

RUNS: Final = 25
ROOT: Final = Path(__file__).resolve().parent.parent
COMMAND: Final = "import sys; from engramdown.cli.entry import main; sys.exit(main())"

YARDSTICK: Final = ("-c", "import click, sqlite3")
_NO_BYTECODE: Final = "PYTHONDONTWRITEBYTECODE"
SUBJECTS: Final = {
    "`import engramdown`": ("-c", "import engramdown"),
    "`engramdown --version`": ("-c", COMMAND, "--version"),
    "`engramdown recall word`": ("-c", COMMAND, "recall", "word"),
    "`engramdown log user word`": ("-c", COMMAND, "log", "user", "word"),
}

EPISODES: Final = 10_000
SESSION: Final = 25
WORDS: Final = 20
BEGAN: Final = datetime(2026, 1, 1, tzinfo=UTC)
WITH_EPISODES: Final = {
    f"`engramdown recall word`, {EPISODES:,} episodes": ("-c", COMMAND, "recall", "word"),
    f"`engramdown recall` of a question, {EPISODES:,} episodes": (
        *("-c", COMMAND, "recall"),
        "when did we talk about the boat in the harbour",
    ),
    f"`engramdown list`, {EPISODES:,} episodes": ("-c", COMMAND, "list"),
}

RULES: Final = ("Say the word when a test fails", "Run the linter before pushing")


def main() -> None:
    """Time every subject against the yardstick and print the table."""
    with tempfile.TemporaryDirectory() as folder:
        project = _make_project(Path(folder) / "plain")
        rows: list[tuple[str, ...]] = [("a cold process", "ms", "yardstick ms", "ratio")]
        rows += [_row(name, arguments, project) for name, arguments in SUBJECTS.items()]
        project = _make_project(Path(folder) / "told")
        _say(project / ".engramdown" / "episodes")
        rows += [_row(name, arguments, project) for name, arguments in WITH_EPISODES.items()]
    note = f'Medians of {RUNS} pairs; the yardstick is `python -c "import click, sqlite3"`.'
    finish("startup", f"{table(rows)}\n\n{note}")


def _row(name: str, arguments: tuple[str, ...], project: Path) -> tuple[str, ...]:
    # The run that warms up makes the index of transcripts.
    yardstick, command = _process(YARDSTICK, project), _process(arguments, project)
    base, subject, ratio = paired(yardstick, command, RUNS)
    return name, ms(subject), ms(base), f"{ratio:.2f}"


def _say(folder: Path) -> None:
    """Write transcripts, the same every time."""
    folder.mkdir()
    dice = random.Random(1)
    known = [f"w{number:x}" for number in range(5_000)]
    known[40:40] = ["boat", "harbour", "word"]
    shares = list(itertools.accumulate(1 / place for place in range(1, len(known) + 1)))
    for session in range(EPISODES // SESSION):
        at = BEGAN + timedelta(minutes=37 * session)
        more = {"v": 1, "session": f"s{session:04d}"}
        start = Episode(seq=0, ts=stamp(at), id="start", role="event", event="start", more=more)
        lines = [write_line(start)]
        for seq in range(1, SESSION + 1):
            text = " ".join(dice.choices(known, cum_weights=shares, k=WORDS))
            ts = stamp(at + timedelta(seconds=20 * seq))
            role = "user" if seq % 2 else "assistant"
            lines.append(write_line(Episode(seq=seq, ts=ts, id=f"{seq}", role=role, text=text)))
        (folder / f"s{session:04d}.jsonl").write_bytes(b"".join(lines))


def _make_project(folder: Path) -> Path:
    project = folder / "project"
    store = Hippocampus(project / ".engramdown")
    store.encode(Engram(rule, "always", "project") for rule in RULES)
    return project


def _process(arguments: tuple[str, ...], project: Path) -> Callable[[], object]:
    """Return a function that runs Python with ``arguments`` in ``project`` and fails with it."""
    home = str(project.parent / "home")
    kept = {name: value for name, value in os.environ.items() if name != _NO_BYTECODE}
    bytecode = str(project.parent / "bytecode")
    ours = {"ENGRAMDOWN_HOME": home, "PYTHONPATH": str(ROOT), "PYTHONPYCACHEPREFIX": bytecode}
    env = kept | ours

    def run() -> None:
        subprocess.run(
            [sys.executable, *arguments],
            check=True,
            cwd=project,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )

    return run


if __name__ == "__main__":
    main()
