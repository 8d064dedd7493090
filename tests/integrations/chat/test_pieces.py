"""An answer that comes in pieces is put together, whatever a server takes for a piece."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramdown.integrations.chat.endpoint import Assembly, Reply, ToolCall
from tests.integrations.chat.streams import chunk
from tests.tables import every

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)
KEYS = ("choices", "delta", "content", "tool_calls", "function", "usage", "index", "id", "text")
odd = st.recursive(
    anything,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner),
    max_leaves=12,
)


def put_together(*pieces: object) -> Reply:
    answer = Assembly()
    for piece in pieces:
        answer.add(piece)
    answer.end()
    return answer.reply()


@every(
    "whole, answer",
    [
        pytest.param("<think>Hm. a < b</think>\n\nUse uv", "\n\nUse uv", id="thought"),
        pytest.param(" \n<think></think>Use uv", "Use uv", id="blank"),
        pytest.param("<think>for ever", "", id="no-end"),
        pytest.param("<thin ice", "<thin ice", id="another-word"),
        pytest.param("<think", "<think", id="cut-short"),
        pytest.param(" ", " ", id="nothing"),
        pytest.param("Write <think>a</think> there", "Write <think>a</think> there", id="later"),
    ],
)
def test_thoughts_are_no_answer(whole: str, answer: str) -> None:
    assert put_together(*(chunk({"content": char}) for char in whole)).text == answer
    assert put_together(chunk({"content": whole})).text == answer


def call(index: object, name: str = "", arguments: str = "", call_id: str = "") -> dict[str, Any]:
    part = {"index": index, "id": call_id, "function": {"name": name, "arguments": arguments}}
    return chunk({"tool_calls": [part]})


@given(st.lists(odd, max_size=6))
def test_no_piece_raises(pieces: list[object]) -> None:
    answer = Assembly()
    said = "".join(answer.add(piece) for piece in pieces)
    assert said + answer.end() == answer.reply().text


@given(st.lists(st.text(max_size=9), max_size=9))
def test_the_text_is_that_of_the_pieces(texts: list[str]) -> None:
    assert put_together(*(chunk({"content": text}) for text in texts)).text == "".join(texts)


@given(st.text(max_size=40), st.data())
def test_a_call_is_the_same_however_it_is_cut(arguments: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(arguments)), max_size=4)))
    ends = zip([0, *cuts], [*cuts, len(arguments)], strict=True)
    parts = [call(0, "recall", call_id="c1")]
    parts += [call(0, arguments=arguments[first:last]) for first, last in ends]
    assert put_together(*parts).calls == (ToolCall("c1", "recall", arguments),)


def test_calls_that_are_numbered_are_kept_apart() -> None:
    pieces = [call(0, "a", "1", "x"), call(1, "b", "2", "y"), call(0, arguments="3")]
    assert put_together(*pieces).calls == (ToolCall("x", "a", "13"), ToolCall("y", "b", "2"))


def test_calls_that_have_one_number_are_kept_apart_by_their_ids() -> None:
    pieces = [call(0, "a", "{}", "x"), call(0, "b", "{}", "y")]
    assert [each.name for each in put_together(*pieces).calls] == ["a", "b"]


def test_calls_without_a_number_begin_with_a_name() -> None:
    pieces = [call(None, "a", "1"), call(None, arguments="2"), call(None, "b", "3")]
    assert put_together(*pieces).calls == (ToolCall("", "a", "12"), ToolCall("", "b", "3"))


def test_there_is_an_end_to_calls() -> None:
    assert len(put_together(*(call(at, "a") for at in range(100))).calls) == 64


@pytest.mark.parametrize(
    "delta, text",
    [
        pytest.param({"content": [{"text": "a"}, {"text": 1}, "b"]}, "a", id="blocks"),
        pytest.param({"refusal": "I would rather not"}, "I would rather not", id="refusal"),
        pytest.param({"content": None}, "", id="null"),
    ],
)
def test_what_is_said_is_found(delta: object, text: str) -> None:
    assert put_together(chunk(delta)).text == text


def test_tokens_are_what_the_server_counted() -> None:
    usage = {"usage": {"prompt_tokens": 5, "completion_tokens": 10**30}}
    reply = put_together(usage, {"usage": {"prompt_tokens": True, "completion_tokens": -3}})
    assert (reply.tokens_in, reply.tokens_out) == (5, 10_000_000)


def test_why_it_stopped_is_the_last_word_on_it() -> None:
    assert put_together(chunk({}, "stop"), chunk({})).finish == "stop"
    assert put_together(chunk({"content": "a"})).finish == ""
