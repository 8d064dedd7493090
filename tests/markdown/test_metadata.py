"""The comment that ends an entry."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engramdown.markdown.metadata import KNOWN_KEYS, Metadata
from tests import laws, strategies
from tests.tables import every

keys = st.sampled_from(["id", "ts", "topic", "source", "reason", "x", "X-y", "a.b_c"])
values = st.dictionaries(keys, strategies.metadata_values)
written = st.lists(
    st.builds("{}:{}".format, keys, st.sampled_from(["", "a", "%20", "%E9", "%zz", ":", "-->"])),
    min_size=1,
    max_size=5,
)
insides = st.builds(str.join, st.sampled_from([" ", "\n  ", "\t\t"]), written)


@given(values)
@example({"x": "a b --> c%20 <!-- d-"})
@example({"x": "--"})
@example({"x": "\ud83d\udca9"})
@example({"x": "ü\u2028\x00"})
def test_any_value_comes_back(fields: dict[str, str]) -> None:
    laws.metadata_comes_back(fields)


@given(insides, values)
@example("x:1 id:a x:2 id:b", {"id": "c"})
@example("x:%41", {"x": "A"})
def test_unknown_keys_their_order_and_their_spelling_stay(
    inside: str, changes: dict[str, str]
) -> None:
    laws.metadata_keeps_what_it_does_not_know(inside, changes)


@given(strategies.any_text)
def test_no_comment_is_an_error(inside: str) -> None:
    meta = Metadata.parse(inside)
    assert meta is None or meta.fields


@every(
    "inside",
    ["", " ", "a private note", "note: call Bob", "id:a and more", ":x", "1a:x", "-", "id : a"],
    ids=ascii,
)
def test_what_is_not_metadata(inside: str) -> None:
    assert Metadata.parse(inside) is None


def test_a_comment_over_several_lines_is_metadata() -> None:
    meta = Metadata.parse("\n  id:k3v9q2ht\r\n  topic:a%20b\n")
    assert meta is not None
    assert meta.values() == {"id": "k3v9q2ht", "topic": "a b"}
    assert str(meta) == "<!-- id:k3v9q2ht topic:a%20b -->"


def test_of_a_key_that_stands_twice_the_first_counts() -> None:
    meta = Metadata((("id", "a"), ("x", "1"), ("id", "b")))
    assert meta.get("id") == meta.values()["id"] == "a"
    assert meta.update({"id": "c"}).fields == (("id", "c"), ("x", "1"))
    assert meta.update({"id": ""}).fields == (("x", "1"),)


def test_an_address_of_older_files_is_read_as_it_is_written_today() -> None:
    meta = Metadata.parse(" op:merge of:k3v9q2ht,~7a2pcsc,~0000000 replaced:~7a2pcsc x:~7a2pcsc ")
    assert meta is not None
    assert meta.get("of") == meta.values()["of"] == "k3v9q2ht,_7a2pcsc,_0000000"
    assert meta.get("replaced") == "_7a2pcsc"
    assert meta.get("x") == "~7a2pcsc"
    assert meta.update({"of": meta.get("of")}) == meta  # and its bytes stay


@pytest.mark.parametrize("value", ["~", "~/notes", "a~7a2pcsc", "~7a2pcscx"])
def test_what_is_no_address_stays_as_it_is(value: str) -> None:
    assert Metadata((("of", value),)).get("of") == value


def test_a_missing_key_is_empty() -> None:
    assert not Metadata().get("id")


def test_new_keys_stand_in_our_order_and_unknown_ones_behind() -> None:
    shuffled = dict.fromkeys(("zzz", *reversed(KNOWN_KEYS), "aaa"), "1")
    assert [key for key, _ in Metadata().update(shuffled).fields] == [*KNOWN_KEYS, "zzz", "aaa"]


@every(
    "value, quoted",
    [
        pytest.param("a b", "a%20b", id="space"),
        pytest.param("a-b", "a-b", id="hyphen"),
        pytest.param("a--b", "a-%2Db", id="two-hyphens"),
        pytest.param("a-", "a%2D", id="last-hyphen"),
        pytest.param("a>b<c%", "a%3Eb%3Cc%25", id="brackets"),
        pytest.param("Köln", "Köln", id="letters-of-every-script"),
        pytest.param("s#12", "s#12", id="hash"),
        pytest.param("a\u2028b", "a%E2%80%A8b", id="line-separator"),
        pytest.param("\udc80", "%ED%B2%80", id="half-a-character"),
    ],
)
def test_a_value_is_quoted_only_where_it_must_be(value: str, quoted: str) -> None:
    assert Metadata().update({"x": value}).fields == (("x", quoted),)


@every("value", ["100%", "%zz", "%E9", "%", "%4"])
def test_a_percent_sign_of_a_person_is_left_alone(value: str) -> None:
    meta = Metadata((("x", value),))
    assert meta.get("x") == value
    assert meta.update({"x": value}) == meta


@every(
    "reason, written",
    [
        ("2 become one: one cause", "2_become_one:_one_cause"),
        ("snake_case -- it is", "snake%5Fcase_-%2D_it_is"),
        ("turned-down", "turned-down"),
        ("_7a2pcsc is yours", "_7a2pcsc_is_yours"),
        (" a", "%20a"),
        ("a-", "a%2D"),
        ("--", "%2D%2D"),
    ],
)
def test_a_reason_reads_as_words_in_the_file(reason: str, written: str) -> None:
    meta = Metadata().update({"reason": reason, "topic": "a_b"})
    assert f" reason:{written} " in str(meta).replace(" -->", " ")
    assert meta.get("reason") == meta.values()["reason"] == reason
    assert meta.get("topic") == "a_b"


def test_a_reason_of_older_files_is_read() -> None:
    meta = Metadata.parse(" id:k3v9q2ht reason:2%20become%20one ")
    assert meta is not None
    assert meta.get("reason") == "2 become one"
    assert meta.update({"reason": "2 become one"}) == meta
