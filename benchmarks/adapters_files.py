"""What a command of the memory tool and a put into LangGraph's store cost, beside what does less.

- *create*, *str_replace*, *insert*, *view*, *list*: a command of the memory tool on a topic of so
  many lines, among as many rules, beside the same command of the tool that Anthropic's SDK has for
  plain files. Theirs reads, replaces and syncs one file; ours asks the gate, writes the journal,
  the topic and the file of all lessons, and syncs them all.
- *put*, *get*, *search*: of LangGraph's store with so many values, beside ``InMemoryStore``, which
  keeps nothing, and beside writing and syncing a file of JSON, which is the least that keeps it.

Each pair is timed in turn, with full durability: what is acknowledged survives a power cut.
"""

from __future__ import annotations

import itertools
import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from anthropic.tools.memory import BetaLocalFilesystemMemoryTool
from langgraph.store.memory import InMemoryStore

from benchmarks.measure import finish, ms, paired, table
from engramdown import Cortex, Engram
from engramdown.integrations.anthropic_memory import MemoryTool
from engramdown.integrations.langgraph import MemoryStore

__all__ = ["main"]

RUNS: Final = 30
SIZES: Final = (10, 100, 1_000)
FILE: Final = "/memories/topics/ci.md"
WORDS: Final = ("cache", "linter", "runner", "image", "branch", "token", "mirror", "queue", "shard")

Timed = Callable[[str, Callable[[], object], Callable[[], object]], None]


def main() -> None:
    """Time all pairs and print the table."""
    rows = [("what", "theirs ms", "ours ms", "ours / theirs")]

    def timed(name: str, theirs: Callable[[], object], ours: Callable[[], object]) -> None:
        base, subject, ratio = paired(theirs, ours, RUNS)
        rows.append((name, ms(base), ms(subject), f"{ratio:.2g}"))

    for size in SIZES:
        with tempfile.TemporaryDirectory() as folder:
            _commands(Path(folder), size, timed)
        with tempfile.TemporaryDirectory() as folder:
            _store(Path(folder), size, timed)
    finish("adapters_files", f"{table(rows)}\n\nMedians of {RUNS} pairs.")


def lesson(number: int) -> str:
    """Return words that no other number has."""
    at, by = WORDS[number % 9], WORDS[number // 9 % 9]
    return f"Build {number} of the {at} waits {number % 7} minutes for the {by} {number * 7919}"


def _cortex(folder: Path) -> Cortex:
    home = folder / "home"
    home.mkdir()
    return Cortex.open(project=folder, home=home)


def _commands(folder: Path, size: int, timed: Timed) -> None:
    cortex = _cortex(folder)
    rules = [Engram(f"When {lesson(each)}, look", "when", "project") for each in range(size)]
    cortex.propose(rules)
    cortex.propose([Engram(lesson(each), "lesson", "project", topic="ci") for each in range(size)])
    ours = MemoryTool(cortex)
    theirs = BetaLocalFilesystemMemoryTool(str(folder / "theirs"))
    text = "# ci\n\n" + "".join(f"- {lesson(each)}\n" for each in range(size))
    theirs.call({"command": "create", "path": FILE, "file_text": text})
    numbers = itertools.count(10_000)

    def command(name: str, **more: Any) -> None:  # noqa: ANN401 - JSON
        given = {"command": name, "path": FILE, **more}
        timed(f"{name}, {size:,} lines", lambda: theirs.call(given), lambda: ours.call(given))

    command("view")
    given = {"command": "view", "path": "/memories"}
    timed(f"list, {size:,} lines", lambda: theirs.call(given), lambda: ours.call(given))

    def created(tool: Any) -> None:  # noqa: ANN401 - one or the other
        number = next(numbers)
        path = f"/memories/topics/new-{number}.md"
        tool.call({"command": "create", "path": path, "file_text": f"- {lesson(number)}\n"})

    timed(f"create, {size:,} lines", lambda: created(theirs), lambda: created(ours))

    def inserted(tool: Any) -> None:  # noqa: ANN401 - one or the other
        line = {"insert_line": 2, "insert_text": f"- {lesson(next(numbers))}"}
        tool.call({"command": "insert", "path": FILE, **line})

    timed(f"insert, {size:,} lines", lambda: inserted(theirs), lambda: inserted(ours))
    told = {id(theirs): lesson(3), id(ours): lesson(3)}

    def replaced(tool: Any) -> None:  # noqa: ANN401 - one or the other
        old, new = told[id(tool)], lesson(next(numbers))
        tool.call({"command": "str_replace", "path": FILE, "old_str": old, "new_str": new})
        told[id(tool)] = new

    timed(f"str_replace, {size:,} lines", lambda: replaced(theirs), lambda: replaced(ours))


def _store(folder: Path, size: int, timed: Timed) -> None:
    ours, theirs = MemoryStore(_cortex(folder)), InMemoryStore()
    namespace = ("users", "42")
    for store in (ours, theirs):
        for each in range(size):
            store.put(namespace, f"key {each}", {"data": lesson(each)})
    numbers = itertools.count(10_000)

    def put(store: MemoryStore | InMemoryStore) -> None:
        number = next(numbers)
        store.put(namespace, f"key {number}", {"data": lesson(number)})

    def file() -> None:
        number = next(numbers)
        path = folder / f"{number}.json"
        with path.open("w", encoding="utf-8") as opened:
            json.dump({"data": lesson(number)}, opened)
            opened.flush()
            os.fsync(opened.fileno())

    timed(f"put, {size:,} values", lambda: put(theirs), lambda: put(ours))
    timed(f"put beside a file of JSON, {size:,} values", file, lambda: put(ours))
    timed(
        f"get, {size:,} values",
        lambda: theirs.get(namespace, "key 3"),
        lambda: ours.get(namespace, "key 3"),
    )
    timed(
        f"search for a namespace, {size:,} values",
        lambda: theirs.search(namespace),
        lambda: ours.search(namespace),
    )
    timed(
        f"search for words, {size:,} values",
        lambda: theirs.search(namespace, query="which build waits for the mirror?"),
        lambda: ours.search(namespace, query="which build waits for the mirror?"),
    )


if __name__ == "__main__":
    main()
