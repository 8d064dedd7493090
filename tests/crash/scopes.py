"""A small scope, what can be done to it, and what must hold afterwards whatever happened.

Promises: an operation does the same to every copy of the scope, so that a file is as it was before
or as it is after, byte for byte but for ids and dates; :meth:`Case.verify` raises an
:class:`AssertionError` that says what is wrong, and leaves the scope written to.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from langgraph.store.base import PutOp

from engramdown.cortex.cortex import Cortex
from engramdown.engram import Engram
from engramdown.errors import StoreError
from engramdown.hippocampus.changeset import Revision
from engramdown.hippocampus.store import Hippocampus
from engramdown.integrations.langgraph import Items, Puts
from engramdown.integrations.memory_folder import MemoryFolder
from engramdown.storage.disk import Disk
from tests.hippocampus.memory_store import MemoryStore

_CHANGING: Final = re.compile(
    r"\b(?:id|replaced):[0-9a-z]{8}|\b(?:ts|archived):\d{4}-\d\d-\d\d|\b(?:made|when):\S+"
)

_LESSONS: Final = ("CI needs two passes", "The cache is warm after noon")


@dataclass(frozen=True, slots=True)
class Operation:
    """Something that is done to a scope.

    Attributes:
        act: Does it.
        prepare: What happens to the scope before.
    """

    act: Callable[[Hippocampus], object]
    prepare: Callable[[Path], None] = lambda _: None


def opened(root: Path, disk: Disk | None = None) -> Hippocampus:
    """Return a store that nobody used yet; it writes without ``fsync`` unless ``disk`` says so."""
    return Hippocampus(root, disk=disk or Disk(durable=False), lock_timeout=5.0)


def strays(root: Path) -> list[str]:
    """Return the names of the files that nobody needs."""
    names = [path.name for path in root.rglob("*") if path.is_file()]
    known = ("history.jsonl", ".gitignore", ".lock", "memory-usage.jsonl", "memory-usage.lock")
    memory = re.compile(r"[^.].*\.md")
    return [name for name in names if name not in known and not memory.fullmatch(name)]


class Case:
    """One operation on a scope, and what it looks like before and after.

    Attributes:
        name: The name of the operation.
        operation: The operation.
    """

    def __init__(self, folder: Path, name: str) -> None:
        """Make a scope below ``folder`` and carry out the operation on a copy."""
        self.name = name
        self.operation = operation = OPERATIONS[name]
        self._scope = folder / "before"
        _build(self._scope)
        operation.prepare(self._scope)
        after = folder / "after"
        self.copy(after)
        operation.act(opened(after))
        between = folder / "between"
        self.copy(between)
        opened(between).notice()
        # A hand edit may be taken in, as a step of its own, before what was asked for is done.
        self._after = _states(after)
        self._allowed = [_states(self._scope), _states(between), self._after]
        self._always = _texts(between) & _texts(after)

    def copy(self, root: Path) -> None:
        """Make a fresh copy of the scope at ``root``."""
        shutil.copytree(self._scope, root)

    def verify(self, root: Path, *, done: bool, store: Hippocampus | None = None) -> None:
        """Check a copy on which the operation was cut short.

        Args:
            root: The copy.
            done: Whether the operation was acknowledged.
            store: The store that goes on with it; a new one unless given.
        """
        for name, text in _states(root).items():
            known = [_unmarked(each.get(name, "")) for each in self._allowed if name in each]
            assert _unmarked(text) in known, f"{name} is torn"
        store = store or opened(root)
        store.notice()
        entry = store.encode_lesson("Written afterwards")
        assert store.find(entry.id).text == "Written afterwards"
        assert strays(root) == [], f"stray files: {strays(root)}"
        store.forget(entry.id)
        self._check_whole(root, done=done)
        texts = [each.text for each in store.entries()]
        assert sorted(set(texts)) == sorted(texts), f"something stands twice: {texts}"
        assert self._always <= set(texts), f"gone: {self._always - set(texts)}"
        assert opened(root).notice() is False, "a second look finds something"

    def _check_whole(self, root: Path, *, done: bool) -> None:
        """Check that memory is as before or as after, not something in between."""
        now = _lines(_states(root))
        allowed = [self._after] if done else self._allowed
        assert now in map(_lines, allowed), f"neither before nor after: {now}"


def _build(root: Path) -> None:
    store = opened(root)
    store.start()
    store.encode_rule("Run the linter before pushing", "always", source="user")
    store.encode_rule("Never push on a Friday", "never", source="user")
    store.encode_lesson(_LESSONS[0], topic="ci")
    store.encode_lesson(_LESSONS[1])
    store.rewrite_identity(["Name: Ada", "Editor: vim"])
    store.forget(store.encode_lesson("The moon is made of cheese").id)


def _states(root: Path) -> dict[str, str]:
    """Return the text of every memory file, without what differs from run to run."""
    memory = root / "memory"
    return {
        path.relative_to(memory).as_posix(): _CHANGING.sub("*", path.read_text(encoding="utf-8"))
        for path in sorted(memory.rglob("*.md"))
        if not path.name.startswith(".")
    }


def _unmarked(text: str) -> str:
    """Return a text without the marks of edits, which any step of ours may write beside its own."""
    return text.replace(" basis:verified", "")


def _lines(states: dict[str, str]) -> dict[str, list[str]]:
    """Return the entries of each file, without those of :meth:`Case.verify` itself."""
    found = {
        name: [
            line
            for line in text.split("\n")
            if line.startswith("- ") and "Written afterwards" not in line
        ]
        for name, text in states.items()
    }
    return {name: lines for name, lines in found.items() if lines}


def _texts(root: Path) -> set[str]:
    return {entry.text for entry in opened(root).entries()}


def _compact(store: Hippocampus) -> object:
    first, second = (store.find(_id_of(store, text)) for text in _LESSONS)
    rule = store.find(_id_of(store, "Never push on a Friday"))
    merged = Revision((first, second), "merged", comes=first._replace(text="CI is slow"))
    return store.apply([merged, Revision((rule,), "expired")])


def _id_of(store: Hippocampus, text: str) -> str:
    return next(entry.id for entry in store.entries() if entry.text == text)


def _empty(root: Path) -> None:
    shutil.rmtree(root)
    root.mkdir()


def _edit_by_hand(root: Path) -> None:
    """Reword one line, take one out and add one, as a person does in an editor."""
    rules = root / "memory" / "rules.md"
    text = rules.read_text(encoding="utf-8")
    lines = [line for line in text.split("\n") if "linter" not in line]
    text = "\n".join([*lines[:-1], "- A rule by hand", ""])
    rules.write_text(text.replace("push on a Friday", "deploy on a Friday"), encoding="utf-8")
    (root / "memory" / "topics" / "by-hand.md").write_text("- Found\n", encoding="utf-8")


def _encode_batch(store: Hippocampus) -> object:
    return store.encode(
        [
            Engram("A rule of a batch", "always", "project"),
            Engram("A lesson of a batch", "lesson", "project", topic="a new topic"),
            Engram("Shell: fish", "profile", "project"),
        ]
    )


def _forget(store: Hippocampus) -> object:
    return store.forget(_id_of(store, "CI needs two passes"))


def _update(store: Hippocampus) -> object:
    return store.update(_id_of(store, "CI needs two passes"), "CI needs three passes")


def _by_model(store: Hippocampus, command: dict[str, str]) -> object:
    """Carry out a command of the memory tool."""
    answer = MemoryFolder(Cortex(MemoryStore("global"), store)).run(command)
    if answer.is_error:
        raise StoreError(answer.text)
    return answer


def _put(store: Hippocampus) -> object:
    """Put values under keys and take one away, as one step."""
    items = Items(Cortex(Hippocampus(store.root / "home", "global"), store))
    namespace = ("project", "lessons")
    gone = next(each for each in items.all(namespace) if each.entry.text == _LESSONS[1])
    puts = [
        PutOp(("users", "42"), "a", {"data": "A value"}),
        PutOp(("project", "rules"), "b", {"text": "A rule under a key"}),
        PutOp(namespace, gone.key, None),
    ]
    refusals = Puts(items).write(puts)
    assert refusals == [], refusals
    return refusals


_CI: Final = "/memories/topics/ci.md"
_TO: Final = "/memories/topics/builds.md"

OPERATIONS: Final[dict[str, Operation]] = {
    "encode-lesson": Operation(lambda store: store.encode_lesson("In two files", topic="ci")),
    "encode-rule": Operation(lambda store: store.encode_rule("A new rule", "when", source="user")),
    "encode-batch": Operation(_encode_batch),
    "encode-first": Operation(_encode_batch, _empty),
    "start": Operation(lambda store: store.start(), _empty),
    "replace-fact": Operation(lambda store: store.rewrite_identity(["Editor: helix"])),
    "forget": Operation(_forget),
    "restore": Operation(lambda store: store.restore(store.archived()[-1].entry.id)),
    "update": Operation(_update),
    "undo": Operation(lambda store: store.undo()),
    "compact": Operation(_compact),
    "model-rewords": Operation(
        lambda store: _by_model(
            store, {"command": "str_replace", "path": _CI, "old_str": "two", "new_str": "three"}
        )
    ),
    "model-renames": Operation(
        lambda store: _by_model(store, {"command": "rename", "old_path": _CI, "new_path": _TO})
    ),
    "put": Operation(_put),
    "take-in": Operation(lambda store: store.notice(), _edit_by_hand),
    "encode-and-take-in": Operation(
        lambda store: store.encode_rule("A new rule", "when", source="user"), _edit_by_hand
    ),
}
"""What can be done to a scope."""
