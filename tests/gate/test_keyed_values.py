"""Values under keys: what a line says of one, and where a namespace stands."""

from __future__ import annotations

from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramdown.gate.keyed_values import (
    Home,
    Namespace,
    describe_value,
    digest_of,
    home_of,
    key_of,
    matches,
    named,
    native,
    proposed,
    written,
)
from engramdown.hippocampus.entry import Entry
from engramdown.kinds import is_name
from tests.tables import every


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


_LABELS = st.text(st.characters(codec="utf-8", exclude_characters=".\0"), min_size=1, max_size=6)
_NAMESPACES = st.lists(_LABELS, min_size=1, max_size=4).map(tuple)


@every(
    "namespace, home",
    [
        (("project", "rules"), Home("project", "rules.md", native=True)),
        (("global", "lessons"), Home("global", "lessons.md", native=True)),
        (("global", "profile"), Home("global", "profile.md", native=True)),
        (("project", "topics", "ci"), Home("project", "topics/ci.md", "ci", native=True)),
        (("recipes",), Home("project", "topics/recipes.md", "recipes")),
    ],
)
def test_some_namespaces_are_known(namespace: Namespace, home: Home) -> None:
    assert home_of(namespace, "project") == home


@every(
    "namespace, scope, begins",
    [
        (("users", "42"), "project", "topics/users-42-"),
        (("users", "42"), "global", "topics/users-42-"),
        (("global", "users"), "global", "topics/global-users-"),
        (("project", "profile"), "project", "topics/project-profile-"),
        (("project", "topics", "../x"), "project", "topics/store-"),
        (("project",), "project", "topics/project.md"),
        (("Recipes",), "project", "topics/recipes-"),
        (("con",), "project", "topics/store-"),
        (("🙂",), "project", "topics/store-"),
        (("a" * 500,), "project", "topics/aaa"),
        (("é" * 120,), "project", "topics/ééé"),
        (("日" * 60, "x"), "project", "topics/日日日"),
        (("ß" * 60, "x"), "project", "topics/sss"),
        ((), "project", "topics/store-"),
    ],
)
def test_others_have_a_topic(namespace: Namespace, scope: str, begins: str) -> None:
    home = home_of(namespace, "global" if scope == "global" else "project")
    assert (home.scope, home.native) == (scope, False)
    assert home.file.startswith(begins)


@given(_NAMESPACES, _NAMESPACES)
def test_no_two_namespaces_share_a_place(one: Namespace, other: Namespace) -> None:
    homes = [home_of(each, "project") for each in (one, other)]
    assert (homes[0][:2] == homes[1][:2]) is (one == other)
    assert all(is_name(home.file) for home in homes)
    assert named(written(one)) == one


def test_what_was_put_nowhere_stands_where_its_file_does() -> None:
    assert native(Entry("a", "x", "always", "project", file="rules.md")) == ("project", "rules")
    topic = Entry("a", "x", "lesson", "global", file="topics/ci.md")
    assert native(topic) == ("global", "topics", "ci")
    assert named("") == ()


@pytest.mark.parametrize(
    "how, path, found",
    [
        ("prefix", (), True),
        ("prefix", ("users",), True),
        ("prefix", ("*", "42"), True),
        ("prefix", ("users", "7"), False),
        ("prefix", ("users", "42", "notes", "x"), False),
        ("suffix", ("notes",), True),
        ("suffix", ("42", "*"), True),
        ("suffix", ("7", "notes"), False),
        ("suffix", (), True),
    ],
)
def test_a_namespace_is_found_by_its_beginning_or_its_end(
    how: Literal["prefix", "suffix"], path: Namespace, *, found: bool
) -> None:
    assert matches(("users", "42", "notes"), [(how, path)]) is found
