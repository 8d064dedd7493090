"""Sleeps in a child process that is killed: ``python -m`` this, FOLDER, NUMBER, SIGNAL.

Promises: with a number it gets the signal right before that call of the system that may change
something, and with 0 it says how many there are; what its model answers is another lesson each time
that it is asked about a session, so that one that was written and asked for again can be told;
``ready`` is printed before anything is touched.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, TypeVar

from pydantic import BaseModel

from engramdown import Cortex

T = TypeVar("T", bound=BaseModel)
SESSIONS: Final = ("alder", "birch", "cedar", "dogwood", "elm")
_CHANGING: Final = frozenset(
    {"ftruncate", "link", "mkdir", "open", "rename", "replace", "unlink", "write"}
)
_SESSION: Final = re.compile(r"working on (\w+)")
_WRITTEN: Final = re.compile(r"- (?:\[ \] )?(Answer \d+ about \w+|Use \w+ for everything)\b")


class Counting:
    """A model that learns something else each time, and counts in a file how often it was asked."""

    name = "counting"

    def __init__(self, path: Path) -> None:
        """Count in ``path``."""
        self._path = path

    def ask(self, schema: type[T], system: str, user: str) -> T:
        """Return an answer that names the session."""
        del system
        count = len(self._path.read_text(encoding="utf-8")) if self._path.exists() else 0
        with self._path.open("a", encoding="utf-8") as file:
            file.write(".")
        return schema.model_validate(self.answer(schema, count, user))

    def answer(self, schema: type[BaseModel], count: int, user: str) -> dict[str, Any]:
        """Return the fields of an answer."""
        if schema.__name__ != "Lessons":
            name = next(name for name, it in schema.model_fields.items() if it.is_required())
            return {name: []}
        session = _SESSION.search(user)
        assert session
        return {"items": [{"text": f"Answer {count} about {session[1]}", "cells": [1]}]}


def opened(folder: Path) -> Cortex:
    """Open the scopes in ``folder``."""
    model = Counting(folder / "asked")
    return Cortex.open(folder / "project", folder / "home", "copilot", model)


def build(folder: Path) -> None:
    """Make scopes with sessions that nobody slept on."""
    (folder / "home").mkdir()
    (folder / "home" / "config.toml").write_text('durability = "fast"\n', encoding="utf-8")
    (folder / "project" / ".engramdown" / "memory").mkdir(parents=True)
    cortex = opened(folder)
    memory = cortex.episodes
    assert memory is not None
    for name in SESSIONS:
        memory.start_session(name)
        memory.log(name, "user", f"From now on use {name} for everything.")
        for at in range(2):
            memory.log(name, "scratchpad", f"step {at}", error=f"working on {name}")
        memory.end(name)
    memory.close()


def lessons(folder: Path) -> Counter[str]:
    """Return what stands in memory and what waits, and how often; answers without their number."""
    text = "".join(
        path.read_text(encoding="utf-8") for path in sorted(folder.rglob("memory/**/*.md"))
    )
    return Counter(without_number(found[1]) for found in _WRITTEN.finditer(text))


def without_number(text: str) -> str:
    """Return an answer of :class:`Counting` without its number."""
    return re.sub(r" \d+ ", " ", text)


def replayed(root: Path) -> dict[str, str]:
    """Return the memory files that the journal of a scope tells of, step by step."""
    texts: dict[str, str] = {}
    for step in _steps(root / "history.jsonl"):
        for change in step["files"]:
            text, at, old = texts.get(change["file"], ""), change["at"], change["old"]
            assert text[at : at + len(old)] == old, (step["step"], change["file"])
            texts[change["file"]] = text[:at] + change["new"] + text[at + len(old) :]
    return {name: text for name, text in texts.items() if text}


def _steps(path: Path) -> Iterator[dict[str, Any]]:
    if path.exists():
        # What is behind the last line end was cut short, and is no step.
        for line in path.read_text(encoding="utf-8").split("\n")[:-1]:
            yield json.loads(line)


class Points:
    """Counts the calls of the system that may change something, and signals the process at one.

    They are replaced where all find them: to be told of every call takes longer than the work.
    """

    def __init__(self, last: int, by: int) -> None:
        """Signal the process before call number ``last``; 0 for never."""
        self.count = 0
        self._last = last
        self._by = by
        for name in _CHANGING:
            setattr(os, name, self._counted(getattr(os, name)))

    def _counted(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*arguments: Any, **more: Any) -> Any:  # noqa: ANN401 - whatever it takes
            self.count += 1
            if self.count == self._last:
                os.kill(os.getpid(), self._by)
            return call(*arguments, **more)

        return counted


def signalled(act: Callable[[], bool]) -> None:
    """Say ``ready``, act, and say whether somebody else was at it and how many calls there were."""
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    points = Points(int(sys.argv[2]), int(sys.argv[3]))
    is_busy = act()
    sys.stdout.write(f"{'busy' if is_busy else 'done'} {points.count}\n")
    sys.stdout.flush()


def main() -> None:
    """Sleep on the scopes in the folder that the command line names."""
    cortex = opened(Path(sys.argv[1]))

    def sleep() -> bool:
        summary = cortex.sleep()
        assert not summary.failed, summary.failed
        return bool(summary.busy)

    signalled(sleep)


if __name__ == "__main__":
    main()
