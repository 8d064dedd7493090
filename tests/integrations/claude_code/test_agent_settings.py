"""Our hooks and our server in the settings of agents, and everything else as it was."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramdown.integrations.claude_code.install import (
    JsonError,
    edited,
    inserted,
    parse,
    removed,
    with_hooks,
    with_server,
    without_hooks,
    without_server,
)

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=8,
)
INDENTS = st.sampled_from([None, 1, 2, 4, "\t"])

EVENTS = ("SessionStart", "UserPromptSubmit", "PostToolUse", "Stop", "SessionEnd")
WANTED: dict[str, Any] = {
    event: {"hooks": [{"type": "command", "command": f"engramdown hook {event}"}]}
    for event in EVENTS
}
OURS: dict[str, Any] = {"command": "e"}
FLAT: dict[str, Any] = {event: {"command": f"engramdown hook {event}"} for event in EVENTS}
THEIRS = {"matcher": "Bash", "hooks": [{"type": "command", "command": "./check.sh"}]}
SETTINGS: dict[str, Any] = {
    "permissions": {"allow": ["Bash(ls:*)"], "deny": []},
    "hooks": {"PreToolUse": [THEIRS], "Stop": [THEIRS], "PostToolUse": [THEIRS, THEIRS]},
    "model": "any",
    "ünïcode": "\u2028é\\u00e9",
}


@given(VALUES, INDENTS, st.booleans())
def test_what_python_writes_is_read(value: object, indent: Any, ascii_only: bool) -> None:  # noqa: ANN401, FBT001 - of json
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    node = parse(f"\n {text}\t\r\n")
    assert (node.start, node.end) == (2, 2 + len(text))


@given(st.text(alphabet='{}[]",:0truefalsn\\ \n/-.e', max_size=15))
def test_what_is_read_is_what_python_reads(text: str) -> None:
    try:
        parse(text)
    except JsonError:
        with pytest.raises((json.JSONDecodeError, KeyError)):
            _strictly(text)
    else:
        _strictly(text)


def _strictly(text: str) -> object:
    """Read JSON as the standard says, where no key stands twice."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            raise KeyError("twice")
        return found

    return json.loads(text, object_pairs_hook=once)


@pytest.mark.parametrize(
    "text, place",
    [
        ('{\n  // mine\n  "a": 1\n}', "line 2, column 3: a comment, which JSON does not allow"),
        ('{"a": 1', "line 1, column 8: "),
        ('{"a" 1}', "line 1, column 6: "),
        ("[1 2]", "line 1, column 4: "),
        ('{"a": 1, "a": 2}', "line 1, column 10: the key 'a' is there twice"),
        ("{} x", "line 1, column 4: Extra data"),
        ("'a'", "line 1, column 1: Expecting value"),
        ('{"a": NaN}', "line 1, column 7: NaN is not a number of JSON"),
        ("[" * 100_000, "line 1, column 1: is nested too deep"),
        ("", "line 1, column 1: Expecting value"),
        ("{1: 2}", "line 1, column 2: "),
    ],
)
def test_what_is_not_json_is_named_with_its_place(text: str, place: str) -> None:
    with pytest.raises(JsonError) as caught:
        parse(text)
    assert str(caught.value).startswith(place)


@given(st.dictionaries(st.text(max_size=4), VALUES, min_size=1), INDENTS, VALUES)
def test_what_was_put_in_can_be_taken_out(
    value: dict[str, object],
    indent: Any,  # noqa: ANN401 - of json
    new: Any,  # noqa: ANN401 - of json
) -> None:
    value.pop("new", None)
    value["old"] = 1
    text = json.dumps(value, indent=indent)
    after = edited(text, [inserted(text, parse(text), [("new", new), ("newer", new)])])
    assert json.loads(after) == {**value, "new": new, "newer": new}
    node = parse(after)
    assert edited(after, removed(node, [len(value), len(value) + 1])) == text


@given(st.lists(st.integers(0, 9), min_size=2, max_size=6), st.data(), INDENTS)
def test_any_members_can_be_taken_out(
    values: list[int],
    data: st.DataObject,
    indent: Any,  # noqa: ANN401 - of json
) -> None:
    gone = data.draw(st.sets(st.integers(0, len(values) - 1), min_size=1, max_size=len(values) - 1))
    text = json.dumps(values, indent=indent)
    after = json.loads(edited(text, removed(parse(text), gone)))
    assert after == [value for at, value in enumerate(values) if at not in gone]


def test_what_is_put_into_something_empty_is_laid_out() -> None:
    text = '{\r\n\t"a": []\r\n}'
    node = parse(text).get("a")
    assert node is not None
    assert edited(text, [inserted(text, node, [("", {"b": 1})])]) == (
        '{\r\n\t"a": [\r\n\t\t{\r\n\t\t\t"b": 1\r\n\t\t}\r\n\t]\r\n}'
    )


def keys() -> st.SearchStrategy[dict[str, Any]]:
    """Return settings that may have hooks of others."""
    events = st.sampled_from([*EVENTS, "PreToolUse", "Notification"])
    hooks = st.dictionaries(events, st.lists(st.just(THEIRS), min_size=1, max_size=2), min_size=1)
    others = st.dictionaries(st.text(max_size=4), st.integers() | st.text(max_size=4), min_size=1)
    return st.tuples(others, hooks | st.none()).map(
        lambda each: each[0] | ({"hooks": each[1]} if each[1] else {})
    )


