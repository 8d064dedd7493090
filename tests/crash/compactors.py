"""Processes that write to one scope until told to stop: ``python -m`` this, ROLE, FOLDER, SEED.

Promises: a role goes on until the file ``stop`` stands in the folder, and ends with 0 unless
something happened that must not; the words of each memory are its own, so that it can be told what
became of it. ``appends`` says on a line of its own each thing that it wrote.
"""

from __future__ import annotations

import random
import re
import sys
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any, Final

from engramdown import Cortex, Engram
from engramdown.cortex.session import tidy_if_due
from engramdown.errors import EngramdownError, EntryNotFoundError, UndoRefusedError
from tests.consolidation.provider import Reply, answering

_SHOWN: Final = re.compile(r"^- (\S+): kind (.*), text (.*)$", re.MULTILINE)
_NUMBER: Final = re.compile(r"crate (\d+)")
# The same in other words: what nobody has to be asked about, and what is more than that.
FORMS: Final = (
    "Keep crate {} in the cellar",
    "In the cellar, please keep the crate {}.",
    "Note that crate {} should be kept in the cellar",
    "Keep crate {} in the cold cellar",
    "Keep crate {} in the cold cellar below the stairs",
)


def build(folder: Path, url: str) -> None:
    """Make scopes in which little is enough to compact, with a model at ``url``."""
    (folder / "home").mkdir()
    (folder / "home" / "config.toml").write_text(
        # Five processes and a person who never rests: whoever waits is served, but late.
        'durability = "fast"\nlock_timeout = 60\n'
        "[consolidation]\n"
        f'threshold = 6\nmodel = "openai/scripted"\nbase_url = "{url}"\nretries = 0\n'
        "calls_per_run = 1000\ntokens_per_run = 100000000\n"
        "calls_per_window = 100000\ntokens_per_window = 1000000000\n",
        encoding="utf-8",
    )
    (folder / "project" / ".engramdown" / "memory").mkdir(parents=True)


def opened(folder: Path) -> Cortex:
    """Open the scopes in ``folder``."""
    return Cortex.open(folder / "project", folder / "home")


def think(asked: dict[str, Any], dice: random.Random) -> Reply:
    """Answer what a model is asked about compaction: mostly of use, now and then of none."""
    time.sleep(dice.choice((0.0, 0.1, 0.3)))
    user = next(each["content"] for each in asked["messages"] if each["role"] == "user")
    shown = [(found[1], found[3].strip("\"'")) for found in _SHOWN.finditer(user)]
    changes: list[dict[str, Any]] = []
    named: set[str] = set()
    # A model of use names a memory once, one of none as often as it likes.
    careful = dice.random() < 0.8
    for one in dice.sample(shown, min(len(shown), 8)):
        number = _NUMBER.findall(one[1])
        alike = [it for it in shown if number and it != one and _NUMBER.findall(it[1]) == number]
        other = dice.choice(alike or shown)
        if not (careful and named & {one[0], other[0]}):
            named |= {one[0], other[0]}
            changes += _change(dice, one, other)
    if dice.random() < 0.1:
        changes.append({"operation": "drop", "ids": ["zzzzzzzz"], "stays": shown[0][0]})
    return answering({"operations": changes})


def _change(
    dice: random.Random, one: tuple[str, str], other: tuple[str, str]
) -> list[dict[str, Any]]:
    if one[0] == other[0]:
        return []
    text = max(one[1], other[1], key=len)
    return [
        dice.choice(
            (
                {"operation": "merge", "ids": [one[0], other[0]], "text": text},
                {"operation": "drop", "ids": [one[0]], "stays": other[0]},
                {"operation": "supersede", "ids": [one[0]], "stays": other[0]},
                {"operation": "move", "ids": [one[0]], "topic": dice.choice(("cellar", "loft"))},
            )
        )
    ]


def _appends(folder: Path, dice: random.Random) -> None:
    """Write memories, the same in several forms."""
    cortex = opened(folder)
    for number in count():
        for form in dice.sample(FORMS, 3):
            if (folder / "stop").exists():
                return
            text = form.format(f"{sys.argv[3]}{number:03}")
            pointer = f"s{sys.argv[3]}#{number + 1}"
            (receipt,) = cortex.encode([Engram(text, "lesson", "project", origin=pointer)])
            assert receipt.action in ("encoded", "merged"), receipt
            sys.stdout.write(f"{receipt.action} {text}\n")
            sys.stdout.flush()
            time.sleep(dice.uniform(0, 0.02))


def _compacts(folder: Path, dice: random.Random) -> None:
    """Run ``engramdown compact --yes``, as a person who does not read does."""
    from engramdown.cli.main import main as engramdown

    del dice
    place = ["-C", str(folder / "project"), "--home", str(folder / "home")]
    code = engramdown([*place, "compact", "--yes"])
    assert code in (0, 1), code  # 1: the plan was refused


def _tidies(folder: Path, dice: random.Random) -> None:
    """Begin sessions of an assistant, and compact as one."""
    cortex = opened(folder)
    tidy_if_due(cortex.scopes)
    receipts = cortex.compact_all(use_model=False) if dice.random() < 0.5 else []
    assert "failed" not in {each.action for each in receipts}, receipts


def _undoes(folder: Path, dice: random.Random) -> None:
    """Take back what a compaction did, now and then."""
    time.sleep(dice.uniform(0.1, 0.4))
    store = opened(folder).scopes.stores[1]
    steps = [each.step for each in store.undoable() if each.step.op == "compact"]
    if steps:
        try:
            store.undo(dice.choice(steps[:3]).id)
        except (UndoRefusedError, EntryNotFoundError) as error:
            sys.stdout.write(f"{error}\n")


ROLES: Final[dict[str, Callable[[Path, random.Random], None]]] = {
    "appends": _appends,
    "compacts": _compacts,
    "tidies": _tidies,
    "undoes": _undoes,
}
"""What a process does again and again."""


def main() -> None:
    """Play the role that the command line names."""
    folder = Path(sys.argv[2])
    dice = random.Random(sys.argv[3])
    while not (folder / "stop").exists():
        try:
            ROLES[sys.argv[1]](folder, dice)
        except EngramdownError as error:
            sys.stderr.write(f"{type(error).__name__}: {error}\n")
            raise


if __name__ == "__main__":
    main()
