"""What another library keeps is a line, and comes back; summaries stand where lines stood."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramdown.integrations.external_session import (
    LEFT_OUT,
    LEVELS,
    Item,
    Line,
    Summary,
    as_json,
    as_meta,
    as_value,
    copies,
    cut_off,
    lifted,
    readable,
    with_summaries,
)
from engramdown.secrets.redaction import redact
from tests.tables import every

KEY = "ghp_" + "a1B2" * 9

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


def whole(text: str) -> str:
    return text


@given(st.dictionaries(st.text(), values, max_size=3), st.text(), st.text())
def test_a_value_comes_back_without_its_text_standing_there_twice(
    rest: dict[str, Any], key: str, text: str
) -> None:
    value = {**rest, key: [{"text": text}]}
    line = lifted("user", value, (key, 0, "text"))
    kept = json.loads(json.dumps(as_meta(line, whole)))
    assert as_value(kept, text) == value
    assert (line.text, line.rest[key]) == (text, [{"text": None}])


@given(values)
def test_a_value_of_which_nothing_is_lifted_comes_back(value: object) -> None:
    kept = as_meta(Line("scratchpad", "[thing]", value), whole)
    assert as_value(json.loads(json.dumps(kept)), "[thing]") == value


@given(values)
def test_a_value_that_is_the_text_comes_back(value: object) -> None:
    kept = as_meta(Line("tool_call", "", None, (), is_json=True), whole)
    assert as_value(kept, readable(value)) == value


@pytest.mark.parametrize("item", ["abc", 7, None])
def test_a_place_that_is_in_no_list_and_no_object_is_refused(item: object) -> None:
    with pytest.raises(ValueError, match="there is nothing at 0"):
        as_value({"item": item, "text": [0]}, "text")


@pytest.mark.parametrize("odd", [float("inf"), float("-inf"), [[[]]] * 40, {"a": {}}])
def test_what_a_transcript_cannot_say_as_it_is_comes_back_too(odd: object) -> None:
    for _ in range(120):
        odd = [odd]
    kept = as_meta(Line("scratchpad", "", {"item": odd}), whole)
    assert isinstance(kept["json"], str)
    assert as_value(kept, "") == {"item": odd}


@given(values)
def test_a_value_that_is_not_deep_is_what_json_makes_of_it(value: object) -> None:
    assert as_json(value) == cut_off(value) == value


@pytest.mark.parametrize("levels", [LEVELS - 1, LEVELS, LEVELS + 1, 5_000])
def test_of_a_deep_value_so_many_levels_are_left(levels: int) -> None:
    value: Any = "end"
    for at in range(levels):
        value = {"a": value} if at % 2 else (value, at)
    told, seen = as_json(value), 0
    while not isinstance(told, str):
        told, seen = told["a"] if isinstance(told, dict) else told[0], seen + 1
    assert (told, seen) == ("end" if levels <= LEVELS else LEFT_OUT, min(levels, LEVELS))


def test_what_json_has_no_word_for_is_said_by_whoever_knows() -> None:
    assert as_json([{1}], lambda found: f"<{type(found).__name__}>") == ["<set>"]


def test_a_kept_text_that_nobody_can_read_is_no_value() -> None:
    for text in ("[" * 100_000, 7):
        with pytest.raises(ValueError, match=r"recursion|must be"):
            as_value({"json": text}, "")
    assert as_value({"text": [], "read": "json"}, "[" * 100_000) == "[" * 100_000


def test_a_secret_is_hidden_but_no_id_and_nothing_that_only_a_provider_reads() -> None:
    rest = {
        "id": KEY,
        "content": [{"note": KEY, "call_id": KEY, "image_url": f"data:image/png;base64,{KEY}"}],
        "encrypted_content": KEY,
        "count": 3,
    }
    kept = as_meta(Line("tool_result", "", rest), redact)
    (part,) = kept["item"]["content"]
    assert part["note"] == "[redacted: GitHub token]"
    assert (part["call_id"], part["image_url"]) == (KEY, f"data:image/png;base64,{KEY}")
    assert (kept["item"]["id"], kept["item"]["encrypted_content"], kept["item"]["count"]) == (
        KEY,
        KEY,
        3,
    )


def test_json_that_hiding_broke_is_a_text() -> None:
    assert as_value({"item": {"output": None}, "text": ["output"], "read": "json"}, "[oh") == {
        "output": "[oh"
    }


@pytest.mark.parametrize("key", ["args", "arguments"])
def test_of_arguments_that_were_cut_the_beginning_is_valid_json(key: str) -> None:
    kept = {"item": {key: None}, "text": [key]}
    assert json.loads(as_value(kept, '{"cmd": "ec', is_whole=False)[key]) == {
        "beginning": '{"cmd": "ec'
    }
    assert as_value({"item": {"output": None}, "text": ["output"]}, "be", is_whole=False) == {
        "output": "be"
    }


@every("place", [["a", "b"], ["x"], [0], ["list", 7], ["list", "a"]])
def test_what_leads_nowhere_is_no_value(place: list[Any]) -> None:
    with pytest.raises(ValueError, match="there is nothing at"):
        as_value({"item": {"a": "text", "list": []}, "text": place}, "text")


def test_copies_can_be_changed() -> None:
    entry = Item({"a": []}, json='{"a": []}')
    (copy,) = copies([entry])
    copy["a"].append(1)
    assert copies([entry]) == [{"a": []}]
    assert copies([]) == []


def items_of(*seqs: int) -> list[Item]:
    return [Item(seq, seq=seq) for seq in seqs]


def test_a_summary_stands_in_the_place_of_what_it_covers() -> None:
    left = with_summaries(
        items_of(1, 2, 4, 7, 8, -1), [Summary(2, 4, "a"), Summary(5, 7, "b")], str.upper
    )
    assert [entry.value for entry in left] == [1, "A", "B", 8, -1]
    assert [entry.json for entry in left if entry.value in ("A", "B")] == ['"A"', '"B"']


@given(st.lists(st.integers(1, 40), unique=True), st.integers(0, 40))
def test_what_none_covers_is_given_as_it_was(seqs: list[int], last: int) -> None:
    kept = items_of(*sorted(seqs))
    left = with_summaries(kept, [Summary(1, last, "…")] if last else [], str)
    assert [entry for entry in left if entry.value != "…"] == [
        entry for entry in kept if entry.seq > last
    ]
    assert with_summaries(kept, [], str) == kept
