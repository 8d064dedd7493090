"""Compaction while others append and undo and a person edits: nothing is lost or doubled."""

from __future__ import annotations

import random
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pytest

from engramdown import Hippocampus
from engramdown.cli.main import main as engramdown
from engramdown.engram import fold
from engramdown.hippocampus.entry import Archived, Entry
from engramdown.hippocampus.history import Step
from tests.consolidation.provider import Reply, serving
from tests.crash.compactors import build, think
from tests.crash.scopes import strays
from tests.crash.sleeper import replayed
from tests.hippocampus.editors import STYLES, save

SECONDS: Final = 5.0
_LINE: Final = re.compile(r"- (?P<text>[^<\n]+?)(?P<meta> <!-- id:[^>]*-->)?\n")


@dataclass
class Person:
    """Somebody who edits the lessons with any editor, from a buffer that is a moment old.

    Attributes:
        wrote: What has to stand there at the end, as it was written by hand.
        gone: What was deleted or worded otherwise, and must not stand there again.
        count: How often the file was saved.
    """

    path: Path
    dice: random.Random
    wrote: set[str] = field(default_factory=set)
    gone: set[str] = field(default_factory=set)
    count: int = 0

    def edit(self) -> None:
        """Open, change one line, and save."""
        seen = self.path.read_text(encoding="utf-8") if self.path.exists() else ""
        lines = [it for it in _LINE.finditer(seen) if seen[: it.start()].endswith("\n")]
        if not seen.endswith("\n") or len(lines) < 4:
            return
        self.count += 1
        line, text = self.dice.choice(lines), f"By hand I say {self.count}"
        how = self.dice.choice(("add", "add", "copy", "reword", "delete"))
        if [it["text"] for it in lines].count(line["text"]) > 1:
            how = "add"  # Of two lines that say the same it could not be told which one is meant.
        if how == "add" or (how == "copy" and line["text"] in self.wrote):
            new = f"{seen}- {text}\n"
        elif how == "copy":  # What an assistant said, in a line of the person's own.
            text = line["text"]
            self.gone.discard(text)
            new = f"{seen}- {text}\n"
        else:
            put = f"- {text}{line['meta'] or ''}\n" if how == "reword" else ""
            new = seen[: line.start()] + put + seen[line.end() :]
            self.gone.add(line["text"])
            self.wrote.discard(line["text"])
        time.sleep(self.dice.choice((0.0, 0.005, 0.02)))
        if self.path.exists():
            save(self.dice.choice([*STYLES]), self.path, new)
            self.wrote |= set() if how == "delete" else {text}


@contextmanager
def playing(folder: Path, env: dict[str, str], roles: list[str]) -> Iterator[None]:
    """Let processes play roles, and check that none of them failed."""
    said = [(folder / f"said{at}").open("w", encoding="utf-8") for at in range(len(roles))]
    children = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.crash.compactors", role, str(folder), str(at)],
            env=env,
            stdout=said[at],
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )
        for at, role in enumerate(roles)
    ]
    try:
        yield
    finally:
        (folder / "stop").touch()
        errors = [child.communicate(timeout=120)[1] for child in children]
        for each in said:
            each.close()
    ended = [child.returncode for child in children]
    assert ended == [0] * len(roles), errors


def appended(folder: Path) -> set[str]:
    """Return what the processes say that they wrote."""
    lines = [line for path in folder.glob("said*") for line in path.read_text("utf-8").split("\n")]
    return {line.partition(" ")[2] for line in lines if line.startswith("encoded ")}


def check(folder: Path, person: Person) -> None:
    """Check that everything is somewhere, and what is a person's where it was."""
    root = folder / "project" / ".engramdown"
    store = Hippocampus(root)
    store.notice()
    entries, archive = store.entries(), store.archived()
    check_person(entries, person, excused(person, store.history()))
    check_nothing_lost(appended(folder) - person.gone, entries, archive, taken_by_hand(store))
    said = Counter(fold(entry.text) for entry in entries if not entry.by_person)
    assert {text for text, count in said.items() if count > 1} == set()
    ids = Counter(entry.id for entry in entries)
    assert {name for name, count in ids.items() if count > 1} == set()
    memory = root / "memory"
    found = {
        path.relative_to(memory).as_posix(): path.read_text(encoding="utf-8")
        for path in memory.rglob("*.md")
    }
    assert {name: text for name, text in found.items() if text} == replayed(root)
    assert strays(memory) == []


