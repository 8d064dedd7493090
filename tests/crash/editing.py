"""A person's editors against four agents: an experiment of the campaign, with a ledger of its own.

Promises: everything is decided by dice, and the person takes their steps between two calls of the
store, so that a seed repeats a case; each memory has a number, by which the ledger knows it in
whatever words; how somebody saves, how old their buffer is and what their editor does to the text
are tried together.
"""

from __future__ import annotations

import random
import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count, product, zip_longest
from pathlib import Path
from typing import Final
from unittest.mock import patch

from engramdown.errors import EntryNotFoundError
from engramdown.hippocampus import transaction
from engramdown.hippocampus.store import Hippocampus
from tests.crash.campaign import Trial
from tests.crash.sleeper import replayed
from tests.hippocampus.disks import Point, WatchedDisk
from tests.hippocampus.editors import STYLES

_ITEM: Final = re.compile(
    r"^[-*+][ \t]+Item (\d+) [^\n]*(?:\n[ \t]+[^\n]*)*(?:\n|\Z)", re.MULTILINE
)
_AGENTS: Final = 4
_STEPS: Final = 30
_THEIRS: Final = (".rules.md.swp", "soul.md~", "#rules.md#", "4913", ".lessons.md.swx")
_LOCK: Final = ".#rules.md"


def _as_is(text: str) -> str:
    return text


