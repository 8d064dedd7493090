"""`engramdown.integrations.openai_agents`: every item of the SDK is a line of a transcript."""

from __future__ import annotations

import json

import pytest
from hypothesis import given

from engramdown.integrations.external_session import JSON, Item, Summary, as_meta, as_value
from engramdown.integrations.openai_agents import (
    asks_for_work,
    has_spoken,
    item_line,
    plain_item,
    summarised,
    tool_of_call,
    whole_items,
)
from engramdown.transcripts.episode import ROLES, Episode
from tests.integrations.items import items
from tests.tables import every

CALL = {"type": "function_call", "call_id": "c1", "name": "shell", "arguments": "{}"}
RESULT = {"type": "function_call_output", "call_id": "c1", "output": "done"}
THOUGHT = {"type": "reasoning", "id": "rs_1", "summary": []}
SAID = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Hi"}]}
TEXT = {"type": "input_text", "text": "Look"}
IMAGE = {"type": "input_image", "image_url": "data:image/png;base64,AAAA"}


def entry(value: JSON, seq: int = 1, *, is_gone: bool = False) -> Item:
    call = value.get("call_id", "") if isinstance(value, dict) else ""
    return Item(value, call, is_gone, seq)


def values(entries: list[Item]) -> list[JSON]:
    return [each.value for each in entries]


@given(items)
def test_every_item_has_a_line_from_which_it_comes_back(item: JSON) -> None:
    item = json.loads(json.dumps(item))
    line = item_line(item, {})
    assert line.role in ROLES
    assert line.text or line.role not in ("user", "assistant", "system")
    kept = json.loads(json.dumps(as_meta(line, lambda text: text)))
    assert as_value(kept, line.text) == item


@every(
    "item, role, text, name, call",
    [
        pytest.param({"role": "user", "content": "Hi"}, "user", "Hi", "", "", id="user"),
        pytest.param(
            {"role": "developer", "content": "Be"}, "system", "Be", "", "", id="developer"
        ),
        pytest.param({"role": "user", "content": ""}, "user", "(empty)", "", "", id="empty"),
        pytest.param({"role": "user", "content": []}, "user", "(empty)", "", "", id="no-parts"),
        pytest.param(
            {"role": "user", "content": [TEXT, IMAGE, 7]},
            "user",
            "Look\n\n[input_image]\n\n[part]",
            "",
            "",
            id="image",
        ),
        pytest.param(SAID, "assistant", "Hi", "", "", id="assistant"),
        pytest.param(CALL, "tool_call", "{}", "shell", "c1", id="call"),
        pytest.param(RESULT, "tool_result", "done", "date", "c1", id="result"),
        pytest.param(
            {**RESULT, "call_id": "c9"}, "tool_result", "done", "function", "c9", id="stray-result"
        ),
        pytest.param(
            {**RESULT, "output": None}, "tool_result", "", "date", "c1", id="nothing-came-back"
        ),
        pytest.param(THOUGHT, "scratchpad", "", "reasoning", "", id="reasoning"),
        pytest.param(
            {"type": "web_search_call", "id": "ws_1"},
            "tool_call",
            '{"type": "web_search_call", "id": "ws_1"}',
            "web_search",
            "ws_1",
            id="hosted",
        ),
        pytest.param(
            {"type": "reasoning", "summary": "…"}, "scratchpad", "", "reasoning", "", id="odd"
        ),
        pytest.param({"type": "news"}, "scratchpad", "[news]", "news", "", id="unknown"),
        pytest.param([1], "scratchpad", "[item]", "item", "", id="no-object"),
        pytest.param(
            {"role": ["user"], "content": "Hi"}, "scratchpad", "[item]", "item", "", id="odd-role"
        ),
    ],
)
def test_a_line_says_what_a_person_would_read(
    item: JSON, role: str, text: str, name: str, call: str
) -> None:
    line = item_line(item, {"c1": "date"})
    assert (line.role, line.text, line.name, line.call) == (role, text, name, call)


