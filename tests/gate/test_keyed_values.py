"""What a line says of a value under a key."""

from __future__ import annotations

from engramdown.gate.keyed_values import describe_value, digest_of, key_of, proposed


def test_a_proposal_of_no_value_has_no_marks() -> None:
    assert proposed({"id": "k3v9q2ht", "ns": "users", "rest": "{}"}) == ()
    assert key_of(()) == ("", "")


def test_a_proposal_of_a_value_has_those_of_the_memory_that_it_becomes() -> None:
    said = {"ns": "users.42", "key": "food", "field": "data", "made": "2026", "topic": "x"}
    marks = proposed(said)
    assert marks == (("ns", "users.42"), ("key", "food"), ("field", "data"))
    assert key_of(marks) == ("users.42", "food")


def test_the_least_change_of_words_is_one() -> None:
    assert len({digest_of(text) for text in ("tea", "Tea", "tea ", "tea.", "\ud83d")}) == 5


def test_who_decides_is_told_what_is_not_in_the_words() -> None:
    assert describe_value(()) == ""
    marks = (("ns", "users.42"), ("key", "food"))
    assert describe_value(marks) == "a program keeps it as users/42 'food'"
    assert describe_value((*marks, ("rest", "x" * 1_000))).endswith("xx… (1,000 characters)")
