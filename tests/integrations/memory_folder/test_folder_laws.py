"""Whatever a model does with the six commands, a person finds their memory as they left it."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engramdown import Cortex
from engramdown.hippocampus.store import Hippocampus
from engramdown.integrations.memory_folder import MemoryFolder
from engramdown.markdown.blocks import Block
from engramdown.markdown.document import parse
from engramdown.storage.disk import Disk
from tests.hippocampus.memory_store import MemoryStore
from tests.strategies import LINES, markdown

FILES = ["rules.md", "lessons.md", "topics/ci.md"]
_text = st.lists(st.sampled_from([*LINES, "- by a model", "", "## Never"]), max_size=4).map(
    "\n".join
)


@st.composite
def commands(draw: st.DrawFn) -> dict[str, Any]:
    """Return a command; what it replaces is told by a line of the view, from 0."""
    path = f"/memories/{draw(st.sampled_from(FILES))}"
    name = draw(st.sampled_from(["create", "str_replace", "insert", "delete", "rename", "view"]))
    given: dict[str, Any] = {"command": name, "path": path}
    given |= {"file_text": draw(_text), "insert_text": draw(_text), "new_str": draw(_text)}
    given |= {"insert_line": draw(st.integers(0, 9)), "line": draw(st.integers(0, 9))}
    return given | {"old_path": path, "new_path": draw(st.sampled_from(["/memories/topics/b.md"]))}


def carry_out(folder: MemoryFolder, given: dict[str, Any]) -> None:
    shown = folder.run({"command": "view", "path": given["path"]}).text.split("\n")[1:]
    rows = [row.partition("\t")[2] for row in shown]
    old = rows[given["line"] % len(rows)] if rows else "nothing"
    assert folder.run({**given, "old_str": f"{old}\n"}).text


def persons(texts: dict[str, str], theirs: set[str]) -> dict[str, list[str]]:
    """Return the lines of each file that no model wrote, those that say nothing left out.

    A last line that was not ended is ended as the others are.
    """
    return {
        name: [
            line.rstrip("\r")
            for block in parse(text).blocks
            if not (_is_entry(block) and block.meta and block.meta.get("id") not in theirs)
            for line in block.raw.split("\n")
            if line.strip(" \t\r\ufeff") not in ("", "<!-- -->")
        ]
        for name, text in texts.items()
    }


def _is_entry(block: Block) -> bool:
    return block.shape in ("item", "paragraph")


def is_in(lines: list[str], others: list[str]) -> bool:
    """Whether lines stand among others in their order."""
    rest = iter(others)
    return all(line in rest for line in lines)


def texts_of(store: Hippocampus) -> dict[str, str]:
    names = [name for name in store.files.names() if name in FILES]
    return {
        name: (store.memory / name).read_bytes().decode("utf-8", "surrogateescape")
        for name in names
    }


@pytest.mark.slow
@settings(max_examples=40)
@given(
    st.dictionaries(st.sampled_from(FILES), markdown(), min_size=1),
    st.lists(commands(), min_size=1, max_size=5),
    st.sampled_from(["autopilot", "copilot", "off"]),
)
def test_what_a_person_wrote_is_there_byte_for_byte(
    files: dict[str, str], given_: list[dict[str, Any]], mode: str
) -> None:
    with tempfile.TemporaryDirectory() as scope:
        for name, text in files.items():
            path = Path(scope) / "memory" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode("utf-8", "surrogateescape"))
        store = Hippocampus(scope, disk=Disk(durable=False))
        store.notice()
        before = texts_of(store)
        entries = store.entries()
        theirs = {entry.id for entry in entries if entry.by_person}
        folder = MemoryFolder(Cortex(MemoryStore("global"), store, mode))
        for command in given_:
            carry_out(folder, command)
        after = texts_of(store)
        kept = persons(after, theirs)
        for name, lines in persons(before, theirs).items():
            assert is_in(lines, kept[name]), (lines, kept[name])
        standing = {entry.id for entry in store.entries()}
        archived = {each.entry.id for each in store.archived()}
        assert {entry.id for entry in entries} <= standing | archived
        assert theirs <= standing
        assert mode != "off" or after == before
        assert all(parse(text).render() == text for text in after.values())