@pytest.mark.parametrize(
    "item, failed",
    [
        (RESULT, False),
        ({**RESULT, "output": "An error occurred while running the tool. Error: no"}, True),
        ({**RESULT, "status": "incomplete"}, True),
    ],
)
def test_a_tool_that_failed_is_told_as_such(item: JSON, *, failed: bool) -> None:
    assert item_line(item, {}).error is failed


@pytest.mark.parametrize(
    "item, asks",
    [
        (CALL, True),
        (RESULT, True),
        ({"type": "mcp_approval_request"}, True),
        ({"type": "web_search_call"}, False),
        (SAID, False),
        (7, False),
    ],
)
def test_a_model_that_calls_a_tool_here_is_not_done(item: JSON, *, asks: bool) -> None:
    assert asks_for_work(item) is asks


def test_words_of_the_assistant_are_told_from_all_else() -> None:
    assert [has_spoken(each) for each in (SAID, CALL, {"role": "user"}, 7)] == [
        True,
        False,
        False,
        False,
    ]


def test_what_somebody_else_recorded_is_an_item_if_it_was_said() -> None:
    def line(role: str, text: str) -> Episode:
        return Episode(1, "", "", role, text)

    assert plain_item(line("user", "Hi")) == {"role": "user", "content": "Hi"}
    assert plain_item(line("assistant", "Ho")) == {"role": "assistant", "content": "Ho"}
    assert [plain_item(line(*each)) for each in (("system", "x"), ("user", ""))] == [None, None]


class TestTakenBack:
    """What a person took back takes along what a provider refuses without it."""

    def test_a_result_goes_with_its_call_and_a_call_with_its_result(self) -> None:
        for gone, left in ((0, RESULT), (1, CALL)):
            pair = [entry(CALL), entry(RESULT)]
            pair[gone] = Item(None, "c1", is_gone=True)
            assert left in (CALL, RESULT)
            assert whole_items([entry(SAID), *pair, entry(SAID)]) == [entry(SAID), entry(SAID)]

    def test_reasoning_goes_with_what_it_led_to(self) -> None:
        left = whole_items([entry(THOUGHT), entry(THOUGHT), Item(None, is_gone=True), entry(SAID)])
        assert values(left) == [SAID]
        assert values(whole_items([entry(THOUGHT), entry(SAID)])) == [THOUGHT, SAID]

    def test_an_item_without_a_call_stays(self) -> None:
        left = whole_items([Item(None, is_gone=True), entry(SAID), entry(7), entry(RESULT)])
        assert values(left) == [SAID, 7, RESULT]


class TestSummarised:
    """Summaries stand for the older part."""

    def test_a_summary_is_words_of_the_user(self) -> None:
        kept = [entry(SAID, 1), entry(SAID, 2), entry(CALL, 3)]
        assert values(summarised(kept, [Summary(1, 2, "…")])) == [
            {"role": "user", "content": "…"},
            CALL,
        ]

    def test_reasoning_goes_with_what_it_led_to(self) -> None:
        kept = [
            entry(THOUGHT, 1),
            entry(SAID, 2),
            entry(SAID, 3),
            entry(THOUGHT, 4),
            entry(CALL, 5),
        ]
        left = values(summarised(kept, [Summary(2, 3, "…")]))
        assert left == [{"role": "user", "content": "…"}, THOUGHT, CALL]

    def test_reasoning_at_the_end_stays(self) -> None:
        kept = [entry(SAID, 1), entry(THOUGHT, 2)]
        assert values(summarised(kept, [])) == [SAID, THOUGHT]


def test_the_tool_of_a_call_of_an_earlier_process_is_known() -> None:
    kept = [entry({**CALL, "name": "old"}), entry(CALL), entry(RESULT), Item(None, "c1")]
    assert tool_of_call(kept, "c1") == "shell"
    assert (tool_of_call(kept, "c2"), tool_of_call(kept, "")) == ("", "")
