"""Several writers of one scope, as processes or as threads: ``python -m`` this, see :func:`main`.

Promises: a writer says of each thing that it wrote what it was, after it was acknowledged; the
words of each are its own, but for those that all of them say.
"""

from __future__ import annotations

import contextlib
import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

from engramdown.episodes.memory import EpisodicMemory
from engramdown.errors import (
    EntryNotFoundError,
    SkillChangedError,
    SkillExistsError,
    UndoRefusedError,
)
from engramdown.hippocampus.changeset import Revision
from engramdown.hippocampus.store import Hippocampus
from engramdown.skills.library import Skills, with_body
from engramdown.skills.store import SkillStore
from engramdown.storage.disk import Disk

SESSION: Final = "shared"
_SHARED: Final = 10
"""Of so many texts one is learned by all."""


class Writer:
    """One of several who write to a scope at once.

    Attributes:
        name: Its number, from 0.
    """

    def __init__(self, store: Hippocampus, name: int, say: Callable[[str], object]) -> None:
        """Write to ``store``, and ``say`` what was acknowledged."""
        self.name = name
        self._store = store
        self._say = say
        self._dice = random.Random(name)

    def rules(self, count: int) -> None:
        """Learn rules."""
        for number in range(count):
            text = self._text(number)
            self._store.encode_rule(text, kind=("always", "never")[number % 2])
            self._say(text)

    def one_kind(self, count: int) -> None:
        """Learn rules of one kind, many of which the others learn too."""
        for number in range(count):
            text = f"All say {number // 2}" if number % 2 else self._text(number)
            self._store.encode_rule(text, kind="always")
            self._say(text)

    def lessons(self, count: int) -> None:
        """Learn lessons of three topics."""
        for number in range(count):
            text = self._text(number)
            self._store.encode_lesson(text, topic=f"topic {number % 3}")
            self._say(text)

    def facts(self, count: int) -> None:
        """Learn facts, of which the later ones replace those before."""
        for number in range(count):
            text = f"Key {self.name} {number % 5}: value {number}"
            self._store.rewrite_identity([text])
            self._say(text)

    def episodes(self, count: int) -> None:
        """Write lines into one transcript."""
        memory = EpisodicMemory(self._store.root)
        for number in range(count):
            text = f"Line {self.name} {number} " + "x" * (number * 37 % 900)
            found = memory.log(SESSION, "user", text)
            assert found is not None, memory.trouble
            self._say(f"{found.seq} {text}")
        memory.close()

    def skills(self, count: int) -> None:
        """Write skills of their own, and add lines to those that all of them write."""
        store = SkillStore(self._store.root, disk=Disk(durable=False), lock_timeout=120)
        skills = Skills([store])
        for number in range(count):
            own = f"writer-{self.name}-{number}"
            if number % _SHARED == 1:
                skills.create("project", own, skills.drafted(own, "What one does", ""))
                self._say(own)
                continue
            label = f"shared-{number % 4}"
            with contextlib.suppress(SkillExistsError):
                skills.create("project", label, skills.drafted(label, "What all do", ""))
            line = f"{label} {self._text(number)} {self.name}"
            while True:
                skill = skills.read(label)
                try:
                    skills.edit(skill, with_body(skill, f"{skill.page.body}{line}\n"))
                    break
                except SkillChangedError:
                    continue
            self._say(line)

    def compaction(self, count: int) -> None:
        """Merge what the others learn, two into one; only the first of them does."""
        if self.name:
            self.lessons(count)
            return
        for number in range(count // 5):
            lessons = [entry for entry in self._store.recall_lessons() if not entry.pin]
            if len(lessons) < 2:
                continue
            one, other = self._dice.sample(lessons, 2)
            text = f"Merged {number}: {one.text}; {other.text}"
            merged = Revision((one, other), "merged", comes=one._replace(text=text))
            (revised,) = self._store.apply([merged])
            if not revised.problem:
                self._say(f"merged {text}")

    def undo(self, count: int) -> None:
        """Take back what the others do; only the first of them does."""
        if self.name:
            self.rules(count)
            return
        for _ in range(count // 5):
            steps = [each.step for each in self._store.undoable() if not each.gone][:8]
            if not steps:
                continue
            step = self._dice.choice(steps)
            try:
                self._store.undo(step.id)
            except (EntryNotFoundError, UndoRefusedError):
                continue
            self._say(f"undone {step.id}")

    def _text(self, number: int) -> str:
        if number % _SHARED == 0:
            return f"All say {number}"
        return f"Writer {self.name} says {number}"


ROLES: Final[dict[str, Callable[[Writer, int], None]]] = {
    "rules": Writer.rules,
    "one-kind": Writer.one_kind,
    "lessons": Writer.lessons,
    "facts": Writer.facts,
    "episodes": Writer.episodes,
    "skills": Writer.skills,
    "compaction": Writer.compaction,
    "undo": Writer.undo,
}
"""What writers do at once."""


def main() -> None:
    """Play a role: ROLE FOLDER NAME COUNT; begin when a line comes in."""
    role, folder, name, count = sys.argv[1:]
    store = Hippocampus(Path(folder), disk=Disk(durable=False), lock_timeout=120)

    def say(text: str) -> None:
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()

    writer = Writer(store, int(name), say)
    sys.stdin.readline()
    ROLES[role](writer, int(count))


if __name__ == "__main__":
    main()
