"""What somebody asks to remember."""

from __future__ import annotations

import pytest

from engramdown.consolidation.statement_reader import remembered


@pytest.mark.parametrize(
    "words",
    [
        "remember that >ci is slow",
        "remember: >the port is 5433",
        "rmember that >the port is 5433",
        "store this: >the port is 5433",
        "remember this for later - >the port is 5433",
        "please keep in mind >staging and prod share a cache",
        "don't forget that >the registry needs a vpn",
        "make a note: >the certificate expires in march",
        "remember, >this is a monorepo",
        "can you remember that >my dentist is dr. ruiz",
        "add to your memory that >the shop is closed",
    ],
)
def test_what_follows_is_remembered(words: str) -> None:
    assert remembered(words.replace(">", ""), 0) == words.index(">")


@pytest.mark.parametrize(
    "words",
    [
        "remember the milk",
        "remember that from last time",
        "remember to buy milk",
        "remember me",
        "remember that",
        "remember that it broke",
        "remember when it was easy",
        "remember, you got this",
        "i remember that it is slow",
        "don't forget milk",
    ],
)
def test_what_is_to_be_done_or_only_a_way_to_speak_is_not(words: str) -> None:
    assert remembered(words, 0) == -1