@given(
    keys(),
    st.sampled_from([None, 2, 4, "\t"]),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(["", "\ufeff"]),
    st.sampled_from(["", "\n"]),
)
def test_what_is_put_in_is_ours_and_taken_out_it_is_as_before(
    value: dict[str, Any],
    indent: Any,  # noqa: ANN401 - of json
    newline: str,
    mark: str,
    end: str,
) -> None:
    text = mark + (json.dumps(value, indent=indent) + end).replace("\n", newline)
    after = with_hooks(text, WANTED)
    assert with_hooks(after, WANTED) == after
    assert without_hooks(after) == text
    found = json.loads(after.removeprefix("\ufeff"))
    hooks = found.pop("hooks")
    before = value.get("hooks", {})
    assert {event: each for event, each in hooks.items() if event not in EVENTS} == {
        event: each for event, each in before.items() if event not in EVENTS
    }
    for event, group in WANTED.items():
        assert hooks[event] == [*before.get(event, []), group]
    assert found == {key: each for key, each in value.items() if key != "hooks"}


@pytest.mark.parametrize("text", ["", " \n", "{}", "{\n}\n", "\ufeff"])
def test_empty_settings_hold_nothing_but_ours(text: str) -> None:
    after = with_hooks(text, WANTED)
    assert json.loads(after.removeprefix("\ufeff"))["hooks"].keys() == {*EVENTS}
    assert json.loads(without_hooks(after).removeprefix("\ufeff")) == {}


def test_nothing_is_taken_out_where_nothing_is_ours() -> None:
    for text in ("", "{}", '{"a": 1}', json.dumps(SETTINGS), '{"hooks": {}}'):
        assert without_hooks(text) == text


def test_a_hook_that_a_person_changed_is_left_as_it_is() -> None:
    mine = {"type": "command", "command": "'/opt/my tools/engramdown' -C . hook stop", "timeout": 3}
    text = json.dumps({"hooks": {"Stop": [{"hooks": [mine]}]}})
    after = json.loads(with_hooks(text, WANTED))
    assert after["hooks"]["Stop"] == [{"hooks": [mine]}]
    assert json.loads(without_hooks(json.dumps(after))) == {}


def test_a_command_beside_ours_in_one_group_stays() -> None:
    ours, theirs = {"command": "egd hook stop"}, {"command": "./mine"}
    text = json.dumps(
        {"hooks": {"Stop": [{"hooks": [theirs, ours]}, {"hooks": [ours]}], "SessionEnd": [THEIRS]}}
    )
    assert json.loads(without_hooks(text)) == {
        "hooks": {"Stop": [{"hooks": [theirs]}], "SessionEnd": [THEIRS]}
    }


def test_an_event_that_is_empty_then_goes_with_our_hook() -> None:
    ours = {"hooks": [{"command": "engramdown hook stop"}]}
    text = json.dumps({"hooks": {"Stop": [ours], "SessionEnd": [THEIRS]}})
    assert json.loads(without_hooks(text)) == {"hooks": {"SessionEnd": [THEIRS]}}


@pytest.mark.parametrize(
    "text, said",
    [
        ("[]", "line 1, column 1: the settings should be an object"),
        ('{"hooks": []}', 'line 1, column 11: "hooks" should be an object'),
        ('{"hooks": {"Stop": {}}}', 'line 1, column 20: "hooks.Stop" should be a list'),
        ('{"a": 1} // mine', "line 1, column 10: a comment, which JSON does not allow"),
    ],
)
def test_settings_that_hold_something_else_are_refused(text: str, said: str) -> None:
    for edit in (without_hooks, lambda text: with_hooks(text, WANTED)):
        with pytest.raises(JsonError) as caught:
            edit(text)
        assert str(caught.value) == said


@pytest.mark.parametrize("hooks", ['["x"]', '[{"hooks": 7}]', '[{"hooks": [{"command": 7}]}]'])
def test_strange_hooks_of_others_are_left_alone(hooks: str) -> None:
    text = f'{{"hooks": {{"Stop": {hooks}}}}}'
    assert without_hooks(text) == text
    assert json.loads(with_hooks(text, WANTED))["hooks"]["Stop"][:-1] == json.loads(hooks)


def test_commands_may_stand_without_a_group() -> None:
    text = '{"version": 1, "hooks": {"Stop": [{"command": "./theirs.sh"}]}}'
    after = with_hooks(text, FLAT)
    assert with_hooks(after, FLAT) == after
    assert json.loads(after)["hooks"]["Stop"] == [{"command": "./theirs.sh"}, FLAT["Stop"]]
    assert without_hooks(after) == text


@pytest.mark.parametrize(
    "text, with_ours",
    [
        pytest.param("", {"mcpServers": {"engramdown": OURS}}, id="none"),
        pytest.param('{"a": 1}', {"a": 1, "mcpServers": {"engramdown": OURS}}, id="key"),
        pytest.param(
            '{"mcpServers": {"x": {}}, "a": 1}',
            {"mcpServers": {"x": {}, "engramdown": OURS}, "a": 1},
            id="beside-others",
        ),
        pytest.param('{"mcpServers": {}}', {"mcpServers": {"engramdown": OURS}}, id="no"),
    ],
)
def test_a_server_is_put_in_once_and_taken_out_again(text: str, with_ours: dict[str, Any]) -> None:
    after = with_server(text, "mcpServers", OURS)
    assert json.loads(after) == with_ours
    assert with_server(after, "mcpServers", {"command": "other"}) == after
    left = json.loads(without_server(after, "mcpServers"))
    before = json.loads(text or "{}")
    assert left == {key: value for key, value in before.items() if value != {}}
    assert without_server(text, "mcpServers") == text


@pytest.mark.parametrize("text", ["[]", '{"mcpServers": []}', "{"])
def test_servers_that_are_none_are_refused(text: str) -> None:
    with pytest.raises(JsonError):
        with_server(text, "mcpServers", {})
    with pytest.raises(JsonError):
        without_server(text, "mcpServers")