def _windows(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\n", "\r\n")


def _unended(text: str) -> str:
    return text.rstrip("\r\n")


def _marked(text: str) -> str:
    return text if text.startswith("\ufeff") else f"\ufeff{text}"


def _prettier(text: str) -> str:
    """Other bullets, a blank line around headings, no white space at the end of a line."""
    lines = [re.sub(r"^[*+] ", "- ", line.rstrip()) for line in text.split("\n")]
    spaced = re.sub(r"(^#+ .*$)\n(?!\n)", r"\1\n\n", "\n".join(lines), flags=re.MULTILINE)
    return re.sub(r"\n{3,}", "\n\n", spaced)


def _starred(text: str) -> str:
    return re.sub(r"^- ", "* ", text, flags=re.MULTILINE)


def _wrapped(text: str) -> str:
    return re.sub(r"^([-*+] Item \d+ \w+) ([^\n]+)$", r"\1\n  \2", text, flags=re.MULTILINE)


FORMATS: Final[dict[str, Callable[[str], str]]] = {
    "as-is": _as_is,
    "crlf": _windows,
    "bom": _marked,
    "unended": _unended,
    "prettier": _prettier,
    "starred": _starred,
    "wrapped": _wrapped,
}
"""What an editor does to a text when it saves it."""


@dataclass(frozen=True, slots=True)
class Habit:
    """How somebody edits.

    Attributes:
        reloads: How likely they look at the file anew before they change something.
        idle: How likely they save what they did not change.
    """

    reloads: float = 1.0
    idle: float = 0.1


HABITS: Final = {
    "fresh": Habit(),
    "late": Habit(reloads=0.2),
    "never": Habit(reloads=0.0),
    "idle": Habit(reloads=0.3, idle=0.6),
}


@dataclass(slots=True)
class Fate:
    """What should have become of a memory.

    Attributes:
        said: In whose last words it stands, in one line.
        by_hand: Whether a person wrote or worded it.
        gone: Whether it was forgotten or deleted.
        open: Whether two touched it at once, so that either may have won.
    """

    said: str
    by_hand: bool = False
    gone: bool = False
    open: bool = False


@dataclass
class Editor:
    """An open editor.

    Attributes:
        buffer: What it shows; ``None`` before the file is opened.
        changed: What was changed in it since it was saved: numbers, with the new words or ``""``.
    """

    buffer: str | None = None
    changed: dict[int, str] = field(default_factory=dict)


class Case:
    """One person, four agents, one file."""

    def __init__(
        self, folder: Path, dice: random.Random, habit: Habit, how: tuple[str, str]
    ) -> None:
        """Begin in a new ``folder``; ``how`` names a style and a format."""
        self.dice = dice
        self.saves = 0
        self.habit = habit
        self._style, self._format = STYLES[how[0]], FORMATS[how[1]]
        self._file = dice.choice(("rules.md", "lessons.md"))
        self._root = folder / ".engramdown"
        self._path = self._root / "memory" / self._file
        self._agents = [
            Hippocampus(self._root, disk=WatchedDisk(self._point), lock_timeout=60)
            for _ in range(_AGENTS)
        ]
        self._numbers = count(1)
        self.fates: dict[int, Fate] = {}
        self._editor = Editor()
        self._saving: Iterator[None] | None = None
        self._in_hand = 0
        self._quick = dice.choice((0.02, 0.1, 0.4))
        self._paused = True
        self._patience = 0
        self._idle = self._hasty = False

    def run(self) -> None:
        """Let everybody work."""
        self._agents[0].start()
        for _ in range(3):
            self._learn(self._agents[0])
        for name in _THEIRS:
            (self._path.parent / name).write_text("theirs", encoding="utf-8")
        (self._path.parent / _LOCK).symlink_to("ada@desk.4913")
        self._paused = False
        for _ in range(_STEPS):
            act = self.dice.choice((self._learn, self._learn, self._reword, self._drop, self._hear))
            self._patience = self.dice.choice((0, 1, 2))
            act(self.dice.choice(self._agents))
            self._hasty = False
            if self.dice.random() < 0.3:
                self._step()
        self._paused = True
        self._finish()

    def wrong(self) -> str:
        """Return what is violated, or ``""``."""
        store = Hippocampus(self._root, disk=WatchedDisk(lambda _: None))
        store.notice()
        entries = [entry.text for entry in store.entries()]
        asked = [placed.block.text for placed in store.files.document("pending.md").placed()]
        questions = {" ".join(text.split()).removeprefix("[ ] Delete: ") for text in asked}
        # The line may have been reworded since somebody was asked about it.
        doubtful = {int(said.split()[1]) for said in questions if said.startswith("Item ")}
        found: dict[int, list[str]] = {}
        for text in entries:
            words = " ".join(text.split())
            found.setdefault(int(words.split()[1]), []).append(words)
        alike = self._alike(store) if self._idle else set()
        wrong = [
            self._judge(number, found.get(number, []), questions)
            for number, fate in self.fates.items()
            if number not in alike and not (fate.gone and number in doubtful)
        ]
        memory = self._path.parent
        files = {
            path.relative_to(memory).as_posix(): path.read_bytes().decode("utf-8")
            for path in [*memory.glob("*.md"), *memory.glob("topics/*.md")]
            if not path.name.startswith(".")
        }
        if {name: text for name, text in files.items() if text} != replayed(self._root):
            wrong.append("the journal tells of other files")
        strays = {path.name for path in memory.iterdir()} - files.keys()
        if strays != {*_THEIRS, _LOCK, ".lock", "topics"} - ({"topics"} - strays):
            wrong.append(f"other files: {sorted(strays)}")
        if Hippocampus(self._root).notice():
            wrong.append("a second look finds something")
        return "; ".join(filter(None, wrong))

    def _judge(self, number: int, found: list[str], questions: set[str]) -> str:
        fate = self.fates[number]
        if fate.open:
            return ""
        # What may have been deleted stays, and is asked about.
        stands = "" if fate.gone else fate.said
        found = [said for said in found if said == stands or said not in questions]
        if fate.gone:
            return f"came back: {found}" if found else ""
        if len(found) > 1:
            return f"doubled: {found}"
        if not found:
            return f"lost: {fate}"
        return "" if found == [fate.said] else f"reads {found}, not {fate}"

    def _alike(self, store: Hippocampus) -> set[int]:
        """Return what a save took out alone: it was deleted, or one old buffer did not know it."""
        found = set()
        for step, after in zip_longest(steps := store.history(), steps[1:]):
            gone = [each.before or "" for each in step.changes if each.after is None]
            back = {each.after for each in after.changes} if after is not None else set()
            ours = [raw for raw in gone if "<!-- id:" in raw and raw not in back]
            if step.by == "person" and len(ours) == 1:
                item = _ITEM.match(ours[0])
                found |= {int(item[1])} if item else set()
        return found

    # What agents do.

    def _learn(self, store: Hippocampus) -> None:
        number = next(self._numbers)
        text = f"Item {number} learned from a long talk"
        if self._file == "rules.md":
            store.encode_rule(text, self.dice.choice(("always", "never", "when")))
        else:
            store.encode_lesson(text, topic=self.dice.choice(("", "ci")))
        # A person may have read and worded it by now.
        self.fates.setdefault(number, Fate(text))

    def _hear(self, store: Hippocampus) -> None:
        """Learn once more what is known."""
        number = self._ours()
        if number and self._file == "lessons.md":
            self._in_hand = number
            store.encode_lesson(self.fates[number].said, topic="ci", source="user")
            self._in_hand = 0

    def _reword(self, store: Hippocampus) -> None:
        number = self._ours()
        text = f"Item {number} put in other words {self.dice.randrange(1000)}"
        if number and self._touch(store, number, lambda entry_id: store.update(entry_id, text)):
            self.fates[number].said = text

    def _drop(self, store: Hippocampus) -> None:
        number = self._ours()
        if number and self._touch(store, number, store.forget):
            self.fates[number].gone = True

    def _ours(self) -> int:
        """Return the number of a memory that no person has touched, or 0."""
        touched = self._editor.changed
        found = [
            number
            for number, fate in self.fates.items()
            if not (fate.by_hand or fate.gone or fate.open or number in touched)
        ]
        return self.dice.choice(found) if found else 0

    def _touch(self, store: Hippocampus, number: int, act: Callable[[str], object]) -> bool:
        self._in_hand = number
        try:
            entry = next(e for e in store.entries() if e.text.split()[1] == str(number))
            act(entry.id)
        except (StopIteration, EntryNotFoundError):
            # A person is just saving the file, or has just deleted the line.
            return False
        finally:
            self._in_hand = 0
        return True

    # What the person does.

    def _point(self, _: Point) -> None:
        """Let the person do something between two calls of a store; nobody saves all the time."""
        if self._paused or (self._saving is None and not self._patience):
            return
        if self.dice.random() < (0.7 if self._saving else self._quick):
            self._patience -= self._saving is None
            self._step()

    def _step(self) -> None:
        """Go on with a save, or begin one."""
        if self._saving is not None:
            if next(self._saving, self) is self:
                self._saved()
        elif self._path.exists():
            self._begin()

    def _finish(self) -> None:
        while self._saving is not None:
            self._step()

    def _begin(self) -> None:
        editor = self._editor
        # Nobody reads what came this very moment, after a save of theirs, and decides about it.
        reloads = self.dice.random() < self.habit.reloads and not self._hasty
        if editor.buffer is None or reloads:
            editor.buffer = self._path.read_bytes().decode("utf-8")
        # A file that is empty when it is saved was cleared, however old the editor is.
        if self.dice.random() >= self.habit.idle or not _ITEM.search(editor.buffer):
            self._edit(editor)
        editor.buffer = self._format(editor.buffer)
        self._saving = self._style(self._path, editor.buffer)

    def _edit(self, editor: Editor) -> None:
        """Change one thing in the buffer."""
        text = editor.buffer or ""
        found = [*_ITEM.finditer(text)]
        times = Counter(line[1] for line in found)
        # What waits to be deleted beside its new words is left alone.
        lines = [line for line in found if times[line[1]] == 1]
        how = self.dice.choice(("add", "add", "reword", "delete", "move"))
        if how == "add" or not lines:
            number = next(self._numbers)
            words = f"Item {number} written by hand"
            at = self.dice.choice([len(text), *(line.end() for line in lines)])
            gap = "" if not text[:at] or text[:at].endswith("\n") else "\n"
            editor.buffer = f"{text[:at]}{gap}- {words}\n{text[at:]}"
            editor.changed[number] = words
            return
        line = self.dice.choice(lines)
        number, rest = int(line[1]), text[: line.start()] + text[line.end() :]
        if how == "move":
            at = self.dice.choice([0, *(each.end() for each in _ITEM.finditer(rest))])
            if at:
                gap = "" if rest[:at].endswith("\n") else "\n"
                editor.buffer = f"{rest[:at]}{gap}{line[0].rstrip()}\n{rest[at:]}"
        elif how == "delete":
            if len(lines) == 1:
                return  # An empty file says that all of it was deleted, or that it is very old.
            editor.buffer = rest
            editor.changed[number] = ""
        else:
            words = f"Item {number} worded by hand {self.saves}"
            start = line.start(1) - len("Item ")
            end = text.find("<!--", start, line.end())
            tail = text[end : line.end()] if end > 0 else "\n"
            editor.buffer = f"{text[:start]}{words} {tail}{text[line.end() :]}"
            editor.changed[number] = words

    def _saved(self) -> None:
        editor = self._editor
        self._saving = None
        self._hasty = True
        self.saves += 1
        self._idle = self._idle or not editor.changed
        for number, words in editor.changed.items():
            fate = self.fates.setdefault(number, Fate(words))
            fate.open = fate.open or number == self._in_hand
            fate.by_hand, fate.gone, fate.said = True, not words, words or fate.said
        editor.changed = {}


class _NoClock:
    """Time passes with the calls of the store, in which the person takes their steps."""

    @staticmethod
    def sleep(_: float) -> None:
        """Go on at once."""


def trials(folder: Path, dice: random.Random) -> Iterator[Trial]:
    """Try every way of saving with every habit, again and again; a case is a save."""
    for number in count():
        ways = list(product(HABITS, STYLES, FORMATS))
        dice.shuffle(ways)
        for habit, *how in ways:
            place = folder / f"{number}"
            seed = dice.randrange(2**32)
            case = Case(place, random.Random(seed), HABITS[habit], (how[0], how[1]))
            with patch.object(transaction, "time", _NoClock):
                case.run()
                wrong = case.wrong()
            yield Trial(f"{habit} {' '.join(how)} {seed}", wrong, case.saves)
            shutil.rmtree(place)