def taken_by_hand(store: Hippocampus) -> set[str]:
    """Return the ids of what a person took out; of a twin no other trace is left."""
    steps = [step for step in store.history() if step.by == "person"]
    return {it.id for step in steps for it in step.changes if it.after is None}


def excused(person: Person, steps: list[Step]) -> set[str]:
    """Return what a person took out and what may stand there again.

    Of a line that was the last one nobody can tell whether they had seen it: they are asked. And
    what a compaction took out in the same moment was not there any more to be deleted: then an
    undo of that compaction brings it back.
    """
    changes = [(step.op, it.before or "", it.after or "") for step in steps for it in step.changes]

    def at_once(text: str) -> bool:
        here = [each for each in changes if text in each[1] or text in each[2]]
        return any(op == "compact" and not after for op, _, after in here) and any(
            op == "undo" and not before for op, before, _ in here
        )

    def asked(text: str) -> bool:
        return any(f"] Delete: {text} " in after for _, _, after in changes)

    def edited(text: str) -> bool:
        by_hand = (it for step in steps if step.by == "person" for it in step.changes)
        return any(text in (it.before or "") and text not in (it.after or "") for it in by_hand)

    return {it for it in person.gone if asked(it) or (at_once(it) and not edited(it))}


def check_person(entries: list[Entry], person: Person, excuses: set[str]) -> None:
    """Check that what a person wrote stands there once, and that nothing deleted came back."""
    texts = Counter(entry.text for entry in entries)
    assert person.wrote - texts.keys() == set(), "a person's line is gone"
    assert {text for text in person.wrote if texts[text] > 1} == set(), "a person's line is doubled"
    assert (person.gone & texts.keys()) - excuses == set(), "what a person took out came back"


def check_nothing_lost(
    written: set[str], entries: list[Entry], archive: list[Archived], taken: set[str]
) -> None:
    """Check that each text stands, or is archived with what stands for it and has its pointers."""
    standing = {entry.text for entry in entries}
    archived = {each.entry.text for each in archive}
    assert written - standing - archived == set()
    known = {entry.id: entry for entry in (*(each.entry for each in archive), *entries)}
    for each in archive:
        if each.reason in ("duplicate", "merged", "replaced"):
            # A line of a person has another address once they word it otherwise.
            by_hand = each.replaced.startswith("_") or each.replaced in taken
            assert by_hand or each.replaced in known, each
            stays = known.get(each.replaced)
            assert stays is None or stays.by_person or pointers(each.entry) <= pointers(stays), (
                each,
                stays,
            )


def pointers(entry: Entry) -> set[str]:
    """Return where a memory was learned."""
    return set(entry.origin.split(",")) - {""}


def run(folder: Path, env: dict[str, str], seconds: float) -> None:
    """Let everybody work for a while, and check what comes of it."""
    seed = random.SystemRandom().randrange(2**32)
    print(f"seed {seed}")  # noqa: T201 - a failing test shows it
    dice = random.Random(seed)

    def thinking(asked: dict[str, object]) -> Reply:
        return think(asked, dice)

    with serving(thinking) as url:
        build(folder, url)
        lessons = folder / "project" / ".engramdown" / "memory" / "lessons.md"
        person = Person(lessons, random.Random(seed))
        env = {**env, "ENGRAMDOWN_MODEL_KEY": "x"}
        with playing(folder, env, ["appends", "appends", "compacts", "tidies", "undoes"]):
            end = time.monotonic() + seconds
            # On a machine that is busy with other work, the others have hardly begun by then.
            while (now := time.monotonic()) < end or (person.count < 5 and now < end + 60):
                person.edit()
                time.sleep(person.dice.uniform(0.05, 0.3))
    place = ["-C", str(folder / "project"), "--home", str(folder / "home")]
    assert engramdown([*place, "compact", "--yes", "--no-model"]) == 0
    print(f"{person.count} edits, {len(appended(folder))} memories")  # noqa: T201
    check(folder, person)
    store = Hippocampus(folder / "project" / ".engramdown")
    done = Counter(step.op for step in store.history())
    print(done, Counter(each.reason for each in store.archived()))  # noqa: T201
    assert done["compact"]


def test_compaction_among_processes_and_a_person_loses_nothing(
    tmp_path: Path, child_env: dict[str, str]
) -> None:
    run(tmp_path, child_env, SECONDS)


@pytest.mark.soak
def test_compaction_for_long_loses_nothing(
    tmp_path: Path, child_env: dict[str, str], soak_seconds: float
) -> None:
    run(tmp_path, child_env, soak_seconds)
