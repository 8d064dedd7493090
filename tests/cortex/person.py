"""A person at an editor: what the tests do to memory files by hand.

Promises: plain reads and writes of the files, nothing of the package.
"""

from __future__ import annotations

from pathlib import Path

__all__ = ["Person"]


class Person:
    """Somebody who edits the memory files of one scope.

    Attributes:
        memory: The folder of the files.
    """

    def __init__(self, scope: Path) -> None:
        """Edit the memory below the ``.engramdown`` folder ``scope``."""
        self.memory = scope / "memory"

    def reads(self, name: str) -> str:
        """Return the text of a file, or ``""``."""
        path = self.memory / name
        return path.read_text(encoding="utf-8") if path.exists() else ""

    def saves(self, name: str, text: str) -> None:
        """Write a whole file."""
        path = self.memory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def adds(self, name: str, line: str) -> None:
        """Add a line at the end of a file."""
        self.saves(name, f"{self.reads(name)}{line}\n")

    def changes(self, name: str, old: str, new: str) -> None:
        """Change some words of a file, which must be there."""
        text = self.reads(name)
        assert old in text, f"{old!r} is not in {text!r}"
        self.saves(name, text.replace(old, new, 1))

    def deletes(self, name: str, words: str) -> str:
        """Delete the one line that holds ``words``, and return it."""
        lines = self.reads(name).split("\n")
        (line,) = [line for line in lines if words in line]
        lines.remove(line)
        self.saves(name, "\n".join(lines))
        return line

    def ticks(self, words: str, tick: str = "x") -> None:
        """Tick the line of pending.md that holds ``words``."""
        lines = self.reads("pending.md").split("\n")
        (at,) = [at for at, line in enumerate(lines) if words in line]
        lines[at] = lines[at].replace("[ ]", f"[{tick}]", 1)
        self.saves("pending.md", "\n".join(lines))

    def everything(self) -> str:
        """Return the text of every file of the scope, the journal among them."""
        paths = sorted(path for path in self.memory.parent.rglob("*") if path.is_file())
        return "\n".join(path.read_text(encoding="utf-8", errors="replace") for path in paths)
