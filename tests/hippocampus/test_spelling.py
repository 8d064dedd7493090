"""One file is used for each name, whatever it is spelled like and however files are listed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramdown.hippocampus.snapshot import has_aliases, meant, named, spelled, spellings
from engramdown.kinds import SOUL
from tests.tables import every

NAMES = ("profile.md", SOUL)


def cased(name: str) -> st.SearchStrategy[str]:
    """Return spellings of a name in small and capital letters."""
    letters = [st.sampled_from(sorted({each.lower(), each.upper()})) for each in name]
    return st.tuples(*letters).map("".join)


cased_names = st.one_of(*(cased(name) for name in ("profile.md", "user.md", SOUL)))
others = st.sampled_from(
    ["rules.md", "RULES.md", "souls.md", "user.md~", "USER.txt", "\u017foul.md"]
)
files = st.lists(cased_names | others, unique=True, max_size=8)


@every(
    "found, used",
    [
        pytest.param([], "profile.md", id="none"),
        pytest.param(["USER.md"], "USER.md", id="alias"),
        pytest.param(["user.MD", "User.md"], "User.md", id="the-first-alias"),
        pytest.param(["USER.md", "PROFILE.md"], "PROFILE.md", id="the-name-before-an-alias"),
        pytest.param(["Profile.md", "PROFILE.md"], "PROFILE.md", id="the-first-in-order"),
        pytest.param(["PROFILE.md", "USER.md", "profile.md"], "profile.md", id="exact"),
        pytest.param(["Profile.md"], "Profile.md", id="a-disk-that-knows-no-case"),
    ],
)
def test_the_exact_name_comes_first_then_other_letters_then_an_alias(
    found: list[str], used: str
) -> None:
    assert spelled("profile.md", found) == used


def test_no_other_file_has_aliases() -> None:
    assert spelled("rules.md", ["RULES.md", "USER.md"]) == "rules.md"
    assert spellings("rules.md", ["RULES.md"])[1:] == []
    assert [name for name in (*NAMES, "rules.md", "USER.md") if has_aliases(name)] == [*NAMES]
    assert meant("topics/USER.md") == "topics/USER.md"
    # In some tables of letters this is an s.
    assert meant("\u017foul.md") == "\u017foul.md"


@given(files, st.randoms(use_true_random=False))
def test_the_order_of_a_listing_does_not_matter(found: list[str], dice: object) -> None:
    shuffled = sorted(found, key=lambda _: dice.random())  # type: ignore[attr-defined] # Random
    for name in NAMES:
        assert spelled(name, shuffled) == spelled(name, found)
        assert spellings(name, shuffled)[1:] == spellings(name, found)[1:]


@given(files)
def test_every_file_that_may_be_meant_is_used_or_told_of(found: list[str]) -> None:
    for name in NAMES:
        candidates = {file for file in found if meant(file) == name}
        used = spelled(name, found)
        assert (used in found) == bool(candidates)
        assert {*spellings(name, found)[1:]} == candidates - {used}
        assert name not in spellings(name, found)[1:]


@given(files)
def test_each_name_is_given_once_and_only_to_the_file_that_is_used(found: list[str]) -> None:
    names = named(found)
    assert [*names] == found
    assert len({*names.values()}) == len(found)
    for file, name in names.items():
        assert name == (meant(file) if spelled(meant(file), found) == file else file)
