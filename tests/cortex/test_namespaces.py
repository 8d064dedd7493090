"""Every namespace has a place of its own in memory, and none leads elsewhere."""

from __future__ import annotations

from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramdown.gate.keyed_values import Home, Namespace, home_of, matches, named, native, written
from engramdown.hippocampus.entry import Entry
from engramdown.kinds import is_name

_LABELS = st.text(st.characters(codec="utf-8", exclude_characters=".\0"), min_size=1, max_size=6)
_NAMESPACES = st.lists(_LABELS, min_size=1, max_size=4).map(tuple)


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
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
