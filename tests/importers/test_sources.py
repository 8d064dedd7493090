"""A file tells whose it is by what is in it; and no value whatever stops a reader."""

from __future__ import annotations

from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramdown.importers.importer import recognised, sources
from engramdown.importers.records import Message, Record, Skipped
from tests.episodes.strategies import any_value
from tests.tables import every

KEYS: Final = """
    type message content role session turn mapping current_node chat_messages messages text id uuid
    sessionId timestamp parts author tool_calls function parent children attachments files sender
    engramdown episodes payloads attachment prompt input meta isSidechain ts
"""
WORDS: Final = """
    user assistant tool system human message session text tool_use tool_result toolCall thinking
    toolResult bashExecution compaction queued_command attachment all a b
"""
hostile = st.recursive(
    any_value | st.sampled_from(WORDS.split()),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(KEYS.split()), inner, max_size=6)
    ),
    max_leaves=20,
)


@every(
    "value, name",
    [
        ({"type": "user", "sessionId": "s", "message": {"role": "user"}}, "claude-code"),
        ({"mapping": {}}, "chatgpt"),
        ({"chat_messages": []}, "claude"),
        ({"type": "session", "id": "x"}, "openclaw"),
        ({"session": "x", "turn": 1, "role": "user", "content": "x"}, "anton"),
        ({"role": "user", "content": "x"}, "openai"),
        ({"messages": []}, "openai"),
    ],
)
def test_a_record_tells_its_source(value: object, name: str) -> None:
    source = recognised([None, {"x": 1}, value])
    assert source is not None
    assert source.name == name
    assert sources()[name] is source


@pytest.mark.parametrize(
    "name, value, known",
    [
        ("claude-code", {"type": "user", "message": {"role": "user"}}, True),
        ("claude-code", {"type": "summary", "leafUuid": "x"}, True),
        ("claude-code", {"type": "user", "message": {}}, True),
        ("claude-code", {"type": "user"}, False),
        ("claude-code", {"message": {}}, False),
        ("claude-code", [], False),
        ("openai", {"messages": []}, True),
        ("openai", {"role": "user", "content": "x"}, True),
        ("openai", {"role": "assistant", "tool_calls": []}, True),
        ("openai", {"role": 5, "content": "x"}, False),
        ("openai", {"messages": {}}, False),
        ("openai", "x", False),
        ("openclaw", {"type": "session", "id": "s"}, True),
        ("openclaw", {"type": "message", "message": {}}, True),
        ("openclaw", {"type": "session"}, False),
        ("openclaw", {"type": "message", "message": None}, False),
        ("openclaw", [], False),
    ],
)
def test_a_source_knows_its_records(name: str, value: object, *, known: bool) -> None:
    assert sources()[name].knows(value) is known


def test_what_nobody_knows_has_no_source() -> None:
    assert recognised([None, 5, "x", [], {}, {"users": []}]) is None


@pytest.mark.slow
@pytest.mark.parametrize("name", sources())
@given(values=st.lists(hostile, max_size=5))
def test_no_value_stops_a_reader(name: str, values: list[Any]) -> None:
    records = [Record(place, place, value) for place, value in enumerate(values, 1)]
    for item in sources()[name].read(records):
        if isinstance(item, Message):
            assert isinstance(item.text, str)
            assert isinstance(item.name + item.call + item.model + item.origin, str)
        elif isinstance(item, Skipped):
            assert item.reason
