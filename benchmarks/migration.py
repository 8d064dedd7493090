"""How well `engramdown migrate` reads files of instructions: what comes, as what, and what else.

The data is no part of the project. Its folder holds one folder for each project, with the files
that `migrate` looks for and a ``gold.json``::

    {"expect": [{"must": ["uv|poetry"], "must_not": ["CI"], "kinds": ["always"]}],
     "secrets": ["hunter2"], "junk": ["Table of contents"], "duplicates": [["line length is 100"]]}

Each project is copied, `engramdown migrate --yes` runs there, and memory is read: what is live and
what waits for a person. A memory meets an expectation if it is at most three lines long and holds
all of ``must`` (``|`` stands between alternatives) and none of ``must_not``; letters, large or
small, and the marks of markdown make no difference. Recall is of expectations, and *kind* the share
of those met of which a memory is of one of ``kinds``. Precision is of memories. A secret is in
clear if it stands in any file of memory, and a duplicate is left if several memories hold a phrase
of ``duplicates``.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from benchmarks.measure import finish, table
from engramdown import Cortex

__all__ = ["main", "score"]

GOLD: Final = "gold.json"
LONGEST: Final = 3
PROGRAM: Final = str(Path(sys.executable).with_name("engramdown"))
MARKS: Final = str.maketrans("", "", "*_`~")
HEAD: Final = (
    "project",
    "expected",
    "recall",
    "kind",
    "precision",
    "secrets",
    "duplicates",
    "junk",
)


class _Memory(NamedTuple):
    """A memory of a project."""

    kind: str
    text: str

    def meets(self, wanted: dict[str, Any]) -> bool:
        """Whether it says what is expected, and not more."""
        return (
            self.text.count("\n") < LONGEST
            and all(any(map(self.holds, each.split("|"))) for each in wanted["must"])
            and not any(map(self.holds, wanted["must_not"]))
        )

    def holds(self, phrase: str) -> bool:
        """Whether it holds a phrase, as it is or without its marks."""
        plain = _plain(phrase)
        return phrase in self.text or (plain != "" and plain in _plain(self.text))


class Score(NamedTuple):
    """The counts of a project, and what went wrong there; of secrets and duplicates what is left.

    Attributes:
        counts: Expected, met, of the right kind, memories, expected memories, secrets in clear,
            secrets, duplicates left, duplicates, junk.
        misses: A line for each.
    """

    counts: tuple[int, ...]
    misses: tuple[str, ...] = ()

    def row(self, name: str) -> tuple[str, ...]:
        """Return a line of the table."""
        expected, met, right, memories, wanted, clear, secrets, left, duplicates, junk = self.counts
        shares = ((met, expected), (right, met), (wanted, memories))
        found = (f"{part / max(whole, 1):.3f}" for part, whole in shares)
        ends = (f"{clear} of {secrets}", f"{left} of {duplicates}", str(junk))
        return (name, str(expected), *found, *ends)


def main() -> None:
    """Migrate each project, count and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("data", type=Path, help="the folder of the projects")
    parser.add_argument("--show", action="store_true", help="also say what went wrong")
    parser.add_argument("--save", action="store_true", help="keep the table")
    options = parser.parse_args()
    projects = sorted(path.parent for path in options.data.glob(f"*/{GOLD}"))
    scores = {project.name: score(project) for project in projects}
    if options.show:
        for name, found in scores.items():
            print("\n".join([f"{name}:", *found.misses, ""]))
    rows = [found.row(name) for name, found in scores.items()]
    total = zip(*(each.counts for each in scores.values()), strict=True)
    finish("migration", table([HEAD, *rows, Score(tuple(map(sum, total))).row("all")]))


def score(project: Path) -> Score:
    """Migrate a project, and compare what came with what is expected."""
    gold = json.loads((project / GOLD).read_text(encoding="utf-8"))
    memories, files = _migrated(project)
    misses, right, met = [], 0, 0
    for wanted in gold["expect"]:
        kinds = [each.kind for each in memories if each.meets(wanted)]
        is_right = not set(kinds).isdisjoint(wanted["kinds"])
        met, right = met + bool(kinds), right + is_right
        if not is_right:
            found = f"is {', '.join(kinds)}" if kinds else "is missing"
            misses.append(f"  {wanted['must']} ({', '.join(wanted['kinds'])}) {found}")
    strange = [each for each in memories if not any(map(each.meets, gold["expect"]))]
    clear = [each for each in gold["secrets"] if each in files]
    left = [each for each in gold["duplicates"] if _is_left(each, memories)]
    junk = [each for each in gold.get("junk", ()) if any(one.holds(each) for one in memories)]
    misses += [f"  + {each.kind}: {each.text}" for each in strange]
    named = {"in clear": clear, "several times": left, "junk": junk}
    misses += [f"  {what}: {each}" for what, several in named.items() for each in several]
    counts = (len(gold["expect"]), met, right, len(memories), len(memories) - len(strange))
    safe = (len(clear), len(gold["secrets"]), len(left), len(gold["duplicates"]), len(junk))
    return Score((*counts, *safe), tuple(misses))


def _is_left(phrases: Iterable[str], memories: list[_Memory]) -> bool:
    return sum(any(map(each.holds, phrases)) for each in memories) > 1


def _migrated(project: Path) -> tuple[list[_Memory], str]:
    """Return the memories of a project, and all that stands in the files of memory."""
    with tempfile.TemporaryDirectory() as folder:
        home, there = Path(folder) / "home", Path(folder) / project.name
        shutil.copytree(project, there, ignore=shutil.ignore_patterns(GOLD))
        for command in ("init --global", "init", "migrate --yes --json"):
            arguments = [PROGRAM, "-C", str(there), *command.split()]
            environment = {**os.environ, "ENGRAMDOWN_HOME": str(home)}
            subprocess.run(arguments, env=environment, stdout=subprocess.DEVNULL, check=True)
        cortex = Cortex.open(there, home=home)
        memories = [_Memory(each.kind, each.text) for each in cortex.entries()]
        memories += [_Memory(each.engram.kind, each.engram.text) for each in cortex.pending()]
        return memories, "\n".join(_files((home, there / ".engramdown")))


def _files(roots: Iterable[Path]) -> Iterator[str]:
    for path in (path for root in roots for path in root.rglob("*") if path.is_file()):
        yield path.read_text(encoding="utf-8", errors="replace")


def _plain(text: str) -> str:
    return " ".join(text.translate(MARKS).casefold().split())


if __name__ == "__main__":
    main()
