"""A path names a memory file, a note or a folder of them, or nothing at all."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramdown.engram import SCOPES, Scope
from engramdown.errors import MemoryCommandError
from engramdown.integrations.memory_folder import Place, place_of
from tests.tables import every


@every(
    "path, sort, name",
    [
        ("/memories", "root", ""),
        ("/memories/", "root", ""),
        ("/memories/rules.md", "memory", "rules.md"),
        ("/memories/lessons.md", "memory", "lessons.md"),
        ("/memories/soul.md", "page", "soul.md"),
        ("/memories/pending.md", "queue", "pending.md"),
        ("/memories/topics", "folder", "topics"),
        ("/memories/notes/", "folder", "notes"),
        ("/memories/topics/api-coingecko.md", "memory", "topics/api-coingecko.md"),
        ("/memories/topics/日本語.md", "memory", "topics/日本語.md"),
        ("/memories/notes/todo.md", "note", "todo"),
    ],
)
def test_what_is_there_has_a_name(path: str, sort: str, name: str) -> None:
    place = place_of(path, "project")
    assert (place.sort, place.name) == (sort, name)
    assert place.path == path.rstrip("/")


def test_the_folder_of_the_global_memory_has_a_profile() -> None:
    assert place_of("/memories/profile.md", "global") == Place(
        "/memories/profile.md", "memory", "profile.md"
    )
    with pytest.raises(MemoryCommandError, match="are in the global memory"):
        place_of("/memories/profile.md", "project")


@every(
    "path, told",
    [
        ("", "Path must start with /memories, got: "),
        ("rules.md", "Path must start with /memories"),
        ("/etc/passwd", "Path must start with /memories"),
        ("/memories-evil/rules.md", "Path must start with /memories"),
        ("/memoriesrules.md", "Path must start with /memories"),
        ("//memories/rules.md", "Path must start with /memories"),
        ("/Memories/rules.md", "Path must start with /memories"),
        ("/memories/../rules.md", "would escape /memories directory"),
        ("/memories/..", "would escape /memories directory"),
        ("/memories/topics/../../x.md", "would escape /memories directory"),
        ("/memories/./rules.md", "would escape /memories directory"),
        ("/memories//rules.md", "would escape /memories directory"),
        ("/memories/topics\\..\\rules.md", "would escape /memories directory"),
        ("/memories/%2e%2e/rules.md", "would escape /memories directory"),
        ("/memories/topics/%2E%2E%2Frules.md", "would escape /memories directory"),
        ("/memories/rules.md\0.txt", "too long or not printable"),
        ("/memories/topics/a\u202eb.md", "too long or not printable"),
        ("/memories/topics/\ud800.md", "too long or not printable"),
        ("/memories/" + "a" * 300, "too long or not printable"),
        ("/memories/.lock", "no name begins with a dot"),
        ("/memories/topics/.hidden.md", "no name begins with a dot"),
        ("/memories/archive.md", "holds what was forgotten"),
        ("/memories/Rules.md", "It is called /memories/rules.md."),
        ("/memories/SOUL.md", "It is called /memories/soul.md."),
        ("/memories/USER.md", "It is called /memories/profile.md."),
        ("/memories/preferences.xml", "/memories/topics/preferences.md"),
        ("/memories/Big Plans.txt", "/memories/topics/big-plans.md"),
        ("/memories/history.jsonl", "does not exist, and cannot"),
        ("/memories/topics/CI.md", "/memories/topics/ci.md"),
        ("/memories/topics/con.md", "/memories/topics/name.md"),
        ("/memories/topics/ci.txt", "/memories/topics/ci.md"),
        ("/memories/topics/deep/ci.md", "/memories/topics/ci.md"),
        ("/memories/notes/NUL.md", "does not exist, and cannot"),
        ("/memories/notes/deep/todo.md", "/memories/notes/todo.md"),
        ("/memories/notes/todo", "/memories/notes/todo.md"),
        ("/memories/notes/日本語.md", "/memories/notes/name.md"),
        ("/memories/🙂", "/memories/notes/name.md"),
        ("/memories/rules.md/x", "does not exist, and cannot"),
    ],
)
def test_what_is_no_name_is_refused_with_what_would_be_one(path: str, told: str) -> None:
    with pytest.raises(MemoryCommandError) as refused:
        place_of(path, "project")
    assert told in str(refused.value)
    assert str(refused.value).isprintable()


_PIECES = st.sampled_from(
    ["/memories", "/", "..", ".", "%2e", "\\", "topics", "notes", "rules.md", "ci.md", "CON", "\0"]
)


@given(st.lists(_PIECES | st.text(max_size=5), max_size=8).map("".join), st.sampled_from(SCOPES))
def test_no_path_leads_anywhere_else(path: str, scope: Scope) -> None:
    with suppress(MemoryCommandError):
        place = place_of(path, scope)
        assert place.path == path.removesuffix("/")
        assert not {"", ".", ".."} & set(place.name.split("/")) or not place.name
        assert place_of(place.path, scope) == place
