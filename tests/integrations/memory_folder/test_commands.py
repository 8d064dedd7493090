"""What a model passes is a command, or is told why it is none."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramdown.errors import MemoryCommandError
from engramdown.integrations.memory_folder import COMMANDS, LONGEST, Command, command_from
from tests.tables import every

PATH = "/memories/rules.md"
HUGE = 10**5_000
"""A number of more digits than Python writes."""
DEEP: list[object] = []
"""What no JSON is made of: it holds itself."""
DEEP.append(DEEP)


@every(
    "given_, wanted",
    [
        ({"command": "view", "path": PATH}, Command("view", PATH)),
        (
            {"command": "view", "path": PATH, "view_range": [1, -1]},
            Command("view", PATH, view_range=(1, -1)),
        ),
        ({"command": "view", "path": PATH, "view_range": []}, Command("view", PATH)),
        ({"command": "create", "path": PATH, "file_text": "x"}, Command("create", PATH, new="x")),
        (
            {"command": "str_replace", "path": PATH, "old_str": "a", "new_str": "b"},
            Command("str_replace", PATH, old="a", new="b"),
        ),
        (
            {"command": "str_replace", "path": PATH, "old_str": "a"},
            Command("str_replace", PATH, old="a"),
        ),
        (
            {"command": "insert", "path": PATH, "insert_line": 0, "insert_text": "x"},
            Command("insert", PATH, new="x"),
        ),
        ({"command": "delete", "path": PATH, "why": "extra"}, Command("delete", PATH)),
        (
            {"command": "rename", "old_path": PATH, "new_path": "/memories/x"},
            Command("rename", PATH, "/memories/x"),
        ),
    ],
)
def test_a_command_is_read(given_: dict[str, Any], wanted: Command) -> None:
    assert command_from(given_) == wanted
    assert command_from(json.dumps(given_)) == wanted


@every(
    "given_, told",
    [
        (None, "Give an object with `command` and `path`, not null."),
        ("not json", 'not "not json"'),
        ("[" * 100_000, "Give an object"),
        ([], "Give an object with `command` and `path`"),
        ({}, "Unknown command: null"),
        ({"command": "rm"}, 'Unknown command: "rm". Use one of view, create, str_replace'),
        ({"command": ["view"]}, "Unknown command"),
        ({"command": "view"}, "`path` of view is missing; it must be a string."),
        ({"command": "view", "path": 7}, "`path` of view is 7; it must be a string."),
        ({"command": "view", "path": PATH, "view_range": [1]}, "Invalid `view_range`: [1]"),
        ({"command": "view", "path": PATH, "view_range": "1-2"}, "Invalid `view_range`"),
        ({"command": "view", "path": PATH, "view_range": [1, "2"]}, "Invalid `view_range`"),
        ({"command": "view", "path": PATH, "view_range": [True, 2]}, "Invalid `view_range`"),
        (
            {"command": "insert", "path": PATH, "insert_line": True, "insert_text": ""},
            "`insert_line` of insert is true; it must be the number of a line.",
        ),
        (
            {"command": "create", "path": PATH, "file_text": "x" * (LONGEST + 1)},
            "`file_text` has 100,001 characters; at most 100,000 are allowed",
        ),
        (
            {"command": "create", "path": PATH, "file_text": "ab\ud800"},
            "`file_text` holds half of a surrogate pair at character 2",
        ),
        ({"command": {(1,): 2}}, "Unknown command: a dict that cannot be shown"),
        ({"command": "view", "path": DEEP}, "`path` of view is a list that cannot be shown"),
        ({"command": "view", "path": HUGE}, "`path` of view is a int that cannot be shown"),
        (
            {"command": "view", "path": PATH, "view_range": [1, HUGE]},
            "Invalid `view_range`: a list that cannot be shown",
        ),
        (
            {"command": "insert", "path": PATH, "insert_line": -HUGE, "insert_text": ""},
            "`insert_line` of insert is a int that cannot be shown",
        ),
    ],
)
def test_what_is_no_command_is_told(given_: object, told: str) -> None:
    with pytest.raises(MemoryCommandError) as refused:
        command_from(given_)
    assert told in str(refused.value)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=5,
)
_KEYS = st.sampled_from(
    ["path", "file_text", "old_str", "new_str", "insert_line", "view_range", "old_path"]
)


@given(st.sampled_from(COMMANDS) | _JSON, st.dictionaries(_KEYS, _JSON))
def test_anything_may_come_in(name: object, rest: dict[str, object]) -> None:
    try:
        command = command_from({"command": name, **rest})
    except MemoryCommandError as error:
        command, told = None, str(error)
    else:
        told = ""
    assert command is None or command.command == name
    assert "\n" not in told
