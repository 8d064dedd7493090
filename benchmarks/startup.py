"""How long a cold command takes, from nothing to its last byte.

The yardstick is a Python that imports what any command of ours cannot do without:
``python -c "import click, sqlite3"``. Bytecode is kept, as it is for an installed package, even
where the environment forbids to write it. The memory has a journal, as one in use has.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

from benchmarks.measure import finish, ms, paired, table
from engramdown import Engram, Hippocampus

__all__ = ["main"]

RUNS: Final = 25
ROOT: Final = Path(__file__).resolve().parent.parent
COMMAND: Final = "import sys; from engramdown.cli.main import main; sys.exit(main())"

YARDSTICK: Final = ("-c", "import click, sqlite3")
_NO_BYTECODE: Final = "PYTHONDONTWRITEBYTECODE"
SUBJECTS: Final = {
    "`import engramdown`": ("-c", "import engramdown"),
    "`engramdown --version`": ("-c", COMMAND, "--version"),
    "`engramdown recall word`": ("-c", COMMAND, "recall", "word"),
    "`engramdown log user word`": ("-c", COMMAND, "log", "user", "word"),
}

RULES: Final = ("Say the word when a test fails", "Run the linter before pushing")


def main() -> None:
    """Time every subject against the yardstick and print the table."""
    with tempfile.TemporaryDirectory() as folder:
        project = _make_project(Path(folder))
        yardstick = _process(YARDSTICK, project)
        rows = [("a cold process", "ms", "yardstick ms", "ratio")]
        for name, arguments in SUBJECTS.items():
            base, subject, ratio = paired(yardstick, _process(arguments, project), RUNS)
            rows.append((name, ms(subject), ms(base), f"{ratio:.2f}"))
    note = f'Medians of {RUNS} pairs; the yardstick is `python -c "import click, sqlite3"`.'
    finish("startup", f"{table(rows)}\n\n{note}")


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
