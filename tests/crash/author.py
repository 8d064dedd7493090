"""Somebody who edits memory by hand for days: several files open, in an editor of every kind.

Promises: a buffer stays open from hour to hour, and may be older than much that was learned since;
each change is told to the ledger once it is saved; only memories are touched that nobody else
touches in the same hour.
"""

from __future__ import annotations

import random
import re
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from tests.crash.ledger import GONE, Ledger, live
from tests.hippocampus.editors import STYLES

_FILES: Final = ("rules.md", "lessons.md")
_LINE: Final = re.compile(r"^[-*] (?P<text>[^\n]*?)(?P<meta> <!-- id:[^\n]*-->)?$", re.MULTILINE)
_BOX: Final = re.compile(r"^- \[ \] (?P<text>[^\n]*?)(?P<meta> <!--[^\n]*-->)$", re.MULTILINE)
_PAUSES: Final = (0.0, 0.001, 0.01, 0.05)
_RELOADS: Final = 0.5
_SLOW: Final = 12


class Author:
    """A person with editors.

    Attributes:
        did: What was done, in order, for the record.
    """

    def __init__(self, memory: Path, dice: random.Random) -> None:
        """Edit the files of a memory folder."""
        self.did: list[str] = []
        self._memory = memory
        self._dice = dice
        self._buffers: dict[str, str] = {}
        self._mine: dict[str, str] = {}
        self._waiting: dict[str, str] = {}
        self._new: list[str] = []

    def begin(self, new: list[str], mine: Mapping[str, str], waiting: Mapping[str, str]) -> None:
        """Begin an hour: with code words for what is written, and what is nobody else's."""
        self.did = []
        self._new, self._mine, self._waiting = new, dict(mine), dict(waiting)

    def close(self) -> None:
        """Close all editors, as before another branch is taken."""
        self._buffers = {}

    def act(self, ledger: Ledger) -> None:
        """Change one thing, and save it."""
        if self._waiting and self._dice.random() < 0.4:
            self._tick(ledger)
            return
        name = self._dice.choice(_FILES)
        if not (self._memory / name).exists():
            return
        is_good = name in self._buffers and not self._is_odd(name, ledger)
        if not is_good or self._dice.random() < _RELOADS:
            self._buffers[name] = self._read(name)
        how = self._dice.choice(("add", "add", "reword", "delete", "prose"))
        code, said = self._change(name, how, ledger)
        if code or how == "prose":
            self._save(name, self._buffers[name])
            self.did.append(f"{how} {code or 'a line'} in {name}")
        if code:
            ledger.put(code, live(said) if said else GONE, by_hand=True)
            self._mine.pop(code, None)

    def _read(self, name: str) -> str:
        return (self._memory / name).read_bytes().decode("utf-8")

    def _save(self, name: str, text: str) -> None:
        style = self._dice.choice(sorted(STYLES))
        for step, _ in enumerate(STYLES[style](self._memory / name, text)):
            # No editor takes a second to write a file.
            if step < _SLOW:
                time.sleep(self._dice.choice(_PAUSES))

    def _is_odd(self, name: str, ledger: Ledger) -> bool:
        """Whether a line without an id reads otherwise by now: then it looks like a new one."""
        lines = (found for found in _LINE.finditer(self._buffers[name]) if not found["meta"])
        return any(
            (code := ledger.code_of(found["text"])) and ledger.text(code) != found["text"]
            for found in lines
        )

    def _change(self, name: str, how: str, ledger: Ledger) -> tuple[str, str]:
        """Change a buffer; return the code word of what was changed, and what it says now."""
        text = self._buffers[name]
        lines = [*_LINE.finditer(text)]
        if how == "prose":
            at = self._dice.choice([len(text), *(found.end() + 1 for found in lines)])
            self._insert(name, at, f"\n> Mine, {self._dice.randrange(10**6)}: keep  it `so`.\n\n")
            return "", ""
        if how == "add" and self._new:
            code = self._new.pop()
            said = f"{code} was written by hand beside {code[::-1]}"
            at = self._dice.choice([len(text), *(found.end() + 1 for found in lines)])
            self._insert(name, at, f"- {said}\n")
            return code, said
        known = [
            (code, found)
            for found in lines
            if (code := ledger.code_of(found["text"])) in self._mine
            and self._mine[code] == found["text"]
        ]
        if how == "add" or not known or len(lines) < 4:
            return "", ""
        code, found = self._dice.choice(known)
        said = (
            f"{code} was worded by hand, {self._dice.randrange(10**6)}" if how == "reword" else ""
        )
        line = f"- {said}{found['meta'] or ''}\n" if said else ""
        self._buffers[name] = f"{text[: found.start()]}{line}{text[found.end() + 1 :]}"
        return code, said

    def _insert(self, name: str, at: int, line: str) -> None:
        text = self._buffers[name]
        gap = "" if text[:at].endswith("\n") else "\n"
        self._buffers[name] = f"{text[:at]}{gap}{line}{text[at:]}"

    def _tick(self, ledger: Ledger) -> None:
        """Decide about a line of pending.md."""
        text = self._read("pending.md") if (self._memory / "pending.md").exists() else ""
        found = {ledger.code_of(box["text"]): box for box in _BOX.finditer(text)}
        codes = sorted(found.keys() & self._waiting.keys())
        if not codes:
            return
        code = self._dice.choice(codes)
        said, box = self._waiting.pop(code), found[code]
        tick = self._dice.choice(("x", "x", "-"))
        if tick == "x" and code.isalpha() and self._dice.random() < 0.3:
            said = f"{code} was put right before it was ticked"
        line = f"- [{tick}] {said}{box['meta']}"
        self._save("pending.md", f"{text[: box.start()]}{line}{text[box.end() :]}")
        ledger.put(code, live(said) if tick == "x" else GONE)
        self.did.append(f"ticked {tick} {code}")
