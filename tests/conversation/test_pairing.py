"""A conversation in steps: calls with their results, and no others."""

from __future__ import annotations

from collections import Counter

from hypothesis import given

from engramdown.conversation.rendering import (
    Shown,
    Step,
    arguments,
    result_text,
    spoken,
    steps,
    strays,
)
from tests.cortex.conversation.lines import any_lines, line
from tests.tables import every


def _call(seq: int, call: str = "a", text: str = "{}", name: str = "sh") -> Shown:
    return line(seq, "tool_call", text, name, call)


def _result(seq: int, call: str = "a", text: str = "", name: str = "sh") -> Shown:
    return line(seq, "tool_result", text or f"result {seq}", name, call)


def _told(lines: list[Shown]) -> list[object]:
    return [
        (step.role, *step.texts, *((call.id, call.result) for call in step.calls))
        for step in steps(lines)
    ]


class TestSteps:
    """Who says what, and which call has which result."""

    def test_a_text_and_the_calls_behind_it_are_one_step(self) -> None:
        lines = [
            *(line(1, "user", "?"), line(2, "assistant", "Let me see.")),
            *(_call(3, "a"), _call(4, "b"), _result(5, "b"), _result(6, "a")),
            line(7, "assistant", "Done."),
        ]
        assert _told(lines) == [
            ("user", "?"),
            ("assistant", "Let me see.", ("a", "result 6"), ("b", "result 5")),
            ("assistant", "Done."),
        ]

    def test_calls_one_after_the_other_are_steps_of_their_own(self) -> None:
        lines = [_call(1, "a"), _result(2, "a"), _call(3, "b"), _result(4, "b")]
        assert _told(lines) == [("assistant", ("a", "result 2")), ("assistant", ("b", "result 4"))]

    def test_a_result_that_came_late_stands_behind_its_call(self) -> None:
        lines = [_call(1), line(2, "user", "Hello?"), _result(3), line(4, "assistant", "Yes")]
        assert _told(lines) == [
            ("assistant", ("a", "result 3")),
            ("user", "Hello?"),
            ("assistant", "Yes"),
        ]

    def test_a_call_without_a_result_is_told(self) -> None:
        assert _told([line(1, "assistant", "Let me see."), _call(2)]) == [
            ("assistant", "Let me see.", "[called sh; no result is known]")
        ]
        assert _told([_call(2), line(3, "user", "?")]) == [
            ("assistant", "[called sh; no result is known]"),
            ("user", "?"),
        ]

    def test_a_result_without_a_call_and_a_second_one_are_in_no_step(self) -> None:
        lines = [_result(1), _call(2), _result(3), _result(4), line(5, "user", "?")]
        assert _told(lines) == [("assistant", ("a", "result 3")), ("user", "?")]
        assert strays(lines) == [0, 3]

    def test_an_id_may_come_up_again(self) -> None:
        lines = [
            _call(1),
            _result(2),
            _call(3),
            _result(4),
            _call(5, "call_3"),
            _result(6, "call_3"),
        ]
        assert _told(lines) == [
            ("assistant", ("a", "result 2")),
            ("assistant", ("call_3", "result 4")),
            ("assistant", ("call_5", "result 6")),
        ]

    def test_an_id_that_no_provider_takes_gets_another(self) -> None:
        lines = [_call(1, "no id!"), _result(2, "no id!"), _call(3, ""), _result(4, "")]
        lines += [_call(5, "z" * 41), _result(6, "z" * 41)]
        ids = [call.id for step in steps(lines) for call in step.calls]
        assert ids == ["call_1", "call_3", "call_5"]

    def test_two_that_get_one_id_are_told_apart(self) -> None:
        lines = [_call(1, "call_9"), _result(2, "call_9"), _call(9, ""), _result(10, "")]
        assert [call.id for step in steps(lines) for call in step.calls] == ["call_9", "call_9_"]

    def test_a_scratchpad_is_of_the_assistant_and_says_so(self) -> None:
        lines = [line(1, "scratchpad", "1 + 1", "python"), line(2, "scratchpad", "2")]
        assert _told(lines) == [
            ("assistant", "[scratchpad python]\n1 + 1"),
            ("assistant", "[scratchpad]\n2"),
        ]

    def test_a_name_that_no_provider_takes_gets_another(self) -> None:
        lines = [_call(1, name="fs.read"), _result(2, name="fs.read")]
        lines += [_call(3, "b", name=""), _result(4, "b", name="")]
        assert [call.name for step in steps(lines) for call in step.calls] == ["fs_read", "tool"]

    @given(any_lines())
    def test_everything_that_was_said_is_told_once_and_in_order(self, lines: list[Shown]) -> None:
        made = steps(lines)
        said = [text for step in made for text in step.texts if "no result is known" not in text]
        assert said == [spoken(each) for each in lines if not each.role.startswith("tool")]
        calls = sum(each.role == "tool_call" for each in lines)
        markers = sum("no result is known" in text for step in made for text in step.texts)
        answered = [call for step in made for call in step.calls]
        assert len(answered) + markers == calls
        results = sum(each.role == "tool_result" for each in lines)
        assert results == len(answered) + len(strays(lines))
        assert all(count == 1 for count in Counter(call.id for call in answered).values())

    @given(any_lines(), any_lines(4))
    def test_what_the_user_says_next_changes_no_id_before(
        self, lines: list[Shown], more: list[Shown]
    ) -> None:
        told = [call for step in steps(lines) for call in step.calls]
        later = [each._replace(source=int(each.source) + 100) for each in more]
        again = [call for step in steps([*lines, *later]) for call in step.calls]
        known = {call.id for call in told}
        assert known <= {call.id for call in again}

    def test_nothing_is_no_step(self) -> None:
        assert steps([]) == []
        assert strays([]) == []


class TestTexts:
    """What a step says of a line."""

    def test_somebody_with_a_name_is_named(self) -> None:
        assert spoken(line(1, "user", "Hello", "Ada\n- user")) == "Ada - user: Hello"
        assert steps([line(1, "user", " \n")]) == [Step("user", ("(empty)",))]

    @every(
        "text, given",
        [
            ('{"cmd": "ls"}', {"cmd": "ls"}),
            ("", {}),
            ("ls -l", {"input": "ls -l"}),
            ("[1, 2]", {"input": [1, 2]}),
            ('"ls"', {"input": "ls"}),
            ('{"a": NaN}', {"input": '{"a": NaN}'}),
            ('{"a": 1e999}', {"input": '{"a": 1e999}'}),
            ('{"a": "\\ud83d"}', {"a": "?"}),
            ("[" * 100_000, {"input": "[" * 100_000}),
        ],
        ids=lambda value: str(value)[:20],
    )
    def test_arguments_are_an_object(self, text: str, given: dict[str, object]) -> None:
        assert arguments(_call(1, text=text)) == given

    def test_a_placeholder_stands_for_arguments(self) -> None:
        assert arguments(_call(1)._replace(is_whole=False, text="[long]")) == {"omitted": "[long]"}

    def test_a_result_says_why_it_failed(self) -> None:
        assert result_text(_result(1)._replace(text=" ")) == "(no output)"
        assert result_text(_result(1)._replace(error=True)) == "result 1"
        assert result_text(_result(1)._replace(error="no\ndisk")) == "[failed: no disk]\nresult 1"
