"""What a provider would refuse."""

from __future__ import annotations

from typing import Any

from tests.conversation.provider_rules import check_anthropic, check_openai
from tests.tables import every

_HELLO: dict[str, Any] = {"role": "user", "content": "Hello"}


def _calling(*ids: object, content: object = None, **other: Any) -> dict[str, Any]:  # noqa: ANN401 - any fault
    calls = [
        {"id": own, "type": "function", "function": {"name": "sh", "arguments": "{}"}, **other}
        for own in ids
    ]
    return {"role": "assistant", "content": content, "tool_calls": calls}


def _tool(own: object, content: object = "a") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": own, "content": content}


def _use(own: object = "a", name: object = "sh", given: object = None) -> dict[str, Any]:
    given = {} if given is None else given
    return {"type": "tool_use", "id": own, "name": name, "input": given}


def _answer(own: object = "a", content: object = "1") -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": own, "content": content}


def _said(role: str, *content: object) -> dict[str, Any]:
    return {"role": role, "content": list(content)}


def _text(text: object = "x") -> dict[str, Any]:
    return {"type": "text", "text": text}


class TestOpenai:
    """Chat completions."""

    @every(
        "messages, says",
        [
            ("no", "not a list"),
            ([], "empty"),
            (["no"], "None is no role"),
            ([{"role": "robot"}], "'robot' is no role"),
            ([{"role": "user", "content": " "}], "a text is empty"),
            ([{"role": "user", "content": []}], "neither a text nor blocks"),
            ([{"role": "user", "content": [{"type": "text"}]}], "a text is empty"),
            ([{"role": "user", "content": ["x"]}], "'str' is no block of text"),
            ([{"role": "user", "content": "\ud83d"}], "cannot be written"),
            ([{"role": "assistant", "content": None}], "neither a text nor blocks"),
            ([{"role": "assistant", "content": None, "tool_calls": []}], "no list, or empty"),
            ([_tool("a")], "answers 'a'"),
            ([_calling("a"), _tool("a"), _tool("a")], "answers 'a'"),
            ([_calling("a"), _HELLO, _tool("a")], "should be answered"),
            ([_calling("a")], "'a' are not answered"),
            ([_calling("a", "a"), _tool("a"), _tool("a")], "two of its calls have one id"),
            ([_calling("a"), _tool("a", None)], "its content is no text"),
            ([_calling("z" * 41), _tool("z" * 41)], "no id of a call"),
            ([_calling(""), _tool("")], "no id of a call"),
            ([_calling("a", type="custom"), _tool("a")], "a call is no function"),
            ([_calling("a", function={"name": "a b", "arguments": "{}"}), _tool("a")], "no name"),
            ([_calling("a", function={"name": "a", "arguments": "[]"}), _tool("a")], "JSON object"),
            ([_calling("a", function={"name": "a", "arguments": "{"}), _tool("a")], "JSON object"),
            ([_calling("a", function={"name": "a"}), _tool("a")], "JSON object"),
            ([{"role": "assistant", "content": "x", "tool_calls": ["x"]}], "no id of a call"),
        ],
        ids=lambda value: value if isinstance(value, str) else "",
    )
    def test_what_it_refuses(self, messages: object, says: str) -> None:
        assert any(says in each for each in check_openai(messages))


class TestAnthropic:
    """Messages."""

    @every(
        "messages, says",
        [
            ("no", "not a list"),
            ([], "empty"),
            (["no"], "None is no role"),
            ([{"role": "system", "content": "x"}], "'system' is no role"),
            ([_HELLO, _HELLO], "the user speaks twice"),
            ([_said("assistant", _text())], "the user has to begin"),
            ([_said("user")], "neither a text nor blocks"),
            ([_said("user", _text(""))], "a text is empty"),
            ([_said("user", _text(None))], "a text is empty"),
            ([_HELLO, _said("assistant", _text("x "))], "ends with white space"),
            ([_HELLO, {"role": "assistant", "content": "x\n"}], "ends with white space"),
            ([_HELLO, _said("assistant", _use())], "'a' are not answered"),
            ([_HELLO, _said("assistant", _use()), _HELLO], "answered 0 times"),
            (
                [_HELLO, _said("assistant", _use()), _said("user", _answer(), _answer())],
                "answered 2 times",
            ),
            ([_said("user", _answer())], "the message before it did not call"),
            (
                [_HELLO, _said("assistant", _use()), _said("user", _text(), _answer())],
                "do not stand at its beginning",
            ),
            ([_said("user", _use())], "no block of the user"),
            ([_HELLO, _said("assistant", _answer())], "no block of the assistant"),
            ([_said("user", "x")], "'str' is no block"),
            ([_HELLO, _said("assistant", _use("a b"))], "no id of a call"),
            ([_HELLO, _said("assistant", _use(), _use())], "the id of an earlier call"),
            ([_HELLO, _said("assistant", _use(name="a.b"))], "no name of a tool"),
            ([_HELLO, _said("assistant", _use(given="x"))], "no object"),
            ([_HELLO, _said("assistant", _use(given={"a": "\ud83d"}))], "cannot be written"),
            ([_HELLO, _said("assistant", _use(given={"a": float("nan")}))], "cannot be written"),
            (
                [_HELLO, _said("assistant", _use()), _said("user", _answer(content=""))],
                "a text is empty",
            ),
        ],
        ids=lambda value: value if isinstance(value, str) else "",
    )
    def test_what_it_refuses(self, messages: object, says: str) -> None:
        assert any(says in each for each in check_anthropic({"messages": messages}))

    def test_a_request_that_is_none_and_a_system_without_a_text(self) -> None:
        assert check_anthropic([]) == ["messages: not a list, or empty"]
        assert check_anthropic({"system": [_text(" ")], "messages": [_HELLO]}) == [
            "system: a text is empty, or none"
        ]
